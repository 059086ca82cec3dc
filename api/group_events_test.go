package api_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"questscheduler/groupevents"
	"questscheduler/internal/mirror"
	"questscheduler/internal/store"
	"questscheduler/scheduler"
)

func TestGroupEvent_ShowsInEachConnectedAccount_AndEachSeesTheirOwn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	group := w.newGroupOf("ana", "ben")
	gms, anas := w.connect("gm", group), w.connect("ana", group)
	made := w.newGroupEvent("ana", group, movieNight)
	if made.Ref != "EVT-"+made.ID[4:12] || made.Title != "Movie night" || made.Start != "2026-03-10T19:00:00+01:00" ||
		made.AuthorID != "ana" ||
		made.Description != "Bring snacks" || made.Location != "Ana's place" || made.AllDay || made.Version != 1 || made.Status != "confirmed" {
		t.Errorf("made %+v", made)
	}
	if got := w.accountsShowing(made.ID, mirror.Pending); !slices.Equal(got, sorted(gms, anas)) {
		t.Errorf("it is planned for %v", got)
	}
	for as, want := range map[string][]groupMirrorJSON{"gm": {{gms, "PENDING"}}, "ana": {{anas, "PENDING"}}, "ben": {}} {
		shown := w.groupEvent(as, group, made.ID)
		var list struct{ Events []groupEventJSON }
		w.want(200, call{as: as, method: "GET", path: "/v1/groups/" + group + "/events"}, &list)
		if !slices.Equal(shown.Mirrors, want) || len(list.Events) != 1 || !slices.Equal(list.Events[0].Mirrors, want) {
			t.Errorf("%s sees %+v and lists %+v, want %v", as, shown.Mirrors, list.Events, want)
		}
	}
	if w.drainGroups() != 0 {
		t.Error("work is left")
	}
}

func TestGroupEvent_AnswersTheAuthorWithTheirMirrors(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	group := w.newGroup()
	anas := w.connect("ana", group)
	var made groupEventJSON
	w.want(http.StatusCreated, call{as: "ana", method: "POST", path: "/v1/groups/" + group + "/events", body: movieNight}, &made)
	if !slices.Equal(made.Mirrors, []groupMirrorJSON{{anas, "PENDING"}}) {
		t.Errorf("answered mirrors %v", made.Mirrors)
	}
}

func TestGroupEvent_OfDays_IsAllDay(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	group := w.newGroup()
	made := w.newGroupEvent("gm", group, map[string]any{"title": "Con", "start": "2026-03-10", "end": "2026-03-12"})
	if !made.AllDay || made.Start != "2026-03-10" || made.End != "2026-03-12" || made.Timezone != nil {
		t.Errorf("made %+v", made)
	}
}

func TestGroupEvent_ChangedOrDeleted_ByAuthorAndCreatorAlone(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		as     string
		status int
	}{{"ana", 200}, {"gm", 200}, {"ben", 403}, {"eve", 404}, {"admin", 404}} {
		t.Run(row.as, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			group := w.newGroupOf("ana", "ben")
			anas := w.connect("ana", group)
			made := w.newGroupEvent("ana", group, movieNight)
			path := "/v1/groups/" + group + "/events/" + made.ID
			before := w.store.writes.Load()
			w.want(row.status, call{as: row.as, method: "PATCH", path: path, body: map[string]any{"title": "Film night"}}, nil)
			w.want(row.status, call{as: row.as, method: "DELETE", path: path}, nil)
			if row.status != 200 {
				if w.store.writes.Load() != before {
					t.Error("something was written")
				}
				return
			}
			w.carryOutGroupWork()
			if got := w.accountsShowing(made.ID, mirror.Deleting); !slices.Equal(got, []string{anas}) {
				t.Errorf("deleted from %v", got)
			}
			w.want(404, call{as: "ana", method: "GET", path: path}, nil)
			var list struct{ Events []groupEventJSON }
			w.want(200, call{as: "gm", method: "GET", path: "/v1/groups/" + group + "/events"}, &list)
			if len(list.Events) != 0 {
				t.Errorf("listed are %v", list.Events)
			}
		})
	}
}

func TestGroupEvent_Patch_KeepsWhatItDoesNotName(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	group := w.newGroup()
	made := w.newGroupEvent("ana", group, movieNight)
	path := "/v1/groups/" + group + "/events/latest"
	var changed groupEventJSON
	w.want(200, call{as: "ana", method: "PATCH", path: path, body: map[string]any{"end": "2026-03-10T23:00:00+01:00"}}, &changed)
	if changed.End != "2026-03-10T23:00:00+01:00" || changed.Start != made.Start || changed.Title != made.Title || changed.Version != 2 {
		t.Errorf("changed to %+v", changed)
	}
	before := w.store.writes.Load()
	w.want(200, call{as: "ana", method: "PATCH", path: path, body: map[string]any{"title": changed.Title}}, &changed)
	if changed.Version != 2 || w.store.writes.Load() != before {
		t.Error("a change to what it is was written")
	}
	w.want(200, call{as: "ana", method: "PATCH", path: path, body: map[string]any{"start": "2026-03-11", "end": "2026-03-12"}}, &changed)
	if !changed.AllDay || changed.Timezone != nil {
		t.Errorf("made all-day it is %+v", changed)
	}
}

func TestGroupEvent_ByReference(t *testing.T) {
	t.Parallel()
	clock := newStillClock()
	ids := []string{"01JBZQ8F7VKPNX3QZ9M8J5K2W7", "01JBZQ8F8VKPNX3QZ9M8J5K2W7", "01JC00007VKPNX3QZ9M8J5K2W7"}
	next := 0
	w := newWorld(t, clock.on, func(s *setup) {
		plain := s.NewID
		s.NewID = func(prefix string) string {
			if prefix != "evt" {
				return plain(prefix)
			}
			next++
			return "evt_" + ids[next-1]
		}
	})
	group := w.newGroup()
	for _, title := range []string{"Board games", "Movie night", "Games: finals"} {
		clock.advance(time.Minute)
		w.newGroupEvent("gm", group, with(movieNight, "title", title))
	}
	for i := range ids {
		ids[i] = "evt_" + ids[i]
	}
	for _, row := range []struct {
		name, ref  string
		status     int
		want       string
		candidates []string
	}{
		{"its id", ids[1], 200, ids[1], nil},
		{"its id without the prefix", ids[1][4:], 200, ids[1], nil},
		{"the EVT- form", "EVT-01JC0000", 200, ids[2], nil},
		{"the EVT- form in small letters", "evt-01jc0000", 200, ids[2], nil},
		{"eight characters", "01jc0000", 200, ids[2], nil},
		{"eight characters of two events", "EVT-01JBZQ8F", 409, "", []string{ids[1], ids[0]}},
		{"the latest", "latest", 200, ids[2], nil},
		{"part of a title", "title?title=MOVIE", 200, ids[1], nil},
		{"part of two titles", "title?title=games", 409, "", []string{ids[2], ids[0]}},
		{"part of no title", "title?title=chess", 404, "", nil},
		{"a title without its word", "latest?title=games", 400, "", nil},
		{"the word without a title", "title", 400, "", nil},
		{"an unknown id", "evt_01JBZQ8F9VKPNX3QZ9M8J5K2W7", 404, "", nil},
		{"unknown characters", "EVT-01JBZQ8X", 404, "", nil},
		{"something else", "soon", 404, "", nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			path := "/v1/groups/" + group + "/events/" + row.ref
			var shown groupEventJSON
			got := w.do(call{as: "ana", method: "GET", path: path})
			if got.status == 200 {
				w.want(200, call{as: "ana", method: "GET", path: path}, &shown)
			}
			if got.status != row.status || shown.ID != row.want || !slices.Equal(candidatesOf(t, got), row.candidates) {
				t.Errorf("%d %s with candidates %v: %s", got.status, shown.ID, candidatesOf(t, got), got.text)
			}
			if row.status < 400 {
				return
			}
			before := w.store.writes.Load()
			w.want(row.status, call{as: "gm", method: "DELETE", path: path}, nil)
			w.want(row.status, call{as: "gm", method: "PATCH", path: path, body: map[string]any{"title": "X"}}, nil)
			if w.store.writes.Load() != before {
				t.Error("an event was touched")
			}
		})
	}
}

func TestGroupEvents_List_PagesNewestFirst_BeyondTheFiftyAtHand(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	group := w.newGroup()
	var want []string
	for range 57 {
		var made groupEventJSON
		w.want(http.StatusCreated, call{as: "ana", method: "POST", path: "/v1/groups/" + group + "/events", body: movieNight}, &made)
		want = append([]string{made.ID}, want...)
	}
	w.want(200, call{as: "ana", method: "DELETE", path: "/v1/groups/" + group + "/events/" + want[3]}, nil)
	want = slices.Delete(want, 3, 4)
	for _, limit := range []string{"20", "49", "50", "100"} {
		var got []string
		for cursor := ""; ; {
			var list struct{ Events []groupEventJSON }
			answered := w.want(
				200, call{as: "gm", method: "GET", path: "/v1/groups/" + group + "/events?limit=" + limit + "&cursor=" + cursor},
				&list,
			)
			for _, event := range list.Events {
				got = append(got, event.ID)
			}
			cursor = answered.Meta.NextCursor
			if cursor == "" {
				break
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("by %s: %d events, want %d in order", limit, len(got), len(want))
		}
	}
	old := w.groupEvent("gm", group, want[55])
	if old.ID != want[55] {
		t.Errorf("an old event by its id is %s", old.ID)
	}
}

func TestGroupEvent_WithAKey_IsMadeOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	group := w.newGroup()
	c := call{
		as: "ana", method: "POST", path: "/v1/groups/" + group + "/events", body: movieNight,
		header: map[string]string{"Idempotency-Key": "k1"},
	}
	var first, second groupEventJSON
	w.want(http.StatusCreated, c, &first)
	w.want(http.StatusCreated, c, &second)
	var list struct{ Events []groupEventJSON }
	w.want(200, call{as: "ana", method: "GET", path: "/v1/groups/" + group + "/events"}, &list)
	if first.ID != second.ID || len(list.Events) != 1 {
		t.Errorf("made %s and %s, listed %d", first.ID, second.ID, len(list.Events))
	}
	c.body = with(movieNight, "title", "Other")
	w.want(http.StatusConflict, c, nil)
}

func TestGroupEvent_CreatedAgainUnderItsID_IsTheSame(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	group := w.newGroup()
	ana, events := scheduler.Person{ID: "ana"}, w.options.GroupEvents
	ask := groupevents.Create{
		ID: "evt_01JBZQ8F7VKPNX3QZ9M8J5K2W7", Input: groupevents.Input{Title: "A", Start: "2026-03-10", End: "2026-03-11"},
	}
	for range 2 {
		if _, err := events.Create(t.Context(), ana, group, ask, scheduler.Cause{}); err != nil {
			t.Fatal(err)
		}
	}
	var list struct{ Events []groupEventJSON }
	w.want(200, call{as: "ana", method: "GET", path: "/v1/groups/" + group + "/events"}, &list)
	if len(list.Events) != 1 {
		t.Errorf("listed %v", list.Events)
	}
	if _, err := events.Delete(t.Context(), ana, groupevents.Reference{GroupID: group, ID: ask.ID}, scheduler.Cause{}); err != nil {
		t.Fatal(err)
	}
	if _, err := events.Create(t.Context(), ana, group, ask, scheduler.Cause{}); err == nil {
		t.Error("a deleted event was made again")
	}
}

// noWaker wakes nobody, as a process that dies after a commit.
type noWaker struct{}

func (noWaker) Wake(context.Context, string, string, string, time.Time) error {
	return errors.New("killed")
}

func TestGroupEvent_AfterACrash_IsPlannedByTheDrain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, newStillClock().on)
	group := w.newGroup()
	gms, anas := w.connect("gm", group), w.connect("ana", group)
	w.groups.store.people, w.outbox.Waker = []string{"ana", "gm"}, noWaker{}
	var made groupEventJSON
	w.want(http.StatusCreated, call{as: "ana", method: "POST", path: "/v1/groups/" + group + "/events", body: movieNight}, &made)
	w.carryOutGroupWork()
	if len(made.Mirrors) != 0 || len(w.accountsShowing(made.ID, mirror.Pending)) != 0 {
		t.Fatal("it was planned by somebody who is dead")
	}
	w.groups.store.people, w.outbox.Waker = nil, w.wakes
	if w.drainGroups() != 1 {
		t.Fatal("the drain does not find the work")
	}
	w.carryOutGroupWork()
	if got := w.accountsShowing(made.ID, mirror.Pending); !slices.Equal(got, sorted(gms, anas)) || w.drainGroups() != 0 {
		t.Errorf("it is planned for %v", got)
	}
}

func TestGroupConnect_AfterACrash_IsPlannedByTheDrain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, newStillClock().on)
	group := w.newGroup()
	made := w.newGroupEvent("gm", group, movieNight)
	w.outbox.Waker = noWaker{}
	anas := w.connect("ana", group)
	if got := w.accountsShowing(made.ID, mirror.Pending); len(got) != 0 {
		t.Fatalf("it was planned by somebody who is dead, for %v", got)
	}
	w.outbox.Waker = w.wakes
	if w.drainGroups() != 1 {
		t.Fatal("the drain does not find the work")
	}
	w.carryOutGroupWork()
	if got := w.accountsShowing(made.ID, mirror.Pending); !slices.Equal(got, []string{anas}) || w.drainGroups() != 0 {
		t.Errorf("it is planned for %v", got)
	}
}

func TestGroupConnect_ThatCannotBePlanned_IsTriedAgain(t *testing.T) {
	t.Parallel()
	clock := newStillClock()
	w := newWorld(t, clock.on)
	group := w.newGroup()
	made := w.newGroupEvent("gm", group, movieNight)
	w.groups.store.people = []string{"ana"}
	anas := w.connect("ana", group)
	if got := w.accountsShowing(made.ID, mirror.Pending); len(got) != 0 {
		t.Fatalf("it was planned for %v while it could not be", got)
	}
	w.groups.store.people = nil
	clock.advance(5 * time.Minute)
	w.carryOutGroupWork()
	if got := w.accountsShowing(made.ID, mirror.Pending); !slices.Equal(got, []string{anas}) {
		t.Errorf("planned for %v", got)
	}
}

func TestGroupEvent_OneMemberFails_OthersArePlanned(t *testing.T) {
	t.Parallel()
	clock := newStillClock()
	w := newWorld(t, clock.on)
	group := w.newGroup()
	gms, anas := w.connect("gm", group), w.connect("ana", group)
	w.groups.store.people = []string{"ana"}
	made := w.newGroupEvent("gm", group, movieNight)
	if got := w.accountsShowing(made.ID, mirror.Pending); !slices.Equal(got, []string{gms}) {
		t.Errorf("planned for %v, want %s", got, gms)
	}
	w.groups.store.people = nil
	clock.advance(time.Hour)
	if w.drainGroups() != 1 {
		t.Fatal("the drain does not find the work")
	}
	w.carryOutGroupWork()
	if got := w.accountsShowing(made.ID, mirror.Pending); !slices.Equal(got, sorted(gms, anas)) {
		t.Errorf("planned for %v in the end", got)
	}
}

func TestRemoveEnded_After90Days_ForgetsMappings(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	group := w.newGroup()
	w.connect("ana", group)
	made := w.newGroupEvent("ana", group, movieNight)
	ends := time.Date(2026, 3, 10, 21, 0, 0, 0, time.UTC)
	for _, row := range []struct {
		at   time.Time
		want int
	}{{ends.Add(groupevents.Keep), 0}, {ends.Add(groupevents.Keep + time.Second), 1}} {
		removed, next, err := groupevents.RemoveEnded(t.Context(), w.store, row.at, "")
		must(t, err)
		if removed != row.want || next != "" {
			t.Errorf("at %s: %d removed, next %q", row.at, removed, next)
		}
	}
	if got := w.accountsShowing(made.ID, mirror.Pending); len(got) != 0 {
		t.Errorf("mirrors are left: %v", got)
	}
	var list struct{ Events []groupEventJSON }
	w.want(200, call{as: "ana", method: "GET", path: "/v1/groups/" + group + "/events"}, &list)
	if len(list.Events) != 0 {
		t.Errorf("listed are %v", list.Events)
	}
}

// changedBefore is a store in which something changes before its first transaction.
type changedBefore struct {
	store.Store
	change func()
}

func (c *changedBefore) Run(ctx context.Context, fn func(context.Context, store.Tx) error) error {
	if change := c.change; change != nil {
		c.change = nil
		change()
	}
	return c.Store.Run(ctx, fn)
}

func TestRemoveEnded_OfAnEventMovedSince_LeavesIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	group := w.newGroup()
	anas := w.connect("ana", group)
	made := w.newGroupEvent("ana", group, movieNight)
	documents := &changedBefore{Store: w.store, change: func() {
		w.want(
			200,
			call{
				as: "ana", method: "PATCH", path: "/v1/groups/" + group + "/events/latest",
				body: map[string]any{"start": "2026-12-10T19:00:00Z", "end": "2026-12-10T22:00:00Z"},
			},
			nil,
		)
	}}
	long := time.Date(2026, 3, 10, 21, 0, 0, 0, time.UTC).Add(groupevents.Keep + time.Hour)
	removed, _, err := groupevents.RemoveEnded(t.Context(), documents, long, "")
	if got := w.accountsShowing(made.ID, mirror.Pending); err != nil || removed != 0 || !slices.Equal(got, []string{anas}) {
		t.Errorf("%d removed, %v, it shows in %v", removed, err, got)
	}
	w.groupEvent("ana", group, made.ID)
}

func TestGroupEvent_FiftyDeleted_OlderOnesAreFoundStill(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	group := w.newGroup()
	oldest := w.newGroupEvent("gm", group, with(movieNight, "title", "The oldest"))
	older := w.newGroupEvent("gm", group, movieNight)
	for range 51 {
		w.want(http.StatusCreated, call{as: "gm", method: "POST", path: "/v1/groups/" + group + "/events", body: movieNight}, nil)
	}
	for range 51 {
		w.want(200, call{as: "gm", method: "DELETE", path: "/v1/groups/" + group + "/events/latest"}, nil)
	}
	if got := w.groupEvent("gm", group, "latest"); got.ID != older.ID {
		t.Errorf("the latest is %s, want %s", got.ID, older.ID)
	}
	if got := w.groupEvent("gm", group, "title?title=oldest"); got.ID != oldest.ID {
		t.Errorf("by its title it is %s, want %s", got.ID, oldest.ID)
	}
}

func TestGroupEvent_BeyondTheAllowance_Says429WithATime(t *testing.T) {
	t.Parallel()
	w := newWorld(t, newStillClock().on)
	group := w.newGroup()
	for range groupevents.MaxPerDay {
		_, err := w.options.GroupEvents.Create(t.Context(), scheduler.Person{ID: "ana"}, group, groupevents.Create{Input: groupevents.Input{
			Title: "Movie night", Start: "2026-03-10", End: "2026-03-11",
		}}, scheduler.Cause{})
		must(t, err)
	}
	path := "/v1/groups/" + group + "/events"
	got := w.do(call{as: "ana", method: "POST", path: path, body: movieNight})
	wait, err := strconv.Atoi(got.header.Get("Retry-After"))
	if got.status != http.StatusTooManyRequests || got.Error.Code != "RATE_LIMITED" || err != nil || wait < 1 || wait > 24*60*60 ||
		!strings.Contains(got.text, groupevents.CodePerDay) {
		t.Errorf("%d %s, again after %q", got.status, got.text, got.header.Get("Retry-After"))
	}
	w.want(http.StatusCreated, call{as: "gm", method: "POST", path: path, body: movieNight}, nil)
}
