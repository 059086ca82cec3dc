package scheduler_test

import (
	"strings"
	"testing"
	"time"

	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/internal/test/worldtest"
	"questscheduler/rules"
	"questscheduler/scheduler"
)

// A change of a poll's status updates its card, even if it is not announced.
func TestTheCard_FollowsEveryStatus(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{Settings: worldtest.Settings{Discord: true}})
	pollID, _ := w.PollOf("gm", scheduler.Create{GroupID: w.Party()})
	w.Run(time.Minute)
	for _, step := range []struct {
		name string
		do   func() error
	}{
		{"archived", func() error {
			_, err := w.Scheduler.Archive(t.Context(), worldtest.Person("gm"), pollID, worldtest.Cause)
			return err
		}},
		{"brought back", func() error {
			_, err := w.Scheduler.Unarchive(t.Context(), worldtest.Person("gm"), pollID, worldtest.Cause)
			return err
		}},
		{"finalised by the web app itself", func() error {
			w.Write(poll.Path(pollID), poll.Set("status", string(rules.Finalized)))
			_, err := w.Scheduler.Reconcile(t.Context(), pollID, worldtest.Cause)
			return err
		}},
	} {
		if err := step.do(); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		w.Run(time.Minute)
		if w.View(pollID).Poll.Discord.MessageID == "" {
			t.Fatal("there is no card")
		}
		for _, problem := range w.CardProblems() {
			t.Errorf("%s: %s", step.name, problem)
		}
	}
}

// Each row is what somebody does to a poll that left its group, whose card stands
// in the group's channel still.
func TestCard_PollLeftItsGroup_GoesOnBeingDrawn(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		do   func(w *worldtest.World, pollID string) error
		show string
	}{
		{"another title by the web app", func(w *worldtest.World, pollID string) error {
			w.Write(poll.Path(pollID), poll.Set("title", "Session ten"))
			return w.Scheduler.CheckCard(w.Context(), pollID, worldtest.Cause)
		}, "Session ten"},
		{"archived over the API", func(w *worldtest.World, pollID string) error {
			_, err := w.Scheduler.Archive(w.Context(), worldtest.Person("gm"), pollID, worldtest.Cause)
			return err
		}, "ARCHIVED"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{Settings: worldtest.Settings{Discord: true}})
			pollID, _ := w.PollOf("gm", scheduler.Create{GroupID: w.Party()})
			w.Run(time.Minute)
			w.Write(poll.Path(pollID), poll.Set("questingGroupId", nil))
			if err := c.do(w, pollID); err != nil {
				t.Fatal(err)
			}
			w.Run(time.Minute)
			if shown := cardOf(t, w, pollID); !strings.Contains(shown, c.show) {
				t.Errorf("the card shows %s, and not %q", shown, c.show)
			}
		})
	}
}

// A change that is not announced marks the card as pending in its own transaction: if
// the program dies before it enqueues the card, the drain has it drawn.
func TestCard_ProgramDiesBeforeTheTask_IsUpdated(t *testing.T) {
	t.Parallel()
	gm := worldtest.Person("gm")
	title := "Session ten"
	for _, c := range []struct {
		name string
		do   func(w *worldtest.World, pollID string, slots []string) error
		show string // what the card must show
	}{
		{"archived", func(w *worldtest.World, pollID string, _ []string) error {
			_, err := w.Scheduler.Archive(w.Context(), gm, pollID, worldtest.Cause)
			return err
		}, "ARCHIVED"},
		{"finalised by the web app itself", func(w *worldtest.World, pollID string, slots []string) error {
			w.Write(poll.Path(pollID), poll.Set("status", string(rules.Finalized)), poll.Set("winningSlotId", slots[0]))
			_, err := w.Scheduler.Reconcile(w.Context(), pollID, worldtest.Cause)
			return err
		}, "FINALIZED"},
		{"another title", func(w *worldtest.World, pollID string, _ []string) error {
			_, err := w.Scheduler.Edit(w.Context(), gm, pollID, scheduler.Edit{Title: &title}, worldtest.Cause)
			return err
		}, title},
		{"another slot", func(w *worldtest.World, pollID string, slots []string) error {
			one := []scheduler.SlotEdit{{ID: slots[0], Times: worldtest.Ten}}
			_, err := w.Scheduler.Edit(w.Context(), gm, pollID, scheduler.Edit{Slots: &one}, worldtest.Cause)
			return err
		}, "1 available"},
		{"a vote", func(w *worldtest.World, pollID string, slots []string) error {
			choice := scheduler.Vote{Choices: map[string]string{slots[0]: poll.Feasible}}
			_, err := w.Scheduler.Vote(w.Context(), gm, pollID, choice, worldtest.Cause)
			return err
		}, "4/4 voted"},
		{"somebody left", func(w *worldtest.World, pollID string, _ []string) error {
			return w.Scheduler.Leave(w.Context(), worldtest.Person("ben"), pollID, worldtest.Cause)
		}, "2/4 voted"}, // who still takes part through the group
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{Settings: worldtest.Settings{Discord: true}})
			pollID, slots := w.PollOf("gm", scheduler.Create{GroupID: w.Party()})
			w.Run(time.Minute)
			w.Crash("before wake")
			if lived, _ := w.Survives(func() { _ = c.do(w, pollID, slots) }); lived { // it dies before it can answer
				t.Fatal("the program did not hand over a card")
			}
			w.TakeOver()
			w.Run(2 * time.Minute)
			for _, problem := range w.CardProblems() {
				t.Error(problem)
			}
			cards := w.Discord.Messages(worldtest.Channel)
			if len(cards) != 1 || len(cards[0].Embeds) != 1 || !strings.Contains(string(cards[0].Embeds[0]), c.show) {
				t.Errorf("the channel shows %+v, and not %q", cards, c.show)
			}
			if pending, err := store.Collect(poll.DueAnnouncements(w.Context(), w.Documents, w.Clock.Now())); err != nil || len(pending) > 0 {
				t.Errorf("still pending: %+v, %v", pending, err)
			}
		})
	}
}

// What others write of a poll is checked against its card, whatever they wrote.
func TestCheckCard_AfterDirectWrites_DrawsWhatIsTrue(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{Settings: worldtest.Settings{Discord: true}})
	pollID, slots := w.PollOf("gm", scheduler.Create{GroupID: w.Party()})
	w.Run(time.Minute)
	for _, c := range []struct {
		name string
		do   func()
		show string
	}{
		{"a title", func() { w.Write(poll.Path(pollID), poll.Set("title", "Session ten")) }, "Session ten"},
		{"a vote that was taken back", func() { w.Remove(poll.VotePath(pollID, "ben")) }, "2/4 voted"},
		{"a slot", func() { w.Remove(poll.SlotPath(pollID, slots[1])) }, "1 available"},
	} {
		before := w.Discord.Messages(worldtest.Channel)[0].Embeds
		c.do()
		if err := w.Scheduler.CheckCard(w.Context(), pollID, worldtest.Cause); err != nil {
			t.Fatal(err)
		}
		w.RunDue()
		after := w.Discord.Messages(worldtest.Channel)[0].Embeds
		if !strings.Contains(string(after[0]), c.show) {
			t.Errorf("%s: the card shows %s and before %s", c.name, after, before)
		}
	}
}

func TestCheckCard_OfAPollWithoutACard(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		write store.Update
		cards int
	}{
		{"open", poll.Set("status", "OPEN"), 1},
		{"finalised", poll.Set("status", "FINALIZED"), 1},
		{"cancelled before it had one", poll.Set("status", "CANCELLED"), 0},
		{"of no group", poll.Set("questingGroupId", nil), 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{Settings: worldtest.Settings{Discord: true}})
			w.Write(poll.Path("written"), poll.Set("title", "Written by the app"), poll.Set("creatorId", "gm"),
				poll.Set("questingGroupId", w.Party()))
			w.Write(poll.Path("written"), c.write)
			for _, pollID := range []string{"written", "gone"} {
				if err := w.Scheduler.CheckCard(w.Context(), pollID, worldtest.Cause); err != nil {
					t.Fatal(err)
				}
			}
			w.RunDue()
			if got := len(w.Discord.Messages(worldtest.Channel)); got != c.cards {
				t.Errorf("the channel has %d messages", got)
			}
		})
	}
}
