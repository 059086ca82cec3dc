package river

import (
	"context"
	"log/slog"
)

// riverLog is the log for River itself: errors only, and none of what a queue
// that is being stopped cuts off. It warns of each failed attempt, which
// queue.LogVerdict has told, and informs of much that is no news.
func (q *Queue) riverLog() *slog.Logger {
	return slog.New(errorsOnly{q.log.Handler()})
}

type errorsOnly struct{ slog.Handler }

// Enabled holds back what is below an error.
func (h errorsOnly) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelError && h.Handler.Enabled(ctx, level)
}

// Handle holds back what a stop cuts off: it is told as an error of a context
// that has ended, and is done after the next start.
func (h errorsOnly) Handle(ctx context.Context, record slog.Record) error {
	if ctx.Err() == nil {
		return h.Handler.Handle(ctx, record)
	}
	return nil
}

// WithAttrs keeps holding back.
func (h errorsOnly) WithAttrs(attributes []slog.Attr) slog.Handler {
	return errorsOnly{h.Handler.WithAttrs(attributes)}
}

// WithGroup keeps holding back.
func (h errorsOnly) WithGroup(name string) slog.Handler {
	return errorsOnly{h.Handler.WithGroup(name)}
}
