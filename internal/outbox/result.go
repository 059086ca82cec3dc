package outbox

import (
	"slices"
	"time"

	"questscheduler/internal/store"
)

// Outcome is what became of a run.
type Outcome uint8

// The outcomes.
const (
	// outcomeFailed is the zero value, so that an empty Result loses nothing.
	outcomeFailed Outcome = iota
	outcomeDone
	outcomeAgain
	outcomeKept
	outcomeBroken
	// outcomeOvertaken: the document changed during the run, and is due for that change.
	outcomeOvertaken
)

var outcomes = [...]string{"failed", "done", "again", "kept", "broken", "overtaken"}

// String returns the name in logs and metrics.
func (o Outcome) String() string { return outcomes[o] }

// Outcomes are the names of all outcomes.
func Outcomes() []string { return outcomes[:] }

// Result is a handler's answer.
type Result struct {
	outcome Outcome
	at      time.Time
	err     error
	updates []store.Update
}

// Done ends the work.
func Done() Result { return Result{outcome: outcomeDone} }

// Again has the work go on at a time. It is no failure, and forgets earlier ones.
func Again(at time.Time) Result { return Result{outcome: outcomeAgain, at: at} }

// Failed counts a failure; the work is due again after a wait (Retry). In an unclaimed kind,
// which keeps no count here, it stays due and the next drain has it tried.
func Failed(err error) Result { return Result{outcome: outcomeFailed, err: err} }

// Kept says that a transaction of the handler's own recorded the outcome, and when the entry is
// due next; zero: not any more.
func Kept(due time.Time) Result { return Result{outcome: outcomeKept, at: due} }

// Postponed is a failure that a transaction of the handler's own recorded, and when the entry is
// due next.
func Postponed(due time.Time, err error) Result {
	return Result{outcome: outcomeFailed, at: due, err: err}
}

// Broken says that the store did not answer, which is no failure of the work: it is tried again
// soon, and nothing is recorded.
func Broken(err error) Result { return Result{outcome: outcomeBroken, err: err} }

// Writing adds updates to what is written with Done, Again or Failed.
func (r Result) Writing(updates ...store.Update) Result {
	r.updates = append(slices.Clip(r.updates), updates...)
	return r
}
