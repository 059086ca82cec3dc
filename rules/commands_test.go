package rules_test

import (
	"slices"
	"strings"
	"testing"

	"questscheduler/fault"
	"questscheduler/rules"
)

var statuses = []rules.Status{rules.Open, rules.Finalized, rules.Cancelled, rules.Archived}

// What a person reads who asks for something that the poll does not allow.
const (
	archivedFirst  = "refused: This poll is archived. Unarchive it first."
	votingClosed   = "refused: Voting is closed. Ask the creator to reopen the poll."
	reopenFirst    = "refused: This poll is finalised. Reopen it before changing its times."
	notRescheduled = "refused: This poll is not rescheduled. Reload it to see how it stands."
)

// obey writes what a command does to a poll as the tables of these tests do:
// the status afterwards and what goes with it, or the refusal.
func obey(t *testing.T, p rules.Poll, command rules.Command) string {
	t.Helper()
	change, err := rules.Apply(p, command)
	if err != nil {
		if change != (rules.Change{}) {
			t.Errorf("a refused command gives the change %+v", change)
		}
		if fault.KindOf(err) == fault.Conflict {
			return "refused: " + err.Error()
		}
		return fault.KindOf(err).String() + ": " + err.Error()
	}
	var words []string
	if change.Nothing {
		words = append(words, "stays")
	}
	if change.To != "" {
		words = append(words, string(change.To))
	}
	for _, does := range []struct {
		word string
		does bool
	}{
		{"supersedes", change.Supersedes}, {"unlinks", change.Unlinks},
		{"clears-reschedule", change.ClearsReschedule}, {"clears-cancelled", change.ClearsCancelled},
	} {
		if does.does {
			words = append(words, does.word)
		}
	}
	return strings.Join(words, " ")
}

// The cells stand in the order OPEN, FINALIZED, CANCELLED, ARCHIVED.
func TestApply_EachCommandAndStatus_FollowsTheTable(t *testing.T) {
	t.Parallel()
	const finalise = "FINALIZED supersedes unlinks clears-reschedule clears-cancelled"
	const reopen = "OPEN supersedes unlinks clears-reschedule clears-cancelled"
	const cancel = "CANCELLED supersedes unlinks"
	const remove = "supersedes unlinks"
	const letGo = " supersedes unlinks clears-reschedule"
	table := []struct {
		command rules.Command
		cells   [4]string
	}{
		{rules.CommandFinalise, [4]string{finalise, finalise, finalise, archivedFirst}},
		{rules.CommandCancel, [4]string{cancel, cancel, "stays CANCELLED", archivedFirst}},
		{rules.CommandReopen, [4]string{"stays OPEN", reopen, reopen, archivedFirst}},
		{rules.CommandVote, [4]string{"OPEN", votingClosed, votingClosed, votingClosed}},
		{rules.CommandEdit, [4]string{"OPEN", "FINALIZED", "CANCELLED", archivedFirst}},
		{rules.CommandEditSlots, [4]string{"OPEN clears-reschedule", reopenFirst, "CANCELLED clears-reschedule", archivedFirst}},
		{rules.CommandArchive, [4]string{"ARCHIVED", "ARCHIVED", "ARCHIVED", "stays ARCHIVED"}},
		{rules.CommandUnarchive, [4]string{"stays OPEN", "stays FINALIZED", "stays CANCELLED", ""}},
		{rules.CommandRestoreOriginal, [4]string{notRescheduled, "FINALIZED", notRescheduled, notRescheduled}},
		{rules.CommandAcceptNew, [4]string{notRescheduled, "FINALIZED", notRescheduled, notRescheduled}},
		{rules.CommandDeleteEvent, [4]string{"OPEN" + letGo, "FINALIZED" + letGo, "CANCELLED" + letGo, "ARCHIVED" + letGo}},
		{rules.CommandDelete, [4]string{remove, remove, remove, remove}},
	}
	for _, row := range table {
		for i, status := range statuses {
			t.Run(string(row.command)+" a poll that is "+string(status), func(t *testing.T) {
				t.Parallel()
				p := rescheduled()
				p.Status = status
				if got := obey(t, p, row.command); got != row.cells[i] {
					t.Errorf("got  %q\nwant %q", got, row.cells[i])
				}
			})
		}
	}
	t.Run("holds every command", func(t *testing.T) {
		t.Parallel()
		for _, listed := range rules.CommandRows() {
			known := slices.ContainsFunc(table, func(row struct {
				command rules.Command
				cells   [4]string
			}) bool {
				return row.command == listed.Command
			})
			if !known {
				t.Errorf("no cell of this test is about %q", listed.Command)
			}
		}
	})
}

func TestCommands_ForEachStatus_HaveOneRow(t *testing.T) {
	t.Parallel()
	type cell struct {
		command rules.Command
		status  rules.Status
	}
	rows, commands := map[cell]int{}, map[rules.Command]bool{}
	for _, row := range rules.CommandRows() {
		commands[row.Command] = true
		for _, status := range row.From {
			if !row.Awaiting { // beside the row for every other poll
				rows[cell{row.Command, status}]++
			}
		}
		if row.Refusal != "" && row.Change != (rules.Change{}) {
			t.Errorf("%s from %v is refused and changes %+v", row.Command, row.From, row.Change)
		}
		if row.Change.Nothing && (row.Change != rules.Change{Nothing: true, To: row.From[0]} || len(row.From) != 1) {
			t.Errorf("%s from %v says nothing and changes %+v", row.Command, row.From, row.Change)
		}
	}
	for command := range commands {
		for _, status := range statuses {
			if n := rows[cell{command, status}]; n != 1 {
				t.Errorf("%s of a poll that is %s has %d rows, want 1", command, status, n)
			}
		}
	}
	rules.CommandRows()[0].Command = "changed by a caller"
	if rules.CommandRows()[0].Command == "changed by a caller" {
		t.Error("a caller can change the table")
	}
}

// Only restoring and accepting ask whether the poll is rescheduled; only they
// need the event.
func TestRestoreAndAccept_WithoutARescheduledEvent_AreRefused(t *testing.T) {
	t.Parallel()
	unlinked := rescheduled()
	unlinked.Link = rules.Link{}
	failed := failing(rescheduled(), rules.TokenExpired)
	for _, command := range []rules.Command{rules.CommandRestoreOriginal, rules.CommandAcceptNew} {
		for _, c := range []struct {
			name string
			poll rules.Poll
			want string
		}{
			{"a rescheduled poll", rescheduled(), "FINALIZED"},
			{"a rescheduled poll in ERROR", failed, "FINALIZED"},
			{"a poll whose event is where it was put", inStep(), notRescheduled},
			{"a rescheduled poll without its event", unlinked, notRescheduled},
			{"a poll linked before", linkedBefore(), notRescheduled},
		} {
			t.Run(string(command)+" of "+c.name, func(t *testing.T) {
				t.Parallel()
				if got := obey(t, c.poll, command); got != c.want {
					t.Errorf("got %q, want %q", got, c.want)
				}
			})
		}
	}
	for _, row := range rules.CommandRows() {
		if row.Command == rules.CommandRestoreOriginal || row.Command == rules.CommandAcceptNew {
			continue
		}
		for _, status := range row.From {
			moved, still := rescheduled(), inStep()
			moved.Status, still.Status = status, status
			still.Link = rules.Link{}
			if got, want := obey(t, still, row.Command), obey(t, moved, row.Command); got != want {
				t.Errorf("%s of a poll that is %s: %q where it is neither rescheduled nor linked, else %q", row.Command, status, got, want)
			}
		}
	}
}

func TestRefusal_SaysWhatToDo_WithoutTheInput(t *testing.T) {
	t.Parallel()
	for _, row := range rules.CommandRows() {
		if row.Refusal == "" {
			continue
		}
		if !strings.HasSuffix(row.Refusal, ".") || strings.Count(row.Refusal, ".") < 2 {
			t.Errorf("%s from %v: %q does not say what is wrong and what to do next", row.Command, row.From, row.Refusal)
		}
	}
}

func TestApply_UnknownCommandOrStatus_IsInvalid(t *testing.T) {
	t.Parallel()
	if got, want := obey(t, inStep(), "explode"), `invalid: There is no command "explode" for a poll that is FINALIZED.`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	strange := inStep()
	strange.Status = "UNKNOWN"
	if got, want := obey(t, strange, rules.CommandCancel), `invalid: There is no command "cancel" for a poll that is UNKNOWN.`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestBefore_WinningAndCancelled_GiveTheStatus(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		winning, cancelled bool
		want               rules.Status
	}{
		{false, false, rules.Open},
		{true, false, rules.Finalized},
		{false, true, rules.Cancelled},
		{true, true, rules.Cancelled}, // a cancelled poll keeps its winning slot
	} {
		if got := rules.Before(c.winning, c.cancelled); got != c.want {
			t.Errorf("Before(winning %t, cancelled %t) = %s, want %s", c.winning, c.cancelled, got, c.want)
		}
	}
}
