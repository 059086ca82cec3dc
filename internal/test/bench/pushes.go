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

// pushSite is the program's edge for pushes, over a store of its own, and an Echo that does nothing.
type pushSite struct {
	store      *sqlite.Store
	pool       *outbox.Pool
	watcher    *calendarsync.Watcher
	keys       seal.Keys
	key        string // of the calendar that is followed
	channel    pushChannel
	edge, bare http.Handler
}

// openPushes opens a site with one calendar that is followed.
func openPushes(ctx context.Context, folder string) (site *pushSite, err error) {
	site = &pushSite{key: poll.CalendarKey("account", "calendar"), channel: pushChannel{id: uuid.NewString()}}
	site.store, err = sqlite.Open(ctx, sqlite.Options{
		Path: filepath.Join(folder, "data.db"), Queries: slices.Concat(poll.Queries, calendars.Queries, calendarsync.Queries),
	})
	if err != nil {
		return nil, err
	}
	site.pool = startPool(site.store, func() {})
	defer func() {
		if err != nil {
			err = errors.Join(err, site.close(ctx))
		}
	}()
	if err := site.pool.Start(ctx); err != nil {
		return nil, err
	}
	generated, err := seal.Generate()
	if err != nil {
		return nil, err
	}
	site.keys, err = seal.ParseKeys(string(generated))
	if err != nil {
		return nil, err
	}
	site.channel.token, err = site.keys.ChannelToken(site.channel.id)
	if err != nil {
		return nil, err
	}
	log := slog.New(slog.DiscardHandler)
	site.watcher = &calendarsync.Watcher{
		Store: site.store, Outbox: &outbox.Outbox{Store: site.store, Waker: site.pool, Now: time.Now, Log: log}, Google: granting{},
		Now: time.Now, NewUUID: func() string { return site.channel.id }, Tokens: site.keys, Address: "https://bench.test/push",
		Alone: true, TTL: 168 * time.Hour, RenewBefore: 48 * time.Hour, Log: log,
	}
	if err := site.store.Run(ctx, func(_ context.Context, tx store.Tx) error {
		first := calendars.Calendar{Key: site.key, AccountID: "account", CalendarID: "calendar"}
		return tx.Merge(calendars.Path(site.key), first.Link(calendars.Request{At: time.Now()}, "gm", "")...)
	}); err != nil {
		return nil, err
	}
	site.edge, site.bare = edgeOf(site.watcher), nothing()
	return site, site.watcher.Ensure(ctx, "account", "calendar")
}

func (site *pushSite) close(ctx context.Context) error {
	return errors.Join(site.pool.Stop(ctx), site.store.Close())
}

// edgeOf is the program's route for pushes, without the limit on those of one channel.
func edgeOf(watcher *calendarsync.Watcher) http.Handler {
	var ids atomic.Int64
	edge := api.New(api.Options{
		Now: time.Now, NewID: func(prefix string) string { return prefix + "_" + strconv.FormatInt(ids.Add(1), 10) },
		ChannelRate: api.Rate{PerSecond: 1e9, Burst: 1e9}, Log: slog.New(slog.DiscardHandler), Version: "bench",
	})
	webhooks.Register(edge, watcher, webhooks.Guard{Admit: api.AdmitPush, Log: slog.New(slog.DiscardHandler)})
	return edge
}

// nothing is an Echo that answers the route for pushes, and does nothing.
func nothing() http.Handler {
	bare := echo.New()
	bare.POST(webhooks.PushPaths[0], func(c echo.Context) error { return c.NoContent(http.StatusOK) })
	return bare
}

// pushes measures over a socket how long Google waits for 200: for a push that a
// waiting sync task covers, for one that enqueues a sync task, and for an Echo
// handler that does nothing. It sends count pushes for each figure, and measures
// throughput for the time pressing.
func pushes(ctx context.Context, r *report, folder string, count int, pressing time.Duration) (err error) {
	site, err := openPushes(ctx, folder)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, site.close(ctx)) }()
	still := func(int) error { return nil }
	nextSync := func(int) error { // as a run takes the request
		return site.store.Run(ctx, func(_ context.Context, tx store.Tx) error {
			return tx.Update(calendars.Path(site.key), store.Set("syncAsked", store.Delete))
		})
	}
	for _, row := range []struct {
		name    string
		handler http.Handler
		before  func(i int) error
		to      string
	}{
		{"bare_echo", site.bare, still, ""},
		{"push_acknowledged", site.edge, still, "bare_echo"},
		{"push_starts_sync", site.edge, nextSync, "bare_echo"},
	} {
		taken, err := send(ctx, row.handler, site.channel, count, row.before)
		if err != nil {
			return err
		}
		if err := r.addLatencies(row.name, taken, row.to); err != nil {
			return err
		}
	}
	same := func(int) pushChannel { return site.channel }
	return errors.Join(
		r.press(ctx, "bare_echo_64_connections", site.bare, same, pressing, ""),
		r.press(ctx, "push_64_connections", site.edge, same, pressing, "bare_echo_64_connections"))
}

// addLatencies adds the median of calls and what 99 of 100 did not exceed, set against those of others.
func (r *report) addLatencies(name string, taken latencies, to string) error {
	for _, share := range []struct {
		name string
		of   float64
	}{{"_p50", 0.5}, {"_p99", 0.99}} {
		against := to
		if against != "" {
			against += share.name
		}
		if err := r.add(name+share.name, taken.at(share.of), "ms", against); err != nil {
			return err
		}
	}
	return nil
}

// press adds how many pushes a second were answered over all connections.
func (r *report) press(
	ctx context.Context, name string, handler http.Handler, channel func(number int) pushChannel, pressing time.Duration, to string,
) error {
	taken, took, err := press(ctx, handler, channel, func(_ int, since time.Duration) bool { return since < pressing })
	if err != nil {
		return err
	}
	return r.add(name, float64(len(taken))/took.Seconds(), "/s", to)
}

// press sends pushes over 64 connections at once, at least one over each, while goesOn allows the
// next by its number and the time since the beginning. It tells how long each took, and all.
func press(
	ctx context.Context, handler http.Handler, channel func(number int) pushChannel, goesOn func(number int, since time.Duration) bool,
) (taken latencies, took time.Duration, err error) {
	server := httptest.NewServer(handler)
	defer server.Close()
	server.Client().Transport.(*http.Transport).MaxIdleConnsPerHost = connections
	failures, each := make([]error, connections), make([]latencies, connections)
	var next atomic.Int64
	var all sync.WaitGroup
	began := time.Now()
	for i := range connections {
		all.Go(func() {
			for number := int(next.Add(1)) - 1; failures[i] == nil; number = int(next.Add(1)) - 1 {
				if len(each[i]) > 0 && !goesOn(number, time.Since(began)) {
					return
				}
				one, err := timed(1, func(int) error { return push(ctx, server, channel(number), number) })
				each[i], failures[i] = append(each[i], one...), err
			}
		})
	}
	all.Wait()
	return slices.Concat(each...), time.Since(began), errors.Join(failures...)
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
