package mirrors_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"questscheduler/demo/sim/control"
	"questscheduler/internal/calendars"
	"questscheduler/internal/mirror"
	"questscheduler/internal/store"
)

// While Google answers nothing of an account, a listing is not over, and the next one finds what
// this one missed.
func TestUnlisted_AnAccountThatIsRefused_IsListedAgain(t *testing.T) {
	t.Parallel()
	for name, rule := range map[string]control.Rule{
		"too many calls":       {Status: 403, Reason: "rateLimitExceeded"},
		"the quota is used up": {Status: 403, Reason: "quotaExceeded"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			ids := w.mirroredEvents(6)
			for _, id := range ids[:2] {
				w.lose(work, id)
			}
			rule.Match = "events.get"
			w.must(w.google.Control().Plant(rule))
			w.google.Control().ResetCalls()
			w.must(w.clock.Advance(2 * time.Second))
			w.requestSync(w.key(work))
			_, _ = w.outbox.Run(w.ctx, calendars.SyncKind, w.key(work))
			if calls := w.google.Control().Calls()["events.get"]; calls != 1 {
				t.Errorf("%d events were asked for, of an account that is refused", calls)
			}
			w.google.Control().Clear()
			w.run(3 * time.Hour)
			w.wantTitles(home, "Event 2", "Event 3", "Event 4", "Event 5")
		})
	}
}

// Of a calendar whose missing events fail, a part is read, and no further one.
func TestUnlisted_ManyEventsThatFail_AreGivenUpForNow(t *testing.T) {
	t.Parallel()
	const borne, all, part = 10, 130, 50
	for many, calls := range map[int]int{borne: borne, part + 10: part} {
		t.Run(fmt.Sprint(many), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			var ids []string
			for i := range all {
				ids = append(ids, w.insert(work, fmt.Sprint("Event ", i), thursday).ID)
			}
			w.mirrorWork()
			w.run(2 * time.Minute)
			for _, id := range ids[:many] {
				w.lose(work, id)
			}
			w.must(w.google.Control().Plant(control.Rule{Match: "events.get", Status: 503}))
			w.google.Control().ResetCalls()
			w.must(w.clock.Advance(2 * time.Second))
			w.requestSync(w.key(work))
			_, _ = w.outbox.Run(w.ctx, calendars.SyncKind, w.key(work))
			if got := w.google.Control().Calls()["events.get"]; got != calls {
				t.Errorf("%d events were asked for, want %d", got, calls)
			}
			w.google.Control().Clear()
			w.run(3 * time.Hour)
			if shown := len(w.titles(home)); shown != all-many {
				t.Errorf("home shows %d", shown)
			}
		})
	}
}

// superseding is a store before whose nth transaction from now on something else happens.
type superseding struct {
	store.Store
	left int
	do   func()
}

func (s *superseding) Run(ctx context.Context, fn func(context.Context, store.Tx) error) error {
	s.left--
	if s.left == 0 {
		s.do()
	}
	return s.Store.Run(ctx, fn)
}

// A newer run of the calendar begins while the events are decided about that a listing missed.
func TestUnlisted_ByARunThatWasSuperseded_DecidesNothingMore(t *testing.T) {
	t.Parallel()
	for name, gone := range map[string]int{"few are gone": 2, "many are gone": 4} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			ids := w.mirroredEvents(6)
			for _, id := range ids[:gone] {
				w.lose(work, id)
			}
			w.must(w.clock.Advance(2 * time.Second))
			w.requestSync(w.key(work))
			documents := w.service.Store
			w.service.Store = &superseding{documents, 1, func() {
				c, _, err := calendars.LoadKey(w.ctx, w.memory, w.key(work))
				w.must(err)
				w.set(calendars.Path(c.Key), c.Invalidate()...)
			}}
			_, _ = w.outbox.Run(w.ctx, calendars.SyncKind, w.key(work))
			w.service.Store = documents
			person, err := mirror.LoadPerson(w.ctx, w.memory, gm)
			w.must(err)
			if known := len(w.canonical(work)); known != 6 || len(person.HeldSince) > 0 {
				t.Errorf("%d events are known, held are %v", known, person.HeldSince)
			}
		})
	}
}
