package mirrors_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"questscheduler/demo/sim/control"
	"questscheduler/internal/gcal"
	"questscheduler/internal/mirror"
	"questscheduler/internal/store"
	"questscheduler/mirrors/plan"
)

// An answer to a route's call may be observed while a listing is read that shows the event too.
func TestFirstListing_EventObservedDuringIt_IsKnownOnce(t *testing.T) {
	t.Parallel()
	for name, changed := range map[string]bool{"as it is": false, "as it was": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newMirroringWorld(t)
			w.insertMany(work, 12)
			shown := w.shown(work, workMail)[0]
			title := shown.Details.Summary
			if changed {
				title = "Changed"
				w.must(w.clock.Advance(time.Second))
				w.turn(shown, title, thursday)
			}
			w.relist(work)
			o := &overtaken{Store: w.service.Store, query: "canonical events of a calendar"}
			o.then = func() {
				_, _, err := w.service.Observe(w.ctx, refTo(work), shown, false, cause)
				w.must(err)
			}
			w.service.Store = o
			w.sync(work)
			w.run(2 * time.Minute)
			var of []mirror.Event
			for _, event := range w.canonical(work) {
				if event.EventID == shown.ID {
					of = append(of, event)
				}
			}
			if o.then != nil || len(of) != 1 || of[0].Title != title {
				t.Fatalf("known are %+v", of)
			}
			entries, _, err := mirror.LoadJournal(w.ctx, w.memory, of[0].ID, store.Paging{Limit: 0})
			w.must(err)
			noted := 0
			for _, entry := range entries {
				if entry.Step == mirror.StepObserved {
					noted++
				}
			}
			if changes := map[bool]int{false: 1, true: 2}[changed]; noted != changes {
				t.Errorf("the journal has %d observations, want %d", noted, changes)
			}
			if titles := w.titles(home); len(titles) != 12 {
				t.Errorf("home shows %v", titles)
			}
		})
	}
}

// What an event is marked with proves nothing where the document that it names is another's.
func TestSync_LongPageWithMarksThatNameNoMirrorOfTheEvent_IsReadAllTheSame(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		marks func(m mirror.Mirror) map[string]string
		stays bool
	}{
		"none":              {func(mirror.Mirror) map[string]string { return nil }, true},
		"of another's":      {func(mirror.Mirror) map[string]string { return map[string]string{plan.MarkMirror: "a/b"} }, true},
		"an earlier event":  {func(m mirror.Mirror) map[string]string { return plan.Marks(m, "here") }, false},
		"a forgotten event": {func(mirror.Mirror) map[string]string { return plan.Marks(mirror.Mirror{ID: "mir_none"}, "here") }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newMirroringWorld(t)
			w.insertMany(work, 12)
			w.sync(work)
			w.run(time.Minute)
			w.sync(home)
			of := w.mirrors()[0]
			at := w.copyOfMirror(of)
			_, err := w.full.InsertContent(w.ctx, refTo(home), mirror.EventPrefix+"earlier", contentOf(at), row.marks(of))
			w.must(err)
			w.relist(home)
			w.sync(home)
			w.wantLog("a consumer failed", 0)
			w.run(10 * time.Minute)
			if titles := w.titles(home); (len(titles) == 13) != row.stays {
				t.Errorf("home shows %v", titles)
			}
		})
	}
}

// copyOfMirror is the event of a mirror at home.
func (w *world) copyOfMirror(m mirror.Mirror) gcal.Event {
	w.Helper()
	event, err := w.full.Get(w.ctx, refTo(home), m.EventID)
	w.must(err)
	return event
}

// The journal of an installation that only observes says what it would do.
func TestObserving_ItsJournal_SaysThatItWould(t *testing.T) {
	t.Parallel()
	w := newMirroringWorld(t)
	w.service.Observing = true
	w.insert(work, "Dentist", thursday)
	w.sync(work)
	entries, _, err := mirror.LoadJournal(w.ctx, w.memory, w.idOf("Dentist"), store.Paging{Limit: 0})
	w.must(err)
	if len(entries) != 2 || entries[0].Step != mirror.StepWouldPlan {
		t.Errorf("the journal is %+v", entries)
	}
	w.wantTitles(home)
}

// A cancelled event rests for an hour at most, and planning it more often does not move that.
func TestPlanEvent_CancelledAndShown_RestsForAnHour(t *testing.T) {
	t.Parallel()
	for planned, want := range map[time.Duration]time.Duration{
		30 * time.Minute: 30 * time.Minute, time.Hour: time.Hour, 61 * time.Minute: time.Hour, 0: time.Hour,
	} {
		t.Run(planned.String(), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			session := w.canonicalSession()
			w.put(session)
			w.connect(club, gm)
			w.must(w.service.PlanEvent(w.ctx, session.ID, cause))
			w.settle()
			session.Status, session.Version, session.PlanAt = "cancelled", 2, w.clock.Now().Add(planned)
			w.put(session)
			w.must(w.service.PlanEvent(w.ctx, session.ID, cause))
			if rests := w.planAt(session.ID).Sub(w.clock.Now()); rests != want {
				t.Errorf("it rests for %v, want %v", rests, want)
			}
		})
	}
}

// An occurrence that is not held has to be known as long as its own series, which is that of its
// calendar: guests' calendars give it the same id.
func TestPlanUID_CancelledOccurrence_IsKnownAsLongAsItsSeries(t *testing.T) {
	t.Parallel()
	cancelled := func(e *mirror.Event) { e.Status = "cancelled" }
	elsewhere := func(e *mirror.Event) { e.AccountID = club }
	shared := func(e *mirror.Event) { e.CalendarID = "shared@example.test" }
	type series []func(e *mirror.Event)
	for name, row := range map[string]struct {
		all   []series
		stays bool
	}{
		"held":                                 {[]series{{}}, true},
		"cancelled":                            {[]series{{cancelled}}, false},
		"held, and cancelled elsewhere":        {[]series{{elsewhere, cancelled}, {}}, true},
		"held, and cancelled in another":       {[]series{{shared, cancelled}, {}}, true},
		"cancelled, and held elsewhere":        {[]series{{elsewhere}, {cancelled}}, false},
		"not listed within an hour":            {nil, false},
		"not listed, and held in another":      {[]series{{shared}}, false},
		"not listed, and held for another one": {[]series{{func(e *mirror.Event) { e.EventID = "other" }}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			for i, changes := range row.all {
				w.stored("a"+string(rune('0'+i)), "Weekly", append(series{weekly, func(e *mirror.Event) {
					e.EventID, e.ICalUID = "e1", "e1@google.com"
				}}, changes...)...)
			}
			w.stored("b", "Weekly", exception("e1", at("2026-03-12T09:00:00Z")), cancelled)
			w.must(w.clock.Advance(time.Hour))
			w.must(w.service.PlanUID(w.ctx, gm, "e1@google.com", cause))
			_, err := mirror.LoadEvent(w.ctx, w.memory, "evt_b")
			if stays := err == nil; stays != row.stays {
				t.Errorf("it is known: %t, %v", stays, err)
			}
		})
	}
}

// A cancelled occurrence waits for its series, which may be listed later, or for its copy to be deleted;
// any other one for the day on which it comes within the window.
func TestPlanUID_Occurrence_IsDueByItsSeries(t *testing.T) {
	t.Parallel()
	type changes []func(e *mirror.Event)
	cancelled := func(e *mirror.Event) { e.Status = "cancelled" }
	far := func(e *mirror.Event) {
		e.Start.Time, e.End.Time = e.Start.Time.AddDate(0, 0, 500), e.End.Time.AddDate(0, 0, 500)
	}
	for name, row := range map[string]struct {
		occurrence func(e *mirror.Event)
		series     []changes // as it is at first, and later; none: not known
		want       time.Duration
	}{
		"not held, of a held series":                         {cancelled, []changes{{}}, 0},
		"not held, of a series that is not known":            {cancelled, nil, time.Hour},
		"not held, of a cancelled series, and in a copy yet": {cancelled, []changes{{}, {cancelled}}, time.Hour},
		"held, of a held series":                             {func(*mirror.Event) {}, []changes{{}}, 0},
		"held, in 504 days":                                  {far, []changes{{}}, 104*24*time.Hour + time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.mirrorWork()
			w.stored("b", "Weekly", exception("e1", at("2026-03-12T09:00:00Z")), row.occurrence)
			decide := func() { w.must(w.service.PlanUID(w.ctx, gm, "e1@google.com", cause)) }
			for _, is := range row.series {
				w.stored("e1", "Weekly", append(is, weekly)...)
				decide()
			}
			decide()
			var want time.Time
			if row.want > 0 {
				want = w.clock.Now().Add(row.want)
			}
			if due := w.planAt("evt_b"); !due.Equal(want) {
				t.Errorf("it is due at %v, want %v", due, want)
			}
		})
	}
}

// A cancelled occurrence costs nothing while its series is held, and goes with it.
func TestSync_CancelledOccurrence_RestsUntilItsSeriesGoes(t *testing.T) {
	t.Parallel()
	deleteAtWork := func(w *world, event gcal.Event) {
		_, err := w.full.DeleteQuietly(w.ctx, refTo(work), event.ID, "")
		w.must(err)
		w.sync(work)
	}
	for name, end := range map[string]func(w *world, series gcal.Event){
		"the series is deleted":      deleteAtWork,
		"it was not listed any more": func(w *world, series gcal.Event) { w.lose(work, series.ID); w.sync(work) },
		"its copy cannot be deleted for a while": func(w *world, series gcal.Event) {
			w.must(w.google.Control().Plant(control.Rule{Match: "events.delete", Status: 503, Calendar: homeMail}))
			deleteAtWork(w, series)
			w.run(5 * time.Minute)
			w.google.Control().Clear()
			w.run(25 * time.Hour)
		},
		"the calendar is not followed any more": func(w *world, _ gcal.Event) {
			policies, err := mirror.PoliciesOf(w.ctx, w.memory, gm)
			w.must(err)
			_, err = w.policies.SetEdges(w.ctx, gm, policies[0].ID, nil, cause)
			w.must(err)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newMirroringWorld(t)
			w.insert(work, "Stand-up", thursday)
			series := w.insert(work, "Weekly", thursday, "RRULE:FREQ=WEEKLY;COUNT=4")
			second, err := w.full.Instance(w.ctx, refTo(work), series.ID, at("2026-03-12T09:00:00Z"))
			w.must(err)
			deleteAtWork(w, second)
			w.run(10 * time.Minute)
			isOccurrence := func(e mirror.Event) bool { return e.SeriesID != "" && e.Status == "cancelled" }
			if known := w.canonical(work); !slices.ContainsFunc(known, isOccurrence) {
				t.Fatalf("known are %+v", known)
			}
			w.counter.Reset()
			w.run(24 * time.Hour)
			if cost := w.counter.Reset(); cost.Writes+cost.Deletes > 0 {
				t.Errorf("within a day it wrote %+v\n%s", cost, w.log.String())
			}
			end(w, series)
			w.run(3 * time.Hour)
			if known := w.canonical(work); slices.ContainsFunc(known, isOccurrence) {
				t.Errorf("left are %+v", known)
			}
		})
	}
}

// The events of a mirror that is left alone are another's business, whether the origin is there or not.
func TestWriter_MirrorThatIsLeftAlone_IsNotDeletedWithItsOrigin(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	e := s.event("e1", "Stand-up")
	s.run(time.Minute)
	m := s.only()
	m.State, m.Due = mirror.Suppressed, s.clock.Now()
	s.must(s.memory.Run(s.ctx, func(_ context.Context, tx store.Tx) error {
		if err := tx.Delete(mirror.EventPath(e.ID)); err != nil {
			return err
		}
		return tx.Set(mirror.Path(m.ID), mirror.Encode(m))
	}))
	s.write(s.writer, m)
	s.atHome()
	s.only()
}

// Its owner deleted an overlay calendar, and wants copies in the primary one.
func TestWriter_PrimaryOfAnAccountWithoutItsOverlay_IsWritten(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.set(mirror.PersonPath(gm), mirror.WriteOverlay(gm, home, mirror.OverlayCalendar{Generation: 1}.Lost(), stageStart)...)
	s.event("e1", "Stand-up")
	s.run(time.Minute)
	s.agree(1)
}
