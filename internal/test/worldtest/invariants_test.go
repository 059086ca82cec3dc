package worldtest_test

import (
	"slices"
	"strings"
	"testing"

	"questscheduler/internal/calendars"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/internal/test/worldtest"
	"questscheduler/rules"
)

// broken are worlds in which one document, event or line of the log violates an
// invariant, with a part of the problem that the check must report.
var broken = []struct {
	name, found string
	do          func(w *worldtest.World, pollID string, slots []string, eventID string)
}{
	{"a poll is not what its journal says", "its journal says", func(w *worldtest.World, pollID string, _ []string, _ string) {
		w.Write(poll.Path(pollID), poll.Set("status", "CANCELLED"))
	}},
	{"a line of a journal is missing", "its journal says", func(w *worldtest.World, pollID string, _ []string, _ string) {
		w.Remove(poll.EntryPath(pollID, w.Journal(pollID)[0].ID))
	}},
	{"a line of a journal was changed", "its journal does not replay", func(w *worldtest.World, pollID string, _ []string, _ string) {
		before := rules.Timed(worldtest.Noon.Start, worldtest.Noon.End)
		w.Write(poll.EntryPath(pollID, w.Journal(pollID)[0].ID), poll.Set("before", before.String()))
	}},
	{"an event has no index entry", "is an orphan", func(w *worldtest.World, _ string, _ []string, eventID string) {
		w.Remove(poll.IndexPath(eventID))
	}},
	{"an event resembles one of ours", "is an orphan", func(w *worldtest.World, _ string, _ []string, _ string) {
		w.InsertEvent("gm", map[string]any{
			"start":              map[string]any{"dateTime": "2026-03-11T09:00:00Z"},
			"end":                map[string]any{"dateTime": "2026-03-11T10:00:00Z"},
			"extendedProperties": map[string]any{"private": map[string]any{"questschedulerPoll": "another"}},
		})
	}},
	{"an index entry is another poll's", "does not follow it", func(w *worldtest.World, _ string, _ []string, eventID string) {
		w.Write(poll.IndexPath(eventID), poll.Set("schedulerId", "another"))
	}},
	{"a calendar counts wrong", "linked polls and has", func(w *worldtest.World, _ string, _ []string, _ string) {
		w.Write(calendars.Path(w.CalendarKey("gm")), store.Update{Path: store.FieldPath{"interests", poll.ConsumerPoll}, Value: int64(7)})
	}},
	{"a winning slot is gone", "which is not there", func(w *worldtest.World, pollID string, slots []string, _ string) {
		w.Remove(poll.SlotPath(pollID, slots[0]))
	}},
	{"a calendar slot is named by nobody", "is left over", func(w *worldtest.World, pollID string, _ []string, _ string) {
		slot := poll.SlotAt("11111111-1111-4111-8111-111111111111", worldtest.Event{}.Fingerprint())
		slot.Source = poll.SourceCalendar
		w.Write(poll.SlotPath(pollID, slot.ID), updates(poll.EncodeSlot(slot))...)
	}},
	{"a sync token passed over a change", "passed over a change", func(w *worldtest.World, pollID string, _ []string, _ string) {
		planned := worldtest.Event{}.Fingerprint().String()
		w.Write(poll.Path(pollID), store.Update{Path: poll.SyncField("lastEventFingerprint"), Value: planned})
	}},
	{"a line of the log holds a secret", "holds a secret", func(w *worldtest.World, _ string, _ []string, _ string) {
		w.Watcher.Log.Debug("watching", "with", w.Secrets()[0])
	}},
	{"a document holds a secret", "holds a secret", func(w *worldtest.World, pollID string, _ []string, _ string) {
		w.Write(poll.Path(pollID), poll.Set("notes", []any{map[string]any{"said": "it is " + w.Secrets()[0]}}))
	}},
}

func updates(fields map[string]any) (list []store.Update) {
	for name, value := range fields {
		list = append(list, poll.Set(name, value))
	}
	return list
}

func TestAnInvariantThatIsBroken_IsFoundWhereOnlyThatChanged(t *testing.T) {
	t.Parallel()
	for _, c := range broken {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			endless := struct{ worldtest.TB }{t} // what is broken is not to be found once more at the end
			w := worldtest.New(endless, worldtest.Options{})
			pollID, slots, eventID := w.Finalised()
			if problems := w.Problems(); len(problems) > 0 {
				t.Fatalf("before anything was broken: %v", problems)
			}
			c.do(w, pollID, slots, eventID)
			found := w.Problems()
			if !slices.ContainsFunc(found, func(problem string) bool { return strings.Contains(problem, c.found) }) {
				t.Errorf("found %q, and nothing that says %q", found, c.found)
			}
			if anew := w.ProblemsAnew(); !slices.Equal(found, anew) {
				t.Errorf("found %q, and reading everything %q", found, anew)
			}
			if again := w.Problems(); !slices.Equal(found, again) {
				t.Errorf("found %q, and the next time %q", found, again)
			}
		})
	}
}

func TestWhoChangesWhatTheyReadOfASharedDocument_IsFoundOut(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{Shared: true})
	pollID, _, _ := w.Finalised()
	if problems := w.TouchedProblems(); len(problems) > 0 {
		t.Fatalf("before anybody changed anything: %v", problems)
	}
	sync := store.Fields(w.Document(poll.Path(pollID)).Data).Map("calendarSync")
	sync["seenBy"] = "somebody"
	problems := w.TouchedProblems()
	if len(problems) != 1 || !strings.Contains(problems[0], pollID) {
		t.Errorf("found %q, and nothing of poll %s alone", problems, pollID)
	}
}
