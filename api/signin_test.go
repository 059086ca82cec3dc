package api_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"questscheduler/internal/signin"
)

func signinPerson(uid, email string, verified bool) signin.Person {
	return signin.Person{UID: uid, Email: email, EmailVerified: verified}
}

// TestEveryRouteUnderV1_RefusesUnknownCallers goes by the OpenAPI document,
// so that no route can be forgotten.
func TestEveryRouteUnderV1_RefusesUnknownCallers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.newPoll(map[string]any{"allow_link_sharing": true})
	ids := map[string]string{
		"polls": made.ID, "groups": w.newGroup(), "notifications": w.newNotification("gm"), "calendars": w.newCalendar("gm"),
		"accounts": w.newAccount("gm"), "sync": w.newAccount("gm"), "policies": "x", "events": "x",
	}
	key, err := signin.LoadOrCreateKey(filepath.Join(t.TempDir(), "key"))
	must(t, err)
	elsewhere, err := signin.NewLocal(signin.LocalOptions{Key: key, Now: func() time.Time { return begin }})
	must(t, err)
	foreign, err := elsewhere.Issue(signin.Person{UID: "gm", Admin: true}, time.Hour)
	must(t, err)
	whole := w.tokens["gm"]
	before := w.store.writes.Load()
	visited := 0
	w.document().each(func(method, path string, op operationJSON) {
		if !strings.HasPrefix(path, "/v1/") {
			return
		}
		visited++
		if len(op.Security) == 0 || len(op.Audience) == 0 {
			t.Errorf("%s %s does not say that it needs a token, or who may call it", method, path)
		}
		for name, header := range map[string]string{
			"no token": "", "another server's": "Bearer " + foreign, "no scheme": whole, "another scheme": "Basic " + whole,
			"rubbish": "Bearer s3cretMarker", "empty": "Bearer ", "cut short": "Bearer " + whole[:len(whole)-2],
			"two": "Bearer " + whole + " " + whole, "far too long": "Bearer " + strings.Repeat("a", 100_000),
		} {
			got := w.do(call{
				method: method, path: fill(path, ids[strings.Split(path, "/")[2]]), body: "{ no JSON",
				header: map[string]string{"Authorization": header},
			})
			if got.status != 401 || got.Error.Code != "AUTH_REQUIRED" || !strings.HasPrefix(got.header.Get("WWW-Authenticate"), "Bearer") {
				t.Errorf("%s %s with %s: %d %s", method, path, name, got.status, got.text)
			}
			if strings.Contains(got.text, "s3cretMarker") {
				t.Errorf("%s %s gives the token back: %s", method, path, got.text)
			}
		}
	})
	if visited < 27 {
		t.Errorf("only %d routes in the document", visited)
	}
	if w.store.writes.Load() != before {
		t.Error("something was written")
	}
}
