package api

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"
)

// A sampled log writes sampleLines lines of a kind in each interval.
const (
	sampleEvery = time.Minute
	sampleLines = 10
	maxKinds    = 1000 // further kinds share one
)

// sampleBy are the attributes that distinguish kinds of lines, beside the message.
// Each has few values, none of which a caller chooses.
var sampleBy = []string{"route", "status", "code"}

// Sampled is a logger for lines that anybody can cause without end, such as those of
// refused requests. It writes the first ten of each kind per minute; the next line
// after that has the number of dropped ones in the attribute suppressed.
func Sampled(log *slog.Logger, now func() time.Time) *slog.Logger {
	return slog.New(&sampler{Handler: log.Handler(), windows: &windows{now: now, byKind: map[string]*window{}}})
}

// sampler is a slog.Handler.
type sampler struct {
	slog.Handler
	windows *windows
}

// windows counts the lines of each kind.
type windows struct {
	now    func() time.Time
	mu     sync.Mutex
	byKind map[string]*window
}

type window struct {
	began               time.Time
	written, suppressed int
}

// Handle implements slog.Handler.
func (s *sampler) Handle(ctx context.Context, record slog.Record) error {
	suppressed, write := s.windows.admit(kindOf(record))
	if !write {
		return nil
	}
	if suppressed > 0 {
		record = record.Clone()
		record.AddAttrs(slog.Int("suppressed", suppressed))
	}
	return s.Handler.Handle(ctx, record)
}

// WithAttrs implements slog.Handler.
func (s *sampler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &sampler{s.Handler.WithAttrs(attrs), s.windows}
}

// WithGroup implements slog.Handler.
func (s *sampler) WithGroup(name string) slog.Handler {
	return &sampler{s.Handler.WithGroup(name), s.windows}
}

func kindOf(record slog.Record) string {
	var kind strings.Builder
	kind.WriteString(record.Message)
	record.Attrs(func(attr slog.Attr) bool {
		if slices.Contains(sampleBy, attr.Key) {
			kind.WriteString("\x00" + attr.Key + "=" + attr.Value.String())
		}
		return true
	})
	return kind.String()
}

// admit reports whether a line is written, and how many of its kind were dropped
// since the last one.
func (w *windows) admit(kind string) (suppressed int, write bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.byKind[kind] == nil && len(w.byKind) >= maxKinds {
		kind = ""
	}
	current := w.byKind[kind]
	if current == nil {
		current = &window{}
		w.byKind[kind] = current
	}
	now := w.now()
	if elapsed := now.Sub(current.began); elapsed < 0 || elapsed >= sampleEvery { // negative: the clock was set back
		suppressed = current.suppressed
		*current = window{began: now}
	}
	if current.written >= sampleLines {
		current.suppressed++
		return 0, false
	}
	current.written++
	return suppressed, true
}
