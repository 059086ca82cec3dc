package mirrors_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/mirror"
	"questscheduler/internal/recurrence"
	"questscheduler/internal/store"
	"questscheduler/internal/test/storetest"
	"questscheduler/mirrors"
	"questscheduler/mirrors/plan"
)

// known stores an event of work's calendar that a sync once observed.
func (w *world) known(id, start, end string, change ...func(e *mirror.Event)) {
	w.Helper()
	e := mirror.Event{
		ID: "evt_" + id, OwnerID: gm, AccountID: work, CalendarID: workMail, EventID: id, ICalUID: id + "@google.com", Title: id,
		Start: at(start), End: at(end), Status: "confirmed", Visibility: "default", Transparency: "opaque",
		Kind: "default", Version: 1, Source: mirror.SourceProvider, CreatedAt: stageStart, UpdatedAt: stageStart,
	}
	for _, do := range change {
		do(&e)
	}
	e.From, e.Until = plan.Bounds(e)
	w.put(e)
}

func rule(lines ...string) func(e *mirror.Event) {
	return func(e *mirror.Event) { e.Recurrence = lines }
}

func status(text string) func(e *mirror.Event) {
	return func(e *mirror.Event) { e.Status = text }
}

func days(from, to string) func(e *mirror.Event) {
	return func(e *mirror.Event) {
		e.Start, e.End = recurrence.Moment{Date: from}, recurrence.Moment{Date: to}
	}
}

func within(from, to string) mirrors.Range {
	return mirrors.Range{Start: at(from).Time, End: at(to).Time}
}

// spring is three weeks around the change to summer time in Zurich.
var spring = within("2026-03-20T00:00:00Z", "2026-04-10T00:00:00Z")

// listed lists a range in pages of a size, each item as its id and start.
func (w *world) listed(ownerID string, in mirrors.Range, size int) (lines []string) {
	w.Helper()
	for _, shown := range w.list(ownerID, in, size) {
		lines = append(lines, shown.ID[len("evt_"):]+" "+shown.Begins.UTC().Format("01-02 15:04"))
	}
	return lines
}

func (w *world) list(ownerID string, in mirrors.Range, size int) (all []mirrors.Shown) {
	w.Helper()
	for after := (*store.Cursor)(nil); ; {
		count := 0
		next, err := w.events().List(w.ctx, ownerID, in, store.Paging{Limit: size, After: after}, func(shown mirrors.Shown) (bool, error) {
			count++
			all = append(all, shown)
			return true, nil
		})
		w.must(err)
		if count > size {
			w.Fatalf("a page of %d has %d", size, count)
		}
		after = next
		if next == nil {
			return all
		}
	}
}

func (w *world) wantListed(in mirrors.Range, want ...string) {
	w.Helper()
	if got := w.listed(gm, in, 100); !slices.Equal(got, want) {
		w.Errorf("listed are\n%q, want\n%q", got, want)
	}
}

// assorted stores events of every sort in spring, and returns what a list shows of them.
func (w *world) assorted() []string {
	w.Helper()
	w.known("before", "2026-03-19T22:00:00Z", "2026-03-20T00:00:00Z")
	w.known("into", "2026-03-19T22:00:00Z", "2026-03-20T00:00:01Z")
	w.known("long", "2026-02-01T10:00:00Z", "2026-06-01T10:00:00Z")
	w.known("b", "2026-03-25T10:00:00Z", "2026-03-25T11:00:00Z")
	w.known("a", "2026-03-25T10:00:00Z", "2026-03-25T12:00:00Z")
	w.known("c", "2026-03-25T10:00:00Z", "2026-03-25T10:00:00Z")
	w.known("day", thursday, thursday, days("2026-03-29", "2026-03-30"))
	w.known("weekly", "2026-03-16T08:00:00Z", "2026-03-16T09:00:00Z", rule("RRULE:FREQ=WEEKLY;COUNT=5", "EXDATE:20260406T070000Z"))
	w.known("moved", "2026-04-01T15:00:00Z", "2026-04-01T16:00:00Z", exception("weekly", at("2026-03-30T07:00:00Z")))
	w.known("dropped", "2026-03-23T08:00:00Z", "2026-03-23T09:00:00Z", exception("weekly", at("2026-03-23T08:00:00Z")), status("cancelled"))
	w.known("always", "2026-01-01T00:00:00Z", "2026-01-01T00:10:00Z", rule("RRULE:FREQ=MINUTELY"))
	w.known("often", "2026-03-21T00:00:00Z", "2026-03-21T00:10:00Z", rule("RRULE:FREQ=HOURLY;COUNT=3"))
	w.known("after", "2026-04-10T00:00:00Z", "2026-04-10T01:00:00Z")
	return []string{
		"always 01-01 00:00", "long 02-01 10:00", "into 03-19 22:00",
		"often 03-21 00:00", "often 03-21 01:00", "often 03-21 02:00",
		"a 03-25 10:00", "b 03-25 10:00", "c 03-25 10:00",
		"day 03-29 00:00", "moved 04-01 15:00",
	}
}

func TestList_PagesOfAnySize_AreTheSameList(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	want := w.assorted()
	for _, size := range []int{1, 2, 3, 4, 5, 100} {
		if got := w.listed(gm, spring, size); !slices.Equal(got, want) {
			t.Errorf("in pages of %d:\n%q, want\n%q", size, got, want)
		}
	}
}

// A series of too many occurrences for one range stays the series on every page.
func TestList_TooManyOccurrences_AreTheSeriesOnEveryPage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.known("hourly", "2026-01-01T00:00:00Z", "2026-01-01T00:10:00Z", rule("RRULE:FREQ=HOURLY"))
	w.known("single", "2026-04-01T00:30:00Z", "2026-04-01T01:00:00Z")
	w.known("last", "2026-04-09T00:30:00Z", "2026-04-09T01:00:00Z")
	in := within("2026-02-01T00:00:00Z", "2026-04-10T00:00:00Z")
	for _, size := range []int{1, 2, 3} {
		if got := w.listed(gm, in, size); !slices.Equal(got, []string{"hourly 01-01 00:00", "single 04-01 00:30", "last 04-09 00:30"}) {
			t.Errorf("in pages of %d: %q", size, got)
		}
	}
}

func TestList_ASeriesOverSummerTime_KeepsItsWallTime(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.known("weekly", "2026-03-16T08:00:00Z", "2026-03-16T09:00:00Z", rule("RRULE:FREQ=WEEKLY;COUNT=5"))
	w.wantListed(spring, "weekly 03-23 08:00", "weekly 03-30 07:00", "weekly 04-06 07:00")
	for _, shown := range w.list(gm, spring, 100) {
		if shown.Ends.Sub(shown.Begins) != time.Hour {
			t.Errorf("it lasts from %v to %v", shown.Begins, shown.Ends)
		}
	}
}

// An exception is in the list where it is, and its occurrence nowhere, be the one or the
// other outside the range.
func TestList_Exceptions_ReplaceTheirOccurrences(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.known("weekly", "2026-03-16T08:00:00Z", "2026-03-16T09:00:00Z", rule("RRULE:FREQ=WEEKLY;COUNT=5"))
	w.known("away", "2026-05-01T08:00:00Z", "2026-05-01T09:00:00Z", exception("weekly", at("2026-03-23T08:00:00Z")))
	w.known("here", "2026-03-21T08:00:00Z", "2026-03-21T09:00:00Z", exception("weekly", at("2026-04-13T07:00:00Z")))
	w.known("gone", "2026-03-30T07:00:00Z", "2026-03-30T08:00:00Z", exception("weekly", at("2026-03-30T07:00:00Z")), status("cancelled"))
	w.wantListed(spring, "here 03-21 08:00", "weekly 04-06 07:00")
	cancelled := spring
	cancelled.Status = "cancelled"
	w.wantListed(cancelled, "gone 03-30 07:00")
	confirmed := spring
	confirmed.Status = "confirmed"
	w.wantListed(confirmed, "here 03-21 08:00", "weekly 04-06 07:00")
}

func TestList_AFilter_LeavesOutTheRest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.known("work", "2026-03-25T10:00:00Z", "2026-03-25T11:00:00Z")
	w.known("maybe", "2026-03-25T11:00:00Z", "2026-03-25T12:00:00Z", status("tentative"))
	w.known("no", "2026-03-25T12:00:00Z", "2026-03-25T13:00:00Z", status("cancelled"))
	w.known("home", "2026-03-25T13:00:00Z", "2026-03-25T14:00:00Z", func(e *mirror.Event) { e.AccountID, e.CalendarID = home, homeMail })
	w.known("declined", "2026-03-25T14:00:00Z", "2026-03-25T15:00:00Z", func(e *mirror.Event) { e.Declined = true })
	w.known("anas", "2026-03-25T14:00:00Z", "2026-03-25T15:00:00Z", func(e *mirror.Event) { e.OwnerID, e.AccountID = ana, annes })
	for _, c := range []struct {
		account, status string
		want            []string
	}{
		{"", "", []string{"work 03-25 10:00", "maybe 03-25 11:00", "home 03-25 13:00", "declined 03-25 14:00"}},
		{work, "", []string{"work 03-25 10:00", "maybe 03-25 11:00", "declined 03-25 14:00"}},
		{home, "", []string{"home 03-25 13:00"}},
		{club, "", nil},
		{"", "tentative", []string{"maybe 03-25 11:00"}},
		{work, "cancelled", []string{"no 03-25 12:00"}},
		{home, "cancelled", nil},
	} {
		in := spring
		in.AccountID, in.Status = c.account, c.status
		w.wantListed(in, c.want...)
	}
	if got := w.listed(ana, spring, 100); !slices.Equal(got, []string{"anas 03-25 14:00"}) {
		t.Errorf("ana sees %q", got)
	}
}

func TestList_EventsOfGroups_AreListedOnceForConnectedMembers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put(w.canonicalSession()) // by ana, who connected nothing
	shared := func(e *mirror.Event) {
		e.OwnerID, e.AccountID, e.CalendarID, e.Declined = ana, annes, "ana@example.test", true
		e.Source, e.PollID, e.GroupID = mirror.SourcePoll, "poll", "party"
	}
	w.known("poll", "2026-03-06T09:00:00Z", "2026-03-06T10:00:00Z", shared)
	march := within("2026-03-01T00:00:00Z", "2026-04-01T00:00:00Z")
	if got := w.listed(gm, march, 100); len(got) != 0 {
		t.Errorf("without a connection: %q", got)
	}
	if _, err := w.events().Get(w.ctx, gm, "evt_session"); !fault.Is(err, fault.NotFound) {
		t.Errorf("without a connection one is read: %v", err)
	}
	if got := w.listed(ana, march, 100); !slices.Equal(got, []string{"poll 03-06 09:00"}) {
		t.Errorf("ana, who connected nothing, sees %q", got)
	}
	if _, err := w.events().Get(w.ctx, ana, "evt_session"); !fault.Is(err, fault.NotFound) {
		t.Errorf("its author, who connected nothing, reads it: %v", err)
	}
	w.connect(work, gm)
	w.connect(home, gm)
	w.connect(annes, ana)
	for _, person := range []string{gm, ana} {
		if got := w.listed(person, march, 1); !slices.Equal(got, []string{"session 03-05 09:00", "poll 03-06 09:00"}) {
			t.Errorf("%s sees %q", person, got)
		}
	}
	for _, shown := range append(w.list(gm, march, 100), w.get(gm, "evt_poll")) {
		if shown.AccountID != "" || shown.CalendarID != "" || shown.Declined {
			t.Errorf("gm sees where ana has %s: %+v", shown.Title, shown.Event)
		}
	}
	if shown := w.get(ana, "evt_poll"); shown.AccountID != annes || !shown.Declined {
		t.Errorf("ana sees %+v", shown.Event)
	}
}

// A private session shows the members of its group no more than its copies do.
func TestEvents_OfAGroup_ThatArePrivate_ShowOthersTheirTimesAlone(t *testing.T) {
	t.Parallel()
	for _, visibility := range []string{"private", "confidential", "public"} {
		w := newWorld(t)
		w.put(w.canonicalSession())
		shared := func(e *mirror.Event) {
			e.OwnerID, e.AccountID, e.CalendarID, e.Visibility = ana, annes, "ana@example.test", visibility
			e.Source, e.PollID, e.GroupID, e.Description, e.Location = mirror.SourcePoll, "poll", "party", "who brings what", "at Ana's"
		}
		w.known("poll", "2026-03-06T09:00:00Z", "2026-03-06T10:00:00Z", shared)
		w.known("series", "2026-03-07T09:00:00Z", "2026-03-07T10:00:00Z", shared, rule("RRULE:FREQ=WEEKLY"))
		w.known("moved", "2026-03-15T09:00:00Z", "2026-03-15T10:00:00Z", shared, func(e *mirror.Event) {
			e.ICalUID, e.SeriesID, e.OriginalStart = "series@google.com", "series", at("2026-03-14T09:00:00Z")
		})
		w.connect(home, gm)
		w.connect(annes, ana)
		march := within("2026-03-06T00:00:00Z", "2026-03-20T00:00:00Z")
		first := mirrors.OccurrenceID("evt_series", at("2026-03-07T09:00:00Z"))
		second := mirrors.OccurrenceID("evt_series", at("2026-03-14T09:00:00Z"))
		for person, reads := range map[string]bool{gm: visibility == "public", ana: true} {
			moved := w.get(person, second)
			if !moved.Begins.Equal(at("2026-03-15T09:00:00Z").Time) {
				t.Errorf("%s sees the occurrence that was moved at %v", person, moved.Begins)
			}
			seen := append(w.list(person, march, 100), w.get(person, "evt_poll"), w.get(person, first), moved)
			if len(seen) != 6 {
				t.Errorf("%s sees %d events", person, len(seen))
			}
			for _, one := range seen {
				if one.Begins.IsZero() || reads != (one.Title != "Busy" && one.Description != "" && one.Location != "") ||
					!reads && one.Description+one.Location != "" {
					t.Errorf("of a %s event %s sees %+v", visibility, person, one.Event)
				}
			}
		}
	}
}

func (w *world) get(ownerID, id string) mirrors.Shown {
	w.Helper()
	shown, err := w.events().Get(w.ctx, ownerID, id)
	w.must(err)
	return shown
}

func TestList_AMirroredEvent_IsOneItemWithItsMirrors(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.insert(work, "Stand-up", thursday)
	w.mirrorWork(
		mirror.Edge{FromAccountID: work, ToAccountID: home, Detail: mirror.Full, Target: mirror.PrimaryTarget},
		mirror.Edge{FromAccountID: work, ToAccountID: club, Detail: mirror.Busy, Target: mirror.PrimaryTarget},
		mirror.Edge{FromAccountID: home, ToAccountID: club, Detail: mirror.Busy, Target: mirror.PrimaryTarget},
	)
	w.settle()
	w.sync(home)
	w.wantTitles(home, "Stand-up")
	all := w.list(gm, within("2026-03-01T00:00:00Z", "2026-04-01T00:00:00Z"), 100)
	if len(all) != 1 || all[0].Title != "Stand-up" || len(all[0].Mirrors) != 2 {
		t.Fatalf("listed are %+v", all)
	}
	for _, m := range all[0].Mirrors {
		if m.State != mirror.Active || m.LastWrite.IsZero() {
			t.Errorf("a mirror is %+v", m)
		}
	}
	if got := w.get(gm, all[0].ID); len(got.Mirrors) != 2 || !got.Begins.Equal(all[0].Begins) || !got.Ends.Equal(all[0].Ends) {
		t.Errorf("alone it is %+v", got)
	}
}

// One more event costs one read, and one more for its mirror.
func TestList_AnotherEvent_CostsItsOwnReadsAlone(t *testing.T) {
	t.Parallel()
	cost := func(events int, mirrored bool) storetest.Cost {
		w := newWorld(t)
		for i := range events {
			if mirrored {
				w.insert(work, fmt.Sprint("Event ", i), thursday)
			} else {
				w.known(fmt.Sprint("event", i), thursday, "2026-03-05T10:00:00Z")
			}
		}
		if mirrored {
			w.mirrorWork()
			w.settle()
		}
		w.counter.Reset()
		if got := w.list(gm, within("2026-03-01T00:00:00Z", "2026-04-01T00:00:00Z"), 100); len(got) != events {
			t.Errorf("%d are listed, want %d", len(got), events)
		}
		return w.counter.Reset()
	}
	if few, many := cost(3, false), cost(20, false); many.Reads != few.Reads+17 {
		t.Errorf("3 events cost %+v, 20 cost %+v", few, many)
	}
	if few, many := cost(3, true), cost(20, true); many.Reads != few.Reads+2*17 {
		t.Errorf("3 events with mirrors cost %+v, 20 cost %+v", few, many)
	}
}

func TestList_ABadRange_IsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	year := within("2026-01-01T00:00:00Z", "2027-01-02T00:00:00Z") // 366 days
	w.wantListed(year)
	for name, c := range map[string]struct {
		in   mirrors.Range
		kind fault.Kind
	}{
		"an end before the start":  {within("2026-03-02T00:00:00Z", "2026-03-01T00:00:00Z"), fault.Invalid},
		"an end at the start":      {within("2026-03-02T00:00:00Z", "2026-03-02T00:00:00Z"), fault.Invalid},
		"over 366 days":            {mirrors.Range{Start: year.Start, End: year.End.Add(time.Second)}, fault.Invalid},
		"the year 1":               {within("0001-01-01T00:00:00Z", "0001-01-02T00:00:00Z"), fault.Invalid},
		"the year 9999":            {within("9999-12-01T00:00:00Z", "9999-12-31T23:59:59Z"), fault.Invalid},
		"another person's account": {mirrors.Range{Start: year.Start, End: year.End, AccountID: annes}, fault.NotFound},
		"an unknown account":       {mirrors.Range{Start: year.Start, End: year.End, AccountID: "acc_none"}, fault.NotFound},
	} {
		if _, err := w.events().List(w.ctx, gm, c.in, store.Paging{Limit: 100}, nil); !fault.Is(err, c.kind) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
