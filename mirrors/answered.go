package mirrors

import (
	"context"
	"slices"

	"questscheduler/internal/calendars"
	"questscheduler/internal/fault"
	"questscheduler/internal/gcal"
	"questscheduler/internal/mirror"
	"questscheduler/internal/store"
	"questscheduler/scheduler"
)

// Observe applies an event that Google answered a route's call with, as a sync run would.
// A sync run at the same time does no harm: of two observations the later one counts.
func (s *Service) Observe(ctx context.Context, ref gcal.Ref, answered gcal.Event, cause scheduler.Cause) error {
	calendar, ok, err := calendars.Load(ctx, s.Store, ref.Account, ref.Calendar)
	if err == nil && !ok {
		err = fault.New(fault.Unavailable, "the calendar is not followed yet")
	}
	if err != nil {
		return err
	}
	always := func(context.Context, store.Reader) error { return nil }
	return s.apply(ctx, observation{calendar: calendar, cause: cause, event: answered, writable: true, holds: always})
}

// FollowAlso has a calendar of a person's followed from now on, though no edge leads from
// it.
func (s *Service) FollowAlso(ctx context.Context, ownerID string, place mirror.Place, cause scheduler.Cause) error {
	var changed []gcal.Ref
	var generation int64
	err := s.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		changed, generation = nil, 0
		wishes, err := ReadWishes(ctx, tx, ownerID)
		if err != nil || wishes.wanted()[gcal.Ref{Account: place.AccountID, Calendar: place.CalendarID}] {
			return err
		}
		wishes.Person.Followed = append(slices.Clone(wishes.Person.Followed), place)
		changed, generation, err = wishes.Write(tx, s.now())
		return err
	})
	if err == nil && generation > 0 {
		s.Begin(ctx, ownerID, changed, generation, cause)
	}
	return err
}
