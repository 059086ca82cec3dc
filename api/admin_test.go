package api_test

import (
	"context"
	"net/url"
	"strings"
	"testing"

	"questscheduler/internal/store"
)

func TestAdminRoutes_Answers_ShowNoSecrets(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.newFollowed("gm")
	must(t, w.write("calendarWatches/channel-of-gm", map[string]any{
		"tokenHash": marker, "token": marker, "status": "active", "expiration": begin.AddDate(0, 0, 7), "calendarId": "gm@example.com",
	}))
	made := w.finalise(w.newPoll(nil))
	for _, path := range []string{"/admin/watches", "/admin/channel-status", "/admin/polls/" + made.ID} {
		got := w.want(200, call{as: "admin", method: "GET", path: path}, nil)
		if strings.Contains(got.text, marker) {
			t.Errorf("%s gives a channel's token or its hash: %s", path, got.text)
		}
	}
}

func TestWatches_ComeInOrderOfExpiration_PageByPage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i, id := range []string{"c", "a", "b"} {
		must(t, w.write("calendarWatches/"+id, map[string]any{"status": "active", "expiration": begin.AddDate(0, 0, 3-i)}))
	}
	var order []string
	for path := "/admin/watches?limit=2"; path != ""; {
		var page struct {
			Watches []struct {
				ID string `json:"channel_id"`
			}
		}
		got := w.want(200, call{as: "admin", method: "GET", path: path}, &page)
		for _, watch := range page.Watches {
			order = append(order, watch.ID)
		}
		path = ""
		if got.Meta.NextCursor != "" {
			path = "/admin/watches?limit=2&cursor=" + got.Meta.NextCursor
		}
	}
	if strings.Join(order, " ") != "b a c" {
		t.Errorf("the order is %v", order)
	}
}

func TestRetry_OfWorkThatFails_HasItTriedNow(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	path, waiting := "/admin/tasks/"+w.newFailingWork()+"/retry", w.waiting()
	w.want(200, call{as: "admin", method: "POST", path: path}, nil)
	if w.waiting() != waiting+1 {
		t.Error("it does not wait for its turn")
	}
	if got := w.want(404, call{as: "admin", method: "POST", path: path}, nil); !strings.Contains(got.Error.Message, "at work again") {
		t.Errorf("the second time: %s", got.text)
	}
}

// A person's id may have any letters and 128 bytes; their work has it beside its kind.
func TestRetry_OfWorkWithAnyID_HasItTriedNow(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, id := range []string{"ana of Łódź", strings.Repeat("a", 128)} {
		path := url.PathEscape(w.newFailingWorkOf(id))
		w.want(200, call{as: "admin", method: "POST", path: "/admin/tasks/" + path + "/retry"}, nil)
	}
}

func TestInspect_FinalisedPoll_ShowsCalendarAndAnnouncement(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.finalise(w.newPoll(nil))
	w.newAnnouncement(made.ID)
	var inspected struct {
		Poll     pollJSON
		Calendar *struct {
			CalendarID string `json:"calendar_id"`
			OwnerID    string `json:"owner_id"`
		}
		Announcement struct{ Announced *struct{ Status string } } `json:"told"`
		Journal      []struct{ Command string }
	}
	w.want(200, call{as: "admin", method: "GET", path: "/admin/polls/" + made.ID}, &inspected)
	if inspected.Poll.ID != made.ID || inspected.Calendar == nil || inspected.Calendar.CalendarID != "gm@example.com" ||
		inspected.Calendar.OwnerID != "gm" {
		t.Errorf("the poll and its calendar are %+v", inspected)
	}
	if inspected.Announcement.Announced == nil || inspected.Announcement.Announced.Status != "CANCELLED" ||
		len(inspected.Journal) != 1 || inspected.Journal[0].Command != "finalise" {
		t.Errorf("the announcement and the journal are %+v", inspected)
	}
}

// write writes a document whole.
func (w *world) write(path string, data map[string]any) error {
	w.t.Helper()
	return w.store.Run(w.t.Context(), func(_ context.Context, tx store.Tx) error { return tx.Set(store.Path(path), data) })
}

func TestRegisteringChannels_IsLogged_WithWhoAsked(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.want(200, call{as: "admin", method: "POST", path: "/admin/watches/force-register"}, nil)
	for line := range strings.Lines(w.log.String()) {
		if strings.Contains(line, "watch channels are opened anew") && strings.Contains(line, `"user_id":"admin"`) {
			return
		}
	}
	t.Error("no line says that an admin had the channels opened anew")
}
