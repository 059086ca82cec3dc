package availability_test

import (
	"context"
	"runtime"
	"slices"
	"testing"
	"time"

	"questscheduler/availability"
	"questscheduler/fault"
	"questscheduler/internal/accounts"
	"questscheduler/internal/gcal"
	"questscheduler/internal/mirror"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
)

// hourly are series that occur every hour from now on, each for some seconds, one after the
// other within the hour.
func hourly(t testing.TB, count, seconds int) (events []availability.BusyEvent) {
	t.Helper()
	for i := range count {
		e := timed(t, "2026-03-02 13:00", "2026-03-02 13:00", "RRULE:FREQ=HOURLY")
		e.Start.Time = e.Start.Time.Add(time.Duration(i*29) * time.Second)
		e.End.Time = e.Start.Time.Add(time.Duration(seconds) * time.Second)
		events = append(events, e)
	}
	return events
}

// TestBusy_OfManyHourlySeries_KeepsMemoryFlat bounds the bytes that are allocated in all for
// one answer. It is not parallel: other tests would count.
func TestBusy_OfManyHourlySeries_KeepsMemoryFlat(t *testing.T) {
	for name, c := range map[string]struct {
		seconds       int
		busy, unknown int // intervals
		mebibytes     uint64
	}{
		"that join to one time": {seconds: 3600, busy: 2, unknown: 1, mebibytes: 24}, // not all are generated; an hour in autumn happens once
		"at times of their own": {seconds: 10, busy: 20_000, unknown: 1, mebibytes: 12},
	} {
		var before, after runtime.MemStats
		events := hourly(t, 120, c.seconds)
		runtime.ReadMemStats(&before)
		got, err := availability.Busy(events, in(t, zurich), now, now.Add(availability.MaxRange))
		runtime.ReadMemStats(&after)
		must(t, err)
		if used := (after.TotalAlloc - before.TotalAlloc) >> 20; used > c.mebibytes {
			t.Errorf("%s: it took %d MiB", name, used)
		}
		if len(got.Busy) != c.busy || len(got.Unknown) != c.unknown ||
			got.Unknown[0] != (availability.Interval{Start: now, End: now.Add(availability.MaxRange)}) {
			t.Errorf("%s: %d intervals are busy, unknown is %v", name, len(got.Busy), got.Unknown)
		}
	}
}

func TestBusy_AtTheBound_IsWhole(t *testing.T) {
	t.Parallel()
	events := make([]availability.BusyEvent, 20_001)
	for i := range events {
		events[i] = timed(t, "2026-03-02 13:00", "2026-03-02 13:00")
		events[i].Start.Time = events[i].Start.Time.Add(time.Duration(i) * time.Minute)
		events[i].End.Time = events[i].Start.Time.Add(30 * time.Second)
	}
	for count, unknown := range map[int]int{20_000: 0, 20_001: 1} {
		got, err := availability.Busy(events[:count], in(t, zurich), now, now.AddDate(0, 1, 0))
		if err != nil || len(got.Busy) != 20_000 || len(got.Unknown) != unknown {
			t.Errorf("of %d: %d are busy, %d unknown, %v", count, len(got.Busy), len(got.Unknown), err)
		}
	}
}

func TestOwn_BeyondTheBound_IsUnknownForAReason(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.synced("gm", "gm")
	for _, e := range hourly(t, 3, 10) {
		w.add("gm", "gm", e, nil)
	}
	within := availability.Interval{Start: now, End: now.Add(availability.MaxRange)}
	got := w.own("gm", within.Start, within.End)
	if a := got.Accounts[0]; a.Unknown == nil || a.Unknown.Reason != availability.ReasonTooMany || a.Unknown.Message == "" {
		t.Errorf("the account is %+v", a)
	}
	if !slices.Equal(got.Unknown, []availability.Interval{within}) || len(got.Busy) == 0 || len(got.Busy) > 20_000 {
		t.Errorf("%d are busy, unknown is %v", len(got.Busy), got.Unknown)
	}
	if got := w.own("gm", now, now.AddDate(0, 1, 0)); len(got.Unknown) != 0 || len(got.Busy) != 3*31*24-3 && len(got.Busy) != 3*31*24 {
		t.Errorf("of a month, %d are busy, unknown is %v", len(got.Busy), got.Unknown)
	}
}

// TestOwn_TheBound_IsOfAllAccountsInSum: each of three accounts would fit alone, from events
// and from Google.
func TestOwn_TheBound_IsOfAllAccountsInSum(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.synced("gm", "work")
	everyOther := hourly(t, 1, 10)[0]
	everyOther.Lines = []string{"RRULE:FREQ=HOURLY;INTERVAL=2"}
	w.add("gm", "work", everyOther, nil)
	w.busyOften("gm", "home", 6000)
	w.busyOften("gm", "club", 9900)
	to := now.Add(availability.MaxRange)
	got := w.own("gm", now, to)
	for _, a := range got.Accounts {
		if isUnknown := a.Unknown != nil && a.Unknown.Reason == availability.ReasonTooMany; isUnknown != (a.ID == "acc_club") {
			t.Errorf("%s is unknown: %+v", a.ID, a.Unknown)
		}
	}
	if len(got.Unknown) != 1 || len(got.Busy) > 20_000 {
		t.Errorf("%d are busy; unknown is %v", len(got.Busy), got.Unknown)
	}
	for _, id := range []string{"acc_work", "acc_home", "acc_club"} {
		if got := w.own("gm", now, to, id); len(got.Unknown) != 0 {
			t.Errorf("%s alone is unknown at %v", id, got.Unknown)
		}
	}
}

// TestOwn_WhatSmallAccountsLeave_IsForTheLargest: an equal share would not do.
func TestOwn_WhatSmallAccountsLeave_IsForTheLargest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.synced("gm", "work")
	for _, e := range hourly(t, 2, 10) {
		w.add("gm", "work", e, nil)
	}
	w.busyOften("gm", "home", 1)
	if got := w.own("gm", now, now.Add(availability.MaxRange)); len(got.Unknown) != 0 || len(got.Busy) < 17_000 {
		t.Errorf("%d are busy, unknown is %v", len(got.Busy), got.Unknown)
	}
}

// TestOwn_AGroupsManyTimes_AreOfTheLargest: who has few events of their own may be shown a group's.
func TestOwn_AGroupsManyTimes_AreOfTheLargest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, id := range []string{"home", "work"} {
		w.synced("gm", id)
	}
	w.connect("gm", "work")
	for _, e := range hourly(t, 2, 10) {
		w.add("gm", "work", e, ofGroup)
	}
	w.add("gm", "home", timed(t, "2026-03-10 10:00", "2026-03-10 11:00"), nil)
	if got := w.own("gm", now, now.Add(availability.MaxRange)); len(got.Unknown) != 0 || len(got.Busy) < 17_000 {
		t.Errorf("%d are busy, unknown is %v", len(got.Busy), got.Unknown)
	}
}

// TestOwn_TheBoundOfStarts_IsOfAllAccountsInSum: work's 351,360 starts would fit alone.
func TestOwn_TheBoundOfStarts_IsOfAllAccountsInSum(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for id, series := range map[string]int{"home": 20, "work": 40} {
		w.synced("gm", id)
		for _, e := range hourly(t, series, 3600) {
			w.add("gm", id, e, nil)
		}
	}
	got := reasons(w.own("gm", now, now.Add(availability.MaxRange)))
	if len(got) != 1 || got["acc_work"] != availability.ReasonTooMany {
		t.Errorf("unknown are %v", got)
	}
}

// TestOwn_WithoutTheZone_TheBoundHolds: too many times are no free ones.
func TestOwn_WithoutTheZone_TheBoundHolds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.link("gm", "gm", accounts.Active)
	w.sync("gm", "gm", now, func(data map[string]any) { delete(data, "timeZone") })
	for _, e := range hourly(t, 3, 10) {
		w.add("gm", "gm", e, nil)
	}
	got := w.own("gm", now, now.Add(availability.MaxRange))
	if reasons(got)["acc_gm"] != availability.ReasonTooMany || len(got.Unknown) != 1 || len(got.Busy) == 0 {
		t.Errorf("%d are busy, unknown is %v: %v", len(got.Busy), got.Unknown, reasons(got))
	}
}

// busyOften links an account that Google says is busy so often, every 50 minutes.
func (w *world) busyOften(owner, id string, count int) {
	w.t.Helper()
	account := w.link(owner, id, accounts.Active)
	for i := range count {
		start := now.Add(time.Duration(i)*50*time.Minute + 31*time.Second)
		w.google.within[account] = append(w.google.within[account], gcal.Interval{Start: start, End: start.Add(time.Second)})
	}
}

// TestOwn_SharedCalendarOverTheBound_IsBusyAndUnknown: two other accounts reach the lost one's
// calendar, whose series is more than the lost account's share of the answer.
func TestOwn_SharedCalendarOverTheBound_IsBusyAndUnknown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.link("gm", "home", accounts.Revoked)
	for _, id := range []string{"club", "work"} {
		w.synced("gm", id)
		w.follow("gm", id, "home@x", nil)
		w.add("gm", id, timed(t, "2026-03-02 13:00", "2026-03-02 14:00"), nil) // the lost account has the fewest of its own
		w.add("gm", id, hourly(t, 1, 10)[0], func(e *mirror.Event) { e.CalendarID = "home@x" })
	}
	within := availability.Interval{Start: now, End: now.Add(availability.MaxRange)}
	got := w.own("gm", within.Start, within.End)
	if !slices.Equal(got.Unknown, []availability.Interval{within}) || len(got.Busy) < 6000 || len(got.Busy) > 7000 {
		t.Errorf("%d are busy, unknown is %v", len(got.Busy), got.Unknown)
	}
	for _, a := range got.Accounts {
		if lost := a.ID == "acc_home"; lost != (a.Source == availability.FromNothing) || lost != (a.Unknown != nil) {
			t.Errorf("%s is %+v, unknown %+v", a.ID, a, a.Unknown)
		}
	}
}

// TestForPoll_SomebodysManyEvents_LeaveOthersKnown: ben's series would take all that an answer
// may hold.
func TestForPoll_SomebodysManyEvents_LeaveOthersKnown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	people := []string{"ana", "ben", "cho"}
	w.poll(people, nil)
	w.share(people...)
	for _, id := range people {
		w.synced(id, id)
	}
	for _, e := range hourly(t, 120, 10) {
		w.add("ben", "ben", e, nil)
	}
	for _, id := range []string{"ana", "cho"} {
		w.add(id, id, timed(t, "2026-03-11 18:00", "2026-03-11 19:00"), nil)
	}
	got := w.states("p1", "gm")
	if got["ana"] != "fbf" || got["cho"] != "fbf" || got["ben"] == "fff" {
		t.Errorf("they are %v", got)
	}
	// A slot a year from now has the range reach over ben's bound.
	far := now.AddDate(0, 11, 0)
	w.set(poll.SlotPath("p1", "s4"), poll.EncodeSlot(poll.Slot{ID: "s4", Start: far, End: far.Add(time.Hour)}))
	if got := w.states("p1", "gm"); got["ana"] != "fbff" || got["cho"] != "fbff" || slices.Contains([]byte(got["ben"]), 'f') {
		t.Errorf("with a slot far off they are %v", got)
	}
}

func TestOwn_ASeriesWithAnIntervalOfNothing_IsUnknown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.synced("gm", "gm")
	w.add("gm", "gm", timed(t, "2026-03-10 10:00", "2026-03-10 11:00", "RRULE:FREQ=DAILY;INTERVAL=0"), nil)
	got := w.own("gm", now, now.AddDate(0, 0, 14))
	if text(got.Unknown, in(t, zurich)) != "03-10 10:00–03-16 13:00" || len(got.Busy) != 0 ||
		got.Accounts[0].Unknown.Reason != availability.ReasonSeries {
		t.Errorf("got %+v", got)
	}
}

// TestAnswers_AtOnce_AreFewForAPersonAndInAll has Google not answer until the end.
func TestAnswers_AtOnce_AreFewForAPersonAndInAll(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Service.Store = w.reads.Store // which counts nothing
	w.poll([]string{"ana", "ben"}, nil)
	answer, asked := make(chan struct{}), make(chan error)
	ask := func(person string) error {
		_, err := w.Own(t.Context(), person, now, now.Add(time.Hour), nil)
		return err
	}
	begin := func(person string) {
		w.link(person, person, accounts.Active)
		begun := make(chan struct{})
		w.google.set("acc_"+person, func() (gcal.FreeBusy, error) {
			begun <- struct{}{}
			<-answer
			return gcal.FreeBusy{}, nil
		})
		go func() { asked <- ask(person) }()
		select {
		case <-begun:
			w.google.set("acc_"+person, nil) // for the next
		case err := <-asked:
			t.Fatalf("a question of %s's is %v", person, err)
		}
	}
	refused := func(person string, want fault.Kind) {
		t.Helper()
		_, ofPoll := w.ForPoll(t.Context(), "p1", person)
		for _, err := range []error{ofPoll, ask(person)} {
			if !fault.Is(err, want) || fault.CodeOf(err) != availability.CodeBusy || fault.RetryAfter(err) <= 0 || fault.MessageOf(err, "") == "" {
				t.Fatalf("another question of %s's is %v", person, err)
			}
		}
	}
	begin("gm")
	begin("gm")
	refused("gm", fault.RateLimited) // the third
	begin("ana")
	begin("ben")
	refused("ana", fault.RateLimited) // the second, while there are many
	for _, person := range []string{"cho", "dan", "eve", "fay"} {
		begin(person)
		refused(person, fault.RateLimited)
	}
	refused("gus", fault.Unavailable)
	close(answer)
	for range 8 {
		must(t, <-asked)
	}
	for _, person := range []string{"gm", "gus"} {
		must(t, ask(person))
	}
	for i := range 30 { // those that were refused did not count
		if _, err := w.ForPoll(t.Context(), "p1", []string{"gm", "ben"}[i%2]); err != nil {
			t.Fatal(err)
		}
	}
}

// TestAnswers_OneOfTwoEnds_LeavesRoomForOne counts a person's questions one by one.
func TestAnswers_OneOfTwoEnds_LeavesRoomForOne(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Service.Store = w.reads.Store // which counts nothing
	w.link("gm", "gm", accounts.Active)
	begun, answer, asked := make(chan struct{}), make(chan struct{}), make(chan error)
	w.google.set("acc_gm", func() (gcal.FreeBusy, error) {
		begun <- struct{}{}
		<-answer
		return gcal.FreeBusy{}, nil
	})
	ask := func() error { _, err := w.Own(t.Context(), "gm", now, now.Add(time.Hour), nil); return err }
	begin := func() (refused error) {
		go func() { asked <- ask() }()
		select {
		case <-begun:
			return nil
		case err := <-asked:
			return err
		}
	}
	must(t, begin())
	for range 3 {
		must(t, begin())
		if err := begin(); fault.CodeOf(err) != availability.CodeBusy {
			t.Fatalf("a third question at once: %v", err)
		}
		answer <- struct{}{}
		must(t, <-asked)
	}
	close(answer)
	must(t, <-asked)
}

// addMany stores copies of an event of a person, some at a time. changes change each.
func (w *world) addMany(owner, id string, count int, e availability.BusyEvent, changes ...func(*mirror.Event)) {
	w.t.Helper()
	for some := range slices.Chunk(make([]int, count), 1000) {
		must(w.t, w.documents.Run(w.t.Context(), func(_ context.Context, tx store.Tx) error {
			for range some {
				stored := w.event(owner, id, e)
				for _, change := range changes {
					change(&stored)
				}
				if err := tx.Set(mirror.EventPath(stored.ID), mirror.EncodeEvent(stored)); err != nil {
					return err
				}
			}
			return nil
		}))
	}
}
