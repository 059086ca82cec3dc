package mirrors_test

import (
	"testing"
	"time"

	"questscheduler/internal/gcal"
	"questscheduler/internal/mirror"
	"questscheduler/internal/store"
	"questscheduler/internal/test/points"
	"questscheduler/mirrors"
)

// observed is an event that an account's calendar shows now, in a world that knows what was before.
type observed struct {
	account string
	begin   func(t *testing.T) (*world, gcal.Event)
}

// observations are what a calendar may show, one of each kind.
func observations() map[string]observed {
	get := func(w *world, account, id string) gcal.Event {
		event, err := w.full.Get(w.ctx, refTo(account), id)
		w.must(err)
		return event
	}
	second := at("2026-03-12T09:00:00Z")
	series := func(t *testing.T, account string) (*world, gcal.Event) {
		w := newMirroringWorld(t)
		made := w.insert(work, "Weekly", thursday, "RRULE:FREQ=WEEKLY;COUNT=3")
		w.sync(work)
		w.sync(home)
		if account == home {
			made = w.masterAtHome()
		}
		instance, err := w.full.Instance(w.ctx, refTo(account), made.ID, second)
		w.must(err)
		return w, instance
	}
	return map[string]observed{
		"a new event": {work, func(t *testing.T) (*world, gcal.Event) {
			w := newShownWorld(t)
			return w, w.insert(work, "Stand-up", thursday)
		}},
		"a new one with the id of a mirror": {work, func(t *testing.T) (*world, gcal.Event) {
			w := newShownWorld(t)
			shown := w.copyAtHome("Dentist")
			made, err := w.full.InsertContent(w.ctx, refTo(work), shown.ID, contentOf(shown), shown.Private)
			w.must(err)
			return w, made
		}},
		"a changed event": {work, func(t *testing.T) (*world, gcal.Event) {
			w := newShownWorld(t)
			w.turn(get(w, work, "event1"), "Doctor", friday)
			return w, get(w, work, "event1")
		}},
		"a deleted event": {work, func(t *testing.T) (*world, gcal.Event) {
			w := newShownWorld(t)
			w.erase(work, "event1")
			return w, get(w, work, "event1")
		}},
		"one that holds back another": {work, func(t *testing.T) (*world, gcal.Event) {
			w, made := fourInterviews(t)
			w.turn(made[0], "Surgery", "2026-03-10T09:00:00Z")
			return w, get(w, work, made[0].ID)
		}},
		"one that is held back": {work, func(t *testing.T) (*world, gcal.Event) {
			w, made := fourInterviews(t)
			w.turn(made[3], "Surgery", "2026-03-10T09:00:00Z")
			return w, get(w, work, made[3].ID)
		}},
		"one like many": {work, func(t *testing.T) (*world, gcal.Event) {
			w, _ := fourInterviews(t)
			return w, w.insert(work, "Interview", "2026-03-10T09:00:00Z")
		}},
		"a moved occurrence": {work, func(t *testing.T) (*world, gcal.Event) {
			w, instance := series(t, work)
			w.turn(instance, "Late", "2026-03-12T15:00:00Z")
			return w, get(w, work, instance.ID)
		}},
		"a copy": {home, func(t *testing.T) (*world, gcal.Event) {
			w := newMirroringWorld(t)
			w.insert(work, "Dentist", thursday)
			w.sync(work)
			return w, w.atHome()
		}},
		"a changed copy": {home, func(t *testing.T) (*world, gcal.Event) {
			w := newShownWorld(t)
			w.change(w.copyAtHome("Dentist"), "Mine")
			return w, w.copyAtHome("Mine")
		}},
		"a deleted copy": {home, func(t *testing.T) (*world, gcal.Event) {
			w := newShownWorld(t)
			shown := w.copyAtHome("Dentist")
			w.delete(shown)
			return w, get(w, home, shown.ID)
		}},
		"a deleted occurrence of a copy": {home, func(t *testing.T) (*world, gcal.Event) {
			w, instance := series(t, home)
			w.delete(instance)
			return w, get(w, home, instance.ID)
		}},
		"a stray": {home, func(t *testing.T) (*world, gcal.Event) {
			w := newMirroringWorld(t)
			w.stray(1, "here")
			return w, w.atHome()
		}},
		"a deleted occurrence of an unknown series": {work, func(t *testing.T) (*world, gcal.Event) {
			w := newMirroringWorld(t)
			return w, w.goneOccurrence(mirror.EventPrefix + "unknown")
		}},
		"the session of a poll": {work, func(t *testing.T) (*world, gcal.Event) {
			w := newSessionWorld(t)
			return w, w.session()
		}},
	}
}

// Whichever read or write fails, an observation says so: what was taken for absent, or for written,
// would never be looked for again.
func TestObserve_DocumentUnreadOrUnwritten_SaysThatItFailed(t *testing.T) {
	t.Parallel()
	for name, row := range observations() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, points := range []func(w *world) (*points.Points, int){
				func(w *world) (*points.Points, int) { return w.fallible(), 3 },
				func(w *world) (*points.Points, int) { return w.unwritable(), 0 },
			} {
				w, event := row.begin(t)
				p, least := points(w)
				p.NoneUnread(t, least, func() error {
					_, _, err := w.service.Observe(w.ctx, refTo(row.account), event, false, cause)
					return err
				})
			}
		})
	}
}

// Another changes an event between the call that made it and its observation: the change is theirs.
func TestJournal_ChangedBeforeItsAnswerIsApplied_NamesNobody(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.mirrorWork()
	w.settle()
	events := w.events()
	events.Google = &meddling{EventGoogle: events.Google, afterInsert: func() {
		w.must(w.clock.Advance(time.Second))
		made := w.shown(work, workMail)[0]
		content := contentOf(made)
		content.Location = "Bern"
		_, err := w.full.PatchContent(w.ctx, refTo(work), made.ID, "", content)
		w.must(err)
		w.sync(work)
	}}
	made, err := events.Create(w.ctx, gm, "request", dentist(), byGM)
	w.must(err)
	if got := w.journal(gm, made.ID); len(got) != 1 || got[0] != ">1 confirmed by " || made.Location != "Bern" {
		t.Errorf("the journal says %q; it is in %q", got, made.Location)
	}
}

// An event of a group that could not be read is not one that nobody has.
func TestGet_AGroupsEventUnread_SaysThatItFailed(t *testing.T) {
	t.Parallel()
	w := newShownWorld(t)
	w.fallible().NoneUnread(t, 3, func() error {
		_, err := w.events().Get(w.ctx, gm, "evt_session")
		return err
	})
	take := func(mirror.JournalEntry) (bool, error) { return true, nil }
	w.fallible().NoneUnread(t, 3, func() error {
		_, err := w.events().Journal(w.ctx, gm, "evt_session", store.Paging{Limit: 9}, take)
		return err
	})
}

// A flight ends in another zone, which a change of its times alone keeps.
func TestChange_TimesOfAFlight_KeepTheZoneOfItsEnd(t *testing.T) {
	t.Parallel()
	from, to := at("2026-03-09T10:00:00Z").Time, at("2026-03-09T12:00:00Z").Time
	for name, row := range map[string]struct {
		change     mirrors.Change
		start, end string
	}{
		"moved":              {mirrors.Change{Start: &from, End: &to}, "Europe/Zurich", "Europe/London"},
		"in a zone":          {mirrors.Change{Start: &from, End: &to, TimeZone: new("Asia/Tokyo")}, "Asia/Tokyo", "Asia/Tokyo"},
		"as a day":           {mirrors.Change{Start: &from, End: new(to.AddDate(0, 0, 1)), AllDay: new(true)}, "", ""},
		"moved, and not all": {mirrors.Change{Start: &from, End: &to, AllDay: new(false)}, "Europe/Zurich", "Europe/London"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.mirrorWork()
			flight := w.insert(work, "Flight", thursday)
			content := contentOf(flight)
			content.End.Zone = "Europe/London"
			_, err := w.full.PatchContent(w.ctx, refTo(work), flight.ID, "", content)
			w.must(err)
			w.settle()
			d := w.atGoogle(w.alter(w.canonical(work)[0].ID, row.change)).Details
			if d.Start.Zone != row.start || d.End.Zone != row.end {
				t.Errorf("it is from %+v to %+v", d.Start, d.End)
			}
		})
	}
}
