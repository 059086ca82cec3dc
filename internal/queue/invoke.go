package queue

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strings"
)

// PanicError is the error of the verdict for a run that panicked.
type PanicError struct {
	// Value is what the handler panicked with.
	Value any
	// Stack is where, for the log.
	Stack []byte
}

// Error tells the value without the stack.
func (e *PanicError) Error() string { return fmt.Sprintf("the handler panicked: %v", e.Value) }

// Invoke runs a handler as every driver has to: with RunTimeout as the
// deadline of its context, and with a panic turned into a Retry whose error is
// a *PanicError, so that one broken task takes neither the process nor its own
// further attempts away. The verdict's wait is brought between 0 and MaxAhead.
func Invoke(ctx context.Context, handler Handler, delivery Delivery) (verdict Verdict) {
	ctx, cancel := context.WithTimeout(ctx, RunTimeout)
	defer cancel()
	defer func() {
		if value := recover(); value != nil {
			verdict = Verdict{Outcome: Retry, Err: &PanicError{Value: value, Stack: debug.Stack()}}
		}
	}()
	verdict = handler(ctx, delivery)
	verdict.After = min(max(verdict.After, 0), MaxAhead)
	return verdict
}

// maxReason is the longest reason that drivers keep, in bytes: a task that
// fails for a day must not grow by each attempt's whole text.
const maxReason = 500

// Reason is the text that drivers keep of a verdict's error, valid UTF-8 and
// cut to 500 bytes.
func Reason(err error) string {
	if err == nil {
		return "the handler gave no reason"
	}
	text := err.Error()
	if len(text) > maxReason {
		text = text[:maxReason]
	}
	return strings.ToValidUTF8(text, "")
}

// LogVerdict writes what a run came to, the same for every driver: a panic is
// an error, a dead letter a warning, another attempt a detail. Neither name
// nor payload is written.
func LogVerdict(ctx context.Context, log *slog.Logger, delivery Delivery, verdict Verdict) {
	if verdict.Outcome == Done || verdict.Outcome == Later {
		return
	}
	log = log.With(slog.String("kind", delivery.Kind), slog.Int("attempt", delivery.Attempt),
		slog.String("reason", Reason(verdict.Err)))
	var panicked *PanicError
	switch {
	case errors.As(verdict.Err, &panicked):
		log.ErrorContext(ctx, "queue: a handler panicked", slog.String("stack", string(panicked.Stack)))
	case verdict.Outcome == Permanent:
		log.WarnContext(ctx, "queue: a task ended as a dead letter")
	default:
		log.DebugContext(ctx, "queue: a task will be tried again")
	}
}
