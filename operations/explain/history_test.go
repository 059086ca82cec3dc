package explain_test

import (
	"cmp"
	"context"
	"strconv"
	"strings"
	"testing"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/internal/test/worldtest"
	"questscheduler/operations/explain"
)

func TestLoad_ReadsAllThatIsKept(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	pollID, slots, event := w.Finalised()
	w.MoveEvent("gm", event, worldtest.Noon)
	w.Run(time.Minute)
	history, err := explain.Load(t.Context(), w.Documents, pollID)
	if err != nil {
		t.Fatal(err)
	}
	if len(history.Entries) != 2 || history.Entries[0].WinningSlotID != slots[0] {
		t.Errorf("the entries are not the journal's, oldest first: %+v", history.Entries)
	}
	if history.Winning == nil || history.Winning.ID != history.Poll.WinningSlotID {
		t.Errorf("the winning slot is %+v", history.Winning)
	}
	if history.Announcement.Announced.Ref != history.Entries[1].ID {
		t.Errorf("the announcement is %+v", history.Announcement)
	}
	if steps := explain.NewReport(history, false).Steps; !strings.HasPrefix(steps[1].Announced, "in-app 20") {
		t.Errorf("the reschedule was announced, and the report says %q", steps[1].Announced)
	}
}

func TestLoad_ALongJournal_IsReadWhole(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	pollID, _ := w.Poll()
	const rounds = 150 // of two entries: more than a page
	for range rounds {
		for _, command := range []func(context.Context) error{
			func(ctx context.Context) error {
				_, err := w.Scheduler.Archive(ctx, gm, pollID, worldtest.Cause)
				return err
			},
			func(ctx context.Context) error {
				_, err := w.Scheduler.Unarchive(ctx, gm, pollID, worldtest.Cause)
				return err
			},
		} {
			if err := command(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	history, err := explain.Load(t.Context(), w.Documents, pollID)
	if err != nil || len(history.Entries) != 2*rounds {
		t.Fatalf("got %d entries (%v), want %d", len(history.Entries), err, 2*rounds)
	}
	if verdict := explain.Judge(history); !verdict.Agrees {
		t.Errorf("got %+v", verdict)
	}
}

func TestLoad_APollThatIsNotThere(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	for _, id := range []string{"", "nobody's", "a/b", "..", "\xff"} {
		if _, err := explain.Load(t.Context(), w.Documents, id); !fault.Is(err, fault.NotFound) {
			t.Errorf("%q: got %v", id, err)
		}
	}
}

// restless changes a poll whenever its journal was read.
type restless struct {
	store.Reader
	change func()
}

func (r restless) Query(ctx context.Context, query store.Bound) ([]store.Document, error) {
	found, err := r.Reader.Query(ctx, query)
	r.change()
	return found, err
}

func TestLoad_PollChangesDuringIt_IsReadAgain(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	pollID, _, _ := w.Finalised()
	changes := 0
	reader := restless{w.Documents, func() {
		changes++
		if changes == 1 {
			if _, err := w.Cancel(pollID); err != nil {
				t.Error(err)
			}
		}
	}}
	history, err := explain.Load(t.Context(), reader, pollID)
	if err != nil || len(history.Entries) != 2 || history.Poll.Status != "CANCELLED" {
		t.Errorf("got %d entries of a poll that is %s (%v)", len(history.Entries), history.Poll.Status, err)
	}

	always := restless{w.Documents, func() { w.Write(poll.Path(pollID), poll.Set("title", strconv.Itoa(changes))); changes++ }}
	if _, err := explain.Load(t.Context(), always, pollID); !fault.Is(err, fault.Unavailable) {
		t.Errorf("a poll that never stops changing: %v", err)
	}
}

// Somebody used the id of a deleted poll again, and nothing came by since.
func TestLoad_RecreatedPoll_HasNothingOfTheOld(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	pollID, _, event := w.Finalised()
	w.MoveEvent("gm", event, worldtest.Noon)
	w.DeleteDirectly(pollID)
	w.Recreate(pollID, "ana")
	history, err := explain.Load(t.Context(), w.Documents, pollID)
	if err != nil {
		t.Fatal(err)
	}
	if len(history.Entries) != 0 || history.Announcement.Wanted.Ref != "" {
		t.Errorf("it has %d entries, and %+v to announce", len(history.Entries), history.Announcement.Wanted)
	}
	if verdict := explain.Judge(history); !verdict.Agrees {
		t.Errorf("its journal does not replay: %+v", verdict)
	}
}

// The dashboard shows the beginning of an id, and an ellipsis.
func TestNew_BeginningOfAnID_IsThePollThatHasIt(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	for _, id := range []string{"aaaa1111-first", "aaaa1111-second", "aaab0000-third"} {
		status := map[string]string{"aaaa1111-second": "CANCELLED"}[id]
		err := w.Documents.Run(t.Context(), func(_ context.Context, tx store.Tx) error {
			return tx.Set(poll.Path(id), store.Fields{"title": id, "creatorId": "gm", "status": cmp.Or(status, "OPEN")})
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for asked, want := range map[string]string{
		"aaab0000…": "aaab0000-third", "aaab": "aaab0000-third", "aaaa1111-s": "aaaa1111-second", "aaaa1111-first": "aaaa1111-first",
		"aaaa": "several polls begin with aaaa; give more of the id:\n  aaaa1111-first\n  aaaa1111-second", "aaac": "there is no poll aaac",
		"…": "there is no poll …", "a/b": "there is no poll a/b",
	} {
		report, err := explain.New(t.Context(), w.Documents, asked, false)
		if err == nil && report.Head[0].Text != want || err != nil && !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %+v, %v", asked, report.Head, err)
		}
	}
}
