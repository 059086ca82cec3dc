package attendees_test

import (
	"testing"
	"time"

	calendar "google.golang.org/api/calendar/v3"

	"questscheduler/attendees"
	"questscheduler/attendees/mappings"
	"questscheduler/internal/recurrence"
)

// weekly is a series of four meetings, on the 5th, 12th, 19th and 26th of March.
func weekly(id string, guests ...string) *calendar.Event {
	event := meeting(id, "05", guests...)
	event.Recurrence = []string{"RRULE:FREQ=WEEKLY;COUNT=4"}
	return event
}

// instance is the id of the nth meeting of a series.
func (s *stage) instance(email, id string, n int) string {
	s.Helper()
	all, err := s.as(email).Events.Instances(email, id).Context(s.ctx).Do()
	s.must(err)
	return all.Items[n].Id
}

func (s *stage) exception(id, day string) attendees.EventRecord {
	s.Helper()
	at, err := time.Parse(time.RFC3339, "2026-03-"+day+"T09:00:00Z")
	s.must(err)
	record, _, err := attendees.Load(s.ctx, s.memory, attendees.RecordID(id+"@google.com", recurrence.Moment{Time: at}))
	s.must(err)
	return record
}

func TestSeries_WithMappedGuest_IsChangedOnce(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.insert(ana, weekly("ev00001", ben))
	_, calls := s.costs(func() { s.run(3 * time.Minute) })
	s.guests(ana, "ev00001", ben, ben2)
	s.guests(ana, s.instance(ana, "ev00001", 2), ben, ben2)
	if calls["events.patch"] != 1 {
		t.Errorf("%v", calls)
	}
	if end := s.record("ev00001").EndsAt; !end.Equal(time.Date(2026, 3, 26, 10, 0, 0, 0, time.UTC)) {
		t.Errorf("the series ends %v", end)
	}
}

// The series gets the address later, which says nothing about whom the person invited.
func TestException_WithASecondAddressOfNoGuest_KeepsIt(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.insert(ana, weekly("ev00001", ben))
	one := s.instance(ana, "ev00001", 2)
	s.uninvite(ana, one, ben)
	s.invite(ana, one, ben2)
	s.run(3 * time.Minute)
	s.guests(ana, "ev00001", ben, ben2)
	s.answer(ana, one, ben2, "accepted") // the occurrence is listed anew
	s.run(3 * time.Minute)
	s.guests(ana, one, ben2)
}

func TestException_OfItsOwnGuests_IsChangedToo(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.insert(ana, weekly("ev00001", ben))
	one := s.instance(ana, "ev00001", 1)
	s.invite(ana, one, ana)
	s.run(3 * time.Minute)
	s.guests(ana, "ev00001", ben, ben2)
	s.guests(ana, one, ben, ana, ana2, ben2)
	if record := s.exception("ev00001", "12"); record.SeriesID != s.record("ev00001").ID || !record.Due.IsZero() {
		t.Errorf("%+v", record)
	}
	if s.counts[ana2] != 1 || s.counts[ben2] != 2 {
		t.Errorf("%v", s.counts)
	}
}

func TestException_MovedAfterTheAddition_IsOursToo(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.insert(ana, weekly("ev00001", ben))
	s.run(2 * time.Minute)
	one := s.instance(ana, "ev00001", 1)
	s.patch(ana, one, &calendar.Event{Summary: "Late", Start: meeting("", "13").Start, End: meeting("", "13").End})
	s.run(2 * time.Minute)
	s.guests(ana, one, ben, ben2)
	if s.counts[ben2] != 1 {
		t.Errorf("%v", s.counts)
	}
	s.mapped(mappings.Mapping{Primary: ana, Secondaries: []string{ana2}})
	s.run(2 * time.Minute)
	s.guests(ana, "ev00001", ben)
	s.guests(ana, one, ben)
}

func TestException_FromWhichAPersonRemovedAnAddress_StaysWithoutIt(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.insert(ana, weekly("ev00001", ben))
	s.run(2 * time.Minute)
	one := s.instance(ana, "ev00001", 1)
	s.uninvite(ana, one, ben2)
	s.run(2 * time.Minute)
	s.relist(ana)
	s.run(2 * time.Minute)
	s.guests(ana, one, ben)
	s.guests(ana, "ev00001", ben, ben2)
	if record := s.exception("ev00001", "12"); record.Entries[ben2].State != attendees.Removed {
		t.Errorf("%+v", record)
	}
}

func TestException_OfASeriesThatEnded_IsChangedWhileItLiesAhead(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	series := weekly("ev00001", ben)
	series.Start.DateTime, series.End.DateTime = "2026-02-05T09:00:00Z", "2026-02-05T10:00:00Z"
	series.Recurrence = []string{"RRULE:FREQ=WEEKLY;COUNT=3"}
	s.insert(ana, series)
	one := s.instance(ana, "ev00001", 2)
	s.patch(ana, one, &calendar.Event{Summary: "Late", Start: meeting("", "13").Start, End: meeting("", "13").End})
	s.run(2 * time.Minute)
	s.guests(ana, "ev00001", ben)
	s.guests(ana, one, ben, ben2)
}

func TestException_Cancelled_IsLeftAlone(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.insert(ana, weekly("ev00001", ben))
	one := s.instance(ana, "ev00001", 1)
	s.invite(ana, one, ana)
	s.run(2 * time.Minute)
	s.must(s.as(ana).Events.Delete(ana, one).Context(s.ctx).Do())
	s.mapped()
	s.run(2 * time.Minute)
	record := s.exception("ev00001", "12")
	if !record.Due.IsZero() || !record.Copies[s.key(ana)].Gone {
		t.Errorf("%+v", record)
	}
	s.guests(ana, "ev00001", ben)
}

// What an occurrence that has guests of its own lacks was removed there by nobody, if it came to
// the series later.
func TestException_OlderThanTheAddition_GetsItsOwn(t *testing.T) {
	t.Parallel()
	anas := mappings.Mapping{Primary: ana, Secondaries: []string{ana2}}
	bens := mappings.Mapping{Primary: ben, Secondaries: []string{ben2}}
	for name, row := range map[string]struct{ begin, late func(s *stage, one string) }{
		"its guest is invited later": {
			func(s *stage, one string) { s.invite(ana, one, ana); s.uninvite(ana, one, ben) },
			func(s *stage, one string) { s.invite(ana, one, ben) },
		},
		"its guest declined at first": {
			func(s *stage, one string) { s.invite(ana, one, ana); s.answer(ana, one, ben, "declined") },
			func(s *stage, one string) { s.answer(ana, one, ben, "accepted") },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			s.mapped(anas)
			s.insert(ana, weekly("ev00001", ben))
			one := s.instance(ana, "ev00001", 1)
			row.begin(s, one)
			s.run(2 * time.Minute)
			s.mapped(anas, bens)
			s.relist(ana)
			s.run(2 * time.Minute)
			s.guests(ana, "ev00001", ben, ben2)
			row.late(s, one)
			s.run(2 * time.Minute)
			if record := s.exception("ev00001", "12"); record.Entries[ben2].State != attendees.Added {
				t.Errorf("%+v", record)
			}
			if s.counts[ben2] != 2 {
				t.Errorf("%v", s.counts)
			}
		})
	}
}

// An address that a person takes out of an occurrence is not added there again, whatever becomes of
// it in the series.
func TestException_ThatHadAnAddress_StaysWithoutIt(t *testing.T) {
	t.Parallel()
	for name, inSeries := range map[string]func(s *stage){
		"the series stays": func(*stage) {},
		"the series changes": func(s *stage) {
			s.invite(ana, "ev00001", guest)
			s.run(2 * time.Minute)
		},
		"it is invited to the series again": func(s *stage) {
			s.uninvite(ana, "ev00001", ben2)
			s.run(2 * time.Minute)
			s.invite(ana, "ev00001", ben2)
			s.run(2 * time.Minute)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			s.insert(ana, weekly("ev00001", ben, ben2))
			s.run(2 * time.Minute)
			one := s.instance(ana, "ev00001", 1)
			s.answer(ana, one, ben, "accepted")
			s.run(2 * time.Minute)
			if record := s.exception("ev00001", "12"); record.Since.IsZero() || record.Trace != "" {
				t.Errorf("it is not recorded, or was due: %+v", record)
			}
			inSeries(s)
			s.uninvite(ana, one, ben2)
			s.run(2 * time.Minute)
			s.guests(ana, one, ben)
			if record := s.exception("ev00001", "12"); record.Entries[ben2].State != attendees.Removed || s.counts[ben2] != 0 {
				t.Errorf("%+v, %v", record, s.counts)
			}
		})
	}
}
