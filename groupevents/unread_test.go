package groupevents_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"questscheduler/fault"
	"questscheduler/groupevents"
	"questscheduler/internal/accounts"
	"questscheduler/internal/mirror"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/internal/test/mirrortest"
	"questscheduler/internal/test/points"
)

// A call that took a document that could not be read for one that is not there would answer, and
// delete, as if nobody were connected.
func TestCalls_DocumentUnread_SayThatTheyFailed(t *testing.T) {
	t.Parallel()
	ref, err := groupevents.ParseReference(party, "title", "Dinner")
	if err != nil {
		t.Fatal(err)
	}
	later := "Supper"
	calls := map[string]func(w *world) error{
		"create": func(w *world) error {
			_, err := w.Groups.Create(w.T.Context(), personOf("ana"), party, groupevents.Create{
				ID: "evt_lunch", Input: groupevents.Input{Title: "Lunch", Start: "2026-03-03T12:00:00Z", End: "2026-03-03T13:00:00Z"},
			}, mirrortest.Cause)
			return err
		},
		"get": func(w *world) error {
			_, err := w.Groups.Get(w.T.Context(), personOf("ana"), ref)
			return err
		},
		"list": func(w *world) error {
			_, err := w.Groups.List(
				w.T.Context(), personOf("ana"), party, store.Paging{Limit: 10}, func(groupevents.View) (bool, error) { return true, nil },
			)
			return err
		},
		"update": func(w *world) error {
			_, err := w.Groups.Update(w.T.Context(), personOf("gm"), ref, groupevents.Edit{Description: &later}, mirrortest.Cause)
			return err
		},
		"connect": func(w *world) error {
			_, err := w.Groups.Connect(w.T.Context(), personOf("cleo"), party, "cleo", mirrortest.Cause)
			return err
		},
		"connections": func(w *world) error {
			_, err := w.Groups.Connections(w.T.Context(), personOf("gm"), party)
			return err
		},
		"disconnect and keep": func(w *world) error { return w.disconnect("ana", false) },
		"prune": func(w *world) error {
			_, err := w.Groups.Prune(w.T.Context(), party, mirrortest.Cause)
			return err
		},
		"account leaving": func(w *world) error {
			account, err := accounts.Load(w.T.Context(), w.Documents, "ana")
			w.must(err)
			return w.Groups.AccountLeaving(w.T.Context(), account, mirrortest.Cause)
		},
		"end connections": func(w *world) error {
			_, _, err := w.Groups.EndConnections(w.T.Context(), "")
			return err
		},
		"delete kept": func(w *world) error {
			_, _, err := w.Groups.DeleteKept(w.T.Context(), "")
			return err
		},
		"remove ended": func(w *world) error {
			_, _, err := groupevents.RemoveEnded(w.T.Context(), w.Groups.Store, mirrortest.Start.AddDate(1, 0, 0), "")
			return err
		},
		"share sessions": func(w *world) error {
			return w.SetSharing(party, "gm", true)
		},
		"shared sessions": func(w *world) error {
			_, err := w.Groups.ShareSessions(w.T.Context(), poll.Group{ID: party})
			return err
		},
	}
	for name, call := range calls {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newDinnerWorld(t)
			w.Link("cleo", "cleo")
			w.must(w.disconnect("ben", false)) // which leaves kept copies
			w.Gather(party, "gm", "ana", "ben", "cleo")
			p := &points.Points{}
			w.Groups.Store = &points.Reads{Store: w.Groups.Store, Points: p}
			p.NoneUnread(t, 1, func() error { return call(w) })
		})
	}
}

func TestEndConnections_HalfOfThePagesGroupsGone_Ends(t *testing.T) {
	t.Parallel()
	for groups, wantEnded := range map[int]int{12: 6, 11: 0} {
		w := newWorld(t)
		for i := range groups {
			group := string(rune('a'+i)) + "-party"
			w.Gather(group, "gm")
			w.Connect(group, "gm")
			if i < 6 {
				w.must(w.Documents.Run(t.Context(), func(_ context.Context, tx store.Tx) error { return tx.Delete(poll.GroupPath(group)) }))
			}
		}
		ended, _, err := w.Groups.EndConnections(t.Context(), "")
		w.must(err)
		if ended != wantEnded {
			t.Errorf("6 of %d groups are gone: %d connections ended, want %d", groups, ended, wantEnded)
		}
	}
}

// One's view of an event shows one's own mirrors of it, and when the event was made.
func TestCreate_Answer_ShowsTheAuthorsMirrorsAndItsTime(t *testing.T) {
	t.Parallel()
	w := newConnectedWorld(t)
	view, err := w.create("gm", "Dinner", mirrortest.Start.Add(9*time.Hour))
	w.must(err)
	if len(view.Mirrors) != 1 || view.Mirrors[0].OwnerID != "gm" {
		t.Errorf("the answer shows the mirrors %+v, want gm's alone", view.Mirrors)
	}
	stored, err := mirror.LoadEvent(t.Context(), w.Documents, view.ID)
	w.must(err)
	if !stored.CreatedAt.Equal(w.Clock.Now()) {
		t.Errorf("it was made at %v, want %v", stored.CreatedAt, w.Clock.Now())
	}
}

func TestStranger_AndEventOfAnotherGroup_AreNotFound(t *testing.T) {
	t.Parallel()
	w := newDinnerWorld(t)
	w.Gather("club", "gm", "dora")
	event, err := w.Groups.Create(t.Context(), personOf("dora"), "club", groupevents.Create{Input: groupevents.Input{
		Title: "Chess", Start: "2026-03-03T12:00:00Z", End: "2026-03-03T13:00:00Z",
	}}, mirrortest.Cause)
	w.must(err)
	for person, group := range map[string]string{"gm": party, "ana": "club"} {
		shown, err := w.Groups.Get(t.Context(), personOf(person), groupevents.Reference{GroupID: group, ID: event.ID})
		if !fault.Is(err, fault.NotFound) {
			t.Errorf("%s gets %q in %s, %v", person, shown.Title, group, err)
		}
	}
}

func TestList_EventsAtOneTime_AreAllOnPagesOfOne(t *testing.T) {
	t.Parallel()
	w := newConnectedWorld(t)
	for _, title := range []string{"Dinner", "Games", "Music"} {
		_, err := w.create("gm", title, mirrortest.Start.Add(9*time.Hour))
		w.must(err)
	}
	titles := map[string]bool{}
	for part := (store.Paging{Limit: 1}); len(titles) < 4; {
		before := len(titles)
		next, err := w.Groups.List(t.Context(), personOf("ana"), party, part, func(v groupevents.View) (bool, error) {
			titles[v.Title] = true
			return true, nil
		})
		w.must(err)
		if next == nil {
			break
		}
		if len(titles) == before {
			t.Fatalf("a page repeats the one before it, after %v", titles)
		}
		part.After = next
	}
	if len(titles) != 3 {
		t.Errorf("listed are %v", titles)
	}
}

// A transition of a poll has its session compared only where that may change something.
func TestShares_WhatAGroupSharesOrShared(t *testing.T) {
	t.Parallel()
	w := newSharingWorld(t)
	for _, c := range []struct {
		poll, group string
		want        bool
	}{{"p1", party, true}, {"p1", "", true}, {"p1", "else", true}, {"p2", party, true}, {"p2", "else", false}, {"p2", "", false}} {
		got, err := groupevents.Shares(t.Context(), w.Documents, c.poll, c.group)
		if err != nil || got != c.want {
			t.Errorf("poll %s of group %q: %v, %v; want %v", c.poll, c.group, got, err, c.want)
		}
	}
	p := &points.Points{}
	documents := &points.Reads{Store: w.Documents, Points: p}
	p.NoneUnread(t, 2, func() error {
		_, err := groupevents.Shares(t.Context(), documents, "p1", "else")
		return err
	})
	p.NoneUnread(t, 2, func() error {
		_, err := groupevents.SharedBy(t.Context(), documents, "p1")
		return err
	})
}

// The journal of an event says what became of a copy that its owner keeps.
func TestDisconnect_Keeping_IsInTheEventsJournal(t *testing.T) {
	t.Parallel()
	w := newDinnerWorld(t)
	shown, err := w.Groups.Get(t.Context(), personOf("ben"), groupevents.Reference{GroupID: party, Latest: true})
	w.must(err)
	w.must(w.disconnect("ben", false))
	entries, _, err := mirror.LoadJournal(t.Context(), w.Documents, shown.ID, store.Paging{Limit: 100})
	w.must(err)
	if !slices.ContainsFunc(entries, func(e mirror.JournalEntry) bool {
		return e.Step == mirror.StepForgotten && e.MirrorID == shown.Mirrors[0].ID
	}) {
		t.Errorf("the journal is %+v", entries)
	}
}
