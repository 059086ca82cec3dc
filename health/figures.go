package health

import (
	"context"
	"fmt"
	"slices"
	"time"

	"questscheduler/accounts"
	"questscheduler/calendarsync"
	"questscheduler/cursor"
	"questscheduler/fault"
	"questscheduler/poll"
	"questscheduler/rules"
)

// Figures count what is wrong now over everybody, for whoever runs the server.
// Each counts up to FiguresMost and no further: what is well is not read, so a
// server that is well reads next to nothing for them.
type Figures struct {
	// WatchesEnding are followed calendars whose watch channel ends within
	// EndingWithin and has no later one: its renewal failed for a day.
	WatchesEnding int
	// WatchesFailed are followed calendars that Google made no watch channel
	// for, though none lives.
	WatchesFailed int
	// Failing are followed calendars whose looks fail, by the kind of the error.
	// FailingSince is when the first of those began to that their owner cannot
	// mend; zero: none fails.
	Failing      map[fault.Kind]int
	FailingSince time.Time
	// Parked are followed calendars that are left alone since Google asked for
	// it.
	Parked int
	// Revoked are linked accounts whose grant is refused: their owners have to
	// link them again.
	Revoked int
	// Errors are polls that show an error of their sync.
	Errors map[rules.ErrorCode]int
}

const (
	// FiguresMost is up to which each of the Figures is counted.
	FiguresMost = 250
	// EndingWithin is how soon a watch channel ends that should have been
	// renewed.
	EndingWithin = 24 * time.Hour
)

// errorCodes are the codes that polls can show.
var errorCodes = []rules.ErrorCode{
	rules.TokenExpired, rules.CalendarUnlinked, rules.WatchFailed, rules.SyncFailed, rules.MassCancellationHeld,
	rules.RecurringUnsupported, rules.UnreadableEvent,
}

// kinds are the kinds that a failing look can have.
var kinds = []fault.Kind{
	fault.Internal, fault.Invalid, fault.Unauthenticated, fault.Forbidden, fault.NotFound, fault.Conflict, fault.Revoked,
	fault.RateLimited, fault.Provider, fault.Unavailable, fault.TooLarge, fault.Exhausted,
}

// Figures counts what is wrong. The error is that of the store; nothing asks
// Google.
func (r *Reader) Figures(ctx context.Context) (Figures, error) {
	figures := Figures{Failing: map[fault.Kind]int{}, Errors: map[rules.ErrorCode]int{}}
	for _, part := range []func(context.Context, *Figures) error{r.countWatches, r.countCalendars, r.countOwners} {
		if err := part(ctx, &figures); err != nil {
			return Figures{}, fmt.Errorf("figures: %w", err)
		}
	}
	return figures, nil
}

// countWatches counts the calendars that pushes will not come for.
func (r *Reader) countWatches(ctx context.Context, figures *Figures) error {
	if r.Off || r.Address == "" { // nobody is to push
		return nil
	}
	var err error
	figures.WatchesEnding, err = r.unwatchedBy(ctx, calendarsync.Active, r.Now().Add(EndingWithin))
	if err == nil {
		figures.WatchesFailed, err = r.unwatchedBy(ctx, calendarsync.Failed, endOfTime)
	}
	return err
}

// endOfTime is later than any channel ends.
var endOfTime = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)

// unwatchedBy counts the followed calendars that have a channel of a status that
// ends before a time, and none that lives beyond EndingWithin.
func (r *Reader) unwatchedBy(ctx context.Context, status calendarsync.Status, before time.Time) (count int, err error) {
	watches, err := calendarsync.WithStatus(ctx, r.Store, status, before, FiguresMost)
	if err != nil {
		return 0, err
	}
	met := map[string]bool{}
	for _, watch := range watches {
		if met[watch.CalendarKey] {
			continue
		}
		met[watch.CalendarKey] = true
		calendar, _, err := cursor.LoadKey(ctx, r.Store, watch.CalendarKey)
		if err != nil {
			return 0, err
		}
		if !calendar.Wanted() || calendar.Revoked() { // its owner is told of that
			continue
		}
		all, err := calendarsync.Watches(ctx, r.Store, watch.AccountID, watch.CalendarID)
		if err != nil {
			return 0, err
		}
		terms := r.terms()
		terms.Now = terms.Now.Add(EndingWithin)
		if channel, _ := channelOf(all, terms); channel != ChannelActive {
			count++
		}
	}
	return count, nil
}

// countCalendars counts the followed calendars that are not read.
func (r *Reader) countCalendars(ctx context.Context, figures *Figures) error {
	failing, err := cursor.Failing(ctx, r.Store, r.Now(), FiguresMost)
	if err != nil {
		return err
	}
	for _, calendar := range failing {
		if !calendar.Wanted() {
			continue
		}
		kind := kindNamed(calendar.LastError)
		figures.Failing[kind]++
		if kind != fault.Revoked && figures.FailingSince.IsZero() { // they come longest first
			figures.FailingSince = calendar.FailedSince
		}
	}
	parked, err := cursor.Parked(ctx, r.Store, r.Now(), FiguresMost)
	for _, calendar := range parked {
		if calendar.Wanted() {
			figures.Parked++
		}
	}
	return err
}

// kindNamed is the kind that a calendar keeps by its name; Internal for a name
// that is none.
func kindNamed(name string) fault.Kind {
	if i := slices.IndexFunc(kinds, func(kind fault.Kind) bool { return kind.String() == name }); i >= 0 {
		return kinds[i]
	}
	return fault.Internal
}

// countOwners counts what waits for people.
func (r *Reader) countOwners(ctx context.Context, figures *Figures) error {
	revoked, err := accounts.WithStatus(ctx, r.Store, accounts.Revoked, FiguresMost)
	if err != nil {
		return err
	}
	figures.Revoked = len(revoked)
	for _, code := range errorCodes {
		polls, err := poll.WithError(ctx, r.Store, code, FiguresMost)
		if err != nil {
			return err
		}
		if len(polls) > 0 {
			figures.Errors[code] = len(polls)
		}
	}
	return nil
}
