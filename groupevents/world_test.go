package groupevents_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"questscheduler/groupevents"
	"questscheduler/internal/gcal"
	"questscheduler/internal/mirror"
	"questscheduler/internal/test/mirrortest"
	"questscheduler/scheduler"
)

const party = "party"

// world is a group of gm, ana and ben, who have an account of their name each.
type world struct {
	*testing.T
	*mirrortest.World
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t, mirrortest.New(t, mirrortest.Options{})}
	for _, person := range []string{"gm", "ana", "ben"} {
		w.Link(person, person)
	}
	w.Gather(party, "gm", "ana", "ben")
	return w
}

// newConnectedWorld has everybody connected.
func newConnectedWorld(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	for _, person := range []string{"gm", "ana", "ben"} {
		w.Connect(party, person)
	}
	w.Settle()
	return w
}

// newDinnerWorld has everybody connected, and an event that all of them show.
func newDinnerWorld(t *testing.T) *world {
	t.Helper()
	w := newConnectedWorld(t)
	_, err := w.create("gm", "Dinner", mirrortest.Start.Add(9*time.Hour))
	w.must(err)
	w.Settle()
	return w
}

func personOf(id string) scheduler.Person { return scheduler.Person{ID: id} }

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// create makes an event of an hour at a time.
func (w *world) create(as, title string, start time.Time) (groupevents.View, error) {
	return w.Groups.Create(w.T.Context(), personOf(as), party, groupevents.Create{Input: groupevents.Input{
		Title: title, Start: start.Format(time.RFC3339), End: start.Add(time.Hour).Format(time.RFC3339),
	}}, mirrortest.Cause)
}

// retitle changes an event's title, as its author.
func (w *world) retitle(event groupevents.View, title string) {
	w.Helper()
	ref := groupevents.Reference{GroupID: party, ID: event.ID}
	_, err := w.Groups.Update(w.T.Context(), personOf(event.OwnerID), ref, groupevents.Edit{Title: &title}, mirrortest.Cause)
	w.must(err)
}

func (w *world) disconnect(as string, deleteEvents bool) error {
	return w.Groups.Disconnect(w.T.Context(), mirror.Connection{GroupID: party, AccountID: as, OwnerID: as}, deleteEvents, mirrortest.Cause)
}

// shows fails unless a calendar has events of these titles alone.
func (w *world) shows(account string, titles ...string) {
	w.Helper()
	var shown []string
	for _, event := range w.Shown(account) {
		shown = append(shown, event.Details.Summary)
	}
	slices.Sort(shown)
	if !slices.Equal(shown, titles) {
		w.Errorf("%s shows %q, want %q", account, shown, titles)
	}
}

// own makes an event that is the account's alone.
func (w *world) own(account, title string) {
	w.Helper()
	start := mirrortest.Start.AddDate(0, 0, 3)
	_, err := w.Calendar.InsertContent(w.T.Context(), mirrortest.Ref(account), fmt.Sprintf("mine%x", title), gcal.Content{
		Summary: title, Start: mirrortest.Moment(start), End: mirrortest.Moment(start.Add(time.Hour)), Transparency: "opaque",
		Visibility: "default",
	}, nil)
	w.must(err)
}
