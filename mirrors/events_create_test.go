package mirrors_test

import (
	"sync"
	"testing"
	"time"

	"questscheduler/demo/sim/google"
	"questscheduler/fault"
	"questscheduler/internal/accounts"
	"questscheduler/internal/gcal"
	"questscheduler/internal/mirror"
	"questscheduler/internal/store"
	"questscheduler/mirrors"
)

func TestCreate_InThePrimary_IsInTheCalendarAndTheList(t *testing.T) {
	t.Parallel()
	for _, calendar := range []string{"", "primary", workMail, "Work@Example.Test"} {
		w := newWorld(t)
		made := w.create(dentist(func(e *mirrors.NewEvent) { e.CalendarID = calendar }))
		if made.Source != mirror.SourceAPI || made.Version != 1 || made.CalendarID != workMail ||
			!made.Begins.Equal(at(thursday).Time) || made.Ends.Sub(made.Begins) != time.Hour {
			t.Errorf("%q: made is %+v", calendar, made)
		}
		there := w.atGoogle(made)
		if d := there.Details; d.Summary != "Dentist" || d.Description != "Bring the card" || d.Location != "Zurich" ||
			d.Start.Zone != "Europe/Zurich" {
			t.Errorf("%q: the calendar shows %+v", calendar, d)
		}
		if all := w.canonical(work); len(all) != 1 || all[0].ID != made.ID {
			t.Errorf("%q: known are %+v", calendar, all)
		}
		w.wantListed(within("2026-03-05T00:00:00Z", "2026-03-06T00:00:00Z"), made.ID[len("evt_"):]+" 03-05 09:00")
	}
}

func TestCreate_WithMirroring_ShowsInTheOtherAccount(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.mirrorWork()
	made := w.create(dentist())
	w.wantTitles(home, "Dentist")
	w.alter(made.ID, mirrors.Change{Title: new("Surgeon")})
	w.wantTitles(home, "Surgeon")
	w.must(w.events().Delete(w.ctx, gm, made.ID, nil, cause))
	w.settle()
	w.wantTitles(home)
	w.wantTitles(work)
}

// The events that a person made stay known when the edges from their calendar go.
func TestCreate_TheEdgeGoesLater_StaysListed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	policy := w.mirrorWork()
	made := w.create(dentist())
	_, err := w.policies.SetEdges(w.ctx, gm, policy.ID, nil, cause)
	w.must(err)
	w.settle()
	w.wantFollowed("acc_work/work@example.test")
	if got := w.get(gm, made.ID); got.Title != "Dentist" {
		t.Errorf("it is %+v", got)
	}
}

func (w *world) addTeam(role google.Role) gcal.Ref {
	w.Helper()
	w.must(w.google.AddCalendar(google.Calendar{ID: team, Summary: "Team", Owner: annes}))
	w.must(w.google.Share(team, work, role))
	return gcal.Ref{Account: work, Calendar: team}
}

func TestCreate_InAnotherCalendar_IsThere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ref := w.addTeam(google.Writer)
	made := w.create(dentist(func(e *mirrors.NewEvent) { e.CalendarID = team }))
	if made.CalendarID != team || made.AccountID != work || w.atGoogle(made).Details.Summary != "Dentist" {
		t.Errorf("made is %+v", made)
	}
	if got := w.alter(made.ID, mirrors.Change{Title: new("Surgeon")}); got.Title != "Surgeon" {
		t.Errorf("changed is %+v", got)
	}
	w.must(w.google.Share(ref.Calendar, work, google.Reader))
	_, err := w.events().Change(w.ctx, gm, made.ID, mirrors.Change{Title: new("Mine")}, cause)
	wantFault(t, "a change", err, fault.Forbidden, mirrors.CodeNotWritable)
	err = w.events().Delete(w.ctx, gm, made.ID, nil, cause)
	wantFault(t, "a deletion", err, fault.Forbidden, mirrors.CodeNotWritable)
}

func TestCreate_TheAnswerIsLost_TheSameRequestFindsItsEvent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	events := w.events()
	events.Google = &meddling{EventGoogle: w.client, lost: true}
	_, err := events.Create(w.ctx, gm, "request", dentist(), cause)
	wantFault(t, "the first", err, fault.Unavailable, "")
	first, err := w.events().Create(w.ctx, gm, "request", dentist(), cause)
	w.must(err)
	again, err := w.events().Create(w.ctx, gm, "request", dentist(), cause)
	w.must(err)
	other, err := w.events().Create(w.ctx, gm, "another", dentist(), cause)
	w.must(err)
	if first.ID != again.ID || first.EventID != again.EventID || again.Version != 1 || other.ID == first.ID {
		t.Errorf("first %s, again %+v, another %s", first.ID, again, other.ID)
	}
	w.settle()
	w.wantTitles(work, "Dentist", "Dentist")
	w.must(w.events().Delete(w.ctx, gm, first.ID, nil, cause))
	_, err = w.events().Create(w.ctx, gm, "request", dentist(), cause)
	wantFault(t, "after its deletion", err, fault.NotFound, "")
	w.wantTitles(work, "Dentist")
}

// A sync sees the new event before the route has its answer.
func TestCreate_ASyncIsFaster_OneCanonicalEvent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	events := w.events()
	events.Google = &meddling{EventGoogle: w.client, afterInsert: func() {
		w.must(w.queueSync(work))
		w.settle()
		if known := w.canonical(work); len(known) != 1 {
			t.Errorf("the sync knows %+v", known)
		}
	}}
	made, err := events.Create(w.ctx, gm, "request", dentist(), cause)
	w.must(err)
	if known := w.canonical(work); len(known) != 1 || known[0].ID != made.ID || made.Version != 1 || made.Source != mirror.SourceAPI {
		t.Errorf("made is %+v, known are %+v", made, known)
	}
	entries, _, err := mirror.LoadJournal(w.ctx, w.memory, made.ID, store.Paging{Limit: 100})
	w.must(err)
	if len(entries) != 1 {
		t.Errorf("the journal has %+v", entries)
	}
}

// Events that we make ourselves are nobody's copies, however many are equal, and whatever copies
// of the earlier ones were made before.
func TestCreate_EqualEventsOneAfterTheOther_AreAllMirrored(t *testing.T) {
	t.Parallel()
	w := newMirroringWorld(t)
	for range 5 {
		_, err := w.events().Create(w.ctx, gm, w.newID(), dentist(), cause)
		w.must(err)
		w.sync(work)
		w.run(2 * time.Minute)
	}
	w.wantTitles(home, "Dentist", "Dentist", "Dentist", "Dentist", "Dentist")
}

func TestCreate_DuringSyncs_OneCanonicalEventEach(t *testing.T) {
	t.Parallel()
	w := newMirroringWorld(t)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if _, err := w.events().Create(w.ctx, gm, w.newID(), dentist(), cause); err != nil {
				t.Errorf("create: %v", err)
			}
		})
	}
	for range 5 {
		w.must(w.queueSync(work))
		w.settle()
	}
	all.Wait()
	w.sync(work)
	w.run(2 * time.Minute)
	if known := w.canonical(work); len(known) != 4 {
		t.Errorf("known are %d: %+v", len(known), known)
	}
	w.wantTitles(home, "Dentist", "Dentist", "Dentist", "Dentist")
}

// Each row has a fault of its own, and nothing is written, here or at Google.
func TestCreate_AFault_IsNamedAndNothingWritten(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.addTeam(google.Reader)
	w.account("acc_revoked", accounts.Revoked)
	w.account("acc_unlinked", accounts.Unlinked)
	w.must(w.google.AddCalendar(google.Calendar{ID: "overlay", Owner: work}))
	w.set(mirror.PersonPath(gm), mirror.WriteOverlay(gm, work, mirror.OverlayCalendar{CalendarID: "overlay", Generation: 1}, stageStart)...)
	in := func(account, calendar string) func(e *mirrors.NewEvent) {
		return func(e *mirrors.NewEvent) { e.AccountID, e.CalendarID = account, calendar }
	}
	lines := func(lines ...string) func(e *mirrors.NewEvent) {
		return func(e *mirrors.NewEvent) { e.Recurrence = lines }
	}
	for name, c := range map[string]struct {
		change func(e *mirrors.NewEvent)
		kind   fault.Kind
		code   string
	}{
		"an unknown account":              {in("acc_none", ""), fault.NotFound, ""},
		"another person's account":        {in(annes, ""), fault.NotFound, ""},
		"a revoked account":               {in("acc_revoked", ""), fault.Revoked, accounts.CodeTokenExpired},
		"an unlinked account":             {in("acc_unlinked", ""), fault.Revoked, accounts.CodeNotLinked},
		"an unknown calendar":             {in(work, "none@example.test"), fault.Invalid, mirrors.CodeUnknownCalendar},
		"a calendar without write access": {in(work, team), fault.Forbidden, mirrors.CodeNotWritable},
		"an overlay calendar":             {in(work, "overlay"), fault.Invalid, mirrors.CodeOverlayCalendar},
		"an end before the start":         {func(e *mirrors.NewEvent) { e.End = e.Start.Add(-time.Second) }, fault.Invalid, ""},
		"no length":                       {func(e *mirrors.NewEvent) { e.End = e.Start }, fault.Invalid, ""},
		"a day that ends as it begins":    {func(e *mirrors.NewEvent) { e.AllDay = true }, fault.Invalid, ""},
		"an unknown zone":                 {func(e *mirrors.NewEvent) { e.TimeZone = "Mars/Olympus" }, fault.Invalid, ""},
		"this machine's zone":             {func(e *mirrors.NewEvent) { e.TimeZone = "Local" }, fault.Invalid, ""},
		"long ago":                        {func(e *mirrors.NewEvent) { e.Start = time.Time{} }, fault.Invalid, ""},
		"a rule that is none":             {lines("RRULE:FREQ=SOMETIMES"), fault.Invalid, ""},
		"another line":                    {lines("DTSTART:20260305T090000Z"), fault.Invalid, ""},
	} {
		before := w.state()
		w.counter.Reset()
		_, err := w.events().Create(w.ctx, gm, "request", dentist(c.change), cause)
		wantFault(t, name, err, c.kind, c.code)
		if cost := w.counter.Reset(); cost.Writes+cost.Deletes > 0 || w.state() != before {
			t.Errorf("%s: it wrote %+v", name, cost)
		}
	}
	w.wantTitles(work)
}

func TestCreate_AllDayAndSeries_AreAsAsked(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	quiet := w.create(dentist(func(e *mirrors.NewEvent) { e.Transparency, e.Visibility = "transparent", "private" }))
	if d := w.atGoogle(quiet).Details; d.Transparency != "transparent" || d.Visibility != "private" {
		t.Errorf("the quiet one is %+v", d)
	}
	w.must(w.events().Delete(w.ctx, gm, quiet.ID, nil, cause))
	day := w.create(dentist(func(e *mirrors.NewEvent) {
		e.AllDay, e.End = true, e.Start.AddDate(0, 0, 2)
	}))
	if d := w.atGoogle(day).Details; d.Start.Date != "2026-03-05" || d.End.Date != "2026-03-07" || !day.Event.Start.AllDay() {
		t.Errorf("the day is %+v", d)
	}
	series := w.create(dentist(func(e *mirrors.NewEvent) {
		e.Start, e.End = at("2026-03-16T08:00:00Z").Time, at("2026-03-16T09:00:00Z").Time
		e.Recurrence = []string{"RRULE:FREQ=WEEKLY;COUNT=4"}
	}))
	id := series.ID[len("evt_"):]
	w.wantListed(spring, id+" 03-23 08:00", id+" 03-30 07:00", id+" 04-06 07:00")
	if got := w.get(gm, series.ID); !got.Begins.Equal(at("2026-03-16T08:00:00Z").Time) || got.Ends.Sub(got.Begins) != time.Hour {
		t.Errorf("the series is from %v to %v", got.Begins, got.Ends)
	}
}
