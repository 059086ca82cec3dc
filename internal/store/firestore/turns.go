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

// turnPatience is how long a transaction waits for its turn before it goes on without.
const turnPatience = 5 * time.Second

// turns keep transactions of this process that lost a conflict out of each other's way;
// otherwise many that want one document can abort each other again and again. The next
// attempt of such a transaction claims the documents that it touched and the collections
// that it queried. Others that lost on them, or begin with one of them, wait; a first
// attempt that reaches them later is given up.
//
// A query counts as touching its whole collection: Firestore locks a range of an index,
// its emulator everything.
//
// Correctness does not depend on turns: other processes do not see them. A waiter holds
// no claims, so two waiters cannot deadlock.
type turns struct {
	mu      sync.Mutex
	claimed map[store.Path]chan struct{} // closed when the claim ends
}

// errOvertaken ends a first attempt that reaches another's claim; it runs again after it.
var errOvertaken = status.Error(codes.Aborted, "another transaction has its turn")

// claim waits until none of the paths is claimed, claims them all, and returns what ends
// the claim.
func (t *turns) claim(ctx context.Context, paths []store.Path) (release func()) {
	mine := make(chan struct{})
	if len(paths) == 0 || !t.wait(ctx, paths, mine) {
		return func() {}
	}
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		for _, path := range paths {
			delete(t.claimed, path)
		}
		close(mine)
	}
}

// await waits until none of the paths is claimed.
func (t *turns) await(ctx context.Context, paths []store.Path) { t.wait(ctx, paths, nil) }

// wait reports whether the paths became free in time; mine, unless nil, has them then.
func (t *turns) wait(ctx context.Context, paths []store.Path, mine chan struct{}) bool {
	patience := time.After(turnPatience)
	for {
		other := t.take(paths, mine)
		if other == nil {
			return true
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

// take returns a claim that conflicts, or nil when mine, unless nil, has all paths.
func (t *turns) take(paths []store.Path, mine chan struct{}) (other chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, path := range paths {
		if claim := t.conflicting(path); claim != nil {
			return claim
		}
	}
	if mine == nil {
		return nil
	}
	if t.claimed == nil {
		t.claimed = map[store.Path]chan struct{}{}
	}
	for _, path := range paths {
		t.claimed[path] = mine
	}
	return nil
}

// conflicting returns a claim of a path, of its collection or, where the path is a
// collection, of a document in it; nil where there is none.
func (t *turns) conflicting(path store.Path) chan struct{} {
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

func collectionOf(path store.Path) store.Path {
	at := strings.LastIndexByte(string(path), '/')
	return path[:max(at, 0)]
}

// busy reports whether one of the paths is claimed.
func (t *turns) busy(paths ...store.Path) bool { return t.take(paths, nil) != nil }
