package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"questscheduler/demo/sim/control"
	"questscheduler/demo/sim/google"
	"questscheduler/internal/gcal"
	"questscheduler/internal/poll"
	"questscheduler/rules"
)

// What the page holds: as many events as Google puts on one, of which polls
// follow a few.
const (
	pageEvents = gcal.MaxPageSize
	pageOurs   = 25
)

// pageEnough is how often a page is read for one figure.
const pageEnough = 200

// plain is the figure that readings of a page are set against: encoding/json,
// decoding alone.
const plain = "page_decoded_encoding_json"

// pages reads a page of 2,500 events as a sync run does: it fetches the page over
// a socket, decodes and filters it, and decides about the events that polls
// follow. The baselines only decode: encoding/json and others (tools/decoders).
func pages(ctx context.Context, r *report, _ string) error {
	body, err := recordPage(ctx)
	if err != nil {
		return err
	}
	if err := decoders(ctx, r, body); err != nil {
		return err
	}
	if err := r.add("page_size", float64(len(body))/1e3, "kB", ""); err != nil {
		return err
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		_, _ = w.Write(body) // a client that has gone notices the missing answer
	}))
	defer server.Close()
	for _, row := range []struct {
		name string
		do   func() error
	}{
		{"page_fetched", func() error { return fetch(ctx, server) }},
		{"page_fetched_decoded_decided", func() error { return decide(ctx, server) }},
	} {
		taken, err := timed(pageEnough, func(int) error { return row.do() })
		if err != nil {
			return fmt.Errorf("%s: %w", row.name, err)
		}
		if err := r.add(row.name, taken.at(0.5), "ms", plain); err != nil {
			return err
		}
	}
	return nil
}

// fetch reads the page's bytes and nothing else.
func fetch(ctx context.Context, server *httptest.Server) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL, nil)
	if err != nil {
		return err
	}
	answer, err := server.Client().Do(request)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, answer.Body)
	return errors.Join(err, answer.Body.Close())
}

// decide reads the page by package gcal and decides what its followed events
// mean for polls that stand where the events do.
func decide(ctx context.Context, server *httptest.Server) error {
	client := gcal.New(gcal.Options{
		Endpoint: server.URL, Client: func(context.Context, string) (*http.Client, error) { return server.Client(), nil },
	})
	page, err := client.List(ctx, gcal.Ref{Account: "gm", Calendar: "primary"}, gcal.Times, "", "")
	if err != nil {
		return err
	}
	followed := 0
	for _, event := range page.Events {
		if !strings.HasPrefix(event.ID, poll.EventPrefix) {
			continue
		}
		followed++
		link := rules.Link{Account: "gm", Calendar: "primary", Event: event.ID, Generation: 1}
		before := rules.Poll{
			Status: rules.Finalized, State: rules.StateOK, Link: link, Baseline: event.Fingerprint, Applied: event.Fingerprint,
		}
		observation := rules.Observation{
			Link: link, EventState: event.EventState, Fingerprint: event.Fingerprint, Updated: event.Updated, AccountLive: true,
			WatchLive: true,
		}
		if decision := rules.Decide(before, observation, event.Updated); decision.Changes() {
			return fmt.Errorf("an event that stands where its poll does decides %s", decision.Action)
		}
	}
	if len(page.Events) != pageEvents || followed != pageOurs {
		return fmt.Errorf("%d events, of which %d are followed", len(page.Events), followed)
	}
	return nil
}

// recordPage is what the simulator answers to the listing of a full calendar.
func recordPage(ctx context.Context) ([]byte, error) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	sim, err := google.New(google.Options{Now: func() time.Time { return now }, Sequential: true})
	if err != nil {
		return nil, err
	}
	grant, err := sim.AddUser(google.User{Key: "gm", Sub: "1", Email: "gm@example.test", TimeZone: "Europe/Zurich"})
	if err != nil {
		return nil, err
	}
	source := oauth2.StaticTokenSource(&oauth2.Token{AccessToken: grant.AccessToken})
	recorder := &recording{inner: &oauth2.Transport{Source: source, Base: control.Transport(sim.Handler())}}
	client := gcal.New(gcal.Options{
		Endpoint: "http://google.sim",
		Client:   func(context.Context, string) (*http.Client, error) { return &http.Client{Transport: recorder}, nil },
	})
	ref := gcal.Ref{Account: "gm", Calendar: "gm@example.test"}
	for i := range pageEvents {
		start := now.Add(time.Duration(i) * time.Hour)
		event := gcal.NewEvent{
			ID: fmt.Sprintf("%026d", i), Summary: "Standup", Description: strings.Repeat("A long text. ", 20), TimeZone: "Europe/Zurich",
			Start: start, End: start.Add(time.Hour), Attendees: []string{"ana@example.test", "ben@example.test"},
		}
		if i%(pageEvents/pageOurs) == 0 {
			event.ID = poll.EventID(event.ID, 1)
			event.Private = map[string]string{"questschedulerPoll": "5f0c7b8e-6d0e-4a53-9d43-0d9f6d3f8c11", "questschedulerGeneration": "1"}
		}
		if _, err := client.Insert(ctx, ref, event); err != nil {
			return nil, err
		}
	}
	_, err = client.List(ctx, ref, gcal.Times, "", "")
	if err != nil {
		return nil, err
	}
	var compact bytes.Buffer
	err = json.Compact(&compact, recorder.last) // as Google writes it with prettyPrint=false
	return compact.Bytes(), err
}

// recording keeps the body of the last answer.
type recording struct {
	inner http.RoundTripper
	last  []byte
}

// RoundTrip implements http.RoundTripper.
func (r *recording) RoundTrip(request *http.Request) (*http.Response, error) {
	answer, err := r.inner.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	r.last, err = io.ReadAll(answer.Body)
	if err != nil {
		return nil, err
	}
	answer.Body = io.NopCloser(bytes.NewReader(r.last))
	return answer, answer.Body.Close()
}

// decoders prints how long decoding alone takes, by encoding/json and by what
// tools/decoders compares it with. That needs decoders that the program does
// not; where it was not built, there is encoding/json alone.
func decoders(ctx context.Context, r *report, page []byte) error {
	program, err := filepath.Abs(filepath.Join("bin", "decoders"))
	if err != nil {
		return err
	}
	if _, err := os.Stat(program); err != nil {
		fmt.Fprintln(os.Stderr, "skipped: other decoders, since bin/decoders is not built; `make bench` builds it")
		return plainDecoding(r, page)
	}
	command := exec.CommandContext(ctx, program)
	command.Stdin, command.Stderr = bytes.NewReader(page), os.Stderr
	said, err := command.Output()
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(said)) {
		var name string
		var took float64
		if _, err := fmt.Sscan(line, &name, &took); err != nil {
			return fmt.Errorf("%q: %w", line, err)
		}
		name, to := "page_decoded_"+name, plain
		if name == plain {
			to = ""
		}
		if err := r.add(name, took, "ms", to); err != nil {
			return err
		}
	}
	return nil
}

// plainDecoding is decoding alone by encoding/json, without anything that the
// fields mask leaves out.
func plainDecoding(r *report, page []byte) error {
	taken, err := timed(pageEnough, func(int) error {
		var into struct {
			Items []struct {
				ID, Etag, Status, Updated string
				Start, End                *struct{ Date, DateTime, TimeZone string }
				ExtendedProperties        struct{ Private map[string]string }
			}
		}
		return json.NewDecoder(bytes.NewReader(page)).Decode(&into)
	})
	if err != nil {
		return err
	}
	return r.add(plain, taken.at(0.5), "ms", "")
}
