// Package audit checks a world at rest from the outside. It reads the stored documents as
// maps, and what the simulators of Google and Discord show as JSON over HTTP, with code of
// its own: it imports nothing of the program but the port of the store, so that a mistake of
// the program's types, codecs or rules is not repeated in the check of them. What it knows of
// the program is written in docs/.
//
// It knows less than the program: where a page leaves room it accepts both ways, and passes
// over sessions that are past.
package audit

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"

	"questscheduler/internal/store"
)

// World is what an audit reads. Store must have been opened with Queries.
type World struct {
	Now   time.Time
	Store store.Reader
	// Google serves Google Calendar, Discord the simulator's messages; nil: there is no
	// Discord, or its cards are not settled.
	Google, Discord http.RoundTripper
	// Readers are access tokens that read a calendar as its owner does, by the calendar's id.
	Readers map[string]string
	// Lost are calendars that the program's people cannot reach now, by id.
	Lost map[string]bool
	// People have a feed. Feed returns the text of a person's after some time has passed in
	// which nothing else happened.
	People []string
	Feed   func(person string, after time.Duration) (string, error)
	// Answer returns when the program says that an account's owner is busy, and when that is
	// unknown.
	Answer func(account string, from, to time.Time) (busy, unknown []Interval, err error)
	// Touched are calendars, by id, where somebody changed or kept copies by hand.
	Touched map[string]bool
	// Stopped are events, by id, that another program copied of copies, and that are not copied on.
	Stopped map[string]bool
	// Confirmed: all cancellations that were held were confirmed.
	Confirmed bool
	// Chosen begins the ids like a copy's that people chose themselves.
	Chosen string
}

// Interval is the time from Start to before End.
type Interval struct{ Start, End time.Time }

// Horizon is how far ahead calendars are compared.
const Horizon = 45 * 24 * time.Hour

// audit is one that is under way.
type audit struct {
	World
	ctx      context.Context
	findings []string

	polls, accounts, groups map[string]record
	slots                   map[string]record // by poll and slot
	votes                   map[string]bool   // by poll and person
	index                   map[string]record // by event
	policies, connections   []record
	canonical, people       []record
	shown                   map[string]listing // by calendar
}

// Findings says what is wrong, a sentence each. An error says what could not be read.
func Findings(ctx context.Context, world World) ([]string, error) {
	a := &audit{World: world, ctx: ctx, shown: map[string]listing{}}
	if err := a.read(); err != nil {
		return nil, fmt.Errorf("audit: %w", err)
	}
	for _, check := range []func() error{a.checkPolls, a.checkFeeds, a.checkCards, a.checkAnswers, a.checkCopies, a.checkGroups, a.checkHeld} {
		if err := check(); err != nil {
			return nil, fmt.Errorf("audit: %w", err)
		}
	}
	return a.findings, nil
}

// LostFindings is Findings for a world where calendars are Lost: of the polls' errors alone.
func LostFindings(ctx context.Context, world World) ([]string, error) {
	a := &audit{World: world, ctx: ctx, shown: map[string]listing{}}
	if err := a.read(); err != nil {
		return nil, fmt.Errorf("audit: %w", err)
	}
	for _, id := range slices.Sorted(maps.Keys(a.polls)) {
		p := a.polls[id]
		waits := p.text("calendarSync", "error", "code") == "watch_failed" // for a second good sweep
		if p.text("status") == finalized && !edited(p) && p.text("googleEventId") != "" && !waits {
			a.checkCause(p)
		}
	}
	return a.findings, nil
}

// found adds a finding.
func (a *audit) found(format string, args ...any) {
	a.findings = append(a.findings, "audit: "+fmt.Sprintf(format, args...))
}
