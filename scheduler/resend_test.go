package scheduler_test

import (
	"strings"
	"testing"
	"time"

	"questscheduler/demo/sim/discord"
	"questscheduler/fault"
	"questscheduler/internal/poll"
	"questscheduler/internal/test/worldtest"
	"questscheduler/rules"
	"questscheduler/scheduler"
)

// unannounced is a world with a finalised poll of a party whose event the calendar
// moved while the bot could not post in the party's channel. Now it can.
func unannounced(t *testing.T) (w *worldtest.World, pollID string) {
	t.Helper()
	w = worldtest.New(t, worldtest.Options{Settings: worldtest.Settings{Discord: true}})
	pollID, slots := w.PollOf("gm", scheduler.Create{GroupID: w.Party()})
	view, err := w.Finalise(pollID, slots[0])
	if err != nil {
		t.Fatal(err)
	}
	w.Run(time.Minute)
	w.OpenChannel(worldtest.Channel, false, discord.SendMessages)
	w.MoveEvent("gm", view.Poll.GoogleEventID, worldtest.Noon)
	w.Run(time.Minute)
	w.OpenChannel(worldtest.Channel, false)
	return w, pollID
}

// posted is how many messages of the party's channel tell of a move: beside the
// cards, which have no such link.
func posted(w *worldtest.World) (count int) {
	for _, message := range w.Discord.Messages(worldtest.Channel) {
		for _, component := range message.Components {
			if strings.Contains(string(component), "?ref=") {
				count++
			}
		}
	}
	return count
}

func resend(t *testing.T, w *worldtest.World, pollID string) rules.Notice {
	t.Helper()
	notice, err := w.Scheduler.Resend(t.Context(), worldtest.Person("gm"), pollID, worldtest.Cause)
	if err != nil {
		t.Fatal(err)
	}
	return notice
}

func TestResend_ChannelRefusedBefore_DeliversThereOnce(t *testing.T) {
	t.Parallel()
	w, pollID := unannounced(t)
	if got := posted(w); got != 0 {
		t.Fatalf("%d messages were posted where none may be", got)
	}
	notices := len(w.Notices("ana"))
	if notice := resend(t, w, pollID); notice != rules.NoticeRescheduled {
		t.Errorf("resent: %q", notice)
	}
	w.Run(time.Minute)
	if got := posted(w); got != 1 {
		t.Errorf("%d messages tell of the move, want 1", got)
	}
	if got := len(w.Notices("ana")); got != notices {
		t.Errorf("ana has %d notices, and had %d", got, notices)
	}
	announcement, err := poll.LoadAnnouncement(t.Context(), w.Documents, pollID)
	if err != nil || !announcement.Due.IsZero() || announcement.Delivering.Ref != "" ||
		announcement.Announced != announcement.Wanted || announcement.Channels["discord"].Error != "" {
		t.Errorf("the announcement is %+v (%v)", announcement, err)
	}
	w.Check()
}

func TestResend_AskedTwice_DeliversOnce(t *testing.T) {
	t.Parallel()
	w, pollID := unannounced(t)
	resend(t, w, pollID)
	if notice := resend(t, w, pollID); notice != rules.NoticeNone {
		t.Errorf("during the delivery, %q is sent again", notice)
	}
	w.Run(time.Minute)
	resend(t, w, pollID) // the message is in the channel by now
	w.Run(time.Minute)
	if got := posted(w); got != 1 {
		t.Errorf("%d messages tell of the move, want 1", got)
	}
}

func TestResend_ArchivedPoll_SendsTheLastAnnouncement(t *testing.T) {
	t.Parallel()
	w, pollID := unannounced(t)
	if _, err := w.Scheduler.Archive(t.Context(), worldtest.Person("gm"), pollID, worldtest.Cause); err != nil {
		t.Fatal(err)
	}
	w.Run(time.Minute)
	if notice := resend(t, w, pollID); notice != rules.NoticeRescheduled {
		t.Errorf("resent: %q", notice)
	}
	w.Run(time.Minute)
	if got := posted(w); got != 1 {
		t.Errorf("%d messages tell of the move, want 1", got)
	}
	w.Check()
}

func TestResend_Refusals(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	pollID, _ := w.Poll()
	for _, row := range []struct {
		name, person, poll string
		kind               fault.Kind
	}{
		{"nothing was announced", "gm", pollID, fault.Conflict},
		{"somebody who only takes part", "ana", pollID, fault.Forbidden},
		{"somebody who may not see it", "nobody", pollID, fault.NotFound},
		{"a poll that is not there", "gm", "00000000-0000-4000-8000-000000000000", fault.NotFound},
	} {
		_, err := w.Scheduler.Resend(t.Context(), scheduler.Person{ID: row.person}, row.poll, worldtest.Cause)
		if !fault.Is(err, row.kind) {
			t.Errorf("%s: got %v", row.name, err)
		}
	}
}
