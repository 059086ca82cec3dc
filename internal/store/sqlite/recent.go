package sqlite

import (
	"sync"

	"questscheduler/internal/store"
)

// Of the documents that transactions read or wrote last, so many are kept, and none above so many
// bytes as Firestore counts them.
const (
	mostRecent      = 1024
	mostRecentBytes = 8 << 10
)

// recent has documents as they are in the file, so that reading them again takes no query and no
// decoding. Only the batches of the one writer put documents in: those that it changes leave before
// the commit and come back after it, so that no reader gets an older one than another reader got.
// A batch that fails puts none in.
type recent struct {
	mu        sync.RWMutex
	documents map[store.Path]map[string]any // nil for one that does not exist
}

func newRecent() *recent { return &recent{documents: map[store.Path]map[string]any{}} }

// get returns a document's fields, which the caller must not change, unless it is not known.
func (r *recent) get(path store.Path) (data map[string]any, known bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	data, known = r.documents[path]
	return data, known
}

// all returns several documents' fields of one committed state, unless one of them is not known.
func (r *recent) all(paths []store.Path) (found []map[string]any, known bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	found = make([]map[string]any, len(paths))
	for i, path := range paths {
		found[i], known = r.documents[path]
		if !known {
			return nil, false
		}
	}
	return found, true
}

// leave takes out what a batch changed, before its commit.
func (r *recent) leave(b *batched) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for path := range b.changed {
		delete(r.documents, path)
	}
}

// enter puts in what a committed batch read and wrote. For each above mostRecent, any other goes.
func (r *recent) enter(b *batched) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for path, data := range b.documents {
		if store.WriteSize(path, data, nil) > mostRecentBytes {
			continue
		}
		if _, known := r.documents[path]; !known && len(r.documents) == mostRecent {
			for other := range r.documents {
				delete(r.documents, other)
				break
			}
		}
		r.documents[path] = data
	}
}

// close empties it.
func (r *recent) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	clear(r.documents)
}

// batched has the documents of a batch as its members left them: what they wrote, and some of what
// they read.
type batched struct {
	documents map[store.Path]map[string]any
	changed   map[store.Path]bool
}

func newBatched() *batched {
	return &batched{documents: map[store.Path]map[string]any{}, changed: map[store.Path]bool{}}
}

func (b *batched) read(path store.Path, data map[string]any) {
	if len(b.documents) < mostRecent {
		b.documents[path] = data
	}
}

func (b *batched) wrote(path store.Path, data map[string]any) {
	b.documents[path], b.changed[path] = data, true
}
