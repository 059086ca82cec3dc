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

// Figures count what is wrong over everybody, each up to FiguresMost. Nothing that
// is well is read, so they cost a healthy server next to nothing.
type Figures struct {
	// WatchesEnding are followed calendars whose last watch channel ends within
	// Reader.Ending, or a sixth of its lifetime where that is shorter: its renewal
	// fails.
	WatchesEnding int
	// WatchesFailed are followed calendars without a living watch channel, which
	// Google refused.
	WatchesFailed int
	// Failing are followed calendars whose sync fails, by the kind of the error.
	// FailingSince is when the first of them began to fail whose grant is not
	// refused; zero: none fails.
	Failing      map[fault.Kind]int
	FailingSince time.Time
	// Parked are followed calendars that Google asked to leave alone for a while.
	Parked int
	// Revoked are linked accounts whose owners have to link them again.
	Revoked int
	// Errors are polls that show an error of their sync.
	Errors map[rules.ErrorCode]int
}

const (
	// FiguresMost is the most that each of the Figures counts.
	FiguresMost = 250
	// EndingWithin is the most that Ending can be.
	EndingWithin = 24 * time.Hour
)

// Ending is how soon a watch channel ends that should have been renewed, where
// channels are renewed renewBefore their end: half of that passed in vain. Channels
// that Google granted for a shorter time are renewed later
// (calendarsync.Watch.EndsSoon).
func Ending(renewBefore time.Duration) time.Duration { return min(renewBefore/2, EndingWithin) }

func (r *Reader) ending() time.Duration { return cmp.Or(r.Ending, EndingWithin) }

// ErrorCodes are the codes that polls can show.
var ErrorCodes = []rules.ErrorCode{
	rules.TokenExpired, rules.CalendarUnlinked, rules.WatchFailed, rules.SyncFailed, rules.MassCancellationHeld,
	rules.RecurringUnsupported, rules.UnreadableEvent,
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

// countWatches counts the calendars that Google will not push for.
func (r *Reader) countWatches(ctx context.Context, figures *Figures) error {
	if r.terms().Off || r.Address == "" { // nobody is to push
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

// unwatchedBy gives the followed calendars, up to FiguresMost, that have one of the
// listed channels and none that lasts.
func (r *Reader) unwatchedBy(ctx context.Context, list lister[calendarsync.Watch]) (map[string]bool, error) {
	found, met := map[string]bool{}, map[string]bool{}
	err := eachPage(list, func(watches []calendarsync.Watch) (enough bool, err error) {
		var keys []string
		for _, watch := range watches {
			if !met[watch.CalendarKey] {
				met[watch.CalendarKey], keys = true, append(keys, watch.CalendarKey)
			}
		}
		watched, err := r.watchedBy(ctx, keys)
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

// lister reads a page behind after, and where to continue.
type lister[T any] func(after *store.Cursor) ([]T, *store.Cursor, error)

// mostPages limits the pages that are read for one figure. Few are filtered out, so
// more would be read only where very much is.
const mostPages = 20

// eachPage calls do with page after page until it returns enough, at most mostPages.
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

// ourReasons are the stored reasons of failing syncs (calendars.Failing) except a
// refused grant, which only the account's owner can repair.
var ourReasons = func() (reasons []string) {
	for _, kind := range fault.Kinds() {
		if kind != fault.Revoked {
			reasons = append(reasons, kind.String())
		}
	}
	return reasons
}()

// countCalendars counts the followed calendars that are not synced.
func (r *Reader) countCalendars(ctx context.Context, figures *Figures) error {
	for _, reasons := range [][]string{ourReasons, {calendars.ReasonRevoked}} {
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
		return calendars.Parked(ctx, r.Store, r.Now(), page, after)
	})
	figures.Parked = len(parked)
	return err
}

// countWanted gives the listed calendars that are followed, up to FiguresMost.
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

// kindNamed is the kind of a stored name; Internal for an unknown one.
func kindNamed(name string) fault.Kind {
	kinds := fault.Kinds()
	return kinds[max(slices.IndexFunc(kinds, func(kind fault.Kind) bool { return kind.String() == name }), 0)]
}

// countOwners counts what only people can repair.
func (r *Reader) countOwners(ctx context.Context, figures *Figures) error {
	revoked, err := accounts.WithStatus(ctx, r.Store, accounts.Revoked, FiguresMost)
	if err != nil {
		return err
	}
	figures.Revoked = len(revoked)
	for _, code := range ErrorCodes {
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
