package api

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"
)

// What a sampled log writes: so many lines of a kind in each interval.
const (
	sampleEvery = time.Minute
	sampleLines = 10
	// maxKinds bounds the kinds that are told apart; further ones share one.
	maxKinds = 1000
)

// sampleBy are the attributes that tell kinds of lines apart, beside the message.
// Each has few values, none of which a caller chooses.
var sampleBy = []string{"route", "status", "code"}

// Sampled is a logger for lines that anybody can cause as often as they like, such
// as those of refused requests. Of each kind it writes the first ten of a minute.
// The next line that is written after that says with the attribute suppressed how
// many were not. Figures are counted elsewhere, and count them all.
func Sampled(log *slog.Logger, now func() time.Time) *slog.Logger {
	return slog.New(&sampler{Handler: log.Handler(), kinds: &kinds{now: now, seen: map[string]*window{}}})
}

// sampler is a slog.Handler.
type sampler struct {
	slog.Handler
	kinds *kinds
}

// kinds counts the lines of each kind.
type kinds struct {
	now  func() time.Time
	mu   sync.Mutex
	seen map[string]*window
}

// window is an interval of one kind.
type window struct {
	began               time.Time
	written, suppressed int
}

// Handle implements slog.Handler.
func (s *sampler) Handle(ctx context.Context, record slog.Record) error {
	suppressed, write := s.kinds.admit(kindOf(record))
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
	return &sampler{Handler: s.Handler.WithAttrs(attrs), kinds: s.kinds}
}

// WithGroup implements slog.Handler.
func (s *sampler) WithGroup(name string) slog.Handler {
	return &sampler{Handler: s.Handler.WithGroup(name), kinds: s.kinds}
}

// kindOf is the message of a line with the attributes of sampleBy.
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

// admit reports whether a line of a kind is written, and how many were not since
// the one before.
func (k *kinds) admit(kind string) (suppressed int, write bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	at := k.seen[kind]
	if at == nil && len(k.seen) >= maxKinds {
		kind = ""
		at = k.seen[kind]
	}
	if at == nil {
		at = &window{}
		k.seen[kind] = at
	}
	now := k.now()
	if passed := now.Sub(at.began); passed < 0 || passed >= sampleEvery { // below zero: the clock was set back
		suppressed = at.suppressed
		*at = window{began: now}
	}
	if at.written >= sampleLines {
		at.suppressed++
		return 0, false
	}
	at.written++
	return suppressed, true
}
