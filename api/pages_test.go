package api_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"questscheduler/internal/mirror"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/notify"
)

// listed is a listing under test: its items stand in it by name, what is made
// last before the others.
type listed struct {
	path string // with a ? or & at its end
	as   string
	key  string // of the items in the answer
	// make makes an item and gives its id; remove removes one, and change
	// changes one as people do.
	make           func() string
	remove, change func(id string)
	// long is where a text of an item stands that can be long; nil: there is none.
	long func(id string) (path store.Path, field string)
}

// page reads a page of two.
func (w *world) page(l listed, after string) (ids []string, next string) {
	w.t.Helper()
	ids, _, next = w.pageOf(l, 2, after)
	return ids, next
}

// pageOf reads a page of at most limit, and says how many bytes its data has.
func (w *world) pageOf(l listed, limit int, after string) (ids []string, bytes int, next string) {
	w.t.Helper()
	path := fmt.Sprint(l.path, "limit=", limit)
	if after != "" {
		path += "&cursor=" + after
	}
	got := w.want(200, call{as: l.as, method: "GET", path: path}, nil)
	var lists map[string]json.RawMessage
	must(w.t, json.Unmarshal(got.Data, &lists))
	var items []struct {
		ID        string
		ChannelID string `json:"channel_id"`
		EventID   string `json:"canonical_event_id"`
	}
	must(w.t, json.Unmarshal(lists[l.key], &items))
	for _, item := range items {
		ids = append(ids, cmp.Or(item.ID, item.ChannelID, item.EventID))
	}
	return ids, len(got.Data), got.Meta.NextCursor
}

// listings are all that answer in pages.
func (w *world) listings() map[string]listed {
	w.t.Helper()
	p := w.newPoll(nil)
	entries := 0
	edit := func(path store.Path, updates ...store.Update) {
		must(w.t, w.store.Run(w.t.Context(), func(_ context.Context, tx store.Tx) error { return tx.Update(path, updates...) }))
	}
	remove := func(path store.Path) {
		must(w.t, w.store.Run(w.t.Context(), func(_ context.Context, tx store.Tx) error { return tx.Delete(path) }))
	}
	polls := listed{
		path: "/v1/polls?", as: "gm", key: "polls", make: func() string { return w.newPoll(nil).ID },
		remove: func(id string) { w.want(200, call{as: "gm", method: "DELETE", path: "/v1/polls/" + id}, nil) },
		change: func(id string) { w.want(200, call{as: "gm", method: "POST", path: "/v1/polls/" + id + "/cancel"}, nil) },
		long:   func(id string) (store.Path, string) { return poll.Path(id), "description" },
	}
	takingPart := polls
	takingPart.as, takingPart.path = "ana", "/v1/polls?role=participant&status=OPEN&"
	takingPart.change = func(id string) {
		w.want(200, call{as: "gm", method: "PATCH", path: "/v1/polls/" + id, body: map[string]any{"title": "Renamed"}}, nil)
	}
	notices := 0
	listings := map[string]listed{
		"list-polls":                     polls,
		"list-polls of those taken part": takingPart,
		"list-notifications": {
			path: "/v1/notifications?", as: "ben", key: "notifications",
			make: func() string {
				id := w.newNotification("ben")
				notices++
				if notices%3 > 0 { // some share their time: the id then says which comes first
					edit(notify.NotificationPath("ben", id), poll.Set("createdAt", begin.Add(time.Duration(notices/3)*time.Minute)))
				}
				return id
			},
			remove: func(id string) { edit(notify.NotificationPath("ben", id), poll.Set("dismissed", true)) },
			change: func(id string) {
				w.want(200, call{as: "ben", method: "POST", path: "/v1/notifications/" + id + "/read"}, nil)
			},
			long: func(id string) (store.Path, string) { return notify.NotificationPath("ben", id), "body" },
		},
		"list-journal": {
			path: "/v1/polls/" + p.ID + "/journal?", as: "gm", key: "entries",
			make: func() string {
				command := []string{"/archive", "/unarchive"}[entries%2]
				entries++
				w.want(200, call{as: "gm", method: "POST", path: "/v1/polls/" + p.ID + command}, nil)
				found, _, err := poll.LoadJournal(w.t.Context(), w.store, p.ID, store.Paging{Limit: 1})
				must(w.t, err)
				return found[0].ID
			},
			remove: func(id string) { // and put back at the end, when the journal is replayed
				entry, err := w.store.Get(w.t.Context(), poll.EntryPath(p.ID, id))
				must(w.t, err)
				remove(entry.Path)
				w.t.Cleanup(func() {
					must(w.t, w.store.Run(context.Background(), func(_ context.Context, tx store.Tx) error { return tx.Create(entry.Path, entry.Data) }))
				})
			},
			change: func(id string) { edit(poll.EntryPath(p.ID, id), poll.Set("fieldOfTheWebApp", true)) },
			long:   func(id string) (store.Path, string) { return poll.EntryPath(p.ID, id), "reason" },
		},
	}
	const group = "party-of-ana"
	w.writeGroup(group, "ana", "ana")
	listings["list-group-events"] = listed{
		path: "/v1/groups/" + group + "/events?", as: "ana", key: "events",
		make: func() string {
			var made groupEventJSON
			w.want(http.StatusCreated, call{as: "ana", method: "POST", path: "/v1/groups/" + group + "/events", body: movieNight}, &made)
			return made.ID
		},
		remove: func(id string) {
			w.want(200, call{as: "ana", method: "DELETE", path: "/v1/groups/" + group + "/events/" + id}, nil)
		},
		change: func(id string) {
			w.want(
				200,
				call{as: "ana", method: "PATCH", path: "/v1/groups/" + group + "/events/" + id, body: map[string]any{"title": "Renamed"}},
				nil,
			)
		},
	}
	planned := 0
	listings["list-events"] = listed{
		path: "/v1/events?start=2026-03-01T00:00:00Z&end=2026-04-01T00:00:00Z&", as: "gm", key: "events",
		make: func() string {
			planned++ // some share their start: the id then says which comes first
			start := begin.AddDate(0, 0, 50-planned/2)
			return w.newEventAt("gm", with(with(evening, "start_ts", start), "end_ts", start.Add(time.Hour)))
		},
		remove: func(id string) { w.want(200, call{as: "gm", method: "DELETE", path: "/v1/events/" + id}, nil) },
		change: func(id string) {
			w.want(200, call{as: "gm", method: "PATCH", path: "/v1/events/" + id, body: map[string]any{"title": "Renamed"}}, nil)
		},
		long: func(id string) (store.Path, string) { return mirror.EventPath(id), "description" },
	}
	titles, planner := 0, w.newEvent("gm")
	listings["event-journal"] = listed{
		path: "/v1/events/" + planner + "/journal?", as: "gm", key: "entries",
		make: func() string {
			titles++
			w.want(
				200,
				call{as: "gm", method: "PATCH", path: "/v1/events/" + planner, body: map[string]any{"title": fmt.Sprint("Title ", titles)}},
				nil,
			)
			found, _, err := mirror.LoadJournal(w.t.Context(), w.store, planner, store.Paging{Limit: 1})
			must(w.t, err)
			return found[0].ID
		},
		remove: func(id string) { remove(mirror.EntryPath(planner, id)) },
		change: func(id string) { edit(mirror.EntryPath(planner, id), poll.Set("reason", "another")) },
		long:   func(id string) (store.Path, string) { return mirror.EntryPath(planner, id), "reason" },
	}
	journals := listings["list-journal"]
	journals.path = "/v1/sync/journal?"
	listings["sync-journal"] = journals
	watches := 0
	listings["list-watches"] = listed{
		path: "/admin/watches?", as: "admin", key: "watches",
		make: func() string {
			id := fmt.Sprintf("channel-%02d", 50-watches)
			watches++ // some share their end: the id then says which comes first
			must(w.t,
				w.write("calendarWatches/"+id, map[string]any{"status": "active", "expiration": begin.Add(-time.Duration(watches/2) * time.Hour)}))
			return id
		},
		remove: func(id string) { remove(store.Doc("calendarWatches", id)) },
		change: func(id string) { edit(store.Doc("calendarWatches", id), poll.Set("status", "retiring")) },
		long:   func(id string) (store.Path, string) { return store.Doc("calendarWatches", id), "reason" },
	}
	status := listings["list-watches"]
	status.path = "/admin/channel-status?"
	listings["channel-status"] = status
	groups := 0
	listings["list-groups"] = listed{
		path: "/v1/groups?", as: "gm", key: "groups",
		make: func() string {
			id := fmt.Sprintf("group-%02d", 50-groups)
			groups++
			person := []map[string]any{{"creatorId": "gm"}, {"memberIds": []any{"gm"}}, {"pendingMemberIds": []any{"gm"}}}[groups%3]
			must(w.t, w.write("questingGroups/"+id, person))
			return id
		},
		remove: func(id string) { remove(poll.GroupPath(id)) },
		change: func(id string) { edit(poll.GroupPath(id), poll.Set("memberIds", []any{"ana", "gm"})) },
		long:   func(id string) (store.Path, string) { return poll.GroupPath(id), "name" },
	}
	return listings
}

// TestPages_ListChanges_KeepTheirOrder: between two pages items
// come, go and change, the one at the cursor too; whatever was there all along
// is listed once, in its order, and nothing is listed twice.
func TestPages_ListChanges_KeepTheirOrder(t *testing.T) {
	t.Parallel()
	for name := range newWorld(t).listings() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			l := w.listings()[name]
			for range 9 {
				l.make()
			}
			var before []string
			for next, more := "", true; more; more = next != "" {
				var ids []string
				ids, next = w.page(l, next)
				before = append(before, ids...)
			}
			if len(before) < 9 {
				t.Fatalf("%d are listed", len(before))
			}
			gone := []string{before[1], before[2], before[5]} // the cursor's own among them
			listed, next := w.page(l, "")
			l.make()
			l.remove(before[1])
			l.remove(before[2])
			l.change(before[0])
			ids, next := w.page(l, next)
			listed = append(listed, ids...)
			l.remove(before[5])
			l.change(before[6])
			l.make()
			for next != "" {
				ids, next = w.page(l, next)
				listed = append(listed, ids...)
			}
			unseen := func(id string) bool { return slices.Contains(gone, id) && !slices.Contains(listed, id) }
			if want := slices.DeleteFunc(slices.Clone(before), unseen); !slices.Equal(listed, want) {
				t.Errorf("listed %v\nof     %v", listed, want)
			}
		})
	}
}

// TestPages_EveryListing_IsHeldToThat: a route that is read page by page is
// among the listings above.
func TestPages_EveryListing_IsHeldToThat(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	held := w.listings()
	w.document().each(func(method, path string, op operationJSON) {
		for _, parameter := range op.Parameters {
			if _, ok := held[op.OperationID]; method == http.MethodGet && parameter.Name == "cursor" && !ok {
				t.Errorf("%s is held to nothing: add it to listings", fmt.Sprint(method, " ", path))
			}
		}
	})
}
