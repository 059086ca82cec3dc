package attendees_test

import (
	"strings"
	"testing"
	"time"

	calendar "google.golang.org/api/calendar/v3"

	"questscheduler/attendees"
	"questscheduler/attendees/mappings"
	"questscheduler/demo/sim/control"
	"questscheduler/internal/accounts"
	"questscheduler/internal/outbox"
	"questscheduler/internal/store"
)

func (s *stage) plant(rule control.Rule) { s.Helper(); s.must(s.google.Control().Plant(rule)) }

// shared is an event that ana organizes and that ben may change.
func (s *stage) shared(id string) {
	s.Helper()
	event := meeting(id, "05", ben)
	event.GuestsCanModify = true
	s.insert(ana, event)
}

func TestRefusal_OfOneCopy_TakesTheNext(t *testing.T) {
	t.Parallel()
	for name, rule := range map[string]control.Rule{
		"reading is forbidden":  {Match: "events.get", Status: 403, Reason: "forbidden"},
		"changing is forbidden": {Match: "events.patch", Status: 403, Reason: "forbiddenForNonOrganizer"},
		"it is not found":       {Match: "events.get", Status: 404},
		"the grant is dead":     {Match: "events.get", Status: 401},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			s.shared("ev00001")
			rule.Calendar, rule.Times = ana, 2
			s.calls.hold = true
			s.sync(ana, ben)
			s.calls.hold = false
			s.plant(rule)
			s.run(2 * time.Minute)
			s.google.Control().Clear()
			s.guests(ana, "ev00001", ben, ben2)
			s.state("ev00001", ben2, attendees.Added)
			if record := s.record("ev00001"); s.counts[ben2] != 1 || record.Entries[ben2].Copy != s.key(ben) || record.Failures != 0 {
				t.Errorf("%v, %+v", s.counts, record)
			}
		})
	}
}

func TestFailures_FiveInARow_AreStoredAndRetriedDaily(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.plant(control.Rule{Match: "events.patch", Calendar: ana, Event: "ev00001", Status: 403, Reason: "forbidden"})
	s.insert(ana, meeting("ev00001", "25", ben))
	s.run(30 * time.Minute)
	record := s.record("ev00001")
	if record.Failures != 5 || record.Error == "" || record.FailedSince.IsZero() || record.Due.Sub(s.clock.Now()) < 22*time.Hour {
		t.Fatalf("after five failures: %+v", record)
	}
	inError, err := attendees.InError(s.ctx, s.memory, 10)
	if err != nil || len(inError) != 1 {
		t.Errorf("in error are %+v, %v", inError, err)
	}
	if _, calls := s.costs(func() { s.run(2 * time.Hour) }); calls["events.get"] != 0 {
		t.Errorf("it was tried again at once: %v", calls)
	}
	s.google.Control().Clear()
	s.must(s.clock.Advance(24 * time.Hour))
	s.run(2 * time.Minute)
	s.guests(ana, "ev00001", ben, ben2)
	s.state("ev00001", ben2, attendees.Added)
	record = s.record("ev00001")
	if record.Failures != 0 || record.Error != "" || !record.FailedSince.IsZero() {
		t.Errorf("after success: %+v", record)
	}
}

func TestError_OfAnEventThatChanges_IsTriedAgain(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.plant(control.Rule{Match: "events.patch", Calendar: ana, Event: "ev00001", Status: 403, Reason: "forbidden", Times: 5})
	s.insert(ana, meeting("ev00001", "25", ben))
	s.run(30 * time.Minute)
	s.patch(ana, "ev00001", &calendar.Event{Summary: "Changed"})
	s.run(time.Minute)
	s.guests(ana, "ev00001", ben, ben2)
	s.state("ev00001", ben2, attendees.Added)
}

// An event that failed for other reasons, and is then not found once, is not gone.
func TestEvent_NotFoundOnceAfterOtherFailures_IsTriedAgain(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.plant(control.Rule{Match: "events.get", Calendar: ana, Event: "ev00001", Status: 403, Reason: "forbidden", Times: 4})
	s.insert(ana, meeting("ev00001", "25", ben))
	s.run(5 * time.Minute)
	if record := s.record("ev00001"); record.Failures != 4 {
		t.Fatalf("after four refusals: %+v", record)
	}
	s.plant(control.Rule{Match: "events.get", Calendar: ana, Event: "ev00001", Status: 404, Times: 1})
	s.run(10 * time.Minute)
	s.guests(ana, "ev00001", ben, ben2)
	s.state("ev00001", ben2, attendees.Added)
}

func TestQuota_UsedUp_WaitsAndIsNoFailure(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.plant(control.Rule{Match: "events.get", Event: "ev00001", Status: 429, Times: 7})
	s.insert(ana, meeting("ev00001", "25", ben))
	s.sync(ana)
	if record := s.record("ev00001"); record.Failures != 0 || record.Due.Sub(s.clock.Now()) < 50*time.Second {
		t.Errorf("after the refusal: %+v", record)
	}
	s.run(15 * time.Minute)
	s.google.Control().Clear()
	s.run(2 * time.Minute)
	s.guests(ana, "ev00001", ben, ben2)
	s.state("ev00001", ben2, attendees.Added)
}

func TestLostAnswer_OfAPatch_IsFoundAgain(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.insert(ana, meeting("ev00001", "05", ben))
	s.plant(control.Rule{Match: "events.patch", LostAnswer: true, Times: 1})
	_, calls := s.costs(func() { s.run(3 * time.Minute) })
	s.guests(ana, "ev00001", ben, ben2)
	s.state("ev00001", ben2, attendees.Added)
	if calls["events.patch"] != 1 {
		t.Errorf("%v", calls)
	}
}

func TestGuests_CutByGoogle_AreNotWrittenBack(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.calls.omitted = true
	s.insert(ana, meeting("ev00001", "05", ben))
	_, calls := s.costs(func() { s.run(3 * time.Minute) })
	if calls["events.patch"] != 0 || !s.record("ev00001").Due.IsZero() {
		t.Errorf("%v, %+v", calls, s.record("ev00001"))
	}
	s.guests(ana, "ev00001", ben)
}

func TestAccount_ThatCannotBeUsed_IsWaitedFor(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.insert(ana, meeting("ev00001", "25", ben))
	s.run(time.Minute)
	s.set(accounts.Path("acc_"+ana), store.Set("status", string(accounts.Revoked)))
	s.mapped(mappings.Mapping{Primary: ana, Secondaries: []string{ana2}})
	s.followed = []string{ben}
	_, calls := s.costs(func() { s.run(5 * time.Minute) })
	record := s.record("ev00001")
	if calls["events.get"]+calls["events.patch"] != 0 || record.Error != "" || record.Due.Sub(s.clock.Now()) < 20*time.Hour {
		t.Errorf("%v, %+v", calls, record)
	}
	s.set(accounts.Path("acc_"+ana), store.Set("status", string(accounts.Active)))
	s.followed = []string{ana}
	s.relist(ana) // as linking it again does
	s.run(2 * time.Minute)
	s.guests(ana, "ev00001", ben)
}

func TestAccount_ThatCannotBeUsed_IsReplacedByAGuestWhoMayEdit(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.insert(ana, meeting("ev00001", "25", ben))
	s.calls.hold = true
	s.sync(ana)
	s.calls.hold = false
	s.set(accounts.Path("acc_"+ana), store.Set("status", string(accounts.Revoked)))
	s.followed = []string{ben}
	s.run(5 * time.Minute)
	s.guests(ana, "ev00001", ben)
	s.patch(ana, "ev00001", &calendar.Event{GuestsCanModify: true})
	s.run(2 * time.Minute)
	s.guests(ana, "ev00001", ben, ben2)
	s.state("ev00001", ben2, attendees.Added)
}

func TestAddress_ThatGoogleDoesNotTake_IsAnError(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.calls.deaf = true
	s.insert(ana, meeting("ev00001", "25", ben))
	s.run(30 * time.Minute)
	if record := s.record("ev00001"); record.Failures != 5 || !strings.Contains(record.Error, "did not take") || len(record.Entries) != 1 {
		t.Errorf("%+v", record)
	}
}

func TestObserving_SaysWhatItWouldDo_AndDoesItLater(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.mode = outbox.Observes
	s.restart()
	s.insert(ana, meeting("ev00001", "05", ben))
	s.run(2 * time.Minute)
	s.patch(ana, "ev00001", &calendar.Event{Summary: "Changed"})
	_, calls := s.costs(func() { s.run(2 * time.Minute) })
	s.guests(ana, "ev00001", ben)
	record := s.record("ev00001")
	if len(record.History) != 1 || !record.History[0].Would || record.History[0].Address != ben2 ||
		record.History[0].After != attendees.Adding || len(record.Entries) != 0 {
		t.Errorf("%+v", record)
	}
	if calls["events.patch"] != 0 || record.Due.IsZero() {
		t.Errorf("%v, due %v", calls, record.Due)
	}
	_, calls = s.costs(func() { s.run(10 * time.Minute) })
	if calls["events.get"] != 0 {
		t.Errorf("it was read again: %v", calls)
	}
	s.mode = outbox.Works
	s.restart()
	s.run(2 * time.Minute)
	s.guests(ana, "ev00001", ben, ben2)
	s.state("ev00001", ben2, attendees.Added)
}

// With QS_SYNC=off nothing is asked of Google, and all is done once it is on.
func TestResting_CallsNothing_AndDoesItLater(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.mode = outbox.Rests
	s.insert(ana, meeting("ev00001", "05", ben))
	_, calls := s.costs(func() { s.run(3 * time.Minute) })
	if calls["events.get"]+calls["events.patch"] != 0 || s.record("ev00001").Due.IsZero() || len(s.record("ev00001").History) != 0 {
		t.Errorf("%v, %+v", calls, s.record("ev00001"))
	}
	s.mode, s.followed = outbox.Works, nil
	s.run(time.Minute)
	s.guests(ana, "ev00001", ben, ben2)
}

func TestRun_OfNoEvent_Ends(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	for _, id := range []string{"", "a/b", "att_gone"} {
		if again, err := s.outbox.Run(s.ctx, attendees.Kind, id); err != nil || !again.IsZero() {
			t.Errorf("%q: %v, %v", id, again, err)
		}
	}
}

func TestHistory_OfManyChanges_KeepsTheLast(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.insert(ana, meeting("ev00001", "05", ben, guest))
	for range 8 {
		s.run(time.Minute)
		s.uninvite(ana, "ev00001", ben)
		s.run(time.Minute)
		s.invite(ana, "ev00001", ben)
	}
	s.run(time.Minute)
	history := s.record("ev00001").History
	last := history[len(history)-1]
	if len(history) != attendees.HistoryKept ||
		last.After != attendees.Added || last.Primary != ben || last.Trace == "" || last.Trigger == "" {
		t.Errorf("%d changes, the last is %+v", len(history), last)
	}
}

func TestRemoveEnded_LongAfterTheEnd_RemovesRecords(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.insert(ana, meeting("ev00001", "05", ben))
	s.insert(ana, meeting("ev00002", "25", ben))
	s.run(time.Minute)
	at := time.Date(2026, 3, 5, 10, 0, 0, 0, time.UTC).Add(attendees.Keep)
	for _, c := range []struct {
		now     time.Time
		removed int
	}{{at, 0}, {at.Add(time.Second), 1}} {
		removed, more, err := attendees.RemoveEnded(s.ctx, s.memory, c.now, 10)
		if err != nil || more || removed != c.removed {
			t.Errorf("at %v: %d, %t, %v; want %d", c.now, removed, more, err, c.removed)
		}
	}
	if s.record("ev00001").Version != 0 || s.record("ev00002").Version == 0 {
		t.Error("the wrong record was removed")
	}
}

func TestRecord_OfAnEventPutOff_EndsLater(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.insert(ana, meeting("ev00001", "05", ben))
	s.run(time.Minute)
	s.patch(ana, "ev00001", &calendar.Event{Start: meeting("", "25").Start, End: meeting("", "25").End})
	s.run(time.Minute)
	if got := s.record("ev00001").EndsAt; !got.Equal(time.Date(2026, 3, 25, 10, 0, 0, 0, time.UTC)) {
		t.Errorf("it ends %v", got)
	}
}

func TestDrain_OfLostTasks_WakesTheRecords(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	for _, id := range []string{"ev00001", "ev00002"} {
		s.insert(ana, meeting(id, "05", ben))
	}
	s.calls.hold = true // the tasks end without an effect
	s.sync(ana)
	s.calls.hold = false
	s.wakes.Crash()
	s.must(s.clock.Advance(5 * time.Minute))
	if woken, err := s.outbox.Drain(s.ctx); err != nil || woken[0].N != 2 {
		t.Fatalf("woken are %v, %v", woken, err)
	}
	s.settle()
	s.guests(ana, "ev00001", ben, ben2)
	s.guests(ana, "ev00002", ben, ben2)
	if woken, err := s.outbox.Drain(s.ctx); err != nil || woken[0].N != 0 {
		t.Errorf("woken are %v again, %v", woken, err)
	}
}

// What was due before the program died is correlated with what made it due.
func TestTrace_OfARecord_OutlivesTheProgram(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.insert(ana, meeting("ev00001", "05", ben))
	s.calls.hold = true
	s.sync(ana)
	s.calls.hold = false
	s.restart()
	s.followed = nil
	s.run(3 * time.Minute)
	s.guests(ana, "ev00001", ben, ben2)
	for _, change := range s.record("ev00001").History {
		if change.Trace != "trc_push" || change.Trigger != attendees.Kind {
			t.Errorf("%+v", change)
		}
	}
}

// An event that is read while it keeps changing is tried again soon, and holds no worker up.
func TestEvent_ThatKeepsChanging_IsLeftForSeconds(t *testing.T) {
	t.Parallel()
	s := newStage(t, ana)
	s.insert(ana, meeting("ev00001", "05", ben))
	s.calls.hold = true
	s.sync(ana)
	s.calls.hold = false
	s.must(s.clock.Advance(2 * time.Minute))
	id := s.record("ev00001").ID
	var change func()
	change = func() {
		record := s.record("ev00001")
		s.set(attendees.EventPath(id), store.Set("version", record.Version+1))
		s.calls.read = change
	}
	s.calls.read = change
	again, err := s.outbox.Run(s.ctx, attendees.Kind, id)
	if err != nil || again.Sub(s.clock.Now()) != 5*time.Second {
		t.Errorf("it is tried again %v, %v", again, err)
	}
	s.calls.read = nil
	again, err = s.outbox.Run(s.ctx, attendees.Kind, id)
	if err != nil || !again.IsZero() {
		t.Errorf("after the last change it is tried again %v, %v", again, err)
	}
	s.state("ev00001", ben2, attendees.Added)
}

func TestEvent_DeletedBeforeItIsWritten_IsSettled(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.insert(ana, meeting("ev00001", "05", ben))
	s.calls.hold = true
	s.sync(ana)
	s.calls.hold = false
	s.must(s.as(ana).Events.Delete(ana, "ev00001").Context(s.ctx).Do())
	s.must(s.clock.Advance(3 * time.Minute))
	_, err := s.outbox.Drain(s.ctx)
	s.must(err)
	s.settle()
	if record := s.record("ev00001"); !record.Due.IsZero() || !hasEnded(record, s.clock.Now()) || len(record.Entries) != 0 {
		t.Errorf("%+v", record)
	}
}

// What failed is no longer wanted, so the error goes with the observation that shows it.
func TestError_OfWhatIsNoLongerWanted_Ends(t *testing.T) {
	t.Parallel()
	for name, forgo := range map[string]func(s *stage){
		"the guest is removed": func(s *stage) { s.uninvite(ana, "ev00001", ben) },
		"the mapping is removed": func(s *stage) {
			s.mapped(mappings.Mapping{Primary: ana, Secondaries: []string{ana2}})
			s.relist(ana)
		},
		"the event is deleted": func(s *stage) { s.must(s.as(ana).Events.Delete(ana, "ev00001").Context(s.ctx).Do()) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, ana)
			s.plant(control.Rule{Match: "events.patch", Status: 403, Reason: "forbidden"})
			s.insert(ana, meeting("ev00001", "25", ben, guest))
			s.run(30 * time.Minute)
			s.google.Control().Clear()
			forgo(s)
			s.run(3 * time.Minute)
			s.state("ev00001", ben2, "")
			if record := s.record("ev00001"); record.Error != "" {
				t.Errorf("%+v", record)
			}
		})
	}
}

func TestError_OfAnEventThatEnds_Ends(t *testing.T) {
	t.Parallel()
	s := newStage(t, ana)
	s.plant(control.Rule{Match: "events.get", Calendar: ana, Event: "ev00001", Status: 403, Reason: "forbidden"})
	s.insert(ana, meeting("ev00001", "02", ben))
	s.run(30 * time.Minute)
	if record := s.record("ev00001"); record.Error == "" {
		t.Fatalf("before its end: %+v", record)
	}
	s.must(s.clock.Advance(48 * time.Hour))
	s.run(3 * time.Minute)
	if record := s.record("ev00001"); !record.Due.IsZero() || record.Error != "" || record.Failures != 0 {
		t.Errorf("after its end: %+v", record)
	}
}
