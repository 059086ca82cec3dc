package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"questscheduler/internal/poll"
	"questscheduler/internal/store"
)

// readStore counts what is read through it: documents by their collection, and the
// bytes of all of them by what they have as JSON.
type readStore struct {
	store.Store
	mu    sync.Mutex
	reads map[string]int
	bytes int
}

// countReads has a world's reads counted from here on.
func (w *world) countReads() *readStore {
	counted := &readStore{Store: w.store.Store, reads: map[string]int{}}
	w.store.Store = counted
	return counted
}

func (s *readStore) Get(ctx context.Context, path store.Path) (store.Document, error) {
	doc, err := s.Store.Get(ctx, path)
	s.count(path.Collection(), doc)
	return doc, err
}

func (s *readStore) GetAll(ctx context.Context, paths []store.Path) ([]store.Document, error) {
	docs, err := s.Store.GetAll(ctx, paths)
	for i, doc := range docs {
		s.count(paths[i].Collection(), doc)
	}
	return docs, err
}

func (s *readStore) Query(ctx context.Context, asked store.Bound) ([]store.Document, error) {
	docs, err := s.Store.Query(ctx, asked)
	s.count(asked.Query.Collection, docs...)
	return docs, err
}

func (s *readStore) count(collection string, docs ...store.Document) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reads[collection] += max(1, len(docs)) // as Firestore counts
	for _, doc := range docs {
		text, err := json.Marshal(doc.Data)
		if err != nil {
			panic(err) // of values that a store gives
		}
		s.bytes += len(text)
	}
}

// taken gives what was counted since it was last called.
func (s *readStore) taken() (reads map[string]int, bytes int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	reads, bytes, s.reads, s.bytes = s.reads, s.bytes, map[string]int{}, 0
	return reads, bytes
}

// listOf reads a page of polls, each as its fields.
func (w *world) listOf(as, query string) []map[string]json.RawMessage {
	w.t.Helper()
	var list struct{ Polls []map[string]json.RawMessage }
	w.want(200, call{as: as, method: "GET", path: "/v1/polls?" + query}, &list)
	return list.Polls
}

func TestPolls_ListedWithoutParts_CostNoneOfTheirReads(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	open := w.newPoll(nil)
	w.want(
		200,
		call{
			as: "ana", method: "PUT", path: "/v1/polls/" + open.ID + "/votes/me",
			body: map[string]any{"votes": map[string]string{open.Slots[0].ID: "PREFERRED"}},
		},
		nil,
	)
	var whole []map[string]json.RawMessage
	final := w.finalise(w.newPoll(nil))
	for _, p := range []pollJSON{final, open} {
		var one map[string]json.RawMessage
		w.want(200, call{as: "gm", method: "GET", path: "/v1/polls/" + p.ID}, &one)
		whole = append(whole, one)
	}
	counted := w.countReads()
	for _, row := range []struct {
		query        string
		slots, votes int // that are read
		has          []string
	}{
		{"", 1, 0, nil}, // the winning slot
		{"include=votes", 1, 2, []string{"votes"}},
		{"include=slots", 4, 2, []string{"slots"}}, // votes are counted for each reader
		{"include=slots,votes", 4, 2, []string{"slots", "votes"}},
		{"include=votes,slots", 4, 2, []string{"slots", "votes"}},
	} {
		counted.taken()
		list := w.listOf("gm", row.query)
		reads, _ := counted.taken()
		if reads["slots"] != row.slots || reads["votes"] != row.votes || reads["schedulers"] != 2 {
			t.Errorf("%q reads %v", row.query, reads)
		}
		for i, one := range list {
			for name, value := range whole[i] {
				part := name == "slots" || name == "votes"
				wanted := !part || strings.Contains(fmt.Sprint(row.has), name)
				if got, given := one[name]; given != wanted || given && string(got) != string(value) {
					t.Errorf("%q gives %s as %s, want %s", row.query, name, got, value)
				}
			}
		}
	}
}

// TestPages_ManyBytes_EndEarly: whatever the items of a listing hold, a
// page of it is at most 1 MiB, or one item; and what is read for it at a time is
// little more.
func TestPages_ManyBytes_EndEarly(t *testing.T) {
	t.Parallel()
	const items, large = 24, 100_000
	for name := range newWorld(t).listings() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			l := w.listings()[name]
			if l.long == nil {
				return // what it lists is short
			}
			var made []string
			for i := range items {
				made = append(made, l.make())
				path, field := l.long(made[i])
				text := strings.Repeat("x", large)
				if i == items/2 {
					text = strings.Repeat("\x01", 2*large) // six bytes each in JSON
				}
				must(t, w.store.Run(t.Context(), func(_ context.Context, tx store.Tx) error {
					return tx.Update(path, poll.Set(field, text))
				}))
			}
			found := w.pagesOf(l)
			for _, id := range made {
				if count := len(found) - len(slices.DeleteFunc(slices.Clone(found), func(other string) bool { return other == id })); count != 1 {
					t.Errorf("%s is listed %d times", id, count)
				}
			}
		})
	}
}

// pagesOf reads a listing to its end, as many items a page as it gives, and gives
// their ids.
func (w *world) pagesOf(l listed) (found []string) {
	w.t.Helper()
	const most = 1 << 20
	counted := w.countReads()
	alone := 0
	for next, more := "", true; more; more = next != "" {
		counted.taken()
		var ids []string
		var bytes int
		ids, bytes, next = w.pageOf(l, 100, next)
		_, read := counted.taken()
		switch {
		case len(ids) == 1 && bytes > most:
			alone++
		case bytes > most+100: // the list around its items
			w.t.Errorf("a page of %d items has %d bytes", len(ids), bytes)
		case len(ids) == 0 && next != "":
			w.t.Error("a page is empty, and not the last")
		}
		if read > 3*most+bytes {
			w.t.Errorf("for a page of %d bytes %d are read", bytes, read)
		}
		found = append(found, ids...)
	}
	if alone != 1 {
		w.t.Errorf("%d items come alone", alone)
	}
	return found
}

// TestPolls_ListedWithTheirVotes_AreBoundedToo: the votes of one poll alone can be
// more than a page.
func TestPolls_ListedWithTheirVotes_AreBoundedToo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var made []string
	for _, voters := range []int{1, 30, 30, 60, 1} {
		p := w.newPoll(nil)
		made = append([]string{p.ID}, made...)
		choices := map[string]any{}
		for i := range 200 {
			choices[fmt.Sprintf("%0100d", i)] = poll.Feasible
		}
		for voter := range voters {
			must(t, w.write(string(poll.VotePath(p.ID, fmt.Sprint("voter", voter))), map[string]any{"votes": choices}))
		}
	}
	l := listed{path: "/v1/polls?include=votes&", as: "gm", key: "polls"}
	if found := w.pagesOf(l); !slices.Equal(found, made) {
		t.Errorf("listed %v, want %v", found, made)
	}
}
