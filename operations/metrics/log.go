package metrics

import (
	"context"
	"log/slog"
)

// Log wraps a log handler so that lines at WARN and ERROR are counted.
func (m *Metrics) Log(next slog.Handler) slog.Handler { return countedLog{next, m} }

type countedLog struct {
	slog.Handler
	metrics *Metrics
}

// Handle implements slog.Handler.
func (l countedLog) Handle(ctx context.Context, record slog.Record) error {
	switch {
	case record.Level >= slog.LevelError:
		l.metrics.count("log_records_total", "error")
	case record.Level >= slog.LevelWarn:
		l.metrics.count("log_records_total", "warn")
	}
	return l.Handler.Handle(ctx, record)
}

// WithAttrs implements slog.Handler.
func (l countedLog) WithAttrs(attributes []slog.Attr) slog.Handler {
	return countedLog{l.Handler.WithAttrs(attributes), l.metrics}
}

// WithGroup implements slog.Handler.
func (l countedLog) WithGroup(name string) slog.Handler {
	return countedLog{l.Handler.WithGroup(name), l.metrics}
}
