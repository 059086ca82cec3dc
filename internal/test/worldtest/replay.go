package worldtest

import (
	"context"
	"fmt"
	"strings"

	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/operations/explain"
	"questscheduler/rules"
	"questscheduler/scheduler"
)

// AllPolls is the query by which ReplayEach finds the polls. A store that a test
// opens for itself has to declare it.
var AllPolls = allPolls

// Reconciler is what sets direct edits right: the scheduler's.
type Reconciler interface {
	Reconcile(ctx context.Context, pollID string, cause scheduler.Cause) (rules.Repair, error)
}

// ReplayEach says of every poll where it is not what its journal replays to, as
// `explain POLL --replay` does. Every harness that lets the program write polls
// asks it at the end of each test, whatever the test was about. The program
// first repairs the polls that the test edited directly and left so, as a sweep
// would (nil: there is no program any more).
func ReplayEach(ctx context.Context, documents store.Reader, program Reconciler) (problems []string, err error) {
	found, err := documents.Query(ctx, AllPolls.With())
	if err != nil {
		return nil, err
	}
	for _, doc := range found {
		if p := poll.Decode(doc); p.EditedDirectly() && program != nil {
			if _, err := program.Reconcile(ctx, p.ID, Cause); err != nil {
				return nil, err
			}
		}
		history, err := explain.Load(ctx, documents, doc.Path.ID())
		if err != nil {
			return nil, err
		}
		if problem := journalProblem(history.Poll, history.Entries); problem != "" {
			problems = append(problems, problem)
			continue
		}
		if problem := shortenedProblem(history); problem != "" {
			problems = append(problems, problem)
		}
	}
	return problems, nil
}

// shortenedProblem says which entry of a sound journal cannot be its oldest, as
// any may be once those before it are no longer kept; "" for none.
func shortenedProblem(history explain.History) string {
	decided := explain.Decided(history.Entries)
	for i := 1; i < len(decided); i++ {
		verdict := explain.Judge(explain.History{Poll: history.Poll, Entries: decided[i:]})
		if !verdict.Agrees {
			return fmt.Sprintf("poll %s: without the %d oldest entries its journal does not replay: %+v, %+v", history.Poll.ID, i,
				verdict.Breaks, verdict.Differences)
		}
	}
	return ""
}

// replayAtTheEnd has the world's polls replayed when its test ends.
func (w *World) replayAtTheEnd() {
	test, ends := w.t.(interface{ Cleanup(end func()) })
	if !ends {
		return
	}
	test.Cleanup(func() {
		w.Calm()
		problems, err := ReplayEach(w.ctx, w.Documents, w.Scheduler)
		w.must(err)
		for _, problem := range problems {
			w.t.Errorf("at the end of the test %s", problem)
		}
	})
}

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
// that was linked before this backend, and so had no generation there, may begin
// in the middle.
func journalProblem(stored poll.Poll, journal []poll.JournalEntry) string {
	verdict := explain.Judge(explain.History{Poll: stored, Entries: journal})
	var said []string
	before := int64(0) // the first entry, by its generation
	if len(journal) > 0 {
		before = journal[0].Generation
		if journal[0].Command == rules.CommandDeleteEvent {
			before-- // which begins the next one
		}
	}
	if verdict.Partial && before > 0 {
		said = append(said, "its journal does not replay: it begins in the middle")
	}
	for _, b := range verdict.Breaks {
		said = append(said, fmt.Sprintf("its journal does not replay: entry %s: %s", b.Entry, b.What))
	}
	for _, d := range verdict.Differences {
		said = append(said, fmt.Sprintf("its %s is %q, and its journal says %q", d.Field, d.Stored, d.Journal))
	}
	if !verdict.Edited {
		said = append(said, modelProblems(stored, journal)...)
	}
	if len(said) == 0 {
		return ""
	}
	return fmt.Sprintf("poll %s: %s", stored.ID, strings.Join(said, "; "))
}
