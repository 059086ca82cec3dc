package availability_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"questscheduler/availability"
	"questscheduler/internal/accounts"
	"questscheduler/internal/gcal"
	"questscheduler/internal/mirror"
	"questscheduler/internal/poll"
)

// TestForPoll_WhatShowsTheSession_OccupiesNobody has a session on Tuesday, which moved there
// from Wednesday. Nobody's calendar with its own event is synced.
func TestForPoll_WhatShowsTheSession_OccupiesNobody(t *testing.T) {
	t.Parallel()
	session := timed(t, "2026-03-10 18:00", "2026-03-10 21:00")
	for name, row := range map[string]struct {
		change func(*mirror.Event)
		want   string
	}{
		"its own event":                   {func(e *mirror.Event) { e.EventID = "session1" }, "fff"},
		"an invitation of another id":     {func(e *mirror.Event) { e.ICalUID = "session1@google.com" }, "fff"},
		"an occurrence, if made a series": {func(e *mirror.Event) { e.SeriesID = "session1" }, "fff"},
		"a copy of ours":                  {func(e *mirror.Event) { e.PollID = "p1" }, "fff"},
		"of another poll":                 {func(e *mirror.Event) { e.PollID = "p2" }, "bff"},
		"without an iCalUID":              {func(e *mirror.Event) { e.ICalUID = "" }, "bff"},
	} {
		w := newWorld(t)
		w.poll([]string{"ana", "dan"}, func(p map[string]any) {
			p["status"], p["winningSlotId"], p["googleEventId"] = "FINALIZED", "s1", "session1"
			p["calendarSync"] = map[string]any{"rescheduled": map[string]any{"fromSlotId": "s2", "toSlotId": "s1"}}
		})
		w.share("ana", "dan")
		w.synced("ana", "ana")
		w.add("ana", "ana", session, row.change)
		w.link("dan", "dan", accounts.Active)
		var busy []gcal.Interval
		for day := range 3 {
			busy = append(busy, gcal.Interval{Start: session.Start.Time.AddDate(0, 0, day), End: session.End.Time.AddDate(0, 0, day)})
		}
		w.google.busy("acc_dan", busy...)
		if got := w.states("p1", "gm"); got["ana"] != row.want || got["dan"] != "uub" {
			t.Errorf("%s: they are %v", name, got)
		}
	}
}

// TestForPoll_TheAnswersEdges_AreUnknownBeyond has slots at both edges of what is answered.
func TestForPoll_TheAnswersEdges_AreUnknownBeyond(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.poll(nil, nil)
	w.synced("gm", "gm")
	first := now.Add(-24 * time.Hour)
	last := first.Add(availability.MaxRange)
	for id, slot := range map[string]availability.Interval{
		"a": {Start: first.Add(-time.Minute), End: first.Add(time.Hour)},
		"b": {Start: first, End: first.Add(time.Hour)},
		"t": {Start: last.Add(-time.Hour), End: last},
		"u": {Start: last.Add(-time.Hour), End: last.Add(time.Minute)},
	} {
		w.set(poll.SlotPath("p1", id), poll.EncodeSlot(poll.Slot{ID: id, Start: slot.Start, End: slot.End}))
	}
	w.wantStates("gm", map[string]string{"gm": "ufffffu"}) // in the order of their starts
}

// lacking is a Google whose answer lacks what it was asked about.
type lacking struct{}

func (lacking) FreeBusy(context.Context, string, []string, time.Time, time.Time) (map[string]gcal.FreeBusy, error) {
	return map[string]gcal.FreeBusy{"another@x": {}}, nil
}

func TestOwn_GoogleLeavesTheCalendarOut_IsUnknown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.link("gm", "gm", accounts.Active)
	w.Service.Google = lacking{}
	got := w.own("gm", now, now.Add(time.Hour))
	if len(got.Unknown) != 1 || got.Accounts[0].Source != availability.FromNothing || reasons(got)["acc_gm"] != availability.ReasonFailing {
		t.Errorf("got %+v", got)
	}
}

// TestOwn_OfManyAccounts_AsksAboutTheFirst: the others are unknown.
func TestOwn_OfManyAccounts_AsksAboutTheFirst(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i := range 101 {
		w.link("gm", fmt.Sprintf("a%03d", i), accounts.Active)
	}
	got := w.own("gm", now, now.Add(time.Hour))
	if why := reasons(got); len(why) != 1 || why["acc_a100"] != availability.ReasonFailing || len(got.Unknown) != 1 ||
		len(w.google.asked) != 100 {
		t.Errorf("unknown are %v, Google was asked %d times", why, len(w.google.asked))
	}
}

// TestOwn_GoogleNamesTooManyTimes_IsUnknown: as many as an answer holds, and one more; of two
// accounts each has half.
func TestOwn_GoogleNamesTooManyTimes_IsUnknown(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		accounts, count, busy int
		want                  string
	}{
		{1, 20_000, 20_000, ""}, {1, 20_001, 20_000, availability.ReasonTooMany},
		{2, 10_000, 10_000, ""}, {2, 10_001, 10_001, availability.ReasonTooMany},
	} {
		w := newWorld(t)
		account := w.link("gm", "gm", accounts.Active)
		if row.accounts > 1 {
			w.link("gm", "free", accounts.Active)
		}
		busy := make([]gcal.Interval, row.count)
		for i := range busy {
			busy[i].Start = now.Add(time.Duration(i) * time.Minute)
			busy[i].End = busy[i].Start.Add(time.Second)
		}
		w.google.busy(account, busy...)
		got := w.own("gm", now, now.AddDate(0, 0, 30))
		if reasons(got)[account] != row.want || (len(got.Unknown) == 1) != (row.want != "") || len(got.Busy) != row.busy {
			t.Errorf("%+v: %d are busy, unknown is %v, %v", row, len(got.Busy), got.Unknown, reasons(got))
		}
	}
}

// TestOwn_WithoutTheZone_ASeriesWithADateIsUnknown: an all-day exception makes the whole
// series depend on the zone.
func TestOwn_WithoutTheZone_ASeriesWithADateIsUnknown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.link("gm", "gm", accounts.Active)
	w.sync("gm", "gm", now, func(data map[string]any) { delete(data, "timeZone") })
	w.add("gm", "gm", timed(t, "2026-03-10 10:00", "2026-03-10 11:00", "RRULE:FREQ=DAILY;COUNT=2"), nil)
	w.add(
		"gm", "gm", allDay("2026-03-13", "2026-03-14"),
		func(e *mirror.Event) { e.SeriesID, e.OriginalStart = "event1", at(t, zurich, "2026-03-11 10:00") },
	)
	got := w.own("gm", now, now.AddDate(0, 0, 14))
	if busy, unknown := text(got.Busy, time.UTC),
		text(got.Unknown, time.UTC); busy != "" || unknown != "03-10 09:00–03-10 10:00, 03-12 10:00–03-14 12:00" {
		t.Errorf("busy %q, unknown %q", busy, unknown)
	}
}

// TestAnswers_AReadFails_IsAnErrorNotFree has each read of the store fail in turn, for people
// with a group and with a lost account whose calendar another one reaches.
func TestAnswers_AReadFails_IsAnErrorNotFree(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.poll([]string{"ana", "ben"}, func(p map[string]any) { p["questingGroupId"] = "party" })
	w.group([]any{"gm"}, nil)
	w.share("ana", "ben")
	w.synced("ana", "ana")
	w.connect("ana", "ana")
	w.link("ana", "home", accounts.Revoked)
	w.follow("ana", "ana", "home@x", nil)
	w.add("ana", "ana", timed(t, "2026-03-10 18:00", "2026-03-10 19:00"), func(e *mirror.Event) { e.CalendarID = "home@x" })
	for name, ask := range map[string]func() error{
		"own":         func() error { _, err := w.Own(t.Context(), "ana", now, now.AddDate(0, 0, 14), nil); return err },
		"of the poll": func() error { _, err := w.ForPoll(t.Context(), "p1", "ana"); return err },
		"of the poll, by one whom its host let in": func() error { _, err := w.ForPoll(t.Context(), "p1", "ben"); return err },
	} {
		w.reads.calls, w.reads.failAt = 0, 0
		must(t, ask())
		all := w.reads.calls
		for n := 1; n <= all; n++ {
			w.reads.calls, w.reads.failAt = 0, n
			if err := ask(); err == nil {
				t.Errorf("%s: without read %d of %d there is an answer", name, n, all)
			}
		}
		w.reads.failAt = 0
	}
}
