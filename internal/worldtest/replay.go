package worldtest

import (
	"fmt"
	"strings"

	"questscheduler/explain"
	"questscheduler/poll"
)

// journalProblems: a poll's state is what its journal replays to (invariant 1).
func (p *picture) journalProblems() (problems []string) {
	for _, stored := range p.polls.all {
		if p.stale[stored.ID] {
			p.journals[stored.ID] = journalProblem(stored, p.world.Journal(stored.ID))
		}
		if problem := p.journals[stored.ID]; problem != "" {
			problems = append(problems, problem)
		}
	}
	clear(p.stale)
	return problems
}

// journalProblem says where a poll is not what its journal replays to, as
// `explain --replay` works it out; "" where it is. Only the journal of a poll
// that was linked before this backend, and so has no generation there, may begin
// in the middle.
func journalProblem(stored poll.Poll, journal []poll.Entry) string {
	verdict := explain.Judge(explain.History{Poll: stored, Entries: journal})
	var said []string
	if verdict.Partial && len(journal) > 0 && journal[0].Generation > 0 {
		said = append(said, "its journal does not replay: it begins in the middle")
	}
	for _, b := range verdict.Breaks {
		said = append(said, fmt.Sprintf("its journal does not replay: entry %s: %s", b.Entry, b.What))
	}
	for _, d := range verdict.Differences {
		said = append(said, fmt.Sprintf("its %s is %q, and its journal says %q", d.Field, d.Stored, d.Journal))
	}
	if len(said) == 0 {
		return ""
	}
	return fmt.Sprintf("poll %s: %s", stored.ID, strings.Join(said, "; "))
}
