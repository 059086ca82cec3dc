package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/labstack/echo/v4"

	"questscheduler/api"
	"questscheduler/calendarsync"
	"questscheduler/internal/accounts/seal"
	"questscheduler/internal/calendars"
	"questscheduler/internal/gcal"
	"questscheduler/internal/outbox"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/internal/store/sqlite"
	webhooks "questscheduler/web-hooks"
)

// How many pushes are sent first and do not count, and how many come at once where
// throughput is measured.
const (
	warmUp      = 200
	connections = 64
)

const pushResource = "resource"

// pushChannel is the channel that pushes come by.
type pushChannel struct{ id, token string }

// pushes measures over a socket how long Google waits for 200: for a push that a
// waiting sync task covers, for one that enqueues a sync task, and for an Echo
// handler that does nothing. It sends count pushes for each figure, and measures
// throughput for the time pressing.
func pushes(ctx context.Context, r *report, folder string, count int, pressing time.Duration) (err error) {
	s, err := sqlite.Open(ctx, sqlite.Options{
		Path: filepath.Join(folder, "data.db"), Queries: slices.Concat(poll.Queries, calendars.Queries, calendarsync.Queries),
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	pool := startPool(s, func() {})
	if err := pool.Start(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, pool.Stop(ctx)) }()
	generated, err := seal.Generate()
	if err != nil {
		return err
	}
	keys, err := seal.ParseKeys(string(generated))
	if err != nil {
		return err
	}
	channel := pushChannel{id: uuid.NewString()}
	channel.token, err = keys.ChannelToken(channel.id)
	if err != nil {
		return err
	}
	work := &outbox.Outbox{Store: s, Waker: pool, Now: time.Now, Log: slog.New(slog.DiscardHandler)}
	watcher := &calendarsync.Watcher{
		Store: s, Outbox: work, Google: granting{}, Now: time.Now, NewUUID: func() string { return channel.id },
		Tokens: keys, Address: "https://bench.test/push",
		TTL: 168 * time.Hour, RenewBefore: 48 * time.Hour, Log: slog.New(slog.DiscardHandler),
	}
	key := poll.CalendarKey("account", "calendar")
	if err := s.Run(ctx, func(_ context.Context, tx store.Tx) error {
		first := calendars.Calendar{Key: key, AccountID: "account", CalendarID: "calendar"}
		return tx.Merge(calendars.Path(key), first.Link(calendars.Request{At: time.Now()}, "gm", "")...)
	}); err != nil {
		return err
	}
	if err := watcher.Ensure(ctx, "account", "calendar"); err != nil {
		return err
	}
	return measurePushes(ctx, r, s, watcher, key, channel, count, pressing)
}

func measurePushes(
	ctx context.Context, r *report, s *sqlite.Store, watcher *calendarsync.Watcher, key string, channel pushChannel,
	count int, pressing time.Duration,
) error {
	var ids atomic.Int64
	edge := api.New(api.Options{
		Now: time.Now, NewID: func(prefix string) string { return prefix + "_" + strconv.FormatInt(ids.Add(1), 10) },
		ChannelRate: api.Rate{PerSecond: 1e9, Burst: 1e9}, Log: slog.New(slog.DiscardHandler), Version: "bench",
	})
	webhooks.Register(edge, watcher, webhooks.Guard{Admit: api.AdmitPush, Log: slog.New(slog.DiscardHandler)})
	bare := echo.New()
	bare.POST(webhooks.PushPaths[0], func(c echo.Context) error { return c.NoContent(http.StatusOK) })

	nothing := func(int) error { return nil }
	nextSync := func(int) error { // as a run takes the request
		return s.Run(ctx, func(_ context.Context, tx store.Tx) error {
			return tx.Update(calendars.Path(key), store.Set("syncAsked", store.Delete))
		})
	}
	for _, row := range []struct {
		name    string
		handler http.Handler
		before  func(i int) error
		to      string
	}{
		{"bare_echo", bare, nothing, ""},
		{"push_acknowledged", edge, nothing, "bare_echo"},
		{"push_hands_look_over", edge, nextSync, "bare_echo"},
	} {
		taken, err := send(ctx, row.handler, channel, count, row.before)
		if err != nil {
			return err
		}
		for _, share := range []struct {
			name string
			of   float64
		}{{"_p50", 0.5}, {"_p99", 0.99}} {
			to := row.to
			if to != "" {
				to += share.name
			}
			if err := r.add(row.name+share.name, taken.at(share.of), "ms", to); err != nil {
				return err
			}
		}
	}
	for _, row := range []struct {
		name    string
		handler http.Handler
		to      string
	}{{"bare_echo_64_connections", bare, ""}, {"push_64_connections", edge, "bare_echo_64_connections"}} {
		rate, err := press(ctx, row.handler, channel, pressing)
		if err != nil {
			return err
		}
		if err := r.add(row.name, rate, "/s", row.to); err != nil {
			return err
		}
	}
	return nil
}

// press sends pushes over 64 connections at once, at least one over each, and
// tells how many a second were answered.
func press(ctx context.Context, handler http.Handler, channel pushChannel, pressing time.Duration) (rate float64, err error) {
	server := httptest.NewServer(handler)
	defer server.Close()
	server.Client().Transport.(*http.Transport).MaxIdleConnsPerHost = connections
	failures := make([]error, connections)
	var done atomic.Int64
	var all sync.WaitGroup
	began := time.Now()
	for i := range connections {
		all.Go(func() {
			for number := 0; failures[i] == nil && (number == 0 || time.Since(began) < pressing); number++ {
				failures[i] = push(ctx, server, channel, number)
				done.Add(1)
			}
		})
	}
	all.Wait()
	return float64(done.Load()) / time.Since(began).Seconds(), errors.Join(failures...)
}

// send sends pushes one after the other, over a socket. before is not counted.
func send(ctx context.Context, handler http.Handler, channel pushChannel, count int, before func(i int) error) (latencies, error) {
	server := httptest.NewServer(handler)
	defer server.Close()
	var taken latencies
	for i := range count + warmUp {
		if err := before(i); err != nil {
			return nil, err
		}
		one, err := timed(1, func(int) error { return push(ctx, server, channel, i) })
		if err != nil {
			return nil, err
		}
		if i >= warmUp {
			taken = append(taken, one...)
		}
	}
	return taken, nil
}

func push(ctx context.Context, server *httptest.Server, channel pushChannel, number int) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, server.URL+webhooks.PushPaths[0], nil)
	if err != nil {
		return err
	}
	for name, value := range map[string]string{
		"X-Goog-Channel-Id": channel.id, "X-Goog-Channel-Token": channel.token, "X-Goog-Resource-Id": pushResource,
		"X-Goog-Resource-State": "exists", "X-Goog-Message-Number": strconv.Itoa(number),
	} {
		request.Header.Set(name, value)
	}
	answer, err := server.Client().Do(request)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, answer.Body)
	if closed := answer.Body.Close(); err == nil {
		err = closed
	}
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("a push was answered %s", answer.Status)
	}
	return err
}

// granting is a Google that grants every channel and is asked for nothing else.
type granting struct{ calendarsync.Google }

// Watch implements calendarsync.Google.
func (granting) Watch(_ context.Context, _ gcal.Ref, request gcal.WatchRequest) (gcal.Channel, error) {
	return gcal.Channel{ID: request.ID, ResourceID: pushResource, Expiration: time.Now().Add(request.TTL)}, nil
}
