package api_test

import (
	"net/url"
	"slices"
	"testing"
)

type notificationsJSON struct {
	Notifications []struct {
		ID, Type, Title string
		ActionURL       *string `json:"action_url"`
		Resource        struct{ Type, ID, Title string }
		Actor           *struct {
			UserID string `json:"user_id"`
		}
		Read bool
	}
}

func TestNotifications_AreListedAndRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var made []string
	for range 3 {
		made = append(made, w.newNotification("ana"))
	}
	other := w.newNotification("ben")

	var first, second notificationsJSON
	next := w.want(200, call{as: "ana", method: "GET", path: "/v1/notifications?limit=2"}, &first).Meta.NextCursor
	w.want(200, call{as: "ana", method: "GET", path: "/v1/notifications?limit=2&cursor=" + next}, &second)
	all := append(first.Notifications, second.Notifications...)
	if len(first.Notifications) != 2 || len(all) != 3 {
		t.Fatalf("listed %+v, then %+v", first, second)
	}
	for _, one := range all {
		if !slices.Contains(made, one.ID) || one.Read || one.Type != "POLL_CANCELLED" || one.Resource.ID != "1" ||
			one.Actor == nil || one.Actor.UserID != "ana" {
			t.Errorf("listed %+v", one)
		}
	}

	// An id may be escaped in any way that an address knows.
	for _, id := range []string{made[0], url.PathEscape(made[0]), "%64edupe%3A" + made[0][len("dedupe:"):]} {
		w.want(200, call{as: "ana", method: "POST", path: "/v1/notifications/" + id + "/read"}, nil)
	}
	w.want(404, call{as: "ana", method: "POST", path: "/v1/notifications/" + other + "/read"}, nil)
	if unread := w.unread("ana"); unread != 2 {
		t.Errorf("%d are not read, want 2", unread)
	}

	var marked struct{ Marked int }
	w.want(200, call{as: "ana", method: "POST", path: "/v1/notifications/read-all"}, &marked)
	if marked.Marked != 2 || w.unread("ana") != 0 || w.unread("ben") != 1 {
		t.Errorf("marked %d; ana has %d, ben %d", marked.Marked, w.unread("ana"), w.unread("ben"))
	}
}

func (w *world) unread(as string) int {
	w.t.Helper()
	var list notificationsJSON
	w.want(200, call{as: as, method: "GET", path: "/v1/notifications"}, &list)
	count := 0
	for _, one := range list.Notifications {
		if !one.Read {
			count++
		}
	}
	return count
}
