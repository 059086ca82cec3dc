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
	Value any
	Stack []byte
}

// Error describes the value, without the stack.
func (e *PanicError) Error() string { return fmt.Sprintf("the handler panicked: %v", e.Value) }

// Invoke runs a handler for a driver: with RunTimeout, and with a panic turned into a
// Retry whose error is a *PanicError. It clamps the verdict's wait to 0..MaxAhead.
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

// maxReason bounds, in bytes, how much each failed attempt adds to a stored task.
const maxReason = 500

// Reason is the text of a verdict's error that drivers store: valid UTF-8, cut to 500
// bytes.
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

// LogVerdict logs a run that failed: a panic as an error, a dead letter as a warning,
// another attempt as a detail. It writes neither name nor payload.
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
