package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
)

// How many people have a stream open, each with a poll of their own, and how many changes, at least
// one for each, are made without streams and with them.
const (
	openStreams     = 1000
	streamedChanges = 3000
)

const (
	streamPatience = 20 * time.Second
	changersAtOnce = 4
)

// streams measures what a change costs the program while everybody has a stream open, each change
// being of one person's poll, and the memory of a stream.
func streams(ctx context.Context, r *report, folder string) error {
	return streamsOf(ctx, r, folder, openStreams, streamedChanges)
}

func streamsOf(ctx context.Context, r *report, folder string, people, changes int) (err error) {
	o, err := openOutside(ctx, beginning{folder: folder, people: people})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, o.close(ctx)) }()
	s := &streaming{outside: o, polls: make([]ownPoll, people)}
	if err := s.begin(ctx); err != nil {
		return err
	}
	if _, err := s.change(ctx, people+changes); err != nil { // caches fill, and the heap has its size
		return err
	}
	without, err := s.change(ctx, changes)
	if err != nil {
		return err
	}
	before, err := s.server.Metrics(ctx)
	if err != nil {
		return err
	}
	if err := s.open(ctx); err != nil {
		return err
	}
	defer s.end()
	after, err := s.server.Metrics(ctx)
	if err != nil {
		return err
	}
	with, err := s.change(ctx, changes)
	if err == nil {
		err = s.current(ctx)
	}
	if err != nil {
		return err
	}
	const memory = "process_resident_memory_bytes"
	name := fmt.Sprintf("change_with_%d_streams", people)
	return errors.Join(
		r.add("change_without_streams", without, "ms", ""),
		r.add(name, with, "ms", "change_without_streams"),
		r.add("memory_of_a_stream", (after[memory]-before[memory])/1024/float64(people), "KiB", ""))
}

// streaming is people with a poll each.
type streaming struct {
	*outside
	polls   []ownPoll
	changed atomic.Int64 // how many changes were made so far
	reading sync.WaitGroup
	stop    context.CancelFunc
	ready   atomic.Int64             // streams that told that they begin
	told    []atomic.Pointer[string] // by person: the last event of their poll
	failed  atomic.Pointer[error]
}

type ownPoll struct {
	path  string
	slots []string
}

func (s *streaming) begin(ctx context.Context) error {
	var making errgroup.Group
	making.SetLimit(seedersAtOnce)
	start := time.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, 10)
	body := map[string]any{"title": "Own", "timezone": "UTC", "slots": []map[string]any{
		{"start": start, "end": start.Add(time.Hour)}, {"start": start.AddDate(0, 0, 1), "end": start.AddDate(0, 0, 1).Add(time.Hour)},
	}}
	for n := range s.polls {
		making.Go(func() error {
			var made struct {
				ID    string
				Slots []struct{ ID string }
			}
			err := s.call(ctx, asked{n, http.MethodPost, "/v1/polls", body}, &made)
			s.polls[n].path = "/v1/polls/" + made.ID
			for _, slot := range made.Slots {
				s.polls[n].slots = append(s.polls[n].slots, slot.ID)
			}
			return err
		})
	}
	return making.Wait()
}

// change has people vote in their own polls, one after the other, and tells how many milliseconds
// the program computed for each.
func (s *streaming) change(ctx context.Context, count int) (each float64, err error) {
	before, err := processorTime(ctx, s.server)
	if err != nil {
		return 0, err
	}
	var changing errgroup.Group
	changing.SetLimit(changersAtOnce)
	for range count {
		changing.Go(func() error {
			number := int(s.changed.Add(1)) - 1
			n, round := number%len(s.polls), number/len(s.polls)
			own := s.polls[n]
			votes := map[string]any{"votes": map[string]string{own.slots[round%len(own.slots)]: "PREFERRED"}}
			return s.call(ctx, asked{n, http.MethodPut, own.path + "/votes/me", votes}, nil)
		})
	}
	if err := changing.Wait(); err != nil {
		return 0, err
	}
	after, err := processorTime(ctx, s.server)
	return float64(after-before) / float64(time.Millisecond) / float64(count), err
}

// open opens a stream for each person, and waits until all have begun.
func (s *streaming) open(ctx context.Context) error {
	ctx, s.stop = context.WithCancel(ctx)
	s.told = make([]atomic.Pointer[string], len(s.polls))
	client := &http.Client{Transport: &http.Transport{}}
	for n := range s.polls {
		s.reading.Go(func() {
			if err := s.read(ctx, client, n); err != nil && ctx.Err() == nil {
				err = fmt.Errorf("the stream of %s: %w", uid(n), err)
				s.failed.Store(&err)
			}
		})
	}
	return s.await(ctx, func() bool { return int(s.ready.Load()) == len(s.polls) }, "not all streams begin")
}

func (s *streaming) end() {
	s.stop()
	s.reading.Wait()
}

// read reads a person's stream to its end, which none has that is not stopped.
func (s *streaming) read(ctx context.Context, client *http.Client, n int) error {
	made, err := request(ctx, http.MethodGet, s.server.URL+"/v1/stream", s.tokens[n], nil)
	if err != nil {
		return err
	}
	answer, err := client.Do(made)
	if err != nil {
		return err
	}
	defer answer.Body.Close() //nolint:errcheck // it was read
	own := strings.TrimPrefix(s.polls[n].path, "/v1/polls/")
	event := ""
	for lines := bufio.NewScanner(answer.Body); lines.Scan(); {
		name, is := strings.CutPrefix(lines.Text(), "event: ")
		if is {
			event = name
		}
		data, is := strings.CutPrefix(lines.Text(), "data: ")
		switch {
		case !is:
		case event == "ready":
			s.ready.Add(1)
		case event == "poll" && strings.Contains(data, own):
			s.told[n].Store(&data)
		default:
			return fmt.Errorf("it has %s %s", event, data)
		}
	}
	return errors.New("it ended")
}

// current waits until each person got their poll as it is now. One event may tell of several
// changes.
func (s *streaming) current(ctx context.Context) error {
	for n := range s.polls {
		made, err := request(ctx, http.MethodGet, s.server.URL+s.polls[n].path, s.tokens[n], nil)
		if err != nil {
			return err
		}
		answer, err := s.server.HTTP.Do(made)
		if err != nil {
			return err
		}
		want := answer.Header.Get("ETag")
		if err := answer.Body.Close(); err != nil || want == "" {
			return errors.Join(err, fmt.Errorf("the poll of %s was answered %s", uid(n), answer.Status))
		}
		is := func() bool {
			var told struct{ ETag string }
			last := s.told[n].Load()
			return last != nil && json.Unmarshal([]byte(*last), &told) == nil && told.ETag == want
		}
		if err := s.await(ctx, is, "the last change of "+uid(n)+" is not told"); err != nil {
			return err
		}
	}
	return nil
}

func (s *streaming) await(ctx context.Context, done func() bool, otherwise string) error {
	ticks := time.NewTicker(askEvery)
	defer ticks.Stop()
	for deadline := time.Now().Add(streamPatience); !done(); {
		select {
		case <-ticks.C:
		case <-ctx.Done():
			return ctx.Err()
		}
		if err := s.failed.Load(); err != nil {
			return *err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%s within %v", otherwise, streamPatience)
		}
	}
	return nil
}
