package groupevents_test

import (
	"fmt"
	"testing"
	"time"

	"questscheduler/fault"
	"questscheduler/groupevents"
	"questscheduler/internal/store"
	"questscheduler/internal/test/mirrortest"
)

// refused fails unless an error has a code.
func (w *world) refused(err error, kind fault.Kind, code string) {
	w.Helper()
	if !fault.Is(err, kind) || fault.CodeOf(err) != code {
		w.Errorf("%v, want %s", err, code)
	}
}

func TestCreate_ByOneAuthor_IsBoundedPerDay(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var last groupevents.View
	for i := range groupevents.MaxPerDay {
		made, err := w.create("ana", fmt.Sprint("Event ", i), mirrortest.Start.AddDate(0, 0, 2))
		w.must(err)
		last = made
	}
	_, err := w.create("ana", "One more", mirrortest.Start.AddDate(0, 0, 2))
	w.refused(err, fault.RateLimited, groupevents.CodePerDay)
	if got := fault.RetryAfter(err); got != 15*time.Hour { // the world begins at nine
		t.Errorf("again after %v", got)
	}
	w.retitle(last, "Changed")
	_, err = w.Groups.Delete(t.Context(), personOf("ana"), groupevents.Reference{GroupID: party, ID: last.ID}, mirrortest.Cause)
	w.must(err)
	_, err = w.create("ana", "In its place", mirrortest.Start.AddDate(0, 0, 2))
	w.refused(err, fault.RateLimited, groupevents.CodePerDay)
	_, err = w.create("gm", "Another author's", mirrortest.Start.AddDate(0, 0, 2))
	w.must(err)
	w.must(w.Clock.Advance(15 * time.Hour))
	_, err = w.create("ana", "The next day's", mirrortest.Start.AddDate(0, 0, 2))
	w.must(err)
}

func TestCreate_ByOneAuthor_IsBoundedInAll(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	soon := mirrortest.Start.AddDate(0, 0, 9)
	var made []groupevents.View
	for len(made) < groupevents.MaxPresent {
		event, err := w.create("ana", "Event", soon)
		w.must(err)
		made = append(made, event)
		if len(made)%groupevents.MaxPerDay == 0 {
			w.must(w.Clock.Advance(24 * time.Hour))
		}
	}
	_, err := w.create("ana", "One more", soon)
	w.refused(err, fault.Conflict, groupevents.CodePresent)
	another, err := w.create("gm", "Another author's", soon.AddDate(1, 0, 0))
	w.must(err)
	_, err = w.Groups.Delete(t.Context(), personOf("gm"), groupevents.Reference{GroupID: party, ID: another.ID}, mirrortest.Cause)
	w.must(err)
	_, err = w.create("ana", "One more", soon)
	w.refused(err, fault.Conflict, groupevents.CodePresent)
	for _, event := range []groupevents.View{made[0], made[len(made)-1]} { // older than the latest fifty, and not
		_, err = w.Groups.Delete(t.Context(), personOf("gm"), groupevents.Reference{GroupID: party, ID: event.ID}, mirrortest.Cause)
		w.must(err)
		_, err = w.create("ana", "In its place", soon)
		w.must(err)
		_, err = w.create("ana", "One more", soon)
		w.refused(err, fault.Conflict, groupevents.CodePresent)
	}
	w.must(w.Clock.Advance(soon.Add(groupevents.Keep).Sub(mirrortest.Start)))
	for at := ""; ; {
		_, next, err := groupevents.RemoveEnded(t.Context(), w.Documents, w.Clock.Now(), at)
		w.must(err)
		at = next
		if at == "" {
			break
		}
	}
	doc, err := w.Documents.Get(t.Context(), store.Doc("groupEvents", party))
	w.must(err)
	for _, author := range store.Fields(doc.Data).List("authors") {
		if author.(map[string]any)["present"] != int64(0) {
			t.Errorf("after all were removed, counted is %v", author)
		}
	}
	_, err = w.create("ana", "After the others ended", w.Clock.Now())
	w.must(err)
}

func TestCreate_AgainUnderItsID_CountsOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ask := groupevents.Create{ID: "evt_00000000000000000000000001", Input: groupevents.Input{
		Title: "Dinner", Start: "2026-03-10T18:00:00Z", End: "2026-03-10T19:00:00Z",
	}}
	for range groupevents.MaxPerDay + 5 {
		_, err := w.Groups.Create(t.Context(), personOf("ana"), party, ask, mirrortest.Cause)
		w.must(err)
	}
	_, err := w.create("ana", "Another", mirrortest.Start)
	w.must(err)
}

// Each connection writes all events of the group, and each change of sharing all sessions.
func TestConnect_AgainAndAgain_IsBoundedPerDay(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	connect := func(person string) error {
		_, err := w.Groups.Connect(t.Context(), personOf(person), party, person, mirrortest.Cause)
		return err
	}
	share := func(is bool) error {
		return w.SetSharing(party, "ana", is)
	}
	for i := range groupevents.MaxSwitches / 2 {
		w.must(connect("ana"))
		w.must(connect("ana")) // which changes nothing
		w.must(w.disconnect("ana", i%2 == 0))
		w.must(share(i%2 == 0))
	}
	w.refused(connect("ana"), fault.RateLimited, groupevents.CodeSwitches)
	w.refused(share(true), fault.RateLimited, groupevents.CodeSwitches)
	w.must(share(false)) // as it is
	w.must(connect("ben"))
	_, err := w.create("ana", "Dinner", mirrortest.Start.AddDate(0, 0, 2))
	w.must(err)
	w.must(w.Clock.Advance(15 * time.Hour))
	w.must(connect("ana"))
}

func TestSharing_OfManyChanges_IsFollowedOnce(t *testing.T) {
	t.Parallel()
	w := newConnectedWorld(t)
	w.Groups.Settle = 10 * time.Second
	for _, share := range []bool{true, false, true} {
		w.must(w.SetSharing(party, "gm", share))
	}
	waiting := w.Wakes.Due(w.Clock.Now())
	if len(waiting) != 0 {
		t.Errorf("%d tasks are due at once", len(waiting))
	}
	w.must(w.Clock.Advance(10 * time.Second))
	if waiting := w.Wakes.Due(w.Clock.Now()); len(waiting) == 0 {
		t.Error("no task is due once the setting has settled")
	}
}
