package api_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"

	"questscheduler/groupevents"
	"questscheduler/internal/calendars"
	"questscheduler/internal/mirror"
	"questscheduler/internal/store"
	"questscheduler/scheduler"
)

func (w *world) connections(as, group string) (shown groupConnectionsJSON) {
	w.t.Helper()
	w.want(http.StatusOK, call{as: as, method: "GET", path: "/v1/groups/" + group + "/connections"}, &shown)
	return shown
}

func TestGroupConnections_EachSeesTheirOwn_TheCreatorAlsoWho(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	group := w.newGroupOf("ana", "ben")
	gms, anas := w.connect("gm", group), w.connect("ana", group)
	for _, row := range []struct {
		as, account, email string
		people             []string
	}{{"gm", gms, "gm@example.com", []string{"ana", "gm"}}, {"ana", anas, "ana@example.com", []string{}}, {"ben", "", "", []string{}}} {
		shown := w.connections(row.as, group)
		if row.account == "" && len(shown.Connections) == 0 && len(shown.MemberIDs) == 0 {
			continue
		}
		if len(shown.Connections) != 1 || shown.Connections[0].AccountID != row.account ||
			shown.Connections[0].Email != row.email || !slices.Equal(shown.MemberIDs, row.people) {
			t.Errorf("%s sees %+v", row.as, shown)
		}
	}
}

func TestGroupConnect_Refuses_AndWritesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	group := w.newGroupOf("ana")
	anas, eves := w.newAccount("ana"), w.newAccount("eve")
	for _, row := range []struct {
		name, as, group, account string
		status                   int
	}{
		{"another's account", "gm", group, anas, 404},
		{"an unknown account", "ana", group, "acc_unknown", 404},
		{"an unknown group", "ana", "unknown", anas, 404},
		{"a group of others", "eve", group, eves, 404},
	} {
		before := w.store.writes.Load()
		got := w.do(call{
			as: row.as, method: "POST", path: "/v1/groups/" + row.group + "/connections",
			body: map[string]any{"account_id": row.account},
		})
		if got.status != row.status || got.Error.Code != "NOT_FOUND" || w.store.writes.Load() != before {
			t.Errorf("%s: %d %s", row.name, got.status, got.text)
		}
	}
}

func TestGroupConnect_ShowsTheEventsThatThereAre_Once(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	group := w.newGroup()
	made := w.newGroupEvent("gm", group, movieNight)
	anas := w.connect("ana", group)
	if again := w.connect("ana", group); again != anas {
		t.Errorf("connected %s and %s", anas, again)
	}
	if got := w.accountsShowing(made.ID, mirror.Pending); !slices.Equal(got, []string{anas}) ||
		len(w.connections("ana", group).Connections) != 1 {
		t.Errorf("it shows in %v", got)
	}
}

// writeMirror records that the event of a mirror was written.
func (w *world) writeMirror(eventID, account string) {
	w.t.Helper()
	must(w.t, w.store.Run(w.t.Context(), func(_ context.Context, tx store.Tx) error {
		return tx.Update(mirror.Path(mirror.IDOf(eventID, account)),
			store.Set("state", string(mirror.Active)), store.Set("eventId", "questmirror1"), store.Set("generation", 1), store.Set("due", nil))
	}))
}

func TestGroupDisconnect_KeepsOrDeletesTheCopies(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		query    string
		deleting bool
	}{{"", false}, {"?delete_events=false", false}, {"?delete_events=true", true}} {
		t.Run(row.query, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			group := w.newGroup()
			gms, anas := w.connect("gm", group), w.connect("ana", group)
			made := w.newGroupEvent("gm", group, movieNight)
			w.writeMirror(made.ID, anas)
			path := "/v1/groups/" + group + "/connections/" + anas
			w.want(404, call{as: "gm", method: "DELETE", path: path + row.query}, nil)
			w.want(200, call{as: "ana", method: "DELETE", path: path + row.query}, nil)
			w.carryOutGroupWork()
			w.want(404, call{as: "ana", method: "DELETE", path: path + row.query}, nil)

			id := mirror.IDOf(made.ID, anas)
			_, mapped, err := mirror.Load(t.Context(), w.store, id)
			must(t, err)
			kept, err := w.store.Get(t.Context(), mirror.KeptPath(id))
			must(t, err)
			if mapped != row.deleting || kept.Exists() == row.deleting ||
				slices.Contains(w.accountsShowing(made.ID, mirror.Deleting), anas) != row.deleting {
				t.Errorf("mapped %t, kept %t, deleting from %v", mapped, kept.Exists(), w.accountsShowing(made.ID, mirror.Deleting))
			}
			if got := w.accountsShowing(made.ID, mirror.Pending); !slices.Equal(got, []string{gms}) {
				t.Errorf("it shows in %v, want %s alone", got, gms)
			}
			w.want(200, call{as: "gm", method: "PATCH", path: "/v1/groups/" + group + "/events/latest", body: map[string]any{"title": "Later"}}, nil)
			w.carryOutGroupWork()
			if got := w.accountsShowing(made.ID, mirror.Pending); !slices.Equal(got, []string{gms}) {
				t.Errorf("after a change it shows in %v", got)
			}
		})
	}
}

func TestGroupDisconnect_OfHundredsOfCopies_ReleasesAll(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	group := w.newGroup()
	anas := w.connect("ana", group)
	for i := range 205 {
		var made groupEventJSON
		author := []string{"ana", "gm"}[i%2] // one alone makes fewer a day
		w.want(http.StatusCreated, call{as: author, method: "POST", path: "/v1/groups/" + group + "/events", body: movieNight}, &made)
	}
	w.carryOutGroupWork()
	w.want(200, call{as: "ana", method: "DELETE", path: "/v1/groups/" + group + "/connections/" + anas}, nil)
	w.carryOutGroupWork()
	left, err := mirror.InState(t.Context(), w.store, "ana", 1000, mirror.Pending, mirror.Deleting)
	must(t, err)
	if len(left) != 0 {
		t.Errorf("%d mirrors are left", len(left))
	}
}

func TestGroup_LeftOrRemoved_Disconnects(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(w *world, group string){
		"leaves": func(w *world, group string) {
			w.want(200, call{as: "ana", method: "POST", path: "/v1/groups/" + group + "/leave"}, nil)
		},
		"is removed": func(w *world, group string) {
			w.patchGroup(group, map[string]any{"remove_member_ids": []string{"ana"}})
		},
		"is absent from all members": func(w *world, group string) { w.patchGroup(group, map[string]any{"member_ids": []string{}}) },
		"is removed by the web app, and an event is made": func(w *world, group string) {
			w.writeGroup(group, "gm", "gm")
			w.newGroupEvent("gm", group, with(movieNight, "title", "Secret"))
		},
		"is removed by the web app, and the cleanup runs": func(w *world, group string) {
			w.writeGroup(group, "gm", "gm")
			ended, next, err := w.options.GroupEvents.EndConnections(w.t.Context(), "")
			must(w.t, err)
			if ended != 1 || next != "" {
				w.t.Errorf("%d connections ended, next %q", ended, next)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			group := w.newGroup()
			gms, anas := w.connect("gm", group), w.connect("ana", group)
			made := w.newGroupEvent("gm", group, movieNight)
			w.writeMirror(made.ID, anas)
			end(w, group)
			w.carryOutGroupWork()
			if got := w.accountsShowing(made.ID, mirror.Deleting); !slices.Equal(got, []string{anas}) {
				t.Errorf("it is deleted from %v", got)
			}
			if shown := w.connections("gm", group); !slices.Equal(shown.MemberIDs, []string{"gm"}) {
				t.Errorf("connected are %v", shown.MemberIDs)
			}
			if got := w.accountsShowing(made.ID, mirror.Pending); !slices.Equal(got, []string{gms}) {
				t.Errorf("it shows in %v", got)
			}
			var latest groupEventJSON
			w.want(200, call{as: "gm", method: "GET", path: "/v1/groups/" + group + "/events/latest"}, &latest)
			if got := w.accountsShowing(latest.ID, mirror.Pending); !slices.Equal(got, []string{gms}) {
				t.Errorf("the latest shows in %v", got)
			}
			w.want(404, call{as: "ana", method: "GET", path: "/v1/groups/" + group + "/events"}, nil)
		})
	}
}

func TestAccount_UnlinkedElsewhere_IsDisconnectedBeforeItLeaves(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	group := w.newGroup()
	gms, anas := w.connect("gm", group), w.connect("ana", group)
	made := w.newGroupEvent("gm", group, movieNight)
	account, err := w.linked.Unlink(t.Context(), "ana", anas)
	must(t, err)
	must(t, w.options.GroupEvents.AccountLeaving(t.Context(), account, scheduler.Cause{}))
	if shown := w.connections("gm", group); !slices.Equal(shown.MemberIDs, []string{"gm"}) {
		t.Errorf("when the account leaves, connected are %v", shown.MemberIDs)
	}
	w.carryOutGroupWork()
	if got := w.accountsShowing(made.ID, mirror.Pending); !slices.Equal(got, []string{gms}) {
		t.Errorf("it shows in %v", got)
	}
	if got := w.accountsShowing(made.ID, mirror.Deleting); !slices.Equal(got, []string{anas}) {
		t.Errorf("copies are being deleted from %v", got)
	}
}

func TestAccount_Unlinked_DisconnectsAndDeletesTheCopies(t *testing.T) {
	t.Parallel()
	for _, crashed := range []bool{false, true} {
		w := newWorld(t)
		group := w.newGroup()
		gms, anas := w.connect("gm", group), w.connect("ana", group)
		made := w.newGroupEvent("gm", group, movieNight)
		if crashed { // between unlinking and disconnecting
			_, err := w.linked.Unlink(t.Context(), "ana", anas)
			must(t, err)
			_, _, err = w.options.GroupEvents.EndConnections(t.Context(), "")
			must(t, err)
		} else {
			w.want(200, call{as: "ana", method: "DELETE", path: "/v1/accounts/" + anas}, nil)
		}
		w.carryOutGroupWork()
		if got := w.accountsShowing(made.ID, mirror.Deleting); !slices.Equal(got, []string{anas}) ||
			len(w.connections("ana", group).Connections) != 0 {
			t.Errorf("deleted from %v", got)
		}
		if got := w.accountsShowing(made.ID, mirror.Pending); !slices.Equal(got, []string{gms}) {
			t.Errorf("it shows in %v", got)
		}
	}
}

func TestGroup_WhileCalendarsAreOnlyObserved_RefusesWhatWouldWrite(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	group := w.newGroup()
	anas, spare := w.connect("ana", group), w.newAccount("gm")
	made := w.newGroupEvent("gm", group, movieNight)
	w.options.GroupEvents.ReadOnly = true
	path := "/v1/groups/" + group
	for name, refused := range map[string]call{
		"connect":              {as: "gm", method: "POST", path: path + "/connections", body: map[string]any{"account_id": spare}},
		"make":                 {as: "gm", method: "POST", path: path + "/events", body: movieNight},
		"change":               {as: "gm", method: "PATCH", path: path + "/events/latest", body: map[string]any{"title": "Later"}},
		"delete":               {as: "gm", method: "DELETE", path: path + "/events/latest"},
		"disconnect, deleting": {as: "ana", method: "DELETE", path: path + "/connections/" + anas + "?delete_events=true"},
		"share sessions":       {as: "gm", method: "PATCH", path: path, body: map[string]any{"name": "Other", "share_sessions": true}},
	} {
		before := w.store.writes.Load()
		if got := w.do(refused); got.status != http.StatusServiceUnavailable || got.Error.Code != "UNAVAILABLE" ||
			w.store.writes.Load() != before {
			t.Errorf("%s: %d %s, %d writes", name, got.status, got.text, w.store.writes.Load()-before)
		}
	}
	if shown := w.groupEvent("ana", group, "latest"); shown.ID != made.ID || shown.Title != "Movie night" || len(shown.Mirrors) != 1 {
		t.Errorf("shown is %+v", shown)
	}
	w.want(200, call{as: "gm", method: "PATCH", path: path, body: map[string]any{"name": "Other"}}, nil)
	w.want(200, call{as: "ana", method: "DELETE", path: path + "/connections/" + anas}, nil)
}

func TestGroup_ChangedBeyondTheSwitchesOfADay_StaysAsItIs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	group := w.newGroup()
	anas := w.connect("ana", group)
	path := "/v1/groups/" + group
	for i := range groupevents.MaxSwitches {
		w.patchGroup(group, map[string]any{"share_sessions": i%2 == 0})
	}
	w.carryOutGroupWork()
	account, before := w.newAccount("gm"), w.store.writes.Load()
	got := w.do(call{as: "gm", method: "PATCH", path: path, body: map[string]any{
		"name": "Other", "remove_member_ids": []string{"ana"}, "share_sessions": true,
	}})
	if got.status != http.StatusTooManyRequests || got.Error.Code != "RATE_LIMITED" || !strings.Contains(got.text, groupevents.CodeSwitches) {
		t.Errorf("it is answered with %d %s", got.status, got.text)
	}
	got = w.do(call{as: "gm", method: "POST", path: path + "/connections", body: map[string]any{"account_id": account}})
	if got.status != http.StatusTooManyRequests || got.Error.Code != "RATE_LIMITED" {
		t.Errorf("connecting is answered with %d %s", got.status, got.text)
	}
	w.want(http.StatusBadRequest, call{as: "gm", method: "PATCH", path: path, body: map[string]any{
		"add_member_ids": []string{"ana"}, "remove_member_ids": []string{"ana"}, "share_sessions": true,
	}}, nil)
	w.carryOutGroupWork()
	if n := w.store.writes.Load() - before; n != 0 {
		t.Errorf("it writes %d documents", n)
	}
	if shown := w.connections("gm", group); !slices.Equal(shown.MemberIDs, []string{"ana"}) {
		t.Errorf("connected are %v", shown.MemberIDs)
	}
	if shown := w.connections("ana", group); len(shown.Connections) != 1 || shown.Connections[0].AccountID != anas {
		t.Errorf("ana has connected %+v", shown.Connections)
	}
	sharing := map[string]any{"share_sessions": true}
	w.want(http.StatusForbidden, call{as: "ana", method: "PATCH", path: path, body: sharing}, nil)
	for _, unknown := range []string{"unknown", "__x__", "a%2fb", "a%2fslots%2fb"} {
		w.want(http.StatusNotFound, call{as: "gm", method: "PATCH", path: "/v1/groups/" + unknown, body: sharing}, nil)
	}
	w.patchGroup(group, map[string]any{"name": "Other", "remove_member_ids": []string{"ana"}, "share_sessions": false}) // as it is
	if shown := w.connections("gm", group); len(shown.MemberIDs) != 0 {
		t.Errorf("after ana was removed, connected are %v", shown.MemberIDs)
	}
}

func TestGroupDisconnect_DeletingWhatAnEarlierOneKept_BeforeItIsPlanned(t *testing.T) {
	t.Parallel()
	for name, planned := range map[string]bool{"planned again": true, "not planned yet": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			group := w.newGroup()
			anas := w.connect("ana", group)
			made := w.newGroupEvent("gm", group, movieNight)
			w.writeMirror(made.ID, anas)
			disconnect := call{as: "ana", method: "DELETE", path: "/v1/groups/" + group + "/connections/" + anas}
			w.want(200, disconnect, nil)
			w.carryOutGroupWork()
			w.want(201, call{as: "ana", method: "POST", path: "/v1/groups/" + group + "/connections", body: map[string]any{"account_id": anas}}, nil)
			if planned {
				w.carryOutGroupWork()
			}
			disconnect.path += "?delete_events=true"
			w.want(200, disconnect, nil)
			w.carryOutGroupWork()

			m, mapped, err := mirror.Load(t.Context(), w.store, mirror.IDOf(made.ID, anas))
			must(t, err)
			if !mapped || m.State != mirror.Deleting || m.Wanted != "" || m.Due.IsZero() || m.EventID != "questmirror1" || m.Generation != 1 {
				t.Errorf("mapped %t: %+v", mapped, m)
			}
			if kept, err := w.store.Get(t.Context(), mirror.KeptPath(m.ID)); err != nil || kept.Exists() {
				t.Errorf("kept %t, %v", kept.Exists(), err)
			}
		})
	}
}

// Native copies in a connected account, and copies that a person changes there, are found
// only where the account's calendar is followed.
func TestGroupConnect_FollowsTheAccountsCalendar_UntilItIsDisconnected(t *testing.T) {
	t.Parallel()
	w := newWorld(t, newStillClock().on)
	group := w.newGroup()
	anas := w.connect("ana", group)
	followed := func() (interest int64) {
		t.Helper()
		for calendar, err := range calendars.OfAccount(t.Context(), w.store, anas) {
			must(t, err)
			interest += calendar.Interests[mirror.Consumer]
		}
		return interest
	}
	if got := followed(); got != 1 {
		t.Errorf("the interest is %d after connecting", got)
	}
	w.want(http.StatusOK, call{as: "ana", method: "DELETE", path: "/v1/groups/" + group + "/connections/" + anas}, nil)
	w.carryOutGroupWork()
	if got := followed(); got != 0 {
		t.Errorf("the interest is %d after disconnecting", got)
	}
}
