package health

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"questscheduler/calendarsync"
	"questscheduler/internal/accounts"
	"questscheduler/internal/calendars"
	"questscheduler/internal/fault"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/rules"
)

// Figures count what is wrong now over everybody, for whoever runs the server.
// Each counts up to FiguresMost and no further: what is well is not read, so a
// server that is well reads next to nothing for them.
type Figures struct {
	// WatchesEnding are followed calendars whose watch channel ends within
	// Reader.Ending, or a sixth of its lifetime where that is shorter, and has no
	// later one: its renewal fails.
	WatchesEnding int
	// WatchesFailed are followed calendars that Google made no watch channel
	// for, though none lives.
	WatchesFailed int
	// Failing are followed calendars whose looks fail, by the kind of the error;
	// those of refused grants are counted by themselves.
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
	// EndingWithin is how soon a watch channel ends, at the earliest, that should
	// have been renewed.
	EndingWithin = 24 * time.Hour
)

// Ending is how soon a watch channel ends that should have been renewed, where
// channels are renewed so long before their end: half of it has passed in vain
// then, and at most EndingWithin is left. One that Google granted for a shorter
// time is renewed later (calendarsync.Watch.EndsSoon).
func Ending(renewBefore time.Duration) time.Duration { return min(renewBefore/2, EndingWithin) }

func (r *Reader) ending() time.Duration { return cmp.Or(r.Ending, EndingWithin) }

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
	ending, err := r.unwatchedBy(ctx, func(after *store.Cursor) ([]calendarsync.Watch, *store.Cursor, error) {
		return calendarsync.EndingBefore(ctx, r.Store, r.Now().Add(r.ending()), page, after)
	})
	if err != nil {
		return err
	}
	figures.WatchesEnding = len(ending)
	refused, err := r.unwatchedBy(ctx, func(after *store.Cursor) ([]calendarsync.Watch, *store.Cursor, error) {
		return calendarsync.Ungranted(ctx, r.Store, page, after)
	})
	figures.WatchesFailed = len(refused)
	return err
}

// unwatchedBy gives the followed calendars, up to FiguresMost, that have one of
// the listed channels and none that lives beyond what ends soon.
func (r *Reader) unwatchedBy(ctx context.Context, list lister[calendarsync.Watch]) (map[string]bool, error) {
	found, met := map[string]bool{}, map[string]bool{}
	err := eachPage(list, func(watches []calendarsync.Watch) (enough bool, err error) {
		var keys []string
		for _, watch := range watches {
			if !met[watch.CalendarKey] {
				met[watch.CalendarKey], keys = true, append(keys, watch.CalendarKey)
			}
		}
		watched, err := r.WatchedBy(ctx, keys)
		for _, key := range keys {
			channel, needed := watched[key]
			if needed && channel.EndsSoon(r.Now(), r.ending()) && len(found) < FiguresMost {
				found[key] = true
			}
		}
		return len(found) == FiguresMost, err
	})
	return found, err
}

// lister reads a page of something behind a place, and gives where to go on.
type lister[T any] func(after *store.Cursor) ([]T, *store.Cursor, error)

// mostPages is how many pages of what may be wrong are read for one figure: what
// is filtered out must hide nothing, and must not make a store that holds very
// much of it be read to its end every minute.
const mostPages = 20

// eachPage calls do with page after page, until it says enough, the end or
// mostPages.
func eachPage[T any](list lister[T], do func([]T) (enough bool, err error)) error {
	var after *store.Cursor
	for range mostPages {
		some, next, err := list(after)
		if err != nil {
			return err
		}
		enough, err := do(some)
		if err != nil || enough || next == nil {
			return err
		}
		after = next
	}
	return nil
}

// OurReasons are the reasons for which looks fail, as calendars keep them
// (calendars.Failing), but that a grant is refused: then only the account's owner can
// mend it, and is told so.
var OurReasons = reasonsBut(fault.Revoked)

func reasonsBut(not fault.Kind) (reasons []string) {
	for _, kind := range kinds {
		if kind != not {
			reasons = append(reasons, kind.String())
		}
	}
	return reasons
}

// countCalendars counts the followed calendars that are not read.
func (r *Reader) countCalendars(ctx context.Context, figures *Figures) error {
	for _, reasons := range [][]string{OurReasons, {calendars.ReasonRevoked}} {
		failing, err := countWanted(func(after *store.Cursor) ([]calendars.Calendar, *store.Cursor, error) {
			return calendars.Failing(ctx, r.Store, r.Now(), reasons, page, after)
		})
		if err != nil {
			return err
		}
		for _, calendar := range failing {
			kind := kindNamed(calendar.LastError)
			figures.Failing[kind]++
			if kind != fault.Revoked && figures.FailingSince.IsZero() { // they come longest first
				figures.FailingSince = calendar.FailedSince
			}
		}
	}
	parked, err := countWanted(func(after *store.Cursor) ([]calendars.Calendar, *store.Cursor, error) {
		return calendars.Paused(ctx, r.Store, r.Now(), page, after)
	})
	figures.Parked = len(parked)
	return err
}

// countWanted gives the listed calendars that something follows, up to
// FiguresMost.
func countWanted(list lister[calendars.Calendar]) (found []calendars.Calendar, err error) {
	err = eachPage(list, func(listed []calendars.Calendar) (enough bool, err error) {
		for _, calendar := range listed {
			if calendar.Wanted() && len(found) < FiguresMost {
				found = append(found, calendar)
			}
		}
		return len(found) == FiguresMost, nil
	})
	return found, err
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
