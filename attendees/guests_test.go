package attendees_test

import (
	"maps"
	"testing"
	"time"

	calendar "google.golang.org/api/calendar/v3"

	"questscheduler/attendees"
	"questscheduler/attendees/mappings"
	"questscheduler/internal/test/storetest"
)

func TestGuest_WithSecondAddress_IsInvitedOnce(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.insert(ana, meeting("ev00001", "05", "BEN@one.test", guest))
	s.run(time.Minute)
	s.guests(ana, "ev00001", "BEN@one.test", guest, ben2)
	s.state("ev00001", ben2, attendees.Added)
	for _, title := range []string{"a", "b", "c"} {
		s.patch(ana, "ev00001", &calendar.Event{Summary: title})
		s.run(2 * time.Minute)
	}
	s.relist(ana)
	s.run(5 * time.Minute)
	s.guests(ana, "ev00001", "BEN@one.test", guest, ben2)
	if s.counts[ben2] != 1 {
		t.Errorf("added %d times", s.counts[ben2])
	}
}

// untouched is what an event costs that needs no change: its record, and the state
// of the mappings.
var untouched = storetest.Cost{Reads: 2}

func TestEcho_OfOurChange_WritesNothing(t *testing.T) {
	t.Parallel()
	s := newStage(t, ana)
	s.insert(ana, meeting("ev00001", "05", ben, guest))
	cost, calls := s.costs(func() { s.sync(ana) })
	if want := map[string]int{"events.list": 1, "events.get": 1, "events.patch": 1}; !maps.Equal(calls, want) {
		t.Errorf("the addition made the calls %v, want %v", calls, want)
	}
	idle, _ := s.costs(func() { s.run(3 * time.Minute); s.sync(ana) })
	again, _ := s.costs(func() { s.sync(ana) }) // nothing to list
	s.patch(ana, "ev00001", &calendar.Event{Summary: "Budget 2"})
	echo, calls := s.costs(func() { s.sync(ana) })
	if want := map[string]int{"events.list": 1}; !maps.Equal(calls, want) {
		t.Errorf("the change made the calls %v, want %v", calls, want)
	}
	if extra := echo.Sub(again); extra != untouched {
		t.Errorf("an event with nothing to do costs %+v more than none", extra)
	}
	if added := cost.Sub(again); added.Writes != 3 {
		t.Errorf("the addition wrote %d documents, want 3; %+v", added.Writes, cost)
	}
	if s.counts[ben2] != 1 || idle.Deletes != 0 {
		t.Errorf("%v", s.counts)
	}
}

// A full listing that runs out of time begins anew: what it passed before must cost little.
func TestListing_OfEventsThatAreDue_WritesNothing(t *testing.T) {
	t.Parallel()
	s := newStage(t, ana)
	s.sync(ana)
	s.relist(ana)
	empty, _ := s.costs(func() { s.sync(ana) })
	s.insert(ana, meeting("ev00001", "05", ben))
	s.calls.hold = true
	s.sync(ana)
	s.relist(ana)
	cost, _ := s.costs(func() { s.sync(ana) })
	if extra := cost.Sub(empty); extra.Writes != 0 || extra.Reads > untouched.Reads {
		t.Errorf("it cost %+v more", extra)
	}
	version := s.record("ev00001").Version
	s.patch(ana, "ev00001", &calendar.Event{Summary: "Changed"})
	s.sync(ana)
	if s.record("ev00001").Version == version {
		t.Error("a change of the event made nothing due, though the writer may have read it before")
	}
}

func TestEvent_OfNoMappedGuest_WritesNothing(t *testing.T) {
	t.Parallel()
	for name, event := range map[string]*calendar.Event{
		"no guests": meeting("ev00001", "05"), "other guests": meeting("ev00001", "05", guest, zoe),
		"a guest who declined": {Id: "ev00001", Start: meeting("", "05").Start, End: meeting("", "05").End,
			Attendees: []*calendar.EventAttendee{{Email: ben, ResponseStatus: "declined"}}},
		"a room": {Id: "ev00001", Start: meeting("", "05").Start, End: meeting("", "05").End,
			Attendees: []*calendar.EventAttendee{{Email: ben, Resource: true}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, ana)
			_, _, err := s.mappings.Current(s.ctx, s.memory) // they are in memory from then on
			s.must(err)
			idle, _ := s.costs(func() { s.sync(ana) })
			s.insert(ana, event)
			cost, calls := s.costs(func() { s.sync(ana) })
			if extra := cost.Sub(idle); extra != untouched || calls["events.get"] > 0 {
				t.Errorf("it cost %+v more and %v", extra, calls)
			}
			if s.record("ev00001").Version != 0 {
				t.Error("it has a record")
			}
		})
	}
}

func TestAddress_ThatAPersonRemoved_IsNotAddedAgain(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.insert(ana, meeting("ev00001", "05", ben))
	s.run(time.Minute)
	s.uninvite(ana, "ev00001", ben2)
	s.run(time.Minute)
	s.state("ev00001", ben2, attendees.Removed)
	s.patch(ana, "ev00001", &calendar.Event{Summary: "again"})
	s.uninvite(ana, "ev00001", ben)
	s.run(time.Minute)
	s.invite(ana, "ev00001", ben)
	s.relist(ana)
	s.run(time.Minute)
	s.guests(ana, "ev00001", ben)
	s.invite(ana, "ev00001", ben2) // a person may
	s.run(time.Minute)
	s.state("ev00001", ben2, attendees.Theirs)
}

func TestGuest_WhoDeclined_IsNotInvitedAgain(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.insert(ana, meeting("ev00001", "05", ben))
	s.run(time.Minute)
	s.answer(ana, "ev00001", ben2, "declined")
	s.run(time.Minute)
	s.guests(ana, "ev00001", ben, ben2) // the answer stays
	s.state("ev00001", ben2, attendees.Added)
	s.mapped(mappings.Mapping{Primary: ana, Secondaries: []string{ana2}})
	s.run(time.Minute)
	s.guests(ana, "ev00001", ben)
	s.state("ev00001", ben2, attendees.Declined)
	s.mapped(mappings.Mapping{Primary: ana, Secondaries: []string{ana2}}, mappings.Mapping{Primary: ben, Secondaries: []string{ben2}})
	s.relist(ana)
	s.run(2 * time.Minute)
	s.guests(ana, "ev00001", ben)
}

func TestMapping_MadeInactive_TakesBackOurAdditionsOnly(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.insert(ana, meeting("ev00001", "05", ben))
	s.insert(ana, meeting("ev00002", "06", ben, ben2))
	s.run(time.Minute)
	s.state("ev00001", ben2, attendees.Added)
	s.state("ev00002", ben2, attendees.Theirs)
	s.mapped(mappings.Mapping{Primary: ana, Secondaries: []string{ana2}})
	s.run(time.Minute)
	s.guests(ana, "ev00001", ben)
	s.guests(ana, "ev00002", ben, ben2)
	s.state("ev00001", ben2, "")
	if s.counts["removed "+ben2] != 1 {
		t.Errorf("%v", s.counts)
	}
}

func TestPrimary_WhoIsNoLongerAGuest_TakesTheAdditionAlong(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.insert(ana, meeting("ev00001", "05", ben, guest))
	s.run(time.Minute)
	s.uninvite(ana, "ev00001", ben)
	s.run(time.Minute)
	s.guests(ana, "ev00001", guest)
}

func TestEvent_InTwoCalendars_IsWrittenOnceByItsOrganizer(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	event := meeting("ev00001", "05", ben, guest)
	event.GuestsCanModify = true
	s.insert(ana, event)
	_, calls := s.costs(func() { s.run(5 * time.Minute) })
	s.guests(ana, "ev00001", ben, guest, ben2)
	if s.counts[ben2] != 1 || calls["events.patch"] != 1 {
		t.Errorf("%v, %v", s.counts, calls)
	}
}

func TestEvent_OfTwoCopies_IsWrittenThroughItsOrganizers(t *testing.T) {
	t.Parallel()
	for organizer, invited := range map[string]string{ana: ben, ben: ana} {
		s := newStage(t)
		event := meeting("ev00001", "05", invited)
		event.GuestsCanModify = true
		s.insert(organizer, event)
		s.calls.hold = true
		s.sync(ana, ben)
		s.calls.hold = false
		s.run(3 * time.Minute)
		record := s.record("ev00001")
		if len(record.Copies) != 2 || len(record.Entries) != 1 {
			t.Fatalf("%+v", record)
		}
		for address, entry := range record.Entries {
			if entry.Copy != s.key(organizer) || s.counts[address] != 1 {
				t.Errorf("%s: %+v", organizer, record)
			}
		}
	}
}

func TestEvent_OfAStranger_IsWrittenThroughAGuestWhoMay(t *testing.T) {
	t.Parallel()
	for name, may := range map[string]bool{"guests may": true, "guests may not": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			event := meeting("ev00001", "05", ana, guest)
			event.GuestsCanModify = may
			s.insert(zoe, event)
			s.run(5 * time.Minute)
			if may {
				s.guests(zoe, "ev00001", ana, guest, ana2)
				return
			}
			s.guests(zoe, "ev00001", ana, guest)
			if record := s.record("ev00001"); record.Version != 0 {
				t.Errorf("nothing can be done, and the record says %+v", record)
			}
		})
	}
}

func TestEvent_ThatIsOver_IsLeftAlone(t *testing.T) {
	t.Parallel()
	allDay := &calendar.Event{
		Id: "ev00001", Start: &calendar.EventDateTime{Date: "2026-02-20"}, End: &calendar.EventDateTime{Date: "2026-02-21"},
		Attendees: guestsOf(ben),
	}
	past := meeting("ev00001", "05", ben)
	past.Start.DateTime, past.End.DateTime = "2026-02-05T09:00:00Z", "2026-02-05T10:00:00Z"
	series := meeting("ev00001", "05", ben)
	series.Start.DateTime, series.End.DateTime = "2026-02-01T09:00:00Z", "2026-02-01T10:00:00Z"
	series.Recurrence = []string{"RRULE:FREQ=DAILY;COUNT=5"}
	for name, event := range map[string]*calendar.Event{"ended": past, "all day": allDay, "series": series} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			s.insert(ana, event)
			s.run(2 * time.Minute)
			s.guests(ana, "ev00001", ben)
			if s.record("ev00001").Version != 0 {
				t.Error("it has a record")
			}
		})
	}
}

func TestMapping_MadeInactiveAfterTheEvent_ChangesNothing(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.insert(ana, meeting("ev00001", "05", ben))
	s.run(time.Minute)
	s.must(s.clock.Advance(5 * 24 * time.Hour))
	s.mapped(mappings.Mapping{Primary: ana, Secondaries: []string{ana2}})
	s.run(2 * time.Minute)
	s.guests(ana, "ev00001", ben, ben2)
	if !s.record("ev00001").Due.IsZero() {
		t.Error("it stays due")
	}
}

func TestEvent_Cancelled_IsLeftAlone(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.insert(ana, meeting("ev00001", "05", ben))
	s.run(time.Minute)
	s.must(s.as(ana).Events.Delete(ana, "ev00001").Context(s.ctx).Do())
	s.run(2 * time.Minute)
	if record := s.record("ev00001"); !record.Copies[s.key(ana)].Gone || !hasEnded(record, s.clock.Now()) {
		t.Errorf("after the deletion: %+v", record)
	}
	s.mapped(mappings.Mapping{Primary: ana, Secondaries: []string{ana2}})
	_, calls := s.costs(func() { s.run(3 * time.Minute) })
	record := s.record("ev00001")
	if calls["events.patch"] > 0 || !record.Due.IsZero() || record.Entries[ben2].State != attendees.Added ||
		record.EndsAt.After(s.clock.Now()) {
		t.Errorf("%v, %+v", calls, record)
	}
}

func hasEnded(record attendees.EventRecord, now time.Time) bool {
	return !record.EndsAt.IsZero() && !record.EndsAt.After(now)
}

func TestEvent_RestoredAfterItWasCancelled_IsKnownAgain(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.insert(ana, meeting("ev00001", "05", ben))
	s.run(time.Minute)
	s.uninvite(ana, "ev00001", ben2)
	s.run(time.Minute)
	s.must(s.as(ana).Events.Delete(ana, "ev00001").Context(s.ctx).Do())
	s.run(time.Minute)
	s.patch(ana, "ev00001", &calendar.Event{Status: "confirmed"})
	s.run(time.Minute)
	s.guests(ana, "ev00001", ben)
	if record := s.record("ev00001"); record.EndsAt.Before(s.clock.Now()) || record.Copies[s.key(ana)].Gone {
		t.Errorf("%+v", record)
	}
}
