package google

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"time"

	"questscheduler/demo/sim/control"
)

// push is a notification that has not been received yet. It is part of the
// world: a restart delivers it.
type push struct {
	ID      int64  `json:"id"`
	Channel string `json:"channel"`
	State   string `json:"state"`
	Number  int64  `json:"number"`
}

// Push is a pending push as a simulation sees it.
type Push struct {
	ID        int64
	ChannelID string
	Calendar  string
	State     string // "sync", "exists" or "not_exists"
	Number    int64  // X-Goog-Message-Number
	Attempts  int    // made so far, all in vain
	Due       time.Time
	Held      bool // until its channel is stopped (ChannelRules.HoldUntilStopped)
}

// backoff is how long after each failed attempt the next is due. After the
// last the push is given up.
var backoff = []time.Duration{
	100 * time.Millisecond, 250 * time.Millisecond, 500 * time.Millisecond, time.Second, 2 * time.Second, 5 * time.Second,
	10 * time.Second, 30 * time.Second, time.Minute, 2 * time.Minute, 5 * time.Minute,
}

// PendingPushes are those that are not delivered, the one that is due first in
// front.
func (s *Server) PendingPushes() []Push {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []Push
	for _, id := range sortedKeys(s.world.pushes) {
		p, try := s.world.pushes[id], s.outbox.tries[id]
		list = append(list, Push{ID: id, ChannelID: p.Channel, Calendar: s.world.channels[p.Channel].Calendar,
			State: p.State, Number: p.Number, Attempts: try.count, Due: try.due, Held: s.held(p)})
	}
	slices.SortStableFunc(list, func(a, b Push) int { return cmp.Or(a.Due.Compare(b.Due), cmp.Compare(a.ID, b.ID)) })
	return list
}

// ErrNoPush says that no push of that id is pending, or that it is being
// delivered at this moment.
var ErrNoPush = errors.New("no such push is pending")

// DeliverNext makes one attempt at the pending push that is due first, now,
// whenever it is due, unless it is held. It gives false where there is none.
func (s *Server) DeliverNext(ctx context.Context) (bool, error) {
	for _, push := range s.PendingPushes() {
		if !push.Held {
			return true, s.Deliver(ctx, push.ID)
		}
	}
	return false, nil
}

// Deliver makes one attempt at a pending push in the caller's goroutine. A
// receiver that refuses or cannot be reached is no error: the push stays
// pending, or is given up, as Google would. An error means that ctx ended (the
// push stays) or that the outcome could not be kept.
func (s *Server) Deliver(ctx context.Context, id int64) error {
	p, ch, ok := s.claim(id)
	if !ok {
		return ErrNoPush
	}
	result, err := s.attempt(ctx, p, ch)
	return errors.Join(err, s.settle(id, result))
}

// result is the outcome of one attempt.
type result uint8

const (
	postponed result = iota // not tried: it stays as it was
	received
	refused // Google does not try again
	failed  // Google tries again
)

func (s *Server) claim(id int64) (*push, channel, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.world.pushes[id]
	if p == nil || s.outbox.flying[id] {
		return nil, channel{}, false
	}
	s.outbox.flying[id] = true
	return p, *s.world.channels[p.Channel], true
}

// settle keeps the outcome: a push that is done leaves the world, one that
// failed is due again later.
func (s *Server) settle(id int64, r result) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.outbox.flying, id)
	if r == postponed {
		return nil
	}
	try := s.outbox.tries[id]
	if r == failed && try.count < len(backoff) {
		s.outbox.tries[id] = attempt{count: try.count + 1, due: s.outboxNow().Add(backoff[try.count])}
		return nil
	}
	delete(s.outbox.tries, id)
	return s.commit(record{Delivered: []int64{id}})
}

// attempt sends a push once, or as a planted fault demands. A channel that has
// expired since receives nothing.
func (s *Server) attempt(ctx context.Context, p *push, ch channel) (result, error) {
	if !s.clock.Now().Before(ch.Expiration) {
		return refused, nil
	}
	f := s.control.Take(control.Call{Method: pushMethod, Calendar: ch.Calendar})
	if err := f.Wait(ctx); err != nil {
		return postponed, err
	}
	if f.Drop {
		return received, nil
	}
	if f.Status != 0 && !f.LostAnswer {
		return verdict(f.Status), nil
	}
	r, err := s.send(ctx, p, ch)
	for range f.Duplicate {
		if err == nil {
			_, err = s.send(ctx, p, ch)
		}
	}
	if f.LostAnswer && r == received {
		r = failed
	}
	return r, err
}

// verdict is what Google makes of a receiver's answer.
func verdict(status int) result {
	switch status {
	case http.StatusOK, http.StatusCreated, http.StatusAccepted, http.StatusNoContent, http.StatusProcessing:
		return received
	case http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return failed
	default:
		return refused
	}
}

// send posts a push. Its error is that of ctx alone.
func (s *Server) send(ctx context.Context, p *push, ch channel) (result, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, ch.Address, http.NoBody)
	if err != nil {
		return refused, nil // the address was checked, but no request can be made of it
	}
	setPushHeaders(req.Header, p, ch)
	resp, err := s.opt.PushClient.Do(req)
	if err != nil {
		s.opt.Log.LogAttrs(ctx, slog.LevelDebug, "google simulator: push failed", slog.String("channel", ch.ID), slog.Any("error", err))
		if ctx.Err() != nil {
			return postponed, fmt.Errorf("push on channel %s: %w", ch.ID, ctx.Err())
		}
		return failed, nil
	}
	defer resp.Body.Close() //nolint:errcheck // it was only read
	// The body is read so that the connection can be used again.
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, maxBody))
	s.opt.Log.LogAttrs(ctx, slog.LevelDebug, "google simulator: push", slog.String("channel", ch.ID), slog.Int("status", resp.StatusCode))
	return verdict(resp.StatusCode), nil
}

func setPushHeaders(h http.Header, p *push, ch channel) {
	h.Set("X-Goog-Channel-ID", ch.ID)
	h.Set("X-Goog-Resource-ID", ch.resourceID())
	h.Set("X-Goog-Resource-URI", ch.resourceURI())
	h.Set("X-Goog-Resource-State", p.State)
	h.Set("X-Goog-Message-Number", strconv.FormatInt(p.Number, 10))
	h.Set("X-Goog-Channel-Expiration", ch.Expiration.UTC().Format(http.TimeFormat))
	if ch.Token != "" {
		h.Set("X-Goog-Channel-Token", ch.Token)
	}
	h.Set("Accept", "*/*")
	h.Set("User-Agent", "APIs-Google; (+https://developers.google.com/webmasters/APIs-Google.html)")
}
