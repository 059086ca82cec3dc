package api_test

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"questscheduler/internal/mirror"
	"questscheduler/internal/store"
	"questscheduler/rules"
)

// sharedSession is the canonical event of a poll's session that its group shares, by way of
// the mirrors of ana's account.
func (w *world) sharedSession(account string) (event mirror.Event, states []mirror.State) {
	w.t.Helper()
	w.carryOutGroupWork()
	mirrors, err := store.Collect(mirror.IntoAccount(w.t.Context(), w.store, account))
	must(w.t, err)
	for _, m := range mirrors {
		states = append(states, m.State)
		event, err = mirror.LoadEvent(w.t.Context(), w.store, m.CanonicalID)
		if err != nil {
			w.t.Fatal(err)
		}
	}
	return event, states
}

func TestShareSessions_FinalisedMovedCancelled_FollowInConnectedAccounts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	group := w.newGroup()
	anas := w.connect("ana", group)
	finalised := w.finalise(w.newPoll(map[string]any{"group_id": group}))
	if _, states := w.sharedSession(anas); len(states) != 0 {
		t.Errorf("without the setting it shows: %v", states)
	}
	var shown struct {
		ShareSessions bool `json:"share_sessions"`
	}
	w.want(
		http.StatusForbidden,
		call{as: "ana", method: "PATCH", path: "/v1/groups/" + group, body: map[string]any{"share_sessions": true}}, nil,
	)
	w.want(200, call{as: "gm", method: "PATCH", path: "/v1/groups/" + group, body: map[string]any{"share_sessions": true}}, &shown)
	event, states := w.sharedSession(anas)
	if !shown.ShareSessions || !slices.Equal(states, []mirror.State{mirror.Pending}) || event.Source != mirror.SourcePoll ||
		event.GroupID != group ||
		event.Title != finalised.Title || event.OwnerID != "gm" || event.PollID != finalised.ID {
		t.Fatalf("%v of %+v", states, event)
	}

	later := begin.AddDate(0, 2, 0)
	w.moveEvent(finalised, rules.Timed(later, later.Add(time.Hour)))
	event, _ = w.sharedSession(anas)
	if !event.Start.Time.Equal(later) || event.Version != 2 {
		t.Errorf("moved, it is %+v", event)
	}
	for field, is := range map[string]func(mirror.Event) string{
		"title":       func(e mirror.Event) string { return e.Title },
		"description": func(e mirror.Event) string { return e.Description },
		"timezone":    func(e mirror.Event) string { return e.Start.Zone },
	} {
		value := map[string]string{"title": "The crypt", "description": "Bring dice", "timezone": "Europe/Vienna"}[field]
		w.want(200, call{as: "gm", method: "PATCH", path: "/v1/polls/" + finalised.ID, body: map[string]any{field: value}}, nil)
		event, _ = w.sharedSession(anas)
		if is(event) != value {
			t.Errorf("with the %s edited, it is %+v", field, event)
		}
	}
	w.want(200, call{as: "gm", method: "POST", path: "/v1/polls/" + finalised.ID + "/cancel"}, nil)
	_, states = w.sharedSession(anas)
	if !slices.Equal(states, []mirror.State{mirror.Deleting}) && len(states) != 0 {
		t.Errorf("cancelled, its mirrors are %v", states)
	}
}

func TestShareSessions_TurnedOff_WithdrawsTheSessions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	group := w.newGroup()
	anas := w.connect("ana", group)
	w.want(200, call{as: "gm", method: "PATCH", path: "/v1/groups/" + group, body: map[string]any{"share_sessions": true}}, nil)
	w.finalise(w.newPoll(map[string]any{"group_id": group}))
	if _, states := w.sharedSession(anas); !slices.Equal(states, []mirror.State{mirror.Pending}) {
		t.Fatalf("its mirrors are %v", states)
	}
	w.want(200, call{as: "gm", method: "PATCH", path: "/v1/groups/" + group, body: map[string]any{"share_sessions": false}}, nil)
	withdrawn, states := w.sharedSession(anas)
	if slices.Contains(states, mirror.Pending) {
		t.Errorf("withdrawn, its mirrors are %v", states)
	}
	if withdrawn.ID != "" && withdrawn.Status != "cancelled" {
		t.Errorf("nothing follows the session any more, and it stays as %+v", withdrawn)
	}
	w.want(200, call{as: "gm", method: "PATCH", path: "/v1/groups/" + group, body: map[string]any{"share_sessions": true}}, nil)
	if event, states := w.sharedSession(anas); !slices.Contains(states, mirror.Pending) || event.Status != "confirmed" {
		t.Errorf("shared again, it is %+v with mirrors %v", event, states)
	}
}

func TestShareSessions_MovedAndCancelled_IsRestoredInConnectedAccounts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	group := w.newGroup()
	anas := w.connect("ana", group)
	w.want(200, call{as: "gm", method: "PATCH", path: "/v1/groups/" + group, body: map[string]any{"share_sessions": true}}, nil)
	finalised := w.finalise(w.newPoll(map[string]any{"group_id": group}))
	first, _ := w.sharedSession(anas)
	path := "/v1/polls/" + finalised.ID

	later := begin.AddDate(0, 2, 0)
	w.moveEvent(finalised, rules.Timed(later, later.Add(time.Hour)))
	if moved, _ := w.sharedSession(anas); !moved.Start.Time.Equal(later) {
		t.Fatalf("moved, it is %+v", moved)
	}
	w.want(200, call{as: "gm", method: "POST", path: path + "/restore-original-time"}, nil)
	restored, states := w.sharedSession(anas)
	if restored.ID != first.ID || !restored.Start.Time.Equal(first.Start.Time) || !restored.End.Time.Equal(first.End.Time) ||
		!slices.Equal(states, []mirror.State{mirror.Pending}) {
		t.Errorf("restored, it is %+v with mirrors %v, want %+v", restored, states, first)
	}

	w.want(200, call{as: "gm", method: "POST", path: path + "/cancel"}, nil)
	w.sharedSession(anas)
	w.want(200, call{as: "gm", method: "POST", path: path + "/reopen"}, nil)
	again := w.finalise(finalised)
	w.carryOutGroupWork()
	live := map[mirror.State][]string{} // ids of the events in the calendars
	mirrors, err := store.Collect(mirror.IntoAccount(t.Context(), w.store, anas))
	must(t, err)
	for _, m := range mirrors {
		event, err := mirror.LoadEvent(t.Context(), w.store, m.CanonicalID)
		must(t, err)
		live[m.State] = append(live[m.State], event.EventID)
	}
	if !slices.Equal(live[mirror.Pending], []string{*again.GoogleEventID}) || slices.Contains(live[mirror.Deleting], *again.GoogleEventID) {
		t.Errorf("finalised again as %s, its mirrors are %v", *again.GoogleEventID, live)
	}
}
