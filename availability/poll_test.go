package availability_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"questscheduler/availability"
	"questscheduler/fault"
	"questscheduler/internal/accounts"
	"questscheduler/internal/gcal"
	"questscheduler/internal/mirror"
	"questscheduler/internal/poll"
)

// The slots of a poll: Tuesday, Wednesday and Thursday evening, in Zurich.
var evenings = []string{"2026-03-10", "2026-03-11", "2026-03-12"}

// poll stores a poll of gm's that some participants joined. change may change its document.
func (w *world) poll(participants []string, change func(map[string]any)) string {
	w.t.Helper()
	people := make([]any, len(participants))
	for i, id := range participants {
		people[i] = id
	}
	data := map[string]any{"creatorId": "gm", "participantIds": people, "joinedIds": people, "status": "OPEN", "timezone": zurich}
	if change != nil {
		change(data)
	}
	w.set(poll.Path("p1"), data)
	for i, date := range evenings {
		slot := poll.Slot{
			ID: fmt.Sprintf("s%d", i+1), Start: at(w.t, zurich, date+" 18:00").Time.UTC(),
			End: at(w.t, zurich, date+" 21:00").Time.UTC(),
		}
		w.set(poll.SlotPath("p1", slot.ID), poll.EncodeSlot(slot))
	}
	return "p1"
}

func (w *world) share(people ...string) {
	w.t.Helper()
	for _, id := range people {
		must(w.t, w.Share(w.t.Context(), id, true))
	}
}

// states are the letters (f, b, u) of a person at the slots, in their order, by person.
func (w *world) states(pollID, asker string) map[string]string {
	w.t.Helper()
	slots, err := w.ForPoll(w.t.Context(), pollID, asker)
	must(w.t, err)
	stored, err := poll.LoadSlots(w.t.Context(), w.documents, pollID)
	must(w.t, err)
	states := map[string]string{}
	for i, slot := range slots {
		if slot.ID != stored[i].ID {
			w.t.Errorf("slot %d is %q, not %q", i, slot.ID, stored[i].ID)
		}
		for _, person := range slot.People {
			states[person.ID] += string(person.State[0])
		}
	}
	return states
}

func (w *world) wantStates(asker string, want map[string]string) {
	w.t.Helper()
	if got := w.states("p1", asker); !maps.Equal(got, want) {
		w.t.Errorf("%s is shown %v, not %v", asker, got, want)
	}
}

func TestForPoll_OthersAreShown_OnlyIfTheyShare(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.poll([]string{"gm", "ana", "ben"}, nil)
	for _, id := range []string{"gm", "ana", "ben"} {
		w.synced(id, id)
	}
	w.add("gm", "gm", timed(t, "2026-03-10 20:00", "2026-03-10 23:00"), nil)
	w.add("ana", "ana", timed(t, "2026-03-11 17:00", "2026-03-11 19:00"), nil)
	w.wantStates("gm", map[string]string{"gm": "bff", "ana": "uuu", "ben": "uuu"})
	w.wantStates("ana", map[string]string{"gm": "uuu", "ana": "fbf", "ben": "uuu"})
	w.share("ana", "ben")
	w.wantStates("gm", map[string]string{"gm": "bff", "ana": "fbf", "ben": "fff"})
	must(t, w.Share(t.Context(), "ana", false))
	w.wantStates("gm", map[string]string{"gm": "bff", "ana": "uuu", "ben": "fff"})
}

func TestShare_UnlessTurnedOn_IsOff(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, want := range []bool{false, true, true, false} {
		if want {
			must(t, w.Share(t.Context(), "gm", true))
		} else if got, err := w.Shares(t.Context(), "gm"); err != nil || got {
			t.Fatal("it is on", err)
		}
		if got, err := w.Shares(t.Context(), "gm"); err != nil || got != want {
			t.Errorf("it is %v, not %v (%v)", got, want, err)
		}
		must(t, w.Share(t.Context(), "gm", false))
	}
	w.set(mirror.PersonPath("ana"), mirror.EncodePerson(mirror.Person{OwnerID: "ana", PlanDue: now, PlanGeneration: 3}))
	must(t, w.Share(t.Context(), "ana", true))
	person, err := mirror.LoadPerson(t.Context(), w.Store, "ana")
	if err != nil || !person.SharesAvailability || person.PlanDue.IsZero() || person.PlanGeneration != 3 {
		t.Errorf("the person's other fields are %+v (%v)", person, err)
	}
}

func TestForPoll_Unknown_IsNeverFree(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.poll([]string{"gm", "ana", "ben", "cho", "dan"}, nil)
	w.share("ana", "ben", "cho", "dan")
	w.link("ana", "ana", accounts.Revoked)
	w.link("ben", "ben", accounts.Unlinked)
	w.synced("cho", "cho")
	w.add("cho", "cho", timed(t, "2026-03-11 18:00", "2026-03-11 19:00", "RRULE:FREQ=SECONDLY"), nil)
	w.add("cho", "cho", timed(t, "2026-03-12 18:00", "2026-03-12 19:00"), nil)
	w.synced("dan", "dan")
	w.link("dan", "work", accounts.Active)
	w.google.answers["acc_work"] = func() (gcal.FreeBusy, error) { return gcal.FreeBusy{}, errors.New("down") }
	w.add("dan", "dan", timed(t, "2026-03-10 18:00", "2026-03-10 19:00"), nil)
	w.wantStates("gm", map[string]string{"gm": "uuu", "ana": "uuu", "ben": "uuu", "cho": "fub", "dan": "buu"})
}

// ana's home calendar is shared with her work account and with ben. What ben's account reads
// of it is ben's alone.
func TestForPoll_LostAccountsSharedCalendar_CountsForItsOwner(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.poll([]string{"ana", "ben"}, nil)
	w.share("ana", "ben")
	w.link("ana", "home", accounts.Revoked)
	w.synced("ana", "work")
	w.synced("ben", "ben")
	for owner, account := range map[string]string{"ana": "work", "ben": "ben"} {
		evening := map[string]string{"ana": "2026-03-12", "ben": "2026-03-11"}[owner]
		w.follow(owner, account, "home@x", nil)
		w.add(owner, account, timed(t, evening+" 18:00", evening+" 19:00"), func(e *mirror.Event) { e.CalendarID = "home@x" })
	}
	w.wantStates("gm", map[string]string{"gm": "uuu", "ana": "uub", "ben": "fff"})
}

// TestForPoll_ItsOwnSession_CountsForNobody: the session is on Tuesday in gm's calendar,
// ana was invited, and ben has a copy by another id.
func TestForPoll_ItsOwnSession_CountsForNobody(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.poll([]string{"gm", "ana", "ben", "cho", "dan"}, func(p map[string]any) {
		p["status"], p["winningSlotId"], p["googleEventId"] = "FINALIZED", "s1", "session1"
	})
	w.share("ana", "ben", "cho", "dan")
	session := timed(t, "2026-03-10 18:00", "2026-03-10 21:00")
	for _, id := range []string{"gm", "ana", "ben", "cho"} {
		w.synced(id, id)
	}
	w.add("gm", "gm", session, func(e *mirror.Event) {
		e.PollID, e.Source, e.EventID, e.ICalUID = "p1", mirror.SourcePoll, "session1", "uid-of-session"
	})
	w.add("ana", "ana", session, func(e *mirror.Event) { e.EventID, e.ICalUID = "session1", "uid-of-session" })
	w.add("ben", "ben", session, func(e *mirror.Event) { e.ICalUID = "uid-of-session" })
	w.add("cho", "cho", session, nil)
	// Google does not say which event dan is busy with.
	w.link("dan", "dan", accounts.Active)
	w.google.busy(
		"acc_dan", gcal.Interval{Start: session.Start.Time.Add(-time.Hour), End: session.End.Time},
		gcal.Interval{Start: session.Start.Time.AddDate(0, 0, 1), End: session.End.Time.AddDate(0, 0, 1)},
	)
	w.wantStates("gm", map[string]string{"gm": "fff", "ana": "fff", "ben": "fff", "cho": "bff", "dan": "ubf"})
	// Another event beside it within the slot is one.
	w.google.busy("acc_dan", gcal.Interval{Start: session.Start.Time, End: session.End.Time.Add(time.Hour)})
	w.set(poll.SlotPath("p1", "s2"),
		poll.EncodeSlot(poll.Slot{ID: "s2", Start: session.Start.Time.UTC(), End: session.End.Time.Add(time.Hour).UTC()}))
	if got := w.states("p1", "gm")["dan"]; got != "ubf" {
		t.Errorf("the longer slot on that evening: %s", got)
	}
}

// TestForPoll_ACopyThatWasMoved_IsTheSessionToo: ana's copy has an id of its own and is on
// another day. Google says that dan is busy then, and not with what. Several answers are asked
// for, since the order in which events are found decides.
func TestForPoll_ACopyThatWasMoved_IsTheSessionToo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.poll([]string{"gm", "ana", "dan"}, func(p map[string]any) {
		p["status"], p["winningSlotId"], p["googleEventId"] = "FINALIZED", "s1", "session1"
	})
	w.share("ana", "dan")
	for _, id := range []string{"gm", "ana"} {
		w.synced(id, id)
	}
	w.add(
		"gm", "gm", timed(t, "2026-03-10 18:00", "2026-03-10 21:00"),
		func(e *mirror.Event) { e.EventID, e.ICalUID = "session1", "uid-of-session" },
	)
	moved := timed(t, "2026-03-12 18:00", "2026-03-12 21:00")
	w.add("ana", "ana", moved, func(e *mirror.Event) { e.ICalUID = "uid-of-session" })
	w.link("dan", "dan", accounts.Active)
	w.google.busy("acc_dan", gcal.Interval{Start: moved.Start.Time, End: moved.End.Time})
	for range 20 {
		w.wantStates("gm", map[string]string{"gm": "fff", "ana": "fff", "dan": "ffu"})
	}
}

func TestForPoll_WhoDoesNotTakePart_FindsNoPoll(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.poll([]string{"ana"}, func(p map[string]any) {
		p["allowLinkSharing"], p["pendingInvites"], p["questingGroupId"] = true, []any{"ben@x"}, "grp"
	})
	w.set(poll.GroupPath("grp"), map[string]any{"creatorId": "cho", "memberIds": []any{"cho", "gm"}, "pendingMemberIds": []any{"dan"}})
	for asker, may := range map[string]bool{"gm": true, "ana": true, "cho": true, "ben": false, "dan": false, "eve": false, "": false} {
		_, err := w.ForPoll(t.Context(), "p1", asker)
		if may && err != nil || !may && !fault.Is(err, fault.NotFound) {
			t.Errorf("%q: %v", asker, err)
		}
	}
	if _, err := w.ForPoll(t.Context(), "p2", "gm"); !fault.Is(err, fault.NotFound) {
		t.Errorf("of a poll that is not there: %v", err)
	}
	w.wantStates("gm", map[string]string{"gm": "uuu", "ana": "uuu", "cho": "uuu"})
}

func TestForPoll_TheThirtyFirstAnswerOfADay_IsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.poll([]string{"ana"}, nil)
	w.clock = time.Date(2026, 3, 2, 23, 30, 0, 0, time.UTC)
	for i := range 30 {
		if _, err := w.ForPoll(t.Context(), "p1", []string{"gm", "ana"}[i%2]); err != nil {
			t.Fatalf("answer %d: %v", i+1, err)
		}
	}
	if _, err := w.ForPoll(t.Context(), "p1", "eve"); !fault.Is(err, fault.NotFound) {
		t.Errorf("somebody else: %v", err)
	}
	_, err := w.ForPoll(t.Context(), "p1", "gm")
	if !fault.Is(err, fault.RateLimited) || fault.CodeOf(err) != availability.CodeAllowance {
		t.Fatalf("the 31st answer: %v", err)
	}
	if limited := new(fault.Error); !errors.As(err, &limited) || limited.RetryAfter != 30*time.Minute {
		t.Errorf("it should be retried after %v", limited.RetryAfter)
	}
	removed := func(want int) {
		t.Helper()
		if n, err := availability.RemoveExpired(t.Context(), w.Store, w.clock, 10); err != nil || n != want {
			t.Errorf("removed %d, %v", n, err)
		}
	}
	removed(0)
	w.clock = w.clock.Add(30 * time.Minute)
	w.states("p1", "gm")
	removed(1) // ana's
	w.clock = w.clock.AddDate(0, 0, 1)
	removed(2) // the poll's and gm's
	w.states("p1", "gm")
}

// TestForPoll_OfEightPeopleOverFourWeeks_CountsItsReads: the reads of the store do not grow
// with the people, and Google is not asked.
func TestForPoll_OfEightPeopleOverFourWeeks_CountsItsReads(t *testing.T) {
	t.Parallel()
	for _, count := range []int{1, 2, 8} {
		w := newWorld(t)
		var people []string
		for i := range count {
			id := fmt.Sprintf("p%d", i)
			people = append(people, id)
			w.synced(id, id)
			for day := range 9 {
				w.add(id, id, timed(t, fmt.Sprintf("2026-03-%02d 10:00", 3+3*day), fmt.Sprintf("2026-03-%02d 11:00", 3+3*day)), nil)
			}
			w.add(id, id, timed(t, "2026-03-03 18:00", "2026-03-03 19:00", "RRULE:FREQ=WEEKLY"), nil)
		}
		w.poll(people, func(p map[string]any) { p["creatorId"] = "p0" })
		last := at(t, zurich, "2026-04-07 18:00").Time
		w.set(poll.SlotPath("p1", "s4"), poll.EncodeSlot(poll.Slot{ID: "s4", Start: last.UTC(), End: last.Add(time.Hour).UTC()}))
		w.share(people...)
		w.reads.calls, w.reads.documents = 0, 0
		states := w.states("p1", "p0")
		// The poll, its slots, who shares, accounts, calendars, three queries of events, connections to groups.
		if w.reads.calls != 9 || w.reads.documents > 5+count*13 || len(w.google.asked) != 0 {
			t.Errorf("%d people: %d reads of %d documents, Google asked %q", count, w.reads.calls, w.reads.documents, w.google.asked)
		}
		want := "bffb" // each week's Tuesday evening
		if len(states) != count || states[people[count-1]] != want {
			t.Errorf("%d people: %v", count, states)
		}
	}
}

func TestForPoll_AllDaySlots_AreDaysOfThePollsZone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.poll(nil, nil)
	w.synced("gm", "gm")
	w.add("gm", "gm", timed(t, "2026-03-14 00:30", "2026-03-14 01:00"), nil) // the day before in UTC
	for i, date := range []string{"2026-03-13", "2026-03-14"} {
		day, err := time.Parse(time.DateOnly, date)
		must(t, err)
		w.set(poll.SlotPath("p1", fmt.Sprintf("t%d", i)),
			poll.EncodeSlot(poll.Slot{ID: fmt.Sprintf("t%d", i), AllDay: true, Start: day, End: day.AddDate(0, 0, 1)}))
	}
	w.wantStates("gm", map[string]string{"gm": "ffffb"})
}

// A day may begin before a slot that is stored as the earlier one.
func TestForPoll_AnAllDaySlotThatBeginsFirst_IsKnown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.poll(nil, nil)
	w.synced("gm", "gm")
	midnight := time.Date(2026, 3, 6, 0, 0, 0, 0, time.UTC) // an hour later than in Zurich
	for _, slot := range []poll.Slot{
		{ID: "a", Start: midnight.Add(-30 * time.Minute), End: midnight},
		{ID: "b", AllDay: true, Start: midnight, End: midnight.AddDate(0, 0, 1)},
	} {
		w.set(poll.SlotPath("p1", slot.ID), poll.EncodeSlot(slot))
	}
	w.wantStates("gm", map[string]string{"gm": "fffff"})
}

func TestForPoll_SlotsOutOfReach_AreUnknown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.poll(nil, nil)
	w.synced("gm", "gm")
	for id, start := range map[string]time.Time{
		"past": now.AddDate(0, 0, -3), "yesterday": now.Add(-20 * time.Hour), "far": now.AddDate(2, 0, 0),
	} {
		w.set(poll.SlotPath("p1", id), poll.EncodeSlot(poll.Slot{ID: id, Start: start, End: start.Add(time.Hour)}))
	}
	w.wantStates("gm", map[string]string{"gm": "uffffu"})
}

func TestAnswers_NeverHoldATitle(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.poll([]string{"ana"}, nil)
	w.synced("ana", "ana")
	w.share("ana")
	w.add(
		"ana", "ana", timed(t, "2026-03-10 18:00", "2026-03-10 21:00"),
		func(e *mirror.Event) { e.Location, e.Description = "Secret", "Secret" },
	)
	slots, err := w.ForPoll(t.Context(), "p1", "gm")
	must(t, err)
	said := fmt.Sprintf("%+v %+v", slots, w.own("ana", now, now.AddDate(0, 0, 20)))
	if strings.Contains(said, "Secret") || strings.Contains(said, "event1") || strings.Contains(said, "evt_") {
		t.Errorf("the answer says %s", said)
	}
	if !slices.ContainsFunc(slots[0].People, func(p availability.PersonState) bool { return p.State == availability.StateBusy }) {
		t.Error("nobody is busy")
	}
}

func TestForPoll_AskedTwiceAtATime_AnswersThirtyTimes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.poll([]string{"ana"}, nil)
	w.Service.Store = w.reads.Store // which counts nothing
	var asking sync.WaitGroup
	var answered, refused atomic.Int64
	for range 2 { // as many as one person may ask at once
		asking.Go(func() {
			for range 24 {
				switch _, err := w.ForPoll(t.Context(), "p1", "gm"); {
				case err == nil:
					answered.Add(1)
				case fault.CodeOf(err) == availability.CodeAllowance:
					refused.Add(1)
				default:
					t.Error(err)
				}
			}
		})
	}
	asking.Wait()
	if answered.Load() != 30 || refused.Load() != 18 {
		t.Errorf("%d answered and %d refused", answered.Load(), refused.Load())
	}
}

func TestForPoll_OfSomebodyWhoTakesPartByTheChannelAlone_IsForbidden(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.poll([]string{"gm", "eve"}, func(p map[string]any) { p["questingGroupId"] = "party" })
	w.group([]any{"gm", "ana"}, nil)
	w.accepted("gm", "gm", "ana")
	w.synced("ana", "ana")
	w.share("ana")
	w.set(poll.AnnouncementPath("p1"), map[string]any{"entered": []any{"eve", "ana"}})
	if got := w.states("p1", "eve"); got["ana"] == "" {
		t.Errorf("eve, whom the host let in, is shown %v", got)
	}
	w.set(poll.AnnouncementPath("p1"), map[string]any{"pressed": []any{"eve", "ana"}})
	if _, err := w.ForPoll(t.Context(), "p1", "eve"); !fault.Is(err, fault.Forbidden) {
		t.Errorf("eve, who pressed, is answered %v", err)
	}
	if got := w.states("p1", "ana"); got["ana"] == "" {
		t.Errorf("ana, a member by now, is shown %v", got)
	}
	w.set(poll.GroupPath("party"), map[string]any{"creatorId": "ana", "memberIds": []any{"ana"}})
	w.set(poll.AnnouncementPath("p1"), map[string]any{"pressed": []any{"gm"}})
	if got := w.states("p1", "gm"); got["gm"] == "" {
		t.Errorf("gm, the poll's host, is shown %v", got)
	}
}
