package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"questscheduler/demo/sim/control"
	"questscheduler/internal/test/process"
)

// How many events are moved at once in how many calendars, and how long Google and Discord take to
// answer then.
const (
	editedCalendars = 200
	editsAtOnce     = 1000
	apiLatency      = 50 * time.Millisecond
)

const (
	// listersAtOnce is how many calendars the program lists at once (calendarsync.Syncer.Work).
	listersAtOnce = 40
	// editsPatience is how long all messages may take to come.
	editsPatience = 2 * time.Minute
)

// edits measures how long it takes from moves of events, all at once, to their polls and messages,
// and what the program's process computes for each.
func edits(ctx context.Context, r *report, folder string) error {
	return editsOf(ctx, r, folder, editedCalendars, editsAtOnce)
}

func editsOf(ctx context.Context, r *report, folder string, calendars, count int) (err error) {
	o, err := openOutside(ctx, beginning{folder: folder, people: calendars, calendars: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, o.close(ctx)) }()
	e := &editing{outside: o, calendars: calendars}
	o.discordAt.Config.Handler = e.noted(o.discord.Handler())
	if err := e.begin(ctx, count); err != nil {
		return err
	}
	done, err := e.edit(ctx)
	if err != nil {
		return err
	}
	alone, err := e.listAlone(ctx, done.listings)
	if err != nil {
		return err
	}
	each := float64(done.processor) / float64(time.Millisecond) / float64(count)
	return errors.Join(
		r.add("edits_at_once_listings", float64(done.listings), "listings", ""),
		r.add("edits_at_once_listings_alone_p99", alone.at(0.99), "ms", ""),
		r.add("edit_to_poll_p50", done.polls.at(0.5), "ms", ""),
		r.add("edit_to_poll_p99", done.polls.at(0.99), "ms", "edits_at_once_listings_alone_p99"),
		r.add("edit_to_message_p50", done.messages.at(0.5), "ms", ""),
		r.add("edit_to_message_p99", done.messages.at(0.99), "ms", "edits_at_once_listings_alone_p99"),
		r.add("edit_processor_time", each, "ms", ""))
}

// edited is what edits led to: after what time each was in its poll and its message was posted, and
// how much the program listed and computed for all.
type edited struct {
	polls, messages latencies
	listings        int
	processor       time.Duration
}

// edit moves all events at once, to the next hour, and waits for what comes of it.
func (e *editing) edit(ctx context.Context) (done edited, err error) {
	for _, sim := range []*control.Control{e.google.Control(), e.discord.Control()} {
		sim.ResetCalls()
	}
	if err := errors.Join(
		e.google.Control().Plant(control.Rule{Match: "events.list|events.get|oauth.token", DelayMS: int(apiLatency.Milliseconds())}),
		e.discord.Control().Plant(control.Rule{Match: "messages.*", DelayMS: int(apiLatency.Milliseconds())}),
	); err != nil {
		return done, err
	}
	before, err := processorTime(ctx, e.server)
	if err != nil {
		return done, err
	}
	if err := e.moveAll(ctx); err != nil {
		return done, err
	}
	done.messages, err = e.announced(ctx)
	if err == nil {
		err = e.quiet(ctx)
	}
	if err != nil {
		return done, err
	}
	after, err := processorTime(ctx, e.server)
	if err != nil {
		return done, err
	}
	done.processor, done.listings = after-before, e.google.Control().Calls()["events.list"]
	e.google.Control().Clear()
	e.discord.Control().Clear()
	done.polls, err = e.shown(ctx)
	return done, err
}

// processorTime is what a program has computed so far.
func processorTime(ctx context.Context, server *process.Server) (time.Duration, error) {
	read, err := server.Metrics(ctx)
	seconds, known := read["process_cpu_seconds_total"]
	if err == nil && !known {
		err = errors.New("on this system the program does not say how long it computed")
	}
	return time.Duration(seconds * float64(time.Second)), err
}

// moveAll moves all events.
func (e *editing) moveAll(ctx context.Context) error {
	failures := make([]error, len(e.sessions))
	var all sync.WaitGroup
	for i, s := range e.sessions {
		all.Go(func() {
			s.start = s.start.Add(time.Hour)
			_, failures[i] = good(e.person, func() (*http.Request, error) {
				address := eventsOf(s.owner) + "/" + s.event
				return request(ctx, http.MethodPatch, address, e.calendarTokens[s.owner], map[string]any{
					"start": map[string]any{"dateTime": s.start.Format(time.RFC3339)},
					"end":   map[string]any{"dateTime": s.start.Add(time.Hour).Format(time.RFC3339)},
				})
			})
			s.moved = time.Now()
		})
	}
	all.Wait()
	return errors.Join(failures...)
}

// announced waits until each poll has one message more, and tells how long after the move each came.
func (e *editing) announced(ctx context.Context) (took latencies, err error) {
	ticks := time.NewTicker(askEvery)
	defer ticks.Stop()
	for deadline := time.Now().Add(editsPatience); ; {
		missing := 0
		for _, s := range e.sessions {
			if len(e.messagesOf(s)) == 0 {
				missing++
			}
		}
		if missing == 0 {
			break
		}
		if time.Now().After(deadline) {
			return nil, fmt.Errorf("%d of %d moves were not announced within %v", missing, len(e.sessions), editsPatience)
		}
		select {
		case <-ticks.C:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	for _, s := range e.sessions {
		took = append(took, e.messagesOf(s)[0].Sub(s.moved))
	}
	return took, nil
}

// shown tells how long after its move each poll had it, by what its journal says, and fails where a
// poll does not have it, or was announced more than once.
func (e *editing) shown(ctx context.Context) (took latencies, err error) {
	for _, s := range e.sessions {
		at, err := e.journalled(ctx, s)
		if err != nil {
			return nil, err
		}
		took = append(took, at.Sub(s.moved))
		if posted := len(e.messagesOf(s)); posted != 1 {
			return nil, fmt.Errorf("one move of %q has %d messages", s.title, posted)
		}
	}
	return took, nil
}

// listAlone makes as many listings of what changed as the program made, as many at once, and tells
// how long after the beginning each was read.
func (e *editing) listAlone(ctx context.Context, listings int) (latencies, error) {
	if err := e.google.Control().Plant(control.Rule{Match: "events.list", DelayMS: int(apiLatency.Milliseconds())}); err != nil {
		return nil, err
	}
	defer e.google.Control().Clear()
	took, failures := make(latencies, listings), make([]error, listings)
	var next atomic.Int64
	var all sync.WaitGroup
	began := time.Now()
	for range listersAtOnce {
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < listings; i = int(next.Add(1)) - 1 {
				_, failures[i] = e.list(ctx, i%e.calendars, e.syncTokens[i%e.calendars])
				took[i] = time.Since(began)
			}
		})
	}
	all.Wait()
	return took, errors.Join(failures...)
}
