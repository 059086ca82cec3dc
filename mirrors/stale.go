package mirrors

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/accounts"
	"questscheduler/internal/calendars"
	"questscheduler/internal/mirror"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/scheduler"
)

// staleAfter is how long the canonical events of an account with a dead grant, or of a lost
// calendar, are kept: linked or shared again within it, nothing is lost.
const staleAfter = 30 * 24 * time.Hour

// stalePage bounds the accounts, or the calendars, that one RemoveStale reads.
const stalePage = 100

// The kinds of places where RemoveStale goes on: behind a revoked account, and then behind a lost
// calendar.
const (
	amongAccounts  = "accounts "
	amongCalendars = "calendars "
)

// staleSource is an account or calendar whose events are not known any more.
type staleSource struct {
	ownerID string
	// some lists a page of its events; none if it is not stale by now.
	some func(ctx context.Context, reader store.Reader, part store.Paging) ([]mirror.Event, *store.Cursor, error)
}

// RemoveStale removes the canonical events of accounts that have had a dead grant for 30
// days, and of calendars that have been lost for as long, at most limit, and deletes their
// mirrors elsewhere. at is where an earlier call ended ("": the beginning); next is where to go on,
// "" at the end: accounts and calendars stay as they are, so each call asks about others. Linked or
// found again, such a calendar is listed from the beginning. Sessions that a group shares stay: the
// work of the group finds who sees them by these events, and follows their polls.
func (s *Service) RemoveStale(ctx context.Context, at string, limit int, cause scheduler.Cause) (removed int, next string, err error) {
	sources, behind, err := s.staleSources(ctx, at)
	if err != nil {
		return 0, "", err
	}
	for _, source := range sources {
		part := store.Paging{Limit: limit - removed}
		for {
			gone, next, err := s.removeStale(ctx, source, part, cause)
			if err != nil {
				return removed, "", err
			}
			removed += len(gone)
			if err := s.planGone(ctx, source.ownerID, gone, cause); err != nil {
				return removed, "", err
			}
			if removed >= limit {
				return removed, cmp.Or(at, amongAccounts), nil // what is gone is not met again
			}
			if next == nil {
				break
			}
			part = store.Paging{Limit: limit - removed, After: next}
		}
	}
	return removed, behind, nil
}

// planGone plans the mirrors of removed events, of which those that ended are found by nothing later. An
// event that fails delays no other: removeStale requested the planning of all.
func (s *Service) planGone(ctx context.Context, ownerID string, gone []mirror.Event, cause scheduler.Cause) error {
	for _, event := range gone {
		err := s.PlanUID(ctx, ownerID, event.ICalUID, cause)
		switch {
		case err == nil:
		case ctx.Err() != nil || fault.Is(err, fault.Unavailable):
			return err
		default:
			s.Log.WarnContext(ctx, "event not planned", "event", event.ID, "trace", cause.Trace, "error", err)
		}
	}
	return nil
}

// staleSources is a page of sources, and where the next one begins.
func (s *Service) staleSources(ctx context.Context, at string) (sources []staleSource, next string, err error) {
	before := s.Now().Add(-staleAfter)
	if place, ok := strings.CutPrefix(at, amongCalendars); ok {
		return s.lostCalendars(ctx, before, store.DecodeCursor(place, "calendars"))
	}
	return s.revokedAccounts(ctx, before, strings.TrimPrefix(at, amongAccounts))
}

func (s *Service) revokedAccounts(ctx context.Context, before time.Time, afterID string) (sources []staleSource, next string, err error) {
	revoked, behind, err := accounts.SomeRevoked(ctx, s.Store, stalePage, afterID)
	if err != nil {
		return nil, "", err
	}
	for _, account := range revoked {
		if !account.UpdatedAt.After(before) {
			sources = append(sources,
				staleSource{account.OwnerID, func(ctx context.Context, reader store.Reader, part store.Paging) ([]mirror.Event, *store.Cursor, error) {
					now, err := accounts.Load(ctx, reader, account.ID)
					if err != nil || !now.SameAs(account) {
						return nil, nil, err
					}
					return mirror.SomeOfAccount(ctx, reader, account.ID, part)
				}})
		}
	}
	if behind == "" {
		return sources, amongCalendars, nil
	}
	return sources, amongAccounts + behind, nil
}

func (s *Service) lostCalendars(
	ctx context.Context, before time.Time, after *store.Cursor,
) (sources []staleSource, next string, err error) {
	part := store.Paging{Limit: stalePage, After: after}
	lost, behind, err := calendars.Failing(ctx, s.Store, before, []string{calendars.ReasonLost}, part)
	if err != nil {
		return nil, "", err
	}
	for _, calendar := range lost {
		sources = append(sources,
			staleSource{calendar.OwnerID, func(ctx context.Context, reader store.Reader, part store.Paging) ([]mirror.Event, *store.Cursor, error) {
				now, _, err := calendars.LoadKey(ctx, reader, calendar.Key)
				if err != nil || !now.Lost() || now.RefusedSince.After(before) {
					return nil, nil, err
				}
				return mirror.SomeOfCalendar(ctx, reader, now.AccountID, now.CalendarID, part)
			}})
	}
	if behind == nil {
		return sources, "", nil
	}
	place, err := store.EncodeCursor(behind)
	return sources, amongCalendars + place, err
}

// removeStale removes what may go of a page of the canonical events of a source, unless it came back,
// has all events of its owner planned, since nothing else knows of what is removed, and has a later run of
// their calendars list everything.
func (s *Service) removeStale(
	ctx context.Context, source staleSource, part store.Paging, cause scheduler.Cause,
) (gone []mirror.Event, next *store.Cursor, err error) {
	err = s.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		gone, next = nil, nil
		found, behind, err := source.some(ctx, tx, part)
		if err != nil {
			return err
		}
		found = slices.DeleteFunc(found, func(e mirror.Event) bool { return e.GroupID != "" && e.PollID != "" })
		gone, next = found, behind
		if len(found) == 0 {
			return nil
		}
		person, err := mirror.LoadPerson(ctx, tx, source.ownerID)
		if err != nil {
			return err
		}
		var followed []calendars.Calendar
		for _, key := range keysOf(found) {
			calendar, ok, err := calendars.LoadKey(ctx, tx, key)
			if err != nil {
				return err
			}
			if ok && calendar.Interests[mirror.Consumer] > 0 {
				followed = append(followed, calendar)
			}
		}
		for _, calendar := range followed {
			if err := tx.Update(calendars.Path(calendar.Key), calendar.RequestRelist(mirror.Consumer, cause.Request(s.now()))...); err != nil {
				return err
			}
		}
		if err := tx.Merge(mirror.PersonPath(source.ownerID), person.RequestPlan(s.now(), cause.Trace)...); err != nil {
			return err
		}
		return removeEvents(tx, found)
	})
	return gone, next, err
}

// keysOf are the calendars of some events, each once.
func keysOf(events []mirror.Event) (keys []string) {
	for _, event := range events {
		if key := poll.CalendarKey(event.AccountID, event.CalendarID); !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	return keys
}
