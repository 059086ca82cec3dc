package firestore_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/store"
	"questscheduler/internal/store/firestore"
	"questscheduler/internal/test/emulator"
)

// followed is a collection that a test follows.
type followed struct {
	t         *testing.T
	store     *firestore.Store
	following *firestore.Following
}

func newFollowed(t *testing.T, since time.Time) *followed {
	t.Helper()
	host, project := emulator.Project(t)
	s, err := firestore.Open(t.Context(), firestore.Options{Project: project, Emulator: host})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return &followed{t, s, firestore.Follow("schedulers", since)}
}

// write writes documents, or removes those that begin with a minus.
func (f *followed) write(ids ...string) {
	f.t.Helper()
	err := f.store.Run(f.t.Context(), func(_ context.Context, tx store.Tx) error {
		for _, id := range ids {
			var err error
			if id[0] == '-' {
				err = tx.Delete(store.Doc("schedulers", id[1:]))
			} else {
				err = tx.Set(store.Doc("schedulers", id), map[string]any{"at": time.Now()})
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		f.t.Fatal(err)
	}
}

// set writes documents.
func (f *followed) set(paths ...store.Path) {
	f.t.Helper()
	err := f.store.Run(f.t.Context(), func(_ context.Context, tx store.Tx) error {
		for _, path := range paths {
			if err := tx.Set(path, map[string]any{"at": time.Now()}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		f.t.Fatal(err)
	}
}

// hear listens, calls do once it listens, and returns when all wanted documents were
// reported. It ignores others: the emulator reorders its answers during writes and then
// reports everything once more.
func (f *followed) hear(do func(), want ...string) {
	f.t.Helper()
	ctx, cancel := context.WithTimeout(f.t.Context(), 30*time.Second)
	defer cancel()
	reported := map[string]bool{}
	f.write("ready")
	began := false
	err := f.store.Listen(ctx, f.following, func(_ context.Context, changed []store.Path) error {
		for _, path := range changed {
			reported[path.ID()] = true
		}
		if !began && reported["ready"] {
			began = true
			do()
		}
		if !slices.ContainsFunc(want, func(id string) bool { return !reported[id] }) {
			cancel()
		}
		return nil
	})
	if err != nil {
		f.t.Fatal(err)
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		f.t.Fatalf("reported %v, and never all of %v", reported, want)
	}
}

func TestListen_ReportsWritesAndDeletions_AndResumes(t *testing.T) {
	t.Parallel()
	f := newFollowed(t, time.Now().Add(-time.Minute))
	f.write("there", "later")
	f.hear(func() { f.write("new") }, "there", "later", "new")
	f.write("-there", "later") // while nobody listens
	f.hear(func() {}, "there", "later")
	f.hear(func() { f.write("-new", "again") }, "new", "again")
}

func TestListen_CollectionGroup_ReportsAllCollections(t *testing.T) {
	t.Parallel()
	f := newFollowed(t, time.Time{})
	f.following = firestore.FollowGroup("votes", time.Now().Add(-time.Minute))
	votes := []store.Path{"schedulers/one/votes/ana", "schedulers/two/votes/ben", "schedulers/one/basicPolls/b/votes/ana"}
	reported := map[store.Path]bool{}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	f.set(votes[0])
	err := f.store.Listen(ctx, f.following, func(_ context.Context, changed []store.Path) error {
		for _, path := range changed {
			reported[path] = true
		}
		if reported[votes[0]] && !reported[votes[1]] {
			f.set(votes[1:]...)
		}
		if !slices.ContainsFunc(votes, func(vote store.Path) bool { return !reported[vote] }) {
			cancel()
		}
		return nil
	})
	if err != nil || len(reported) != len(votes) {
		t.Errorf("it reports %v, %v", reported, err)
	}
}

func TestListen_ExistingDocuments_AreNotReported(t *testing.T) {
	t.Parallel()
	f := newFollowed(t, time.Time{})
	f.write("old")
	between := time.Now()
	f.write("new")
	f.following = firestore.Follow("schedulers", between)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	var first []store.Path
	err := f.store.Listen(ctx, f.following, func(_ context.Context, changed []store.Path) error {
		first = changed
		cancel()
		return nil
	})
	if err != nil || len(first) != 1 || first[0].ID() != "new" {
		t.Errorf("it reports %v, %v", first, err)
	}
}

func TestListen_HandlerFails_ReportsAgain(t *testing.T) {
	t.Parallel()
	f := newFollowed(t, time.Now().Add(-time.Minute))
	f.write("one")
	refusal := errors.New("not now")
	err := f.store.Listen(t.Context(), f.following, func(context.Context, []store.Path) error { return refusal })
	if !errors.Is(err, refusal) {
		t.Fatalf("it ends with %v", err)
	}
	f.hear(func() {}, "one")
}

func TestListen_OfAClosedStore_IsRefused(t *testing.T) {
	t.Parallel()
	f := newFollowed(t, time.Time{})
	if err := f.store.Close(); err != nil {
		t.Fatal(err)
	}
	err := f.store.Listen(t.Context(), f.following, func(context.Context, []store.Path) error { return nil })
	if !fault.Is(err, fault.Unavailable) {
		t.Errorf("it is %v", err)
	}
}
