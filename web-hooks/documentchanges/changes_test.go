package documentchanges_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/outbox"
	"questscheduler/internal/store"
	"questscheduler/internal/test/memorystore"
	"questscheduler/rules"
	"questscheduler/scheduler"
	"questscheduler/web-hooks/documentchanges"
)

// reconciler records the polls that were reconciled.
type reconciler struct {
	mu    sync.Mutex
	polls []string
	fails int
}

// Reconcile implements documentchanges.Polls.
func (r *reconciler) Reconcile(_ context.Context, pollID string, _ scheduler.Cause) (rules.Repair, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fails--
	if r.fails >= 0 {
		return "", fault.New(fault.Unavailable, "not now")
	}
	r.polls = append(r.polls, pollID)
	return rules.RepairNothing, nil
}

func (r *reconciler) list() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.polls)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// opened returns an intake whose work runs until the test ends.
func opened(t *testing.T, polls *reconciler) *documentchanges.Intake {
	t.Helper()
	work := &outbox.Outbox{Now: time.Now, Log: slog.New(slog.DiscardHandler), Alone: true}
	h := &documentchanges.Intake{Outbox: work, Polls: polls, Now: time.Now, NewTrace: func() string { return "trace" }}
	work.Add(h.Work())
	pool := outbox.NewPool(work)
	must(t, pool.Start(t.Context()))
	t.Cleanup(func() { must(t, pool.Stop(context.Background())) })
	return h
}

func TestChanged_ABurst_IsOneRunThatBeginsAfterIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		polls := &reconciler{}
		h := opened(t, polls)
		for range 50 {
			must(t, h.Changed(t.Context(), "one", "trace"))
			must(t, h.Changed(t.Context(), "two", "trace"))
			time.Sleep(15 * time.Millisecond)
		}
		if reconciled := polls.list(); len(reconciled) != 0 {
			t.Errorf("during the second it reconciled %v", reconciled)
		}
		time.Sleep(2 * time.Second)
		if reconciled := polls.list(); len(reconciled) != 2 {
			t.Errorf("it reconciled %v", reconciled)
		}
		must(t, h.Changed(t.Context(), "one", "trace"))
		time.Sleep(2 * time.Second)
		if reconciled := polls.list(); len(reconciled) != 3 || reconciled[2] != "one" {
			t.Errorf("after another change it reconciled %v", reconciled)
		}
	})
}

func TestChanged_WithoutAPoll_DoesNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		polls := &reconciler{}
		h := opened(t, polls)
		for _, id := range []string{"", "a/b", ".", "__x__"} {
			must(t, h.Changed(t.Context(), id, "trace"))
		}
		time.Sleep(3 * time.Second)
		if reconciled := polls.list(); len(reconciled) != 0 {
			t.Errorf("it reconciled %v", reconciled)
		}
	})
}

func TestHandle_WhatFails_IsTriedAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		polls := &reconciler{fails: 3}
		h := opened(t, polls)
		must(t, h.Changed(t.Context(), "one", "trace"))
		time.Sleep(time.Hour)
		if reconciled := polls.list(); len(reconciled) != 1 {
			t.Errorf("it reconciled %v", reconciled)
		}
	})
}

// cards keeps which cards were handed over.
type cards struct {
	reconciler
}

// check is Intake.Cards.
func (c *cards) check(ctx context.Context, pollID string, cause scheduler.Cause) error {
	_, err := c.Reconcile(ctx, pollID, cause)
	return err
}

func TestHandle_WhereCardsAreOurs_HandsTheCardOver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		polls, drawn := &reconciler{}, &cards{reconciler: reconciler{fails: 1}}
		h := opened(t, polls)
		h.Cards = drawn.check
		for range 5 { // a burst is one card, tried again until it is handed over
			must(t, h.Changed(t.Context(), "one", "trace"))
		}
		time.Sleep(time.Hour)
		must(t, h.Changed(t.Context(), "one", "trace"))
		time.Sleep(time.Hour)
		if got := drawn.list(); !slices.Equal(got, []string{"one", "one"}) {
			t.Errorf("the cards of %v were handed over", got)
		}
		if reconciled := polls.list(); len(reconciled) != 3 {
			t.Errorf("it reconciled %v", reconciled)
		}
	})
}

// source tells of what is sent to it, and keeps how it was asked.
type source struct {
	polls chan []string
	fails chan error
	mu    sync.Mutex
	began []time.Time // since when, of those that began again
	calls int
	open  int // of the calls
}

func newSource() *source { return &source{polls: make(chan []string), fails: make(chan error)} }

// Listen implements documentchanges.Source.
func (s *source) Listen(ctx context.Context, since time.Time, heard func(ctx context.Context, pollIDs []string) error) error {
	s.count(since, 1)
	defer s.count(time.Time{}, -1)
	for {
		select {
		case <-ctx.Done():
			return nil
		case err := <-s.fails:
			return err
		case ids := <-s.polls:
			if err := heard(ctx, ids); err != nil {
				return err
			}
		}
	}
}

// count counts a call that begins or ends (-1).
func (s *source) count(since time.Time, opened int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !since.IsZero() {
		s.began = append(s.began, since)
	}
	s.open += opened
	s.calls += max(opened, 0)
}

// counts are how many calls there were, and how many have not ended.
func (s *source) counts() (calls, open int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls, s.open
}

func (s *source) begun() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.began)
}

// listening runs a listener of a name until it is stopped.
func listening(t *testing.T, name string, h *documentchanges.Intake, documents store.Store) (from *source, stop func()) {
	t.Helper()
	from = newSource()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	l := &documentchanges.Listener{
		Source: from, Intake: h, Store: documents, Instance: name, NewTrace: func() string { return "trace" },
		Wait: func(ctx context.Context, d time.Duration) error {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(d):
				return nil
			}
		},
		Log: slog.New(slog.DiscardHandler),
	}
	go func() { defer close(ended); l.Run(ctx) }()
	stop = sync.OnceFunc(func() { cancel(); <-ended })
	t.Cleanup(stop)
	return from, stop
}

func TestListener_ListensInOneInstance_AndAnotherGoesOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		documents, err := memorystore.Open(nil)
		must(t, err)
		polls := &reconciler{}
		h := opened(t, polls)
		first, stopFirst := listening(t, "first", h, documents)
		synctest.Wait()
		second, _ := listening(t, "second", h, documents)
		time.Sleep(10 * time.Minute)
		if first.begun() != 1 || second.begun() != 0 {
			t.Fatalf("the first began %d times, the second %d", first.begun(), second.begun())
		}
		first.polls <- []string{"one", "two"}
		time.Sleep(3 * time.Second)
		if reconciled := polls.list(); len(reconciled) != 2 {
			t.Errorf("it reconciled %v", reconciled)
		}
		stopFirst()
		time.Sleep(6 * time.Second)
		if second.begun() != 1 {
			t.Fatal("the second did not go on")
		}
		if back := time.Since(second.began[0]); back < 90*time.Second {
			t.Errorf("it goes back by %s alone", back)
		}
		second.polls <- []string{"three"}
		time.Sleep(3 * time.Second)
		if reconciled := polls.list(); !slices.Contains(reconciled, "three") {
			t.Errorf("it reconciled %v", reconciled)
		}
	})
}

func TestListener_ThatIsCutOff_GoesOnFromWhereItWas(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		documents, err := memorystore.Open(nil)
		must(t, err)
		polls := &reconciler{}
		from, _ := listening(t, "one", opened(t, polls), documents)
		for range 5 {
			from.fails <- errors.New("the connection is gone")
			time.Sleep(10 * time.Second)
		}
		from.polls <- []string{"poll"}
		time.Sleep(3 * time.Second)
		if reconciled := polls.list(); from.begun() != 1 || len(reconciled) != 1 {
			t.Errorf("it began %d times, and reconciled %v", from.begun(), reconciled)
		}
	})
}

// refusing is a store that cannot be reached while it is down.
type refusing struct {
	store.Store
	down atomic.Bool
}

// Run implements store.Store.
func (r *refusing) Run(ctx context.Context, do func(ctx context.Context, tx store.Tx) error) error {
	if r.down.Load() {
		return fault.New(fault.Unavailable, "not now")
	}
	return r.Store.Run(ctx, do)
}

// Each row is for how long no lease can be claimed. What was removed in the meantime is
// known to who goes on from its place alone: a listing does not have it.
func TestListener_WhoseClaimsFail_KeepsItsPlace(t *testing.T) {
	t.Parallel()
	for name, down := range map[string]time.Duration{"once": 3 * time.Second, "until the lease is over": 5 * time.Minute} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				documents, err := memorystore.Open(nil)
				must(t, err)
				unsteady := &refusing{Store: documents}
				polls := &reconciler{}
				from, _ := listening(t, "one", opened(t, polls), unsteady)
				synctest.Wait()
				unsteady.down.Store(true)
				from.fails <- errors.New("the connection is gone")
				time.Sleep(down + 6*time.Second)
				unsteady.down.Store(false)
				time.Sleep(6 * time.Second)
				from.polls <- []string{"poll"}
				time.Sleep(3 * time.Second)
				if reconciled := polls.list(); from.begun() != 1 || len(reconciled) != 1 {
					t.Errorf("it began %d times, and reconciled %v", from.begun(), reconciled)
				}
			})
		})
	}
}

func TestListener_AfterAnotherHadTheLease_StartsOver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		documents, err := memorystore.Open(nil)
		must(t, err)
		unsteady := &refusing{Store: documents}
		h := opened(t, &reconciler{})
		from, _ := listening(t, "one", h, unsteady)
		synctest.Wait()
		unsteady.down.Store(true)
		second, stopSecond := listening(t, "two", h, documents)
		time.Sleep(5 * time.Minute)
		if second.begun() != 1 {
			t.Fatal("the other did not take the lease that was over")
		}
		stopSecond()
		unsteady.down.Store(false)
		time.Sleep(6 * time.Second)
		if from.begun() != 2 {
			t.Errorf("it began %d times", from.begun())
		}
	})
}

// Each row is for how long another instance has the lease; after less than none it died.
func TestListener_ListensAsLongAsItHoldsTheLease(t *testing.T) {
	t.Parallel()
	for name, others := range map[string]time.Duration{"until it is taken": 10 * time.Minute, "until it was another's": -time.Second} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				documents, err := memorystore.Open(nil)
				must(t, err)
				from, _ := listening(t, "one", opened(t, &reconciler{}), documents)
				time.Sleep(10*time.Minute + time.Second)
				if calls, open := from.counts(); calls != 1 || open != 1 {
					t.Fatalf("after ten minutes, %d of %d calls listen", open, calls)
				}
				must(t, documents.Run(t.Context(), func(_ context.Context, tx store.Tx) error {
					taken := map[string]any{"holder": "another", "until": store.Instant(time.Now().Add(others))}
					return tx.Set(store.Doc("documentHints", "listener"), taken)
				}))
				time.Sleep(time.Minute)
				if _, open := from.counts(); open != 0 {
					t.Error("it listens without the lease")
				}
				time.Sleep(max(others, 0) + 6*time.Second)
				if _, open := from.counts(); from.begun() != 2 || open != 1 {
					t.Errorf("after the other died, it began %d times, and %d calls listen", from.begun(), open)
				}
			})
		})
	}
}
