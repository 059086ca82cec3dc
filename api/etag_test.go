package api_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"questscheduler/internal/calendars"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
)

// getIf reads a poll as gm under a condition; 304 must come without a body.
func (w *world) getIf(p pollJSON, condition string) answer {
	w.t.Helper()
	c := call{as: "gm", method: "GET", path: "/v1/polls/" + p.ID}
	if condition != "" {
		c.header = map[string]string{"If-None-Match": condition}
	}
	got := w.send(c)
	if tag := got.header.Get("ETag"); !strings.HasPrefix(tag, `"`) || !strings.HasSuffix(tag, `"`) {
		w.t.Errorf("status %d with the tag %q", got.status, tag)
	}
	if (got.status == http.StatusNotModified) != (got.text == "") {
		w.t.Errorf("status %d with the body %q", got.status, got.text)
	}
	return got
}

func (w *world) tag(p pollJSON) string {
	w.t.Helper()
	return w.getIf(p, "").header.Get("ETag")
}

// patch renames a poll under a condition.
func (w *world) patch(p pollJSON, title, condition string) answer {
	w.t.Helper()
	return w.do(call{
		as: "gm", method: "PATCH", path: "/v1/polls/" + p.ID, body: map[string]any{"title": title},
		header: map[string]string{"If-Match": condition},
	})
}

func TestETag_WhoHasThePollAsItIs_Gets304(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.newPoll(nil)
	tag := w.tag(p)
	for condition, want := range map[string]int{
		tag: 304, "W/" + tag: 304, `"other", ` + tag: 304, "*": 304, `"other"`: 200, `""`: 200,
	} {
		if got := w.getIf(p, condition); got.status != want || got.header.Get("ETag") != tag {
			t.Errorf("If-None-Match: %s is answered %d with %s", condition, got.status, got.header.Get("ETag"))
		}
	}
	other := w.newPoll(nil)
	if got := w.getIf(other, tag); got.status != 200 {
		t.Error("another poll has the same tag")
	}
	// Who may not read it learns nothing.
	w.want(404, call{as: "eve", method: "GET", path: "/v1/polls/" + p.ID, header: map[string]string{"If-None-Match": "*"}}, nil)
}

func TestETag_VisibleChange_ChangesTheTag(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.newPoll(nil)
	path := "/v1/polls/" + p.ID
	tags := []string{w.tag(p)}
	for _, c := range []call{
		{as: "ana", method: "PUT", path: path + "/votes/me", body: map[string]any{"votes": map[string]string{p.Slots[0].ID: "FEASIBLE"}}},
		{as: "ana", method: "PUT", path: path + "/votes/me", body: map[string]any{"votes": map[string]string{p.Slots[0].ID: "PREFERRED"}}},
		{as: "ben", method: "POST", path: path + "/accept-invite"},
		{as: "gm", method: "PATCH", path: path, body: map[string]any{"description": "Bring dice."}},
		{as: "gm", method: "POST", path: path + "/finalize", body: map[string]any{"slot_id": p.Slots[0].ID}},
	} {
		w.want(200, c, nil)
		tag := w.tag(p)
		if slices.Contains(tags, tag) {
			t.Errorf("after %s %s the tag is one of before", c.method, c.path)
		}
		tags = append(tags, tag)
	}
	if again := w.tag(p); again != tags[len(tags)-1] {
		t.Error("the tag changes without a write")
	}
}

func TestIfMatch_StaleTag_Is412AndChangesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.newPoll(nil)
	old := w.tag(p)
	got := w.patch(p, "Hers", old)
	if got.status != 200 || got.header.Get("ETag") != w.tag(p) {
		t.Fatalf("with the current tag: %d with %s", got.status, got.header.Get("ETag"))
	}
	before := w.store.writes.Load()
	for _, condition := range []string{old, "W/" + w.tag(p), `"other"`} {
		got := w.patch(p, "His", condition)
		if got.status != 412 || got.Error.Code != "CONFLICT" || got.Error.Detail.Reason != "stale" {
			t.Errorf("If-Match: %s is answered %s", condition, got.text)
		}
	}
	if w.store.writes.Load() != before {
		t.Error("something was written")
	}
	for _, condition := range []string{`"other", ` + w.tag(p), "*"} {
		if got := w.patch(p, "Ours", condition); got.status != 200 {
			t.Errorf("If-Match: %s is answered %s", condition, got.text)
		}
	}
	if got := w.do(call{
		as: "ana", method: "PATCH", path: "/v1/polls/" + p.ID, body: map[string]any{"title": "Mine"},
		header: map[string]string{"If-Match": old},
	}); got.status != 403 {
		t.Errorf("who may not edit is answered %d", got.status)
	}
}

func TestIfMatch_OfTwoEditsOfTheSame_OneIsDone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.newPoll(nil)
	tag := w.tag(p)
	statuses := make([]int, 8)
	var all sync.WaitGroup
	for i := range statuses {
		all.Go(func() { statuses[i] = w.patch(p, "Edit "+string(rune('a'+i)), tag).status })
	}
	all.Wait()
	slices.Sort(statuses)
	if want := []int{200, 412, 412, 412, 412, 412, 412, 412}; !slices.Equal(statuses, want) {
		t.Errorf("answered %v", statuses)
	}
}

// A sync that found nothing shows in the poll, and is not a change that an edit could
// overwrite.
func TestETag_SyncWithoutAChange_ShowsAndAllowsEdits(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.finalise(w.newPoll(nil))
	tag := w.tag(p)
	key := poll.CalendarKey("acc_gm", "gm@example.com")
	must(t, w.store.Run(t.Context(), func(_ context.Context, tx store.Tx) error {
		return tx.Merge(calendars.Path(key), poll.Set("lastSuccessAt", begin.AddDate(0, 0, 1).Add(time.Microsecond)))
	}))
	if got := w.getIf(p, tag); got.status != 200 {
		t.Errorf("the tag from before the sync is answered %d", got.status)
	}
	if got := w.patch(p, "Another title", tag); got.status != 200 {
		t.Errorf("an edit is answered %s", got.text)
	}
	if got := w.patch(p, "One more", tag); got.status != 412 {
		t.Errorf("an edit of what changed is answered %d", got.status)
	}
}
