package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"questscheduler/internal/store"
	"questscheduler/internal/store/sqlite"
	"questscheduler/internal/test/audit"
	"questscheduler/internal/test/process"
)

// planted is something wrong that a check must find.
type planted struct {
	name  string
	plant func() error
	// undo takes it back; nil: it stays.
	undo func() error
	kind string
	says string
}

// TestKills_WithPlantedFaults_FindsEach kills the program in the window between a push and its
// sync, and at rest. Then it finds nothing, and whatever is planted by hand.
func TestKills_WithPlantedFaults_FindsEach(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	binary, err := process.Build(ctx, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w, err := newWorld(ctx, t.TempDir(), options{kills: 2, seed: 1, binary: binary, ready: time.Minute, patience: 2 * time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	defer w.end()
	poll := liveThrough(ctx, t, w)
	if err := w.pushWindow(ctx); err != nil {
		t.Fatal(err)
	}
	if err := w.settle(ctx); err != nil {
		t.Fatalf("%v\n%s", err, w.server.LastLines())
	}
	var said strings.Builder
	w.report(&said, time.Second)
	if len(w.found) > 0 || w.windows.hit != 1 || w.server.Kills < 2 {
		t.Fatalf("before anything is planted: %s", &said)
	}
	for _, row := range w.faults(ctx, poll) {
		if err := row.plant(); err != nil {
			t.Fatalf("%s: %v", row.name, err)
		}
		found, err := w.judge(ctx, true)
		if err != nil {
			t.Fatalf("%s: %v", row.name, err)
		}
		if !finds(found, row.kind, row.says) {
			t.Errorf("%s: found %q, want one that is %s and says %q", row.name, found, row.kind, row.says)
		}
		if row.undo != nil {
			if err := row.undo(); err != nil {
				t.Fatalf("%s: %v", row.name, err)
			}
		}
	}
}

// liveThrough has each actor act, and returns a poll that was moved and announced.
func liveThrough(ctx context.Context, t *testing.T, w *world) *session {
	t.Helper()
	o := w.actors[0].(*organiser)
	for _, act := range []func(context.Context){o.create, o.vote, o.finalise, o.move} {
		act(ctx)
	}
	for _, other := range w.actors[1:] {
		for range 3 {
			other.act(ctx)
		}
	}
	if o.waiting != nil || len(o.polls) != 1 {
		t.Fatalf("the poll is not made: %v", w.found)
	}
	if err := w.settle(ctx); err != nil {
		t.Fatal(err)
	}
	return o.current()
}

// faults are those to be planted around a poll.
func (w *world) faults(ctx context.Context, p *session) []planted {
	gm, overlay := w.accounts["gm"], func() string { id, _ := w.overlay(ctx); return id }
	extra := func(calendar, id string, as account) func() error {
		return func() error {
			body := timed(w.times.next())
			if strings.HasPrefix(id, copyPrefix) { // at the time of the poll's event, whose copy is there
				observed, err := w.observe(ctx)
				if err != nil {
					return err
				}
				event, _ := w.actors[0].(*organiser).eventOf(p, observed)
				body = object{"start": event["start"], "end": event["end"]}
			}
			body["id"], body["summary"] = id, "Planted"
			return accepted(w.calendar(ctx, as, "POST", "calendars/"+calendar+"/events", body))
		}
	}
	return []planted{
		{"a second event", extra(gm.email, pollPrefix+"5planted", gm), func() error {
			return accepted(w.calendar(ctx, gm, "DELETE", gm.event(pollPrefix+"5planted"), nil))
		}, doubled, pollPrefix + "5planted"},
		{"a second copy", extra(overlay(), copyPrefix+"5planted", w.accounts[second]), nil, doubled, copyPrefix + "5planted"},
		{"a second message", func() error {
			texts, err := w.messages(ctx)
			if err == nil { // a card has no text, and may be the last
				texts = slices.DeleteFunc(texts, func(text string) bool { return text == "" })
				_, err = w.sims.discord.Say(channelID, "700000000000000004", texts[len(texts)-1])
			}
			return err
		}, nil, doubled, "the channel has twice"},
		{"a lost notice", w.remove(ctx, "users/ben/notifications"), nil, lost, "ben was notified of []"},
		{"a lost vote", w.remove(ctx, "schedulers/"+p.id+"/votes"), nil, lost, "has the votes map[]"},
		{"a lost poll", w.remove(ctx, "schedulers"), nil, lost, "which was made"},
	}
}

func accepted(got answer) error {
	if !got.good() {
		return fmt.Errorf("it is answered %v", got)
	}
	return nil
}

var notifications = &store.Query{Name: "kills: notices", Collection: "notifications", Group: true}

// remove stops the program and removes documents of a collection by hand.
func (w *world) remove(ctx context.Context, collection string) func() error {
	return func() error {
		w.kill()
		stored, err := sqlite.Open(ctx, sqlite.Options{Path: filepath.Join(w.dir, dataFile), Queries: append(audit.Queries, notifications)})
		if err != nil {
			return err
		}
		removed := 0
		for _, query := range append(audit.Queries, notifications) {
			documents, err := stored.Query(ctx, query.With())
			if err != nil {
				return err
			}
			for _, document := range documents {
				if path := string(document.Path); path[:strings.LastIndex(path, "/")] != collection {
					continue
				}
				removed++
				if err := stored.Run(ctx, func(_ context.Context, tx store.Tx) error { return tx.Delete(document.Path) }); err != nil {
					return err
				}
			}
		}
		if err := stored.Close(); err != nil {
			return err
		}
		if removed == 0 {
			return fmt.Errorf("there is nothing in %s", collection)
		}
		return w.server.Start(ctx)
	}
}

func finds(found []finding, kind, says string) bool {
	for _, f := range found {
		if f.kind == kind && strings.Contains(f.what, says) {
			return true
		}
	}
	return false
}
