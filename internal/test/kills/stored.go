package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"time"

	"questscheduler/demo/sim/control"
	"questscheduler/internal/store"
	"questscheduler/internal/store/sqlite"
	"questscheduler/internal/test/audit"
)

// entries are the collections whose documents are work to be done, or say that some fails.
var entries = []*store.Query{
	store.Select("kills: intents", "intents", ""), store.Select("kills: announcements", "announcements", ""),
	store.Select("kills: calendars", "calendars", ""), store.Select("kills: accounts", "accounts", ""),
	store.Select("kills: mirrors", "mirrors", ""), store.Select("kills: people", "mirrorPeople", ""),
	store.Select("kills: work of groups", "groupWork", ""), store.Select("kills: guests", "attendeeEvents", ""),
	store.Select("kills: events", "canonicalEvents", ""), store.Select("kills: channels", "calendarWatches", ""),
}

// judgeStored kills the program and compares its stored documents, as they are then, with the
// calendars, the channel and what the program answers after its next start.
func (w *world) judgeStored(ctx context.Context) (found []finding, err error) {
	w.kill()
	if err := errors.Join(w.copyData(), w.server.Start(ctx)); err != nil {
		return nil, err
	}
	stored, err := w.openCopy(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, stored.Close()) }()
	found, err = failing(ctx, stored)
	if err != nil {
		return nil, err
	}
	audited, err := w.audited(ctx, stored)
	if err != nil {
		return nil, err
	}
	findings, err := audit.Findings(ctx, audited)
	for _, f := range findings {
		found = append(found, finding{wrong, f})
	}
	return found, err
}

const copiedFile = "copy.db"

// copyData copies the data file of the stopped program.
func (w *world) copyData() error {
	for _, part := range []string{"", "-wal", "-shm"} {
		copied := filepath.Join(w.dir, copiedFile) + part
		err := copyFile(filepath.Join(w.dir, dataFile)+part, copied)
		if errors.Is(err, fs.ErrNotExist) {
			err = os.Remove(copied)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// openCopy opens the copy, with queries of its own.
func (w *world) openCopy(ctx context.Context) (*sqlite.Store, error) {
	return sqlite.Open(ctx, sqlite.Options{
		Path: filepath.Join(w.dir, copiedFile), Queries: slices.Concat(audit.Queries, entries), Disposable: true,
	})
}

func copyFile(from, to string) error {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close() //nolint:errcheck // it was only read
	target, err := os.Create(to)
	if err != nil {
		return err
	}
	_, err = io.Copy(target, source)
	return errors.Join(err, target.Close())
}

// failing: nothing fails that could succeed.
func failing(ctx context.Context, stored store.Reader) (found []finding, err error) {
	for _, query := range entries {
		documents, err := stored.Query(ctx, query.With())
		if err != nil {
			return nil, err
		}
		for _, document := range documents {
			for _, name := range []string{"failedSince", "planFailedSince", "lastError", "error"} {
				if value := document.Data[name]; value != nil && value != "" {
					found = append(found, finding{wrong, fmt.Sprintf("%s fails: %s is %v", document.Path, name, value)})
				}
			}
			if query.Collection == "intents" {
				found = append(found, finding{lost, fmt.Sprintf("%s is still to be carried out: %v", document.Path, document.Data)})
			}
		}
	}
	return found, nil
}

// audited is the world as an audit reads it.
func (w *world) audited(ctx context.Context, stored store.Reader) (audit.World, error) {
	world := audit.World{
		Now: time.Now(), Store: stored, Readers: map[string]string{}, Lost: map[string]bool{}, Touched: map[string]bool{},
		Google: control.Transport(w.sims.google.Handler()), Discord: control.Transport(w.sims.discord.Handler()),
		Answer: func(account string, from, to time.Time) (busy, unknown []audit.Interval, err error) {
			return w.busy(ctx, account, from, to)
		},
	}
	for _, of := range w.accounts {
		world.Readers[of.email] = of.token
	}
	overlay, err := w.overlay(ctx)
	if overlay != "" {
		world.Readers[overlay] = w.accounts[second].token
	}
	for _, a := range w.actors {
		if r, is := a.(*reader); is {
			for who := range r.feeds {
				world.People = append(world.People, who)
			}
			world.Feed = func(person string, _ time.Duration) (string, error) {
				got := w.feed(ctx, r.feeds[person])
				if !got.good() {
					return "", fmt.Errorf("the feed of %s: %v", person, got)
				}
				return string(got.raw), nil
			}
		}
	}
	return world, err
}

// busy is when the program says that an account's owner is busy.
func (w *world) busy(ctx context.Context, id string, from, to time.Time) (busy, unknown []audit.Interval, err error) {
	owner := ""
	for name, of := range w.accounts {
		if of.id == id {
			owner = name
		}
	}
	if owner == second {
		owner = "gm"
	}
	got := w.v1(ctx, owner, http.MethodGet, "/v1/availability?"+w.within(from, to)+"&account_id="+url.QueryEscape(id), nil, "")
	if !got.good() {
		return nil, nil, fmt.Errorf("when is %s busy: %v", owner, got)
	}
	intervals := func(name string) (all []audit.Interval) {
		for _, one := range list(got.data[name]) {
			start, err1 := time.Parse(time.RFC3339, text(one, "start"))
			end, err2 := time.Parse(time.RFC3339, text(one, "end"))
			err = errors.Join(err, err1, err2)
			all = append(all, audit.Interval{Start: start, End: end})
		}
		return all
	}
	busy, unknown = intervals("busy"), intervals("unknown")
	return busy, unknown, err
}
