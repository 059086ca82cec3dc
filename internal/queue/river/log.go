package river

import (
	"context"
	"log/slog"
)

// riverLog is River's own log, errors alone: queue.LogVerdict logs failed attempts.
func (q *Queue) riverLog() *slog.Logger {
	return slog.New(errorsOnly{q.log.Handler()})
}

type errorsOnly struct{ slog.Handler }

// Enabled implements slog.Handler.
func (h errorsOnly) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelError && h.Handler.Enabled(ctx, level)
}

// Handle drops errors of cancelled contexts: a stop interrupts work that the next start
// resumes.
func (h errorsOnly) Handle(ctx context.Context, record slog.Record) error {
	if ctx.Err() == nil {
		return h.Handler.Handle(ctx, record)
	}
	return nil
}

// WithAttrs implements slog.Handler.
func (h errorsOnly) WithAttrs(attributes []slog.Attr) slog.Handler {
	return errorsOnly{h.Handler.WithAttrs(attributes)}
}

// WithGroup implements slog.Handler.
func (h errorsOnly) WithGroup(name string) slog.Handler {
	return errorsOnly{h.Handler.WithGroup(name)}
}
