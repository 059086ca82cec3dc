package attendees_test

import (
	"context"
	"fmt"
	"maps"
	"testing"
	"time"

	calendar "google.golang.org/api/calendar/v3"

	"questscheduler/attendees"
	"questscheduler/attendees/mappings"
	"questscheduler/internal/store"
	"questscheduler/internal/test/points"
)

// leastPoints is how many points each of the flows below has at least, far below what it has.
const leastPoints = 5

// After the program ends, or a call goes unanswered, at any of its calls, each event has the
// guests that it must have in the end, and each address was added or removed once.
func TestFaults_Anywhere_ChangeEachGuestOnce(t *testing.T) {
	t.Parallel()
	onlyAna := func(s *stage) { s.mapped(mappings.Mapping{Primary: ana, Secondaries: []string{ana2}}) }
	for _, c := range []struct {
		name       string
		begin, act func(s *stage)
		want       []string
		counts     map[string]int
		state      attendees.State
	}{
		{
			"add", func(*stage) {}, func(s *stage) { s.insert(ana, meeting("ev00001", "05", ben)) }, []string{ben, ben2},
			map[string]int{ben2: 1}, attendees.Added,
		},
		{
			"add two while a person edits", func(*stage) {}, func(s *stage) {
				s.insert(ana, meeting("ev00001", "05", ben))
				s.calls.before = func() { s.invite(ana, "ev00001", ana) }
			}, []string{ben, ana, ana2, ben2}, map[string]int{ana2: 1, ben2: 1}, attendees.Added,
		},
		{
			"withdraw", func(s *stage) { s.insert(ana, meeting("ev00001", "05", ben)) }, onlyAna,
			[]string{ben}, map[string]int{ben2: 1, "removed " + ben2: 1}, "",
		},
		{
			"note a removal", func(s *stage) { s.insert(ana, meeting("ev00001", "05", ben)) }, func(s *stage) { s.uninvite(ana, "ev00001", ben2) },
			[]string{ben}, map[string]int{ben2: 1}, attendees.Removed,
		},
		{
			"withdraw and add again", func(s *stage) {
				s.insert(ana, meeting("ev00001", "05", ben, guest))
				s.run(time.Minute)
				s.uninvite(ana, "ev00001", ben)
			},
			func(s *stage) { s.invite(ana, "ev00001", ben) }, []string{guest, ben, ben2},
			map[string]int{ben2: 2, "removed " + ben2: 1}, attendees.Added,
		},
		{
			"through a guest", func(*stage) {}, func(s *stage) {
				event := meeting("ev00001", "05", ben)
				event.GuestsCanModify = true
				s.insert(zoe, event)
			}, []string{ben, ben2}, map[string]int{ben2: 1}, attendees.Added,
		},
	} {
		for what, strike := range map[string]func(p *points.Points, n int){
			"it dies": (*points.Points).DieAt, "a call fails": (*points.Points).FailAt,
		} {
			t.Run(c.name+": "+what, func(t *testing.T) {
				t.Parallel()
				reached, n := true, 1
				for ; reached && n < 200; n++ {
					t.Run(fmt.Sprintf("at point %d", n), func(t *testing.T) {
						reached = false // unless it is
						s := newStage(t)
						c.begin(s)
						s.run(2 * time.Minute)
						strike(s.points, n)
						points.Survives(func() { c.act(s); s.run(2 * time.Minute) })
						reached = s.points.Reached()
						s.restart()
						s.run(15 * time.Minute)
						organizer := ana
						if c.name == "through a guest" {
							organizer = zoe
						}
						s.guests(organizer, "ev00001", c.want...)
						s.state("ev00001", ben2, c.state)
						if !maps.Equal(s.counts, c.counts) {
							t.Errorf("changes were %v, want %v\n%s", s.counts, c.counts, s.log.String())
						}
					})
					if t.Failed() {
						return
					}
				}
				points.Struck(t, n-2, leastPoints)
			})
		}
	}
}

func TestConcurrentEdit_OfTheGuests_LosesNothing(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.insert(ana, meeting("ev00001", "05", ben))
	s.calls.before = func() {
		s.invite(ana, "ev00001", guest)
		s.patch(ana, "ev00001", &calendar.Event{Summary: "Changed"})
	}
	_, calls := s.costs(func() { s.sync(ana) })
	s.guests(ana, "ev00001", ben, guest, ben2)
	if calls["events.patch"] != 2+2 || calls["events.get"] != 1+2 { // the person's and ours
		t.Errorf("calls %v: the writer must read the event again, and once", calls)
	}
	s.run(2 * time.Minute)
	s.state("ev00001", ben2, attendees.Added)
	if s.event(ana, "ev00001").Summary != "Changed" || s.counts[ben2] != 1 {
		t.Errorf("%q, %v", s.event(ana, "ev00001").Summary, s.counts)
	}
}

// A person may take the new guest out before the answer to the patch is recorded.
func TestRemoval_RightAfterTheAddition_Counts(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.insert(ana, meeting("ev00001", "05", ben))
	s.calls.after = func() { s.uninvite(ana, "ev00001", ben2) }
	s.run(5 * time.Minute)
	s.guests(ana, "ev00001", ben)
	s.state("ev00001", ben2, attendees.Removed)
}

// A guest whom a person invites during a write is not overlooked: what the writer records then is
// older than the observation.
func TestObservation_DuringAWrite_IsDecidedAbout(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		guests []string
		at     func(s *stage, do func())
		want   []string
	}{
		"after the patch": {
			[]string{ben}, func(s *stage, do func()) { s.calls.after = do }, []string{ben, ben2, ana, ana2},
		},
		"after reading, with nothing to patch": {
			[]string{ben, ben2}, func(s *stage, do func()) { s.calls.read = do }, []string{ben, ben2, ana, ana2},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, ana)
			s.insert(ana, meeting("ev00001", "05", c.guests...))
			c.at(s, func() {
				s.invite(ana, "ev00001", ana)
				s.observe(ana)
			})
			s.run(5 * time.Minute)
			s.guests(ana, "ev00001", c.want...)
			s.state("ev00001", ana2, attendees.Added)
			if s.counts[ben2] > 1 || s.counts[ana2] != 1 {
				t.Errorf("%v", s.counts)
			}
		})
	}
}

// A copy that a sync run stores during a write, and that makes nothing due, stays.
func TestCopy_StoredDuringAWrite_IsKept(t *testing.T) {
	t.Parallel()
	s := newStage(t, ana)
	s.insert(ana, meeting("ev00001", "05", ben))
	another := attendees.Copy{AccountID: "acc_" + ben, CalendarID: ben, EventID: "ev00001", MayEdit: true}
	s.calls.read = func() {
		s.set(attendees.EventPath(s.record("ev00001").ID), store.Update{Path: store.Field("copies", s.key(ben)), Value: map[string]any{
			"accountId": another.AccountID, "calendarId": another.CalendarID, "eventId": another.EventID, "mayEdit": true,
		}})
	}
	s.sync(ana)
	s.state("ev00001", ben2, attendees.Added)
	if record := s.record("ev00001"); len(record.Copies) != 2 || record.Copies[s.key(ben)] != another {
		t.Errorf("%+v", record)
	}
}

func TestEcho_BeforeTheAnswer_LeavesTheWriterAlone(t *testing.T) {
	t.Parallel()
	s := newStage(t, ana)
	s.insert(ana, meeting("ev00001", "05", ben))
	s.calls.after = func() { s.observe(ana) }
	_, calls := s.costs(func() { s.run(3 * time.Minute) })
	s.state("ev00001", ben2, attendees.Added)
	if calls["events.get"] != 1 {
		t.Errorf("%v", calls)
	}
}

// What a person did in the series may be noted while an exception is being decided about.
func TestSeries_ThatChangesDuringAnException_CountsForIt(t *testing.T) {
	t.Parallel()
	s := newStage(t, ana)
	s.insert(ana, weekly("ev00001", ben, guest))
	s.run(2 * time.Minute)
	s.uninvite(ana, "ev00001", ben)
	s.run(2 * time.Minute) // ben2 is withdrawn
	one := s.instance(ana, "ev00001", 1)
	s.invite(ana, one, ben)
	s.calls.read = func() {
		series := s.record("ev00001")
		series.Entries[ben2] = attendees.Entry{State: attendees.Removed, Primary: ben}
		series.Version++
		s.must(s.memory.Run(s.ctx, func(_ context.Context, tx store.Tx) error {
			return tx.Set(attendees.EventPath(series.ID), attendees.EncodeEvent(series))
		}))
	}
	s.run(3 * time.Minute)
	s.guests(ana, one, guest, ben)
}

// The mapping may go while its address is being added.
func TestMapping_MadeInactiveDuringAPatch_Withdraws(t *testing.T) {
	t.Parallel()
	for name, at := range map[string]func(s *stage, do func()){
		"before the decision": func(s *stage, do func()) { s.calls.read = do },
		"before the patch":    func(s *stage, do func()) { s.calls.before = do },
		"after it":            func(s *stage, do func()) { s.calls.after = do },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			s.insert(ana, meeting("ev00001", "05", ben))
			at(s, func() { s.mapped(mappings.Mapping{Primary: ana, Secondaries: []string{ana2}}) })
			s.run(3 * time.Minute)
			s.guests(ana, "ev00001", ben)
			s.state("ev00001", ben2, "")
			if name == "before the decision" && s.counts[ben2] != 0 {
				t.Error("it was added although its mapping had gone before the decision")
			}
		})
	}
}

// Whichever read fails, an event has its guests in the end, each added and removed once.
func TestReads_FailAnywhere_ChangeEachGuestOnce(t *testing.T) {
	t.Parallel()
	for n := 1; ; n++ {
		s, p := newStage(t), &points.Points{}
		s.service.Store = &points.Reads{Store: s.counter, Points: p} // below what runs a transaction again, which would hide it
		p.FailAt(n)
		s.insert(ana, meeting("ev00001", "05", ben, guest))
		s.run(15 * time.Minute)
		s.guests(ana, "ev00001", ben, guest, ben2)
		s.mapped(mappings.Mapping{Primary: ana, Secondaries: []string{ana2}})
		s.run(15 * time.Minute)
		s.guests(ana, "ev00001", ben, guest)
		if !maps.Equal(s.counts, map[string]int{ben2: 1, "removed " + ben2: 1}) || s.record("ev00001").Error != "" {
			t.Fatalf("with read %d failing guests were written so often: %v; the record is %+v", n, s.counts, s.record("ev00001"))
		}
		if !p.Reached() {
			points.Struck(t, n-1, 8)
			return
		}
	}
}
