package health

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"questscheduler/calendarsync"
	"questscheduler/fault"
	"questscheduler/internal/accounts"
	"questscheduler/internal/calendars"
	"questscheduler/internal/mirror"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/rules"
)

// Figures count the troubles of all users, each up to FiguresMost. They read only
// documents with a trouble, so they cost a healthy server next to nothing.
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
	// refused and that is not lost; zero: none fails.
	Failing      map[fault.Kind]int
	FailingSince time.Time
	// Paused counts followed calendars whose sync waits because Google asked for a pause.
	Paused int
	// Revoked are linked accounts whose owners have to link them again.
	Revoked int
	// Errors are polls that show an error of their sync.
	Errors map[rules.ErrorCode]int
	// Mirrors are those in one of MirrorStates. MirrorsDue is when the one was due that is
	// due longest; zero: none is due.
	Mirrors    map[mirror.State]int
	MirrorsDue time.Time
	// MirrorsLooping are those that are not made because another program copies copies
	// (mirror.Mirror.IsLooping).
	MirrorsLooping int
	// Attendees are those of second addresses.
	Attendees AttendeeFigures
}

const (
	// FiguresMost is the most that each of the Figures counts.
	FiguresMost = 250
	// EndingWithin is the most that Ending can be.
	EndingWithin = 24 * time.Hour
)

// Ending is the time left at which a watch channel's renewal is overdue. Channels are
// renewed renewBefore their end, and half of that has passed without a renewal. Channels
// that Google granted for a shorter time are renewed later
// (calendarsync.Watch.EndsSoon).
func Ending(renewBefore time.Duration) time.Duration { return min(renewBefore/2, EndingWithin) }

func (r *Reader) ending() time.Duration { return cmp.Or(r.Ending, EndingWithin) }

// ErrorCodes are the codes that polls can show.
var ErrorCodes = []rules.ErrorCode{
	rules.TokenExpired, rules.CalendarUnlinked, rules.CalendarLost, rules.WatchFailed, rules.SyncFailed, rules.MassCancellationHeld,
	rules.RecurringUnsupported, rules.UnreadableEvent,
}

// Figures counts the troubles, without a call to Google. Its errors are the store's.
func (r *Reader) Figures(ctx context.Context) (Figures, error) {
	figures := Figures{Failing: map[fault.Kind]int{}, Errors: map[rules.ErrorCode]int{}, Mirrors: map[mirror.State]int{}}
	for _, part := range []func(context.Context, *Figures) error{
		r.countWatches, r.countCalendars, r.countOwners, r.countMirrors, r.countAttendees,
	} {
		if err := part(ctx, &figures); err != nil {
			return Figures{}, fmt.Errorf("figures: %w", err)
		}
	}
	return figures, nil
}

// countWatches counts the calendars that Google will not push for.
func (r *Reader) countWatches(ctx context.Context, figures *Figures) error {
	if r.terms().Off || r.Address == "" { // Google should not push
		return nil
	}
	ending, err := collect(func(after *store.Cursor) ([]calendarsync.Watch, *store.Cursor, error) {
		return calendarsync.EndingBefore(ctx, r.Store, r.Now().Add(r.ending()), store.Paging{Limit: page, After: after})
	}, r.unwatched(ctx))
	if err != nil {
		return err
	}
	refused, err := collect(func(after *store.Cursor) ([]calendarsync.Watch, *store.Cursor, error) {
		return calendarsync.Ungranted(ctx, r.Store, store.Paging{Limit: page, After: after})
	}, r.unwatched(ctx))
	figures.WatchesEnding, figures.WatchesFailed = len(ending), len(refused)
	return err
}

// unwatched leaves one channel of each calendar that needs one and has none that
// lasts.
func (r *Reader) unwatched(ctx context.Context) func([]calendarsync.Watch) ([]calendarsync.Watch, error) {
	met := map[string]bool{}
	return func(watches []calendarsync.Watch) ([]calendarsync.Watch, error) {
		var keys []string
		watches = slices.DeleteFunc(watches, func(w calendarsync.Watch) bool {
			if met[w.CalendarKey] {
				return true
			}
			met[w.CalendarKey], keys = true, append(keys, w.CalendarKey)
			return false
		})
		watched, err := r.watchedBy(ctx, keys)
		return slices.DeleteFunc(watches, func(w calendarsync.Watch) bool {
			channel, needed := watched[w.CalendarKey]
			return !needed || !channel.EndsSoon(r.Now(), r.ending())
		}), err
	}
}

// mostPages limits the pages that are read for one figure. Few are filtered out, so
// more would be read only where very much is.
const mostPages = 20

// collect gathers what keep leaves of the listed pages, up to FiguresMost.
func collect[T any](list func(after *store.Cursor) ([]T, *store.Cursor, error), keep func([]T) ([]T, error)) (found []T, err error) {
	var after *store.Cursor
	for range mostPages {
		listed, next, err := list(after)
		if err != nil {
			return nil, err
		}
		kept, err := keep(listed)
		if err != nil {
			return nil, err
		}
		found = append(found, kept...)
		after = next
		if after == nil || len(found) >= FiguresMost {
			break
		}
	}
	return found[:min(len(found), FiguresMost)], nil
}

// ourReasons are the stored reasons of failing syncs (calendars.Failing) except a
// refused grant and a lost calendar, which only the account's owner can repair.
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
	followed := func(listed []calendars.Calendar) ([]calendars.Calendar, error) {
		return slices.DeleteFunc(listed, func(c calendars.Calendar) bool { return !c.Wanted() }), nil
	}
	for _, reasons := range [][]string{ourReasons, {calendars.ReasonRevoked}, {calendars.ReasonLost}} {
		failing, err := collect(func(after *store.Cursor) ([]calendars.Calendar, *store.Cursor, error) {
			return calendars.Failing(ctx, r.Store, r.Now(), reasons, store.Paging{Limit: page, After: after})
		}, followed)
		if err != nil {
			return err
		}
		for _, calendar := range failing {
			kind := kindNamed(calendar.LastError)
			figures.Failing[kind]++
			if kind != fault.Revoked && !calendar.Lost() && figures.FailingSince.IsZero() { // they come longest first
				figures.FailingSince = calendar.FailedSince
			}
		}
	}
	paused, err := collect(func(after *store.Cursor) ([]calendars.Calendar, *store.Cursor, error) {
		return calendars.Paused(ctx, r.Store, r.Now(), store.Paging{Limit: page, After: after})
	}, followed)
	figures.Paused = len(paused)
	return err
}

// kindNamed is the kind of a stored name: NotFound for a lost calendar, Internal for an
// unknown one.
func kindNamed(name string) fault.Kind {
	if name == calendars.ReasonLost {
		return fault.NotFound
	}
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
