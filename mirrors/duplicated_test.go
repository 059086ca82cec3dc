package mirrors_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"questscheduler/internal/gcal"
	"questscheduler/internal/mirror"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/mirrors/plan"
)

// everyWay are edges between all of gm's accounts.
func everyWay(detail mirror.Detail) (edges []mirror.Edge) {
	for _, from := range []string{work, home, club} {
		for _, to := range []string{work, home, club} {
			if from != to {
				edges = append(edges, mirror.Edge{FromAccountID: from, ToAccountID: to, Detail: detail, Target: mirror.PrimaryTarget})
			}
		}
	}
	return edges
}

// syncAll syncs gm's calendars.
func (w *world) syncAll() {
	w.Helper()
	for _, account := range []string{work, home, club} {
		w.sync(account)
	}
}

// copyOf is the id of the copy of an event of an account in another one.
func (w *world) copyOf(account, eventID, in string) string {
	w.Helper()
	event, ok, err := mirror.OfOrigin(w.ctx, w.memory, account, refTo(account).Calendar, eventID)
	w.must(err)
	m, written, err := mirror.Load(w.ctx, w.memory, mirror.IDOf(event.ID, in))
	w.must(err)
	if !ok || !written || m.EventID == "" {
		w.Fatalf("event %s of %s has no copy in %s: %+v", eventID, account, in, m)
	}
	return m.EventID
}

// A person duplicates copies by hand, each after the copies of the duplicate before are written.
func TestPerson_DuplicatesCopies_AllAreMirrored(t *testing.T) {
	t.Parallel()
	type step struct {
		of       int // which event: 0 is the original, others are duplicates
		from, to string
	}
	type event struct{ account, id string }
	for name, steps := range map[string][]step{
		"one copy into each calendar":         {{0, home, work}, {0, home, club}, {0, club, home}, {0, home, home}},
		"one copy back again and again":       {{0, home, work}, {0, home, work}, {0, home, work}, {0, home, work}, {0, home, work}},
		"copies of duplicates back":           {{0, home, work}, {1, home, work}, {2, home, work}, {3, home, work}, {4, home, work}},
		"copies of duplicates in all":         {{0, home, club}, {1, work, home}, {2, club, work}, {3, home, club}, {4, work, home}},
		"copies of both, in several accounts": {{0, home, work}, {0, club, work}, {1, club, work}, {2, home, work}, {4, club, work}},
	} {
		for _, detail := range []mirror.Detail{mirror.Busy, mirror.Full} {
			t.Run(name+", "+string(detail), func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				w.mirrorWork(everyWay(detail)...)
				made := []event{{work, w.insert(work, "Dentist", "2026-03-10T09:00:00Z").ID}}
				w.syncAll()
				for _, s := range steps {
					of := made[s.of]
					id, err := w.google.Duplicate(refTo(s.from).Calendar, w.copyOf(of.account, of.id, s.from), refTo(s.to).Calendar)
					w.must(err)
					made = append(made, event{s.to, id})
					w.syncAll()
					w.syncAll()
				}
				for _, account := range []string{work, home, club} {
					if n := len(w.live(refTo(account))); n != len(made) {
						t.Errorf("%s has %d events, want %d", account, n, len(made))
					}
				}
				if looping := w.loopingIn(work, home, club); len(looping) != 0 {
					t.Errorf("these count as copies of copies: %+v", looping)
				}
			})
		}
	}
}

// A person has the same meeting in each of their calendars, made after the copies of the others.
func TestPerson_HasOneMeetingInAll_AllAreMirrored(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.mirrorWork(everyWay(mirror.Full)...)
	accounts := []string{work, home, club, work, home, club}
	for _, account := range accounts {
		w.insert(account, "Vacation", "2026-03-10T09:00:00Z")
		w.syncAll()
		w.syncAll()
	}
	for _, account := range []string{work, home, club} {
		if n := len(w.live(refTo(account))); n != len(accounts) {
			t.Errorf("%s has %d events, want %d", account, n, len(accounts))
		}
	}
	if looping := w.loopingIn(work, home, club); len(looping) != 0 {
		t.Errorf("these count as copies of copies: %+v", looping)
	}
}

// Another program copies the marks of copies as well.
func TestSecondTool_CopiesMarks_IsStopped(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	tool := newSecondTool(w, work, home)
	tool.marks = true
	w.mirrorWork(bothWays(mirror.Full)...)
	w.insert(work, "Dentist", "2026-03-10T09:00:00Z")
	w.sync(work)
	sizes := tool.grow(14)
	// Of the event and of the tool's copy of it: ten copies of ours, and ten of the tool's.
	if sizes[len(sizes)-1] != 42 || tool.run() > 0 || len(w.looping()) != 2 {
		t.Errorf("both calendars have %v events, want 42 in the end; looping: %+v", sizes, w.looping())
	}
}

// An invitation and a poll's session are nobody's copy, also if they equal copies of copies.
func TestSecondTool_InvitationLikeIts_IsMirrored(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct{ by, id string }{
		"an invitation": {annes, "invited1"}, "a poll's session": {work, poll.EventPrefix + "0session"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.mirrorWork(bothWays(mirror.Full)...)
			w.insert(work, "Dentist", "2026-03-10T09:00:00Z")
			w.sync(work)
			newSecondTool(w, work, home).grow(6)
			stopped := len(w.looping())
			w.post(row.by, http.MethodPost, "", `{"id":"`+row.id+`","summary":"Dentist","attendees":[{"email":"`+workMail+`"}],
				"start":{"dateTime":"2026-03-10T09:00:00Z"},"end":{"dateTime":"2026-03-10T10:00:00Z"}}`)
			w.sync(work)
			w.copyOf(work, row.id, home)
			if now := len(w.looping()); stopped != 2 || now != stopped {
				t.Errorf("%d mirrors are stopped, then %d, want 2", stopped, now)
			}
		})
	}
}

// A mark may name anything. An event with one is a person's, whatever another person's events are.
func TestSync_AMarkOfNoMirror_IsMirrored(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.mirrorWork(bothWays(mirror.Full)...)
	foreign := mirror.Event{
		ID: "evt_foreign", OwnerID: ana, AccountID: annes, CalendarID: anaMail, EventID: "foreign",
		DuplicateOf: strings.Split(strings.Repeat("evt_x,", 20), ","),
	}
	w.must(w.memory.Run(w.ctx, func(_ context.Context, tx store.Tx) error {
		return errors.Join(
			tx.Set(mirror.EventPath(foreign.ID), mirror.EncodeEvent(foreign)),
			tx.Set(mirror.Path("mir_foreign"), mirror.Encode(mirror.Mirror{OwnerID: ana, CanonicalID: foreign.ID})),
			tx.Set(mirror.Path("mir_gone"), mirror.Encode(mirror.Mirror{OwnerID: gm, CanonicalID: "evt_gone"})),
		)
	}))
	marks := []string{"mir_none", "a/b/c", ".", "mir_foreign", "mir_gone"}
	for i, mark := range marks {
		_, err := w.full.InsertContent(w.ctx, refTo(work), fmt.Sprint("marked", i), gcal.Content{
			Summary: "Dentist", Start: at("2026-03-10T09:00:00Z"), End: at("2026-03-10T10:00:00Z"), Transparency: "opaque", Visibility: "default",
		}, map[string]string{plan.MarkMirror: mark})
		w.must(err)
		w.sync(work)
	}
	if n := len(w.live(refTo(home))); n != len(marks) {
		t.Errorf("home has %d events, want %d:\n%s", n, len(marks), w.log.String())
	}
}
