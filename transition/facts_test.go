package transition_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"questscheduler/internal/poll"
	"questscheduler/rules"
	"questscheduler/transition"
)

// leftovers are states with documents that a deleted poll of the id may have left, or that are
// still to go.
var leftovers = []named{
	{"purging", with(open, func(s *transition.State) {
		s.Intents = []poll.Intent{{Kind: poll.IntentDelete, Generation: 4}, {Kind: poll.IntentPurge, Generation: 6}}
	})},
	{"new+purging", with(untouched, func(s *transition.State) { s.Intents = []poll.Intent{{Kind: poll.IntentPurge, Generation: 6}} })},
	{"new+inserting", with(untouched, func(s *transition.State) { s.Intents = []poll.Intent{{Kind: poll.IntentInsert, Generation: 6}} })},
	{"new+entry of another", with(untouched, func(s *transition.State) {
		s.Entry = &poll.IndexEntry{EventID: "event", CreatorID: "eve", Generation: 5, AccountID: "acc"}
	})},
	{"new+own entry", with(untouched, func(s *transition.State) {
		s.Entry = &poll.IndexEntry{EventID: "event", CreatorID: "gm", Generation: 5, AccountID: "acc"}
	})},
	{"new+journal of another", with(untouched, func(s *transition.State) { s.Latest = &poll.JournalEntry{CreatorID: "eve", Generation: 8} })},
	{"new+own journal", with(untouched, func(s *transition.State) { s.Latest = &poll.JournalEntry{CreatorID: "gm", Generation: 8} })},
	{"new+own journal+entry of another", with(untouched, func(s *transition.State) {
		s.Latest = &poll.JournalEntry{CreatorID: "gm", Generation: 8}
		s.Entry = &poll.IndexEntry{CreatorID: "eve", Generation: 9}
	})},
	{"without a creator", with(linked, func(s *transition.State) { s.Poll.CreatorID = "" })},
	{"without a creator-entry", with(linked, withoutEntry, func(s *transition.State) { s.Poll.CreatorID = "" })},
	{"left", with(open, func(s *transition.State) { s.Left = true })},
	{"linked, long past", with(linked, func(s *transition.State) {
		past := rules.Timed(now.AddDate(0, -2, 0), now.AddDate(0, -2, 0).Add(time.Hour))
		s.Poll.Sync.Applied, s.Poll.Sync.Baseline, s.Winning = past, past, nil
	})},
	{"awaiting, too long", with(linked, awaiting, func(s *transition.State) { s.Poll.Sync.Awaited.Until = now.Add(-time.Second) })},
	{"awaiting until now", with(linked, awaiting, func(s *transition.State) { s.Poll.Sync.Awaited.Until = now })},
	{"awaiting, another slot", with(linked, awaiting, func(s *transition.State) { s.Winning.Start = s.Winning.Start.Add(time.Hour) })},
	{"awaiting, its entry of another event", with(linked, awaiting, func(s *transition.State) { s.Entry.EventID = "another" })},
	{"awaiting-entry", with(linked, awaiting, withoutEntry)},
	{"awaiting, names another event", with(linked, awaiting, toAnother)},
	{"inserting for a generation before", with(open, inserting, func(s *transition.State) { s.Poll.Sync.Generation++ })},
	{"deleting", with(linked, func(s *transition.State) {
		s.Intents = []poll.Intent{{Kind: poll.IntentDelete, Generation: 2}}
	})},
}

func lines(name string, fields map[string]string) (text string) {
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		text += name + ": " + key + "=" + fields[key] + "\n"
	}
	return text
}

func TestState_Facts_AreAsRecorded(t *testing.T) {
	t.Parallel()
	states := slices.Concat(everywhere, leftovers)
	golden(t, "states", []string{"facts"}, func(int) string {
		return outcomes(states, func(s *transition.Step) string {
			counted := s.State
			counted.CountOn()
			return strings.Join([]string{
				fmt.Sprint("state: creator=", s.Creator()), fmt.Sprint("state: awaiting=", s.Awaiting()), fmt.Sprint("state: purging=", s.Purging()),
				fmt.Sprint("state: recreated=", s.Recreated()), fmt.Sprint("state: last=", s.LastGeneration()),
				fmt.Sprint("state: counted=", counted.Poll.Sync.Generation), fmt.Sprint("state: inserting=", s.PendingInsert() != nil),
				lines("documents", fields(s.Documents(true, now))), lines("gone", fields(s.Documents(false, now))), lines("rules", fields(s.Rules())),
			}, "\n")
		})
	})
}

func TestEventStateName_EveryState_IsFoundByIt(t *testing.T) {
	t.Parallel()
	for state, name := range map[rules.EventState]string{
		rules.Present: "present", rules.Gone: "gone", rules.Series: "series", rules.Unreadable: "unreadable",
	} {
		if got := transition.EventStateName(state); got != name {
			t.Errorf("%v is named %q", state, got)
		}
		if got, known := transition.EventStateNamed(name); !known || got != state {
			t.Errorf("%q names %v, %t", name, got, known)
		}
	}
	if _, known := transition.EventStateNamed("other"); known {
		t.Error("an unknown name names a state")
	}
}

func TestIsNew_PollOfTheWebApp_ForTenMinutes(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		change func(p *poll.Poll)
		want   bool
	}{
		"a minute ago":         {func(*poll.Poll) {}, true},
		"written since":        {func(p *poll.Poll) { p.Untouched = false }, false},
		"edited":               {func(p *poll.Poll) { p.UpdatedAt = now }, false},
		"journaled":            {func(p *poll.Poll) { p.Sync.Recorded.At = now }, false},
		"almost ten minutes":   {func(p *poll.Poll) { p.CreatedAt = now.Add(-10*time.Minute + 1) }, true},
		"ten minutes ago":      {func(p *poll.Poll) { p.CreatedAt = now.Add(-10 * time.Minute) }, false},
		"by a clock ahead":     {func(p *poll.Poll) { p.CreatedAt = now.Add(9 * time.Minute) }, true},
		"by a clock far ahead": {func(p *poll.Poll) { p.CreatedAt = now.Add(10 * time.Minute) }, false},
	} {
		p := untouched().Poll
		row.change(&p)
		if got := transition.IsNew(p, now); got != row.want {
			t.Errorf("%s: it is new: %t", name, got)
		}
		want := []string{"ana"}
		if row.want {
			want = []string{"ana", "ben"}
		}
		known := []string{"ana", "left", "gm", "ana"}
		if got := transition.Named(known, p, now); !slices.Equal(got, want) || known[0] != "ana" {
			t.Errorf("%s: named are %q", name, got)
		}
	}
}

// Another process may make the event of an insert for as long as it holds the intent, by any clock.
func TestAsDelete_InsertUnderWay_IsDeletedAgain(t *testing.T) {
	t.Parallel()
	insert := poll.Intent{Kind: poll.IntentInsert, Due: now, Attempts: 3, EventID: "event", Session: poll.Session{Title: "x"}}
	for name, row := range map[string]struct {
		kind  poll.IntentKind
		after time.Duration
		until time.Duration // 0: none
	}{
		"claimed just now":     {poll.IntentInsert, -time.Second, transition.InsertGrace + transition.ClockSkew},
		"a clock behind":       {poll.IntentInsert, transition.ClockSkew - 1, transition.InsertGrace + transition.ClockSkew},
		"given up by now":      {poll.IntentInsert, transition.ClockSkew, 0},
		"a deletion, just now": {poll.IntentDelete, -time.Second, 0},
	} {
		intent, at := insert, now.Add(row.after)
		intent.Kind = row.kind
		want := poll.Intent{Kind: poll.IntentDelete, Due: at, EventID: "event"}
		if row.until > 0 {
			want.Until = at.Add(row.until)
		}
		if got := transition.AsDelete(intent, at); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
}

func TestSyncChecked_EveryError_HasItsMessage(t *testing.T) {
	t.Parallel()
	known := map[string]rules.ErrorCode{}
	for _, code := range []rules.ErrorCode{
		rules.TokenExpired, rules.CalendarUnlinked, rules.CalendarLost, rules.WatchFailed, rules.SyncFailed, rules.MassCancellationHeld,
		rules.RecurringUnsupported, rules.UnreadableEvent,
	} {
		p := transition.SyncChecked(linked().Poll, poll.JournalEntry{At: now, Decision: rules.Warn, Reason: string(code)})
		failure := p.Sync.Error
		if p.Sync.State != rules.StateError || failure.Code != code || failure.At != now || failure.Message == "" ||
			known[failure.Message] != "" {
			t.Errorf("%s: %s, %+v", code, p.Sync.State, failure)
		}
		known[failure.Message] = code
	}
}

// The journal is replayed by these: what a step left is what its entry says.
func TestEntry_OfCommandOrRepair_ReplaysThePoll(t *testing.T) {
	t.Parallel()
	for _, of := range everywhere {
		for name, do := range map[string]func(s *transition.Step){
			"cancel":        func(s *transition.Step) { _ = s.Cancel("gm", "", true) },
			"reopen":        func(s *transition.Step) { _ = s.Reopen("gm", "", false) },
			"repair cancel": func(s *transition.Step) { s.RepairCancel("", true) },
			"repair reopen": func(s *transition.Step) { s.RepairReopen() },
		} {
			step := &transition.Step{State: of.state(), Setting: setting()}
			do(step)
			if len(step.Entries) == 0 || strings.HasPrefix(step.Entries[0].Reason, "a finalisation under way") {
				continue
			}
			entry, want := step.Entries[0], *step.After
			got := transition.Commanded(step.Poll, entry, transition.Details{})
			if strings.HasPrefix(name, "repair") {
				got = transition.Repaired(step.Poll, entry, transition.Details{Cancelled: want.Cancelled})
			}
			got.Sync.Sequence, got.Sync.Recorded = want.Sync.Sequence, want.Sync.Recorded
			if got, want := fmt.Sprint(fields(got)), fmt.Sprint(fields(want)); got != want {
				t.Errorf("%s, %s:\n%s, want\n%s", of.name, name, got, want)
			}
		}
	}
}
