package mirrors_test

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"questscheduler/demo/sim/control"
	"questscheduler/demo/sim/google"
	"questscheduler/internal/accounts"
	"questscheduler/internal/calendars"
	"questscheduler/internal/gcal"
	"questscheduler/internal/mirror"
	"questscheduler/internal/store"
	"questscheduler/mirrors"
)

// overlays are home's overlay calendars.
func (s *stage) overlays() (found []gcal.CalendarEntry) {
	s.Helper()
	entries, err := s.full.Calendars(s.ctx, home)
	s.must(err)
	for _, entry := range entries {
		if entry.Summary == mirror.OverlaySummary {
			found = append(found, entry)
		}
	}
	return found
}

func (s *stage) person() mirror.OverlayCalendar {
	s.Helper()
	person, err := mirror.LoadPerson(s.ctx, s.memory, gm)
	s.must(err)
	return person.Overlays[home]
}

// grant gives the program another grant of home's.
func (s *stage) grant(scopes ...string) {
	s.Helper()
	grant, err := s.google.NewGrant(home, scopes...)
	s.must(err)
	if s.full == s.client {
		s.full = s.clientOf(s.grants[home])
	}
	s.grants[home] = grant
}

// clientOf is a client with a grant of home's.
func (s *stage) clientOf(grant google.Grant) *gcal.Client {
	other := &stage{T: s.T, clock: s.clock, google: s.google, grants: map[string]google.Grant{home: grant}, broken: map[string]bool{}}
	return other.newClient()
}

func (s *stage) deleteCalendar(id string) {
	s.Helper()
	request, err := http.NewRequestWithContext(s.ctx, http.MethodDelete, "http://google.sim/calendar/v3/calendars/"+url.PathEscape(id), nil)
	s.must(err)
	request.Header.Set("Authorization", "Bearer "+s.grants[home].AccessToken)
	response, err := (&http.Client{Transport: control.Transport(s.google.Handler())}).Do(request)
	s.must(err)
	s.must(response.Body.Close())
	if response.StatusCode != http.StatusNoContent {
		s.Fatalf("the calendar was not deleted: %s", response.Status)
	}
}

func TestOverlay_OnFirstUse_IsCreatedOnceAndFollowed(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.toOverlay()
	for _, id := range []string{"e1", "e2", "e3"} {
		s.event(id, id)
	}
	s.run(2 * time.Minute)
	s.each(3)
	found := s.overlays()
	if len(found) != 1 || found[0].TimeZone != "Europe/Zurich" || strings.Contains(found[0].Description, home) ||
		s.person().CalendarID != found[0].ID {
		t.Fatalf("the calendars are %+v, recorded is %+v", found, s.person())
	}
	calendar, _, err := calendars.Load(s.ctx, s.memory, home, found[0].ID)
	s.must(err)
	if calendar.Interests[mirror.Consumer] != 1 || !calendar.SyncPending {
		t.Errorf("it is followed by %v, a sync is pending: %v", calendar.Interests, calendar.SyncPending)
	}
}

func TestOverlay_ALostAnswer_CreatesNoSecondCalendar(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.toOverlay()
	s.must(s.google.Control().Plant(control.Rule{Match: "calendars.insert", LostAnswer: true, Times: 1}))
	s.event("e1", "Stand-up")
	s.run(10 * time.Minute)
	s.each(1)
	if found := s.overlays(); len(found) != 1 {
		t.Errorf("the calendars are %+v", found)
	}
}

// Without the list of calendars nobody can find what a lost answer left.
func TestOverlay_ALostAnswerWithoutTheList_AsksItsOwner(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.toOverlay()
	s.grant(google.ScopeEvents, google.ScopeAppCreated)
	s.must(s.google.Control().Plant(control.Rule{Match: "calendars.insert", LostAnswer: true, Times: 1}))
	s.event("e1", "Stand-up")
	s.run(time.Hour)
	if m := s.only(); m.State != mirror.Failed || !strings.Contains(m.LastError, "allow the list of calendars") {
		t.Errorf("the mirror is %s: %s", m.State, m.LastError)
	}
	if found := s.overlays(); len(found) != 1 {
		t.Errorf("the calendars are %+v", found)
	}
	s.grant()
	s.run(25 * time.Hour)
	s.each(1)
}

func TestOverlay_WithoutTheList_IsCreated(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.toOverlay()
	s.grant(google.ScopeEvents, google.ScopeAppCreated)
	s.event("e1", "Stand-up")
	s.run(2 * time.Minute)
	if found := s.overlays(); len(found) != 1 || found[0].TimeZone != "Europe/Zurich" || s.only().State != mirror.Active {
		t.Errorf("the calendars are %+v, the mirror %+v", found, s.only())
	}
}

func TestOverlay_WithoutTheScope_SaysWhatToDo(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.toOverlay()
	s.grant(google.ScopeEvents, google.ScopeCalendarListReadonly)
	s.event("e1", "Stand-up")
	s.run(time.Hour)
	m := s.only()
	if m.State != mirror.Failed || !strings.Contains(m.LastError, "link it again") || !m.Due.After(s.clock.Now().Add(20*time.Hour)) {
		t.Errorf("the mirror is %s, due %v: %s", m.State, m.Due, m.LastError)
	}
	if calls := s.google.Control().Calls()["calendars.insert"]; calls != 1 {
		t.Errorf("it was tried %d times", calls)
	}
}

func TestOverlay_DeletedByItsOwner_IsLeftAloneUntilEdgesAreSet(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.toOverlay()
	s.event("e1", "Stand-up")
	s.event("e2", "Review")
	s.run(2 * time.Minute)
	s.deleteCalendar(s.overlays()[0].ID)
	s.event("e1", "Retrospective")
	s.run(time.Hour)
	for _, m := range s.mirrors() {
		if m.State != mirror.Suppressed || !m.Due.IsZero() {
			t.Errorf("the mirror of %s is %s, due %v: %s", m.CanonicalID, m.State, m.Due, m.LastError)
		}
	}
	if overlay := s.person(); !overlay.Suppressed || len(s.overlays()) != 0 {
		t.Fatalf("recorded is %+v, the calendars are %+v", overlay, s.overlays())
	}
	s.event("e3", "Planning")
	s.run(time.Hour)
	if len(s.overlays()) != 0 {
		t.Fatal("it was created again")
	}
	s.setEdgesAgain()
	s.run(5 * time.Minute)
	s.each(3)
}

// An exception may be the first mirror that is written after the calendar was deleted.
func TestOverlay_DeletedBeforeAnExceptionIsWritten_IsLeftAloneWithIt(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.toOverlay()
	series := s.event("e1", "Weekly", weekly)
	s.run(2 * time.Minute)
	s.deleteCalendar(s.overlays()[0].ID)
	s.event("e1_x", "Late", exception(series.EventID, at("2026-03-12T09:00:00Z")), func(e *mirror.Event) {
		e.Start, e.End = at("2026-03-12T14:00:00Z"), at("2026-03-12T15:00:00Z")
	})
	s.run(5 * time.Minute)
	if all := s.mirrors(); len(all) != 2 {
		t.Errorf("the mirrors are %+v", all)
	}
	for _, m := range s.mirrors() {
		if m.State != mirror.Suppressed || !m.Due.IsZero() {
			t.Errorf("the mirror of %s is %s, due %v: %s", m.CanonicalID, m.State, m.Due, m.LastError)
		}
	}
}

// setEdgesAgain is what setting edges to home does.
func (s *stage) setEdgesAgain() {
	s.Helper()
	s.must(s.memory.Run(s.ctx, func(_ context.Context, tx store.Tx) error {
		return tx.Merge(mirror.PersonPath(gm), mirror.WriteOverlay(gm, home, s.person().Again(), s.clock.Now())...)
	}))
	for _, id := range []string{"e1", "e2", "e3"} {
		s.plan(id + "@google.com")
	}
}

func TestOverlay_TwoWritersAtOnce_CreateOneCalendar(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.toOverlay()
	s.event("e1", "Stand-up")
	s.event("e2", "Review")
	var all sync.WaitGroup
	for _, m := range s.mirrors() {
		for range 4 {
			writer := s.newConcurrentWriter()
			all.Go(func() { s.attempt(writer, m) })
		}
	}
	all.Wait()
	s.run(10 * time.Minute)
	s.each(2)
}

// listing is Google whose list of calendars takes a time.
type listing struct {
	mirrors.Google
	during func()
}

func (l *listing) Calendars(ctx context.Context, account string) ([]gcal.CalendarEntry, error) {
	entries, err := l.Google.Calendars(ctx, account)
	l.during()
	return entries, err
}

// Google takes no id for a calendar: a call that outlasts its lease could make a second one.
func TestOverlay_ListedSlowly_IsCreatedWithinItsLease(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		takes   time.Duration
		created int
	}{"in time": {40 * time.Second, 1}, "too slow": {41 * time.Second, 0}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			s.toOverlay()
			s.event("e1", "Stand-up")
			s.writer.Google = &listing{s.writer.Google, sync.OnceFunc(func() { s.must(s.clock.Advance(c.takes)) })}
			s.write(s.writer, s.only())
			if found := s.overlays(); len(found) != c.created {
				t.Errorf("the calendars are %+v, the mirror %+v", found, s.only())
			}
			s.run(10 * time.Minute)
			s.each(1)
			if m := s.only(); m.LastError != "" {
				t.Errorf("the mirror says %q", m.LastError)
			}
		})
	}
}

// The person deletes the overlay calendar, or sets other edges, while an attempt is under way.
func TestOverlay_DecidedOtherwiseDuringItsCreation_IsNotRecorded(t *testing.T) {
	t.Parallel()
	for name, decide := range map[string]func(o mirror.OverlayCalendar) mirror.OverlayCalendar{
		"another was recorded": func(o mirror.OverlayCalendar) mirror.OverlayCalendar {
			o.CalendarID, o.TryingUntil = "first", time.Time{}
			return o
		},
		"it is left alone":  mirror.OverlayCalendar.Lost,
		"it is begun again": func(o mirror.OverlayCalendar) mirror.OverlayCalendar { o.Generation++; return o },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			s.must(s.google.AddCalendar(google.Calendar{ID: "first", Owner: home}))
			count := &tally{}
			s.writer.Meter = count.count
			s.toOverlay()
			s.event("e1", "Stand-up")
			var decided mirror.OverlayCalendar
			s.writer.Google = &listing{s.writer.Google, sync.OnceFunc(func() {
				decided = decide(s.person())
				s.set(mirror.PersonPath(gm), mirror.WriteOverlay(gm, home, decided, s.clock.Now())...)
			})}
			s.write(s.writer, s.only())
			if recorded := s.person(); recorded != decided || slices.Contains(count.counted, "mirrors.OverlayCreated") {
				t.Errorf("recorded is %+v, want %+v; counted are %v", recorded, decided, count.counted)
			}
		})
	}
}

// The owner unlinks the account while its calendar is made. Nothing follows it until the account is linked
// again, since nothing would end that.
func TestOverlay_UnlinkedDuringItsCreation_IsRecordedAndNotFollowed(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(s *stage){
		"unlinked": func(s *stage) { s.account(home, accounts.Unlinked) },
		"revoked":  func(s *stage) { s.account(home, accounts.Revoked) },
		"removed": func(s *stage) {
			s.must(s.memory.Run(s.ctx, func(_ context.Context, tx store.Tx) error { return tx.Delete(accounts.Path(home)) }))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			s.toOverlay()
			s.event("e1", "Stand-up")
			s.writer.Google = &listing{s.writer.Google, sync.OnceFunc(func() { end(s) })}
			s.write(s.writer, s.only())
			id := s.overlays()[0].ID
			calendar, _, err := calendars.Load(s.ctx, s.memory, home, id)
			s.must(err)
			if calendar.Wanted() || s.person().CalendarID != id {
				t.Errorf("recorded is %+v, the calendar %+v", s.person(), calendar)
			}
			if name == "removed" {
				return
			}
			s.account(home, accounts.Active)
			account, err := accounts.Load(s.ctx, s.memory, home)
			s.must(err)
			s.must(s.writer.AccountBack(s.ctx, account, cause))
			calendar, _, err = calendars.Load(s.ctx, s.memory, home, id)
			s.must(err)
			if !calendar.Wanted() {
				t.Errorf("linked again, the calendar is %+v", calendar)
			}
		})
	}
}

// That events of an overlay calendar are not found proves no deletion of it.
func TestOverlay_NotFound_IsLeftAloneOnlyIfNobodyListsIt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		listing    []control.Rule
		suppressed bool
	}{
		"not listed":      {[]control.Rule{{Match: "calendarList.list", Body: []byte(`{"items":[]}`)}}, true},
		"listed":          {nil, false},
		"list unanswered": {[]control.Rule{{Match: "calendarList.list", Status: 503}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			s.toOverlay()
			s.event("e1", "Stand-up")
			s.run(2 * time.Minute)
			overlay := s.person().CalendarID
			for _, rule := range append(c.listing, control.Rule{Match: "events.*", Calendar: overlay, Status: 404}) {
				s.must(s.google.Control().Plant(rule))
			}
			s.event("e1", "Retrospective")
			s.run(2 * time.Minute)
			if m := s.only(); (m.State == mirror.Suppressed) != c.suppressed || s.person().Suppressed != c.suppressed ||
				!c.suppressed && (m.Attempts == 0 || m.LastError == "") {
				t.Errorf("the mirror is %+v, recorded is %+v", m, s.person())
			}
			s.google.Control().Clear()
			s.run(25 * time.Hour)
			if m := s.only(); (m.State == mirror.Active) == c.suppressed {
				t.Errorf("a day later the mirror is %+v", m)
			}
		})
	}
}

func TestOverlay_AnotherRecordedSince_GetsItsMirrors(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.toOverlay()
	s.event("e1", "Stand-up")
	s.run(2 * time.Minute)
	s.must(s.google.AddCalendar(google.Calendar{ID: "second", Owner: home}))
	now := s.person()
	s.deleteCalendar(now.CalendarID)
	now.CalendarID = "second"
	s.set(mirror.PersonPath(gm), mirror.WriteOverlay(gm, home, now, s.clock.Now())...)
	s.event("e1", "Retrospective")
	s.run(2 * time.Minute)
	s.each(1)
	if m := s.only(); m.TargetCalendarID != "second" {
		t.Errorf("the mirror is %+v", m)
	}
}

// Its owner deletes the calendar between the choice of a step and the claim.
func TestOverlay_LeftAloneBeforeItsClaim_IsNotCreated(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.toOverlay()
	s.event("e1", "Stand-up")
	s.writer.Store = &interrupted{s.writer.Store, func() {
		s.set(mirror.PersonPath(gm), mirror.WriteOverlay(gm, home, mirror.OverlayCalendar{Generation: 1}.Lost(), s.clock.Now())...)
	}}
	s.run(2 * time.Minute)
	if m := s.only(); len(s.overlays()) > 0 || m.State != mirror.Suppressed || !m.Due.IsZero() {
		t.Errorf("the calendars are %+v, the mirror %+v", s.overlays(), m)
	}
}
