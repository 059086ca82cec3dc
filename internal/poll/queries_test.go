package poll_test

import (
	"fmt"
	"testing"
	"time"

	"questscheduler/internal/poll"
	"questscheduler/internal/store"
)

func TestAPersonsPolls_AreListedNewestFirst_PageByPage(t *testing.T) {
	t.Parallel()
	documents := open(t)
	for i, status := range []string{"OPEN", "FINALIZED", "OPEN", "CANCELLED", "OPEN"} {
		p := poll.Poll{
			ID: fmt.Sprintf("p%d", i), CreatorID: "gm", ParticipantIDs: []string{"gm", "ana"},
			CreatedAt: moment.Add(time.Duration(i) * time.Hour),
		}
		data := poll.New(p)
		data["status"] = status
		put(t, documents, poll.Path(p.ID), data)
	}
	put(t, documents, poll.Path("other"), poll.New(poll.Poll{CreatorID: "ben", ParticipantIDs: []string{"ben"}, CreatedAt: moment}))
	for name, c := range map[string]struct {
		list poll.List
		want []string
	}{
		"created":               {poll.List{UserID: "gm"}, []string{"p4", "p3", "p2", "p1", "p0"}},
		"created and open":      {poll.List{UserID: "gm", Status: "OPEN"}, []string{"p4", "p2", "p0"}},
		"taken part in":         {poll.List{UserID: "ana", Participant: true}, []string{"p4", "p3", "p2", "p1", "p0"}},
		"taken part in, open":   {poll.List{UserID: "ana", Participant: true, Status: "OPEN"}, []string{"p4", "p2", "p0"}},
		"created by nobody":     {poll.List{UserID: "ana"}, nil},
		"somebody else's alone": {poll.List{UserID: "ben", Participant: true}, []string{"other"}},
	} {
		for _, limit := range []int{0, 1, 2, 100} {
			list, got := c.list, []string(nil)
			list.Limit = limit
			for {
				next, err := poll.WalkList(t.Context(), documents, list, func(p poll.Poll) (bool, error) {
					got = append(got, p.ID)
					return true, nil
				})
				if err != nil {
					t.Fatal(err)
				}
				list.After = next
				if next == nil {
					break
				}
			}
			same(t, fmt.Sprintf("%s, %d at a time", name, limit), got, c.want)
		}
	}
}

func TestAJournal_IsReadNewestFirst(t *testing.T) {
	t.Parallel()
	documents := open(t)
	for i := range 5 { // two of the same instant: their ids tell which came later
		entry := poll.JournalEntry{ID: fmt.Sprintf("jrn_%d", i), At: moment.Add(time.Duration(i/2) * time.Second)}
		put(t, documents, poll.EntryPath("p1", entry.ID), poll.EncodeEntry(entry))
	}
	put(t, documents, poll.EntryPath("p2", "jrn_9"), poll.EncodeEntry(poll.JournalEntry{At: moment}))
	var got []string
	var after *store.Cursor
	for {
		entries, next, err := poll.LoadJournal(t.Context(), documents, "p1", store.Paging{Limit: 2, After: after})
		if err != nil {
			t.Fatal(err)
		}
		for _, entry := range entries {
			got = append(got, entry.ID)
		}
		after = next
		if next == nil {
			break
		}
	}
	same(t, "journal", got, []string{"jrn_4", "jrn_3", "jrn_2", "jrn_1", "jrn_0"})
}

func TestIntents_AreFoundWhenDue_AndByPoll(t *testing.T) {
	t.Parallel()
	documents := open(t)
	for i, due := range []time.Time{noon, ten, noon.Add(time.Second)} {
		intent := poll.Intent{Kind: poll.IntentDelete, PollID: fmt.Sprintf("p%d", i%2), EventID: fmt.Sprintf("e%d", i), Due: due}
		put(t, documents, intent.Path(), poll.EncodeIntent(intent))
	}
	due, err := store.Collect(poll.PendingIntents(t.Context(), documents, noon))
	if err != nil || len(due) != 2 || due[0].EventID != "e1" || due[1].EventID != "e0" {
		t.Errorf("due: %+v, %v", due, err)
	}
	of, err := poll.IntentsOf(t.Context(), documents, "p0")
	if err != nil || len(of) != 2 {
		t.Errorf("of the poll: %+v, %v", of, err)
	}
}

// The web app's functions may write anything as a winning slot.
func TestLoadSlot_OfWhatCanBeNoID_FindsNone(t *testing.T) {
	t.Parallel()
	documents := open(t)
	put(t, documents, poll.VotePath("p1", "ana"), map[string]any{"voterId": "ana"})
	for _, id := range []string{"", "..", "a/b", "../votes/ana", "one/votes/ana"} {
		if slot, err := poll.LoadSlot(t.Context(), documents, "p1", id); slot != nil || err != nil {
			t.Errorf("%q is %v, %v", id, slot, err)
		}
	}
}
