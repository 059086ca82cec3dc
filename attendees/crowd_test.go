package attendees_test

import (
	"fmt"
	"testing"
	"time"

	"questscheduler/attendees"
	"questscheduler/internal/accounts"
	"questscheduler/internal/store"
)

// most is how many copies a record keeps.
const most = 50

// forgotten puts copies of calendars that no account reaches in the place of an event's copies.
func (s *stage) forgotten(id string, revoked bool) {
	s.Helper()
	record := s.record(id)
	record.Copies = map[string]attendees.Copy{}
	for i := range most {
		name := fmt.Sprintf("x%02d", i)
		record.Copies[name] = attendees.Copy{AccountID: "acc_" + name, CalendarID: name + "@one.test", EventID: id, MayEdit: true}
		if revoked {
			s.set(accounts.Path("acc_"+name), store.Set("status", string(accounts.Revoked)))
		}
	}
	for field, value := range attendees.EncodeEvent(record) {
		s.set(attendees.EventPath(record.ID), store.Set(field, value))
	}
}

// As many calendars as a record keeps are followed no longer, or wait for their owners. Another one
// shows what is needed, and it is done through that.
func TestEvent_WhoseKnownCalendarsAreAllLost_IsChangedThroughAnother(t *testing.T) {
	t.Parallel()
	for name, revoked := range map[string]bool{"unlinked": false, "revoked": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			s.insert(zoe, open("ev00001", ben))
			s.run(2 * time.Minute)
			s.guests(zoe, "ev00001", ben, ben2)
			s.forgotten("ev00001", revoked)
			if revoked { // what is due waits for them
				record := s.record("ev00001")
				s.set(attendees.EventPath(record.ID), store.Set("due", s.clock.Now()))
				s.followed = nil
				s.run(2 * time.Minute)
				if due := s.record("ev00001").Due; due.Before(s.clock.Now().Add(time.Hour)) {
					t.Fatalf("it is due %v", due)
				}
				s.followed = []string{ana, ben}
			}
			s.invite(zoe, "ev00001", ana)
			s.run(5 * time.Minute)
			s.guests(zoe, "ev00001", ben, ben2, ana, ana2)
			s.state("ev00001", ana2, attendees.Added)
			if copies := s.record("ev00001").Copies; len(copies) != most {
				t.Errorf("%d copies", len(copies))
			}
			_, calls := s.costs(func() { s.relist(ben); s.relist(ana); s.run(2 * time.Minute) })
			if calls["events.get"]+calls["events.patch"] != 0 {
				t.Errorf("what was right cost %v", calls)
			}
		})
	}
}
