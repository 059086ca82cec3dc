package firestore

import (
	"context"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"questscheduler/internal/store"
)

// turnPatience is the longest that a transaction waits for its turn; then it
// goes on without.
const turnPatience = 5 * time.Second

// turns keep transactions of this process that were overtaken out of each
// other's way: the next attempt of one claims the documents that it touched and
// the collections that it queried, and others that were overtaken on them, or are
// about to begin with one of them, wait. One that is at its first attempt and comes
// to them later gives that attempt up. Otherwise many that want one document can
// throw each other back again and again.
//
// A query counts as touching its whole collection: Firestore locks the part of an
// index that it reads, and its emulator everything.
//
// It is a courtesy and nothing rests on it: other processes know nothing of it.
// Nobody waits who holds anything, so that no two wait for each other.
type turns struct {
	mu      sync.Mutex
	claimed map[store.Path]chan struct{} // closed when the claim ends
}

// errOvertaken ends a first attempt that comes to what another has claimed: it
// begins again behind it.
var errOvertaken = status.Error(codes.Aborted, "another transaction has its turn")

// claim waits until nobody has claimed any of the paths, claims them all, and
// gives what ends the claim.
func (t *turns) claim(ctx context.Context, paths map[store.Path]bool) (release func()) {
	mine := make(chan struct{})
	if len(paths) == 0 || !t.wait(ctx, paths, mine) {
		return func() {}
	}
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		for path := range paths {
			delete(t.claimed, path)
		}
		close(mine)
	}
}

// await waits until nobody has claimed any of the paths.
func (t *turns) await(ctx context.Context, paths []store.Path) {
	wanted := make(map[store.Path]bool, len(paths))
	for _, path := range paths {
		wanted[path] = true
	}
	t.wait(ctx, wanted, nil)
}

// wait tells whether the paths came free in time; then mine, where there is
// one, has them.
func (t *turns) wait(ctx context.Context, paths map[store.Path]bool, mine chan struct{}) bool {
	var patience <-chan time.Time
	for {
		other := t.take(paths, mine)
		if other == nil {
			return true
		}
		if patience == nil {
			timer := time.NewTimer(turnPatience)
			defer timer.Stop()
			patience = timer.C
		}
		select {
		case <-other:
		case <-patience:
			return false
		case <-ctx.Done():
			return false
		}
	}
}

// take gives a claim that is in the way, or nil when mine has all paths.
func (t *turns) take(paths map[store.Path]bool, mine chan struct{}) (other chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for path := range paths {
		if claim := t.inTheWay(path); claim != nil {
			return claim
		}
	}
	if mine == nil {
		return nil
	}
	if t.claimed == nil {
		t.claimed = map[store.Path]chan struct{}{}
	}
	for path := range paths {
		t.claimed[path] = mine
	}
	return nil
}

// inTheWay gives a claim of a path, of its collection, or where the path is a
// collection, of a document in it; nil: there is none.
func (t *turns) inTheWay(path store.Path) chan struct{} {
	if claim := t.claimed[path]; claim != nil {
		return claim
	}
	for other, claim := range t.claimed {
		if collectionOf(other) == path || collectionOf(path) == other {
			return claim
		}
	}
	return nil
}

// collectionOf is the collection that a path is in.
func collectionOf(path store.Path) store.Path {
	at := strings.LastIndexByte(string(path), '/')
	return path[:max(at, 0)]
}

// busy tells whether anybody has claimed one of the paths.
func (t *turns) busy(paths ...store.Path) bool {
	wanted := make(map[store.Path]bool, len(paths))
	for _, path := range paths {
		wanted[path] = true
	}
	return t.take(wanted, nil) != nil
}
