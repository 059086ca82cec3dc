package storetest

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"questscheduler/internal/store"
)

// Counts are small, since drivers that lock take their time under contention:
// Firestore's emulator lets two seconds pass before it ends a deadlock.
const (
	contenders = 3
	rounds     = 2
)

// meeting lets the contenders of a round go on when all have read, so that a
// driver without isolation is caught. On a driver that runs one after the
// other they never meet, and each goes on alone after a while.
type meeting struct {
	mu      sync.Mutex
	arrived int
	all     chan struct{}
}

func newMeeting() *meeting { return &meeting{all: make(chan struct{})} }

func (m *meeting) wait() {
	m.mu.Lock()
	m.arrived++
	if m.arrived == contenders {
		close(m.all)
	}
	m.mu.Unlock()
	alone := time.NewTimer(100 * time.Millisecond)
	defer alone.Stop()
	select {
	case <-m.all:
	case <-alone.C:
	}
}

// contend runs body for each contender at once and waits for all.
func contend(t *testing.T, body func(contender int) error) {
	t.Helper()
	var all sync.WaitGroup
	errs := make([]error, contenders)
	for i := range contenders {
		all.Go(func() { errs[i] = body(i) })
	}
	all.Wait()
	for _, err := range errs {
		must(t, err)
	}
}

var contention = []promise{
	{"no update is lost", checkLostUpdate},
	{"no two transactions write on what the other disproves (write skew)", checkWriteSkew},
	{"no two transactions create what both found absent (phantom)", checkPhantom},
	{"no document comes into a result behind a transaction's back (phantom)", checkPhantomUpdate},
	{"of many that create one document, one succeeds", func(t *testing.T, s store.Store) {
		for round := range rounds {
			path := store.Doc("books", fmt.Sprint(round))
			m := newMeeting()
			contend(t, func(contender int) error {
				return persist(t.Context(), s, func(ctx context.Context, tx store.Tx) error {
					got, err := tx.Get(ctx, path)
					if err != nil || got.Exists() {
						return err
					}
					m.wait()
					return tx.Create(path, map[string]any{"by": contender})
				})
			})
			if read(t, s, path) == nil {
				t.Fatal("nobody created it")
			}
		}
	}},
	{"a transaction sees one state", func(t *testing.T, s store.Store) {
		checkOneState(t, s, rounds, func(pair []store.Path) (documents []store.Document, err error) {
			err = persist(t.Context(), s, func(ctx context.Context, tx store.Tx) error {
				a, err := tx.Get(ctx, pair[0])
				if err != nil {
					return err
				}
				runtime.Gosched()
				b, err := tx.Query(ctx, byRank.With().Below(book))
				if err != nil {
					return err
				}
				documents = []store.Document{a, b[1]}
				return nil
			})
			return documents, err
		})
	}},
}

// snapshots are what reads promise that are in no transaction, while others
// commit.
var snapshots = []promise{
	{"a list of documents sees one state", func(t *testing.T, s store.Store) {
		checkOneState(t, s, 20*rounds, func(pair []store.Path) ([]store.Document, error) { return s.GetAll(t.Context(), pair) })
	}},
	{"a query sees one state", func(t *testing.T, s store.Store) {
		checkOneState(t, s, 20*rounds, func([]store.Path) ([]store.Document, error) {
			return s.Query(t.Context(), ofKindsFromTop.With([]any{"a", "b"}).Below(book))
		})
	}},
}

// checkLostUpdate increments a counter in one document. Each increment leaves a
// mark of its own, so that a transaction with an unknown outcome is not repeated.
func checkLostUpdate(t *testing.T, s store.Store) {
	set(t, s, doc, map[string]any{"count": 0})
	var meetings [rounds]*meeting
	for round := range meetings {
		meetings[round] = newMeeting()
	}
	contend(t, func(contender int) error {
		for round := range rounds {
			mark := store.Doc("marks", fmt.Sprintf("%d-%d", contender, round))
			err := persist(t.Context(), s, func(ctx context.Context, tx store.Tx) error {
				got, err := tx.GetAll(ctx, []store.Path{mark, doc})
				if err != nil || got[0].Exists() {
					return err
				}
				meetings[round].wait()
				if err := tx.Create(mark, nil); err != nil {
					return err
				}
				return tx.Update(doc, field(got[1].Data["count"].(int64)+1, "count"))
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	wantFields(t, s, doc, map[string]any{"count": int64(contenders * rounds)})
}

// checkWriteSkew: of the people on call, each may leave while another stays.
func checkWriteSkew(t *testing.T, s store.Store) {
	for round := range rounds {
		m := newMeeting()
		all := make([]store.Path, contenders)
		for i := range all {
			all[i] = store.Doc("calls", fmt.Sprint(round), "people", fmt.Sprint(i))
			set(t, s, all[i], map[string]any{"on": true})
		}
		contend(t, func(contender int) error {
			return persist(t.Context(), s, func(ctx context.Context, tx store.Tx) error {
				people, err := tx.GetAll(ctx, all)
				if err != nil {
					return err
				}
				on := 0
				for _, person := range people {
					if person.Data["on"] == true {
						on++
					}
				}
				m.wait()
				if on < 2 {
					return nil
				}
				return tx.Update(all[contender], field(false, "on"))
			})
		})
		on := 0
		for _, path := range all {
			if read(t, s, path)["on"] == true {
				on++
			}
		}
		if on != 1 {
			t.Fatalf("%d people are left on call, want 1", on)
		}
	}
}

// checkPhantom: a book takes one note; each contender finds it empty or not.
func checkPhantom(t *testing.T, s store.Store) {
	for round := range rounds {
		parent := store.Doc("books", fmt.Sprint(round))
		m := newMeeting()
		contend(t, func(contender int) error {
			return persist(t.Context(), s, func(ctx context.Context, tx store.Tx) error {
				there, err := tx.Query(ctx, ofKind.With("k").Below(parent))
				if err != nil {
					return err
				}
				m.wait()
				if len(there) > 0 {
					return nil
				}
				return tx.Set(parent.Doc("notes", fmt.Sprint(contender)), map[string]any{"kind": "k"})
			})
		})
		if got := ask(t, s, ofKind.With("k").Below(parent)); len(got) != 1 {
			t.Fatalf("round %d: %d notes were written, want 1", round, len(got))
		}
	}
}

// checkPhantomUpdate is the same with notes that are there already and come
// into the result by an update.
func checkPhantomUpdate(t *testing.T, s store.Store) {
	for round := range rounds {
		parent := store.Doc("books", fmt.Sprint(round))
		for i := range contenders {
			set(t, s, parent.Doc("notes", fmt.Sprint(i)), map[string]any{"rank": i})
		}
		m := newMeeting()
		contend(t, func(contender int) error {
			return persist(t.Context(), s, func(ctx context.Context, tx store.Tx) error {
				there, err := tx.Query(ctx, between.With(100, 200).Below(parent).First(1))
				if err != nil {
					return err
				}
				m.wait()
				if len(there) > 0 {
					return nil
				}
				return tx.Update(parent.Doc("notes", fmt.Sprint(contender)), field(100+contender, "rank"))
			})
		})
		if got := ask(t, s, between.With(100, 200).Below(parent)); len(got) != 1 {
			t.Fatalf("round %d: %d notes came into the range, want 1", round, len(got))
		}
	}
}

// checkOneState changes two documents together until a concurrent reader has read
// them a number of times and has read changes at least an eighth as often: reads
// may be so fast that all of them fall between two changes. (A transaction that
// reads what is always being written waits long for its turn.)
func checkOneState(t *testing.T, s store.Store, times int, readPair func(pair []store.Path) ([]store.Document, error)) {
	pair := []store.Path{book.Doc("notes", "a"), book.Doc("notes", "b")}
	step := func(n int) error {
		return persist(t.Context(), s, func(_ context.Context, tx store.Tx) error {
			// The kinds differ and change places, so that a query by kinds
			// reads two ranges.
			for i, path := range pair {
				fields := map[string]any{"n": n, "rank": i, "kind": string(rune('a' + (n+i)%2))}
				if err := tx.Set(path, fields); err != nil {
					return err
				}
			}
			return nil
		})
	}
	must(t, step(0))
	var enough, ended atomic.Bool
	contend(t, func(contender int) error {
		switch contender {
		case 0:
			defer ended.Store(true)
			for n := 1; !enough.Load(); n++ {
				if err := step(n); err != nil {
					return err
				}
			}
		case 1:
			defer enough.Store(true)
			var last any
			for reads, moves := 0, 0; (reads < times || moves < times/8) && !ended.Load(); reads++ {
				documents, err := readPair(pair)
				if err != nil {
					return err
				}
				if len(documents) != 2 || documents[0].Data["n"] != documents[1].Data["n"] {
					return fmt.Errorf("two states were read at once: %v", documents)
				}
				if documents[0].Data["n"] != last {
					last = documents[0].Data["n"]
					moves++
				}
			}
		}
		return nil
	})
}
