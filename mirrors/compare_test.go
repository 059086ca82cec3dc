package mirrors_test

import (
	"context"
	"fmt"
	"reflect"
	"sync"
	"testing"
	"time"

	"questscheduler/demo/sim/control"
	"questscheduler/internal/gcal"
	"questscheduler/internal/mirror"
	"questscheduler/mirrors"
)

// differing has three mirrors at home whose events a person changed, and a stray there. They
// are in the order in which the reconciliation compares them.
func differing(t *testing.T) (s *stage, inOrder []mirror.Mirror) {
	t.Helper()
	s = newStage(t)
	s.followed(homeMail)
	for _, id := range []string{"e1", "e2", "e3"} {
		s.event(id, "Stand-up "+id)
	}
	s.run(time.Minute)
	for _, event := range s.shown(home, homeMail) {
		s.change(event, "Mine")
	}
	for m, err := range mirror.InCalendar(s.ctx, s.memory, home, homeMail) {
		s.must(err)
		inOrder = append(inOrder, m)
	}
	s.stray(1, "here")
	s.must(s.clock.Advance(time.Hour))
	return s, inOrder
}

// What Google does not give of one event keeps it from the others no day longer. What it says
// of the account ends the calendar.
func TestReconcile_AnEventThatFails_DelaysNoOther(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status int
		reason string
		want   mirrors.Reconciled
		gets   int
	}{
		"an outage for it alone": {503, "", mirrors.Reconciled{Calendars: 1, Failed: 1, Checked: 3, Corrected: 2, Strays: 1}, 3},
		"a refusal of it alone":  {400, "badRequest", mirrors.Reconciled{Calendars: 1, Failed: 1, Checked: 3, Corrected: 2, Strays: 1}, 3},
		"not found, and listed":  {404, "notFound", mirrors.Reconciled{Calendars: 1, Checked: 3, Corrected: 2, Strays: 1}, 3},
		"a rate limit":           {429, "rateLimitExceeded", mirrors.Reconciled{Calendars: 1, Failed: 1, Checked: 1}, 1},
		"a quota":                {403, "quotaExceeded", mirrors.Reconciled{Calendars: 1, Failed: 1, Checked: 1}, 1},
		"a revoked grant":        {403, "insufficientPermissions", mirrors.Reconciled{Calendars: 1, Failed: 1, Checked: 1}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, inOrder := differing(t)
			s.must(s.google.Control().Plant(control.Rule{Match: "events.get", Event: inOrder[0].EventID, Status: c.status, Reason: c.reason}))
			s.google.Control().ResetCalls()
			did, _, err := s.writer.Reconcile(s.ctx, cause, "", false)
			s.must(err)
			if did != c.want {
				t.Errorf("it did %+v, want %+v\n%s", did, c.want, s.log.String())
			}
			if gets := s.google.Control().Calls()["events.get"]; gets != c.gets {
				t.Errorf("%d events were fetched, want %d", gets, c.gets)
			}
			if now := byID(s.mirrors())[inOrder[0].ID]; now.State != mirror.Active {
				t.Errorf("its mirror is %s", now.State)
			}
		})
	}
}

// While Google answers for no event, few calls are spent on it, and strays are deleted all the
// same.
func TestReconcile_AnOutageForEveryEvent_IsGivenUp(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.followed(homeMail)
	for i := range 14 {
		s.event(fmt.Sprint("e", i), fmt.Sprint("Stand-up ", i))
	}
	s.run(time.Minute)
	for _, event := range s.shown(home, homeMail) {
		s.change(event, "Mine")
	}
	s.stray(1, "here")
	s.must(s.clock.Advance(time.Hour))
	s.must(s.google.Control().Plant(control.Rule{Match: "events.get", Status: 503}))
	s.google.Control().ResetCalls()
	if did := s.reconcile(false); did != (mirrors.Reconciled{Calendars: 1, Failed: 1, Checked: 14, Strays: 1}) {
		t.Errorf("it did %+v", did)
	}
	if gets := s.google.Control().Calls()["events.get"]; gets != 10 {
		t.Errorf("%d events were fetched, want 10", gets)
	}
}

// planting is Google whose calendars begin to answer by some rules at the first fetch.
type planting struct {
	mirrors.Google
	plant func()
}

func (p *planting) Get(ctx context.Context, ref gcal.Ref, id string) (gcal.Event, error) {
	p.plant()
	return p.Google.Get(ctx, ref, id)
}

// A calendar that is lost since its listing, or shows us less, says nothing of its events.
func TestReconcile_ACalendarLostSince_LosesNoMirror(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		listing control.Rule
		want    mirrors.Reconciled
	}{
		"lost": {control.Rule{Status: 404}, mirrors.Reconciled{Calendars: 1, Failed: 1, Checked: 1}},
		"read": {control.Rule{Body: []byte(`{"accessRole":"reader"}`)}, mirrors.Reconciled{Calendars: 1, Failed: 1, Checked: 3, Strays: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, before := differing(t)
			s.writer.Google = &planting{s.writer.Google, sync.OnceFunc(func() {
				c.listing.Match, c.listing.Calendar = "events.list", homeMail
				s.must(s.google.Control().Plant(c.listing))
				s.must(s.google.Control().Plant(control.Rule{Match: "events.get", Calendar: homeMail, Status: 404}))
			})}
			did, _, err := s.writer.Reconcile(s.ctx, cause, "", false)
			s.must(err)
			if did != c.want {
				t.Errorf("it did %+v, want %+v", did, c.want)
			}
			if after := s.mirrors(); !reflect.DeepEqual(byID(before), byID(after)) {
				t.Errorf("the mirrors became %+v", after)
			}
		})
	}
}

func byID(mirrors []mirror.Mirror) map[string]mirror.Mirror {
	all := map[string]mirror.Mirror{}
	for _, m := range mirrors {
		all[m.ID] = m
	}
	return all
}
