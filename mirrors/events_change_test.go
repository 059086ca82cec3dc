package mirrors_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"questscheduler/demo/sim/control"
	"questscheduler/demo/sim/google"
	"questscheduler/fault"
	"questscheduler/internal/accounts"
	"questscheduler/internal/gcal"
	"questscheduler/internal/mirror"
	"questscheduler/internal/recurrence"
	"questscheduler/internal/store"
	"questscheduler/mirrors"
	"questscheduler/rules"
)

func TestEvents_WithoutWriting_AreUnavailable(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.create(dentist())
	events := w.events()
	events.ReadOnly = true
	_, err := events.Create(w.ctx, gm, "request", dentist(), cause)
	wantFault(t, "create", err, fault.Unavailable, "")
	_, err = events.Change(w.ctx, gm, made.ID, mirrors.Change{Title: new("New")}, cause)
	wantFault(t, "change", err, fault.Unavailable, "")
	wantFault(t, "delete", events.Delete(w.ctx, gm, made.ID, nil, cause), fault.Unavailable, "")
	if got, err := events.Get(w.ctx, gm, made.ID); err != nil || got.Title != "Dentist" {
		t.Errorf("it is %+v, %v", got, err)
	}
	w.wantTitles(work, "Dentist")
}

func TestChange_TheTitleAlone_KeepsTheRest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.mirrorWork()
	tentative := w.insert(work, "Maybe", thursday, "RRULE:FREQ=WEEKLY;COUNT=3")
	content := contentOf(tentative)
	content.Status, content.Visibility, content.Description = "tentative", "private", "Why"
	content.End.Zone = "Europe/London"
	_, err := w.full.PatchContent(w.ctx, refTo(work), tentative.ID, "", content)
	w.must(err)
	w.settle()
	known := w.canonical(work)[0]
	got := w.alter(known.ID, mirrors.Change{Title: new("Perhaps")})
	if got.Title != "Perhaps" || got.Version != known.Version+1 {
		t.Errorf("it is %+v, was %+v", got.Event, known)
	}
	d := w.atGoogle(got).Details
	if d.Summary != "Perhaps" || d.Status != "tentative" || d.Visibility != "private" || d.Description != "Why" || len(d.Recurrence) != 1 ||
		d.Start != tentative.Details.Start || d.End.Zone != "Europe/London" || !d.End.Equal(tentative.Details.End) {
		t.Errorf("the calendar shows %+v", d)
	}
}

func TestChange_Nothing_WritesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.create(dentist())
	etag := w.atGoogle(made).ETag
	for _, change := range []mirrors.Change{{}, {Title: new("Dentist"), Start: &made.Begins, End: &made.Ends}} {
		if got := w.alter(made.ID, change); got.Version != 1 || w.atGoogle(made).ETag != etag {
			t.Errorf("it is %+v", got.Event)
		}
	}
}

func TestChange_Times_Move(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.create(dentist())
	from, to := at("2026-03-09T10:00:00Z").Time, at("2026-03-11T10:00:00Z").Time
	moved := w.alter(made.ID, mirrors.Change{Start: &from, End: &to})
	if d := w.atGoogle(moved).Details; !d.Start.Time.Equal(from) || !d.End.Time.Equal(to) || d.Start.Zone != "Europe/Zurich" ||
		d.Summary != "Dentist" {
		t.Errorf("moved it is %+v", d)
	}
	day := w.alter(made.ID, mirrors.Change{Start: &from, End: &to, AllDay: new(true)})
	if d := w.atGoogle(day).Details; d.Start != (recurrence.Moment{Date: "2026-03-09"}) || d.End != (recurrence.Moment{Date: "2026-03-11"}) {
		t.Errorf("all day it is %+v", d)
	}
	timed := w.alter(made.ID, mirrors.Change{Start: &from, End: &to, AllDay: new(false), TimeZone: new("Asia/Tokyo")})
	if d := w.atGoogle(timed).Details; !d.Start.Time.Equal(from) || d.Start.Zone != "Asia/Tokyo" ||
		d.End.Zone != "Asia/Tokyo" || timed.ID != made.ID || timed.Version != 4 {
		t.Errorf("timed it is %+v, version %d", d, timed.Version)
	}
	w.alter(made.ID, mirrors.Change{Start: &from, End: &to, AllDay: new(true)})
	plain := w.alter(made.ID, mirrors.Change{Start: &from, End: &to, AllDay: new(false)}) // a day has no zone to keep
	if d := w.atGoogle(plain).Details; d.Start.Zone != "UTC" || d.End.Zone != "UTC" {
		t.Errorf("timed again it is %+v", d)
	}
}

func TestChange_AnInstance_LeavesItsSeries(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.mirrorWork()
	series := w.create(dentist(func(e *mirrors.NewEvent) { e.Recurrence = []string{"RRULE:FREQ=WEEKLY;COUNT=3"} }))
	instance, err := w.full.Instance(w.ctx, refTo(work), series.EventID, at("2026-03-12T09:00:00Z"))
	w.must(err)
	content := contentOf(instance)
	content.Summary = "Dentist, the second"
	_, err = w.full.PatchContent(w.ctx, refTo(work), instance.ID, "", content)
	w.must(err)
	w.sync(work)
	i := slices.IndexFunc(w.canonical(work), func(e mirror.Event) bool { return e.SeriesID != "" })
	if i < 0 {
		t.Fatalf("known are %+v", w.canonical(work))
	}
	known := w.canonical(work)[i]
	from, to := at("2026-03-13T09:00:00Z").Time, at("2026-03-13T10:00:00Z").Time
	moved := w.alter(known.ID, mirrors.Change{Title: new("Surgeon"), Start: &from, End: &to})
	if moved.SeriesID != series.EventID || !moved.Begins.Equal(from) || moved.Title != "Surgeon" {
		t.Errorf("moved is %+v", moved)
	}
	march := within("2026-03-01T00:00:00Z", "2026-04-01T00:00:00Z")
	s, x := series.ID[len("evt_"):], known.ID[len("evt_"):]
	w.wantListed(march, s+" 03-05 09:00", x+" 03-13 09:00", s+" 03-19 09:00")
	w.wantTitles(home, "Dentist", "Surgeon")
	w.must(w.events().Delete(w.ctx, gm, known.ID, nil, cause))
	w.settle()
	w.wantFollowedBySilence(refTo(work))
	w.wantListed(march, s+" 03-05 09:00", s+" 03-19 09:00")
	w.wantTitles(home, "Dentist")
}

func TestChange_DuringAnotherChange_IsAConflict(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.create(dentist())
	events := w.events()
	meddle := func() {
		content := contentOf(w.atGoogle(made))
		content.Summary += "!"
		_, err := w.full.PatchContent(w.ctx, refTo(work), made.EventID, "", content)
		w.must(err)
	}
	google := &meddling{EventGoogle: w.client, afterGet: meddle}
	events.Google = google
	_, err := events.Change(w.ctx, gm, made.ID, mirrors.Change{Location: new("Bern")}, cause)
	wantFault(t, "change", err, fault.Conflict, gcal.CodeStale)
	google.afterGet = meddle
	wantFault(t, "delete", events.Delete(w.ctx, gm, made.ID, nil, cause), fault.Conflict, gcal.CodeStale)
	w.wantTitles(work, "Dentist!!")
	got := w.alter(made.ID, mirrors.Change{Location: new("Bern")})
	if got.Title != "Dentist!!" || got.Location != "Bern" {
		t.Errorf("it is %+v", got.Event)
	}
}

func TestChange_ABadOne_IsRefusedAndNothingWritten(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.create(dentist())
	timed := w.create(dentist(func(e *mirrors.NewEvent) { e.Recurrence = []string{"RRULE:FREQ=HOURLY;COUNT=3"} }))
	from, to := at("2026-03-09T10:00:00Z").Time, at("2026-03-11T10:00:00Z").Time
	w.counter.Reset()
	for name, c := range map[string]struct {
		id     string
		change mirrors.Change
	}{
		"a start alone":              {made.ID, mirrors.Change{Start: &from}},
		"an end alone":               {made.ID, mirrors.Change{End: &to}},
		"a zone alone":               {made.ID, mirrors.Change{TimeZone: new("Asia/Tokyo")}},
		"all day alone":              {made.ID, mirrors.Change{AllDay: new(true)}},
		"an end before the start":    {made.ID, mirrors.Change{Start: &to, End: &from}},
		"an unknown zone":            {made.ID, mirrors.Change{Start: &from, End: &to, TimeZone: new("Mars")}},
		"days that recur each hour ": {timed.ID, mirrors.Change{Start: &from, End: &to, AllDay: new(true)}},
	} {
		_, err := w.events().Change(w.ctx, gm, c.id, c.change, cause)
		wantFault(t, name, err, fault.Invalid, "")
	}
	if cost := w.counter.Reset(); cost.Writes+cost.Deletes > 0 {
		t.Errorf("it wrote %+v", cost)
	}
	w.wantTitles(work, "Dentist", "Dentist")
}

// What a person's other program has made of it already is shown, though nothing is written.
func TestChange_AlreadyMadeInTheCalendar_IsShown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.create(dentist())
	content := contentOf(w.atGoogle(made))
	content.Summary = "Surgeon"
	_, err := w.full.PatchContent(w.ctx, refTo(work), made.EventID, "", content)
	w.must(err)
	by := cause
	by.Person = gm
	got, err := w.events().Change(w.ctx, gm, made.ID, mirrors.Change{Title: new("Surgeon")}, by)
	w.must(err)
	if got.Title != "Surgeon" || got.Version != made.Version+1 {
		t.Errorf("it is %+v", got.Event)
	}
	entries, _, err := mirror.LoadJournal(w.ctx, w.memory, made.ID, store.Paging{Limit: 1})
	w.must(err)
	if entries[0].Who != "" {
		t.Errorf("it counts as made by %s", entries[0].Who)
	}
}

// Each row is what Google answers to a change, and what is said of it.
func TestChange_ThatGoogleRefuses_SaysWhy(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		rules []control.Rule
		kind  fault.Kind
		code  string
	}{
		"the event is not found, its calendar is": {[]control.Rule{{Match: "events.get", Status: 404}}, fault.NotFound, ""},
		"refused": {[]control.Rule{{Match: "events.patch", Status: 400, Reason: "invalid"}}, fault.Provider, ""},
		"refused, and whether it may write is unknown": {
			[]control.Rule{{Match: "events.patch", Status: 400, Reason: "invalid"}, {Match: "events.list", Status: 503}}, fault.Provider, "",
		},
		"refused to a reader": {
			[]control.Rule{{Match: "events.patch", Status: 400, Reason: "invalid"}, {Match: "events.list", Body: []byte(`{"accessRole":"reader"}`)}},
			fault.Forbidden, mirrors.CodeNotWritable,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			made := w.create(dentist())
			for _, rule := range row.rules {
				w.must(w.google.Control().Plant(rule))
			}
			_, err := w.events().Change(w.ctx, gm, made.ID, mirrors.Change{Title: new("Surgeon")}, cause)
			if !fault.Is(err, row.kind) || row.code != "" && fault.CodeOf(err) != row.code {
				t.Errorf("it says %v, kind %s, code %q", err, fault.KindOf(err), fault.CodeOf(err))
			}
		})
	}
}

// Who may not change an event, and why.
func TestChange_OfAnEventThatIsNotOnesOwn_IsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.mirrorWork()
	_, err := w.full.Insert(w.ctx, refTo(annes), gcal.NewEvent{
		ID: "guest0", Summary: "Party", Start: at(thursday).Time, End: at(thursday).Time.Add(time.Hour), Attendees: []string{workMail},
	})
	w.must(err)
	w.settle()
	w.sync(work)
	copied := w.canonical(work)
	if len(copied) != 1 || copied[0].Title != "Party" {
		t.Fatalf("known are %+v", copied)
	}
	w.put(w.canonicalSession())
	w.known("anas", thursday, "2026-03-05T10:00:00Z", func(e *mirror.Event) { e.OwnerID, e.AccountID = ana, annes })
	w.known("revoked", thursday, "2026-03-05T10:00:00Z", func(e *mirror.Event) { e.AccountID = club })
	w.account(club, accounts.Revoked)
	w.connect(home, gm)
	for name, c := range map[string]struct {
		id   string
		kind fault.Kind
		says string
	}{
		"a guest's copy": {copied[0].ID, fault.Forbidden, "guest"},

		"a session":              {"evt_session", fault.Conflict, "group"},
		"another person's event": {"evt_anas", fault.NotFound, "no such event"},
		"an unknown event":       {"evt_none", fault.NotFound, "no such event"},
		"of a revoked account":   {"evt_revoked", fault.Revoked, ""},
	} {
		_, err := w.events().Change(w.ctx, gm, c.id, mirrors.Change{Title: new("Mine")}, cause)
		for what, err := range map[string]error{"change": err, "delete": w.events().Delete(w.ctx, gm, c.id, nil, cause)} {
			if !fault.Is(err, c.kind) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%s, %s: %v", name, what, err)
			}
		}
	}
	w.wantTitles(work, "Party")
}

func TestChange_OfAPollsSession_NamesThePoll(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.known("session", thursday, "2026-03-05T10:00:00Z", func(e *mirror.Event) { e.Source, e.PollID = mirror.SourcePoll, "the-poll" })
	_, err := w.events().Change(w.ctx, gm, "evt_session", mirrors.Change{Title: new("Mine")}, cause)
	for _, err := range []error{err, w.events().Delete(w.ctx, gm, "evt_session", nil, cause)} {
		if !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "the-poll") {
			t.Errorf("it says %v", err)
		}
	}
}

func TestDelete_WithoutMirrors_IsGone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.create(dentist())
	w.must(w.events().Delete(w.ctx, gm, made.ID, nil, cause))
	if _, err := w.events().Get(w.ctx, gm, made.ID); !fault.Is(err, fault.NotFound) {
		t.Errorf("it is still there: %v", err)
	}
	if w.atGoogle(made).EventState != rules.Gone {
		t.Error("it is in the calendar")
	}
	w.wantFollowedBySilence(refTo(work))
	wantFault(t, "again", w.events().Delete(w.ctx, gm, made.ID, nil, cause), fault.NotFound, "")
}

// An event that a person deleted before the sync ran is deleted for good, with its mirror.
func TestDelete_OfWhatIsGone_DeletesItsMirror(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.mirrorWork()
	made := w.create(dentist())
	_, err := w.full.DeleteQuietly(w.ctx, refTo(work), made.EventID, "")
	w.must(err)
	_, err = w.events().Change(w.ctx, gm, made.ID, mirrors.Change{Title: new("New")}, cause)
	wantFault(t, "change", err, fault.NotFound, "")
	w.must(w.events().Delete(w.ctx, gm, made.ID, nil, cause))
	w.settle()
	w.wantTitles(home)
	if left := w.mirrors(); len(left) > 0 {
		t.Errorf("left are %+v", left)
	}
	w.wantFollowedBySilence(refTo(work))
}

// The account lost the calendar, of which Google says as of an event that it does not know.
func TestEvents_OfALostCalendar_AreLeftAndSaid(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.addTeam(google.Writer)
	inTeam := func(e *mirrors.NewEvent) { e.CalendarID = team }
	single := w.create(dentist(inTeam))
	series := w.create(dentist(inTeam, func(e *mirrors.NewEvent) { e.Recurrence = []string{"RRULE:FREQ=WEEKLY;COUNT=3"} }))
	occurrence := series.ID + "_20260312T090000Z"
	w.must(w.google.Share(team, work, google.NoAccess))
	for _, id := range []string{single.ID, series.ID, occurrence} {
		_, err := w.events().Change(w.ctx, gm, id, mirrors.Change{Title: new("Mine")}, cause)
		wantFault(t, "a change of "+id, err, fault.Forbidden, mirrors.CodeNotWritable)
		err = w.events().Delete(w.ctx, gm, id, nil, cause)
		wantFault(t, "a deletion of "+id, err, fault.Forbidden, mirrors.CodeNotWritable)
	}
	for _, made := range []mirrors.Shown{single, series} {
		event, err := w.full.Get(w.ctx, gcal.Ref{Account: annes, Calendar: team}, made.EventID)
		w.must(err)
		if event.EventState == rules.Gone {
			t.Errorf("%s is deleted", made.ID)
		}
		if _, err := w.events().Get(w.ctx, gm, made.ID); err != nil {
			t.Errorf("it is not shown any more: %v", err)
		}
	}
	w.must(w.google.Share(team, work, google.Writer))
	w.must(w.events().Delete(w.ctx, gm, single.ID, nil, cause))
}

// The calendar is lost between the deletion and its check.
func TestDelete_CalendarLostDuring_IsAnError(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.addTeam(google.Writer)
	made := w.create(dentist(func(e *mirrors.NewEvent) { e.CalendarID = team }))
	events := w.events()
	events.Google = &meddling{EventGoogle: events.Google, afterGet: func() { w.must(w.google.Share(team, work, google.NoAccess)) }}
	err := events.Delete(w.ctx, gm, made.ID, nil, cause)
	wantFault(t, "a deletion", err, fault.Forbidden, mirrors.CodeNotWritable)
}
