package poll_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"questscheduler/internal/poll"
	"questscheduler/internal/store"
)

// journals writes count entries for each poll, one a day from moment on.
func journals(t *testing.T, documents store.Store, counts map[string]int) {
	t.Helper()
	for pollID, count := range counts {
		for i := range count {
			entry := poll.Entry{ID: fmt.Sprintf("jrn_%03d", i), At: moment.AddDate(0, 0, i)}
			put(t, documents, poll.EntryPath(pollID, entry.ID), poll.EncodeEntry(entry))
		}
	}
}

// left are the ids of a journal's entries, newest first.
func left(t *testing.T, documents store.Reader, pollID string) (ids []string) {
	t.Helper()
	entries, _, err := poll.LoadJournal(t.Context(), documents, pollID, store.Paging{Limit: 0})
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		ids = append(ids, entry.ID)
	}
	return ids
}

// removeOld removes all old entries, page by page.
func removeOld(t *testing.T, documents store.Store, before time.Time) (removed int, err error) {
	t.Helper()
	for at := ""; ; {
		page, next, err := poll.RemoveOldEntries(t.Context(), documents, before, at)
		removed += page
		if err != nil || next == "" {
			return removed, err
		}
		at = next
	}
}

func TestRemoveOldEntries_YoungAndNewestEntries_Stay(t *testing.T) {
	t.Parallel()
	documents := open(t)
	journals(t, documents, map[string]int{"dead": 4, "one": 1, "live": 7, "long": 250})
	before := moment.AddDate(0, 0, 5)
	removed, err := removeOld(t, documents, before)
	if err != nil || removed != 3+0+5+5 {
		t.Errorf("removed %d, %v", removed, err)
	}
	for pollID, want := range map[string]string{"dead": "[jrn_003]", "one": "[jrn_000]", "live": "[jrn_006 jrn_005]"} {
		if got := fmt.Sprint(left(t, documents, pollID)); got != want {
			t.Errorf("of %s %s is left, want %s", pollID, got, want)
		}
	}
	if got := left(t, documents, "long"); len(got) != 245 || got[244] != "jrn_005" {
		t.Errorf("of the long one %d are left", len(got))
	}
	removed, err = removeOld(t, documents, before)
	if removed != 0 || err != nil {
		t.Errorf("the second time removed %d, %v", removed, err)
	}
	removed, err = removeOld(t, documents, moment.AddDate(1, 0, 0))
	if removed != 244+1 || err != nil {
		t.Errorf("a year later removed %d, %v", removed, err)
	}
}

func TestRemoveOldEntries_ObservedEntry_IsNotTheNewest(t *testing.T) {
	t.Parallel()
	documents := open(t)
	journals(t, documents, map[string]int{"p": 3})
	for i := range 150 {
		entry := poll.Entry{ID: fmt.Sprintf("jrn_observed_%03d", i), At: moment.AddDate(0, 0, 5+i), Observed: true}
		put(t, documents, poll.EntryPath("p", entry.ID), poll.EncodeEntry(entry))
	}
	removed, err := removeOld(t, documents, moment.AddDate(2, 0, 0))
	if got := fmt.Sprint(left(t, documents, "p")); err != nil || removed != 152 || got != "[jrn_002]" {
		t.Errorf("removed %d, %v; %s is left", removed, err, got)
	}
}

// cutOff ends every transaction but the first few.
type cutOff struct {
	store.Store
	left int
}

func (c *cutOff) Run(ctx context.Context, fn func(ctx context.Context, tx store.Tx) error) error {
	c.left--
	if c.left < 0 {
		return context.Canceled
	}
	return c.Store.Run(ctx, fn)
}

// Among what stays a run goes on page by page, and comes to an end.
func TestRemoveOldEntries_GoesOnBehindWhatStays(t *testing.T) {
	t.Parallel()
	documents := open(t)
	polls := map[string]int{"live": 2}
	for i := range 150 {
		polls[fmt.Sprintf("dead-%03d", i)] = 1
	}
	journals(t, documents, polls)
	later := moment.AddDate(1, 0, 0)
	removed, next, err := poll.RemoveOldEntries(t.Context(), documents, later, "")
	if removed != 0 || next == "" || err != nil {
		t.Fatalf("removed %d, goes on at %q, %v", removed, next, err)
	}
	removed, next, err = poll.RemoveOldEntries(t.Context(), documents, later, next)
	if removed != 1 || next != "" || err != nil {
		t.Errorf("then removed %d, goes on at %q, %v", removed, next, err)
	}
	removed, _, err = poll.RemoveOldEntries(t.Context(), documents, later, "of another version")
	if removed != 0 || err != nil {
		t.Errorf("from the beginning removed %d, %v", removed, err)
	}
}

func TestRemoveOldEntries_CutOff_GoesOnAtTheNextCall(t *testing.T) {
	t.Parallel()
	documents := open(t)
	journals(t, documents, map[string]int{"long": 250})
	later := moment.Add(1000 * 24 * time.Hour)
	removed, err := removeOld(t, &cutOff{documents, 1}, later)
	if err == nil || removed != 100 {
		t.Fatalf("removed %d, %v", removed, err)
	}
	removed, err = removeOld(t, documents, later)
	if err != nil || removed != 149 {
		t.Errorf("then removed %d, %v", removed, err)
	}
	if got := fmt.Sprint(left(t, documents, "long")); got != "[jrn_249]" {
		t.Errorf("%s is left", got)
	}
}
