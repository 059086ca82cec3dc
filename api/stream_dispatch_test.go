package api

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"testing"
	"time"

	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/internal/store/changes"
	"questscheduler/internal/test/memorystore"
)

// failingStore is a store whose reads a test may have fail.
type failingStore struct {
	store.Store
	get   func() error // before documents are read
	query func() error // before a query
}

func (s *failingStore) GetAll(ctx context.Context, paths []store.Path) ([]store.Document, error) {
	if err := s.get(); err != nil {
		return nil, err
	}
	return s.Store.GetAll(ctx, paths)
}

func (s *failingStore) Query(ctx context.Context, query store.Bound) ([]store.Document, error) {
	if err := s.query(); err != nil {
		return nil, err
	}
	return s.Store.Query(ctx, query)
}

// newTestDispatcher makes a dispatcher with streams of these persons, over a store
// that the caller may have fail.
func newTestDispatcher(t *testing.T, people ...string) (*dispatcher, []*feed, *failingStore) {
	t.Helper()
	documents, err := memorystore.Open(poll.Queries)
	if err != nil {
		t.Fatal(err)
	}
	well := func() error { return nil }
	failing := &failingStore{Store: documents, get: well, query: well}
	written := changes.New(failing)
	s := &server{Options: Options{Store: written, Changes: written, Now: func() time.Time { return time.Date(2026, 2, 1, 12, 0, 0, 0, time.UTC) }}}
	s.dispatch = &dispatcher{server: s}
	var feeds []*feed
	for _, id := range people {
		by := caller{}
		by.person.ID = id
		f := newFeed(s, by)
		if err := s.dispatch.enter(f); err != nil {
			t.Fatal(err)
		}
		feeds = append(feeds, f)
	}
	return s.dispatch, feeds, failing
}

func (s *failingStore) write(t *testing.T, path store.Path, data map[string]any) {
	t.Helper()
	if err := s.Run(t.Context(), func(_ context.Context, tx store.Tx) error { return tx.Set(path, data) }); err != nil {
		t.Fatal(err)
	}
}

// TestDispatcher_ReadFails_WakesOnceOver: a stream that is woken while another
// still reads goes on without having read.
func TestDispatcher_ReadFails_WakesOnceOver(t *testing.T) {
	t.Parallel()
	d, _, documents := newTestDispatcher(t, "gm", "ana")
	begun, release, refused := make(chan struct{}), make(chan struct{}), errors.New("it left")
	documents.get = func() error {
		close(begun)
		<-release
		return refused
	}
	change := changes.Change{Poll: "p"}
	d.written.Add(change)
	<-d.written.Woken()
	failed := make(chan error)
	go func() { failed <- d.route(t.Context()) }()
	<-begun
	d.mu.Lock() // so that the routing cannot end
	close(release)
	for range 10_000 {
		if d.routing && len(d.written.Woken()) > 0 {
			t.Error("another stream is woken before the routing has ended")
			break
		}
		runtime.Gosched()
	}
	d.mu.Unlock()
	if err := <-failed; !errors.Is(err, refused) {
		t.Errorf("the routing failed with %v", err)
	}
	<-d.written.Woken()
	if left, _ := d.written.Take(); !slices.Contains(left, change) {
		t.Errorf("left are %v", left)
	}
}

// TestVoteScan_FirstFails_NextFindsItsVotes: a vote is missed by nobody who
// listened when it was given.
func TestVoteScan_FirstFails_NextFindsItsVotes(t *testing.T) {
	t.Parallel()
	d, feeds, documents := newTestDispatcher(t, "gm", "ana")
	refused := errors.New("it left")
	documents.query = func() error { return refused }
	if err := d.scanVotes(t.Context(), &feeds[0].scans); !errors.Is(err, refused) {
		t.Fatalf("the scan failed with %v", err)
	}
	documents.write(t, poll.VotePath("p", "eve"), map[string]any{"updatedAt": d.Now()})
	documents.query = func() error { return nil }
	if err := d.scanVotes(t.Context(), &feeds[1].scans); err != nil {
		t.Fatal(err)
	}
	if found, _ := d.written.Take(); !slices.Equal(found, []changes.Change{{Poll: "p", Parts: true}}) {
		t.Errorf("the next scan found %v", found)
	}
}

// TestDispatcher_SteadyWrites_RoutesOnce: while changes are read another comes, of
// which another stream hears. Who reads must go on with its own stream.
func TestDispatcher_SteadyWrites_RoutesOnce(t *testing.T) {
	t.Parallel()
	d, _, documents := newTestDispatcher(t, "gm", "ana")
	reads := 0
	documents.get = func() error {
		reads++
		if reads == 10 {
			return errors.New("it reads on")
		}
		d.written.Add(changes.Change{Poll: "p"})
		<-d.written.Woken()
		return d.route(t.Context()) // the other stream's
	}
	d.written.Add(changes.Change{Poll: "p"})
	<-d.written.Woken()
	if err := d.route(t.Context()); err != nil || reads != 1 {
		t.Errorf("changes were read %d times: %v", reads, err)
	}
	select {
	case <-d.written.Woken():
	default:
		t.Error("no stream is woken for the change that came last")
	}
}

// TestVoteScan_ChangesLost_FindsVotesAgain: a vote that a scan found may be among
// the changes that were lost.
func TestVoteScan_ChangesLost_FindsVotesAgain(t *testing.T) {
	t.Parallel()
	d, feeds, documents := newTestDispatcher(t, "gm")
	documents.write(t, poll.VotePath("p", "eve"), map[string]any{"updatedAt": d.Now()})
	for _, want := range []int{1, 0, 1} {
		if want == 1 {
			d.lose()
		}
		if err := d.scanVotes(t.Context(), &feeds[0].scans); err != nil {
			t.Fatal(err)
		}
		if found, _ := d.written.Take(); len(found) != want {
			t.Errorf("a scan found %v, want %d", found, want)
		}
	}
}
