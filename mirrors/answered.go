package mirrors

import (
	"context"
	"slices"

	"questscheduler/fault"
	"questscheduler/internal/calendars"
	"questscheduler/internal/gcal"
	"questscheduler/internal/mirror"
	"questscheduler/internal/store"
	"questscheduler/scheduler"
)

// Observe applies an event that Google answered a route's call with, as a sync run would,
// and returns its canonical event; known is false if there is none, as after a deletion. A
// sync run at the same time does no harm: of two observations the later one counts. wrote says
// that the call changed the event: if a sync run was faster, the journal still says who did.
func (s *Service) Observe(
	ctx context.Context, ref gcal.Ref, answered gcal.Event, wrote bool, cause scheduler.Cause,
) (event mirror.Event, known bool, err error) {
	calendar, ok, err := calendars.Load(ctx, s.Store, ref.Account, ref.Calendar)
	if err == nil && !ok {
		err = fault.New(fault.Unavailable, "The calendar is not followed any more. Try again shortly.")
	}
	if err != nil {
		return mirror.Event{}, false, err
	}
	always := func(context.Context, store.Reader) (bool, error) { return true, nil }
	if err := s.apply(ctx, observation{
		calendar: calendar, cause: cause, event: answered, writable: true, wrote: wrote, follows: always,
	}); err != nil {
		return mirror.Event{}, false, err
	}
	return mirror.OfOrigin(ctx, s.Store, ref.Account, ref.Calendar, answered.ID)
}

// recordWho adds who changed an event to its journal if the last entry about the event itself, not
// about a mirror, names nobody and fits: a sync run observed the change first. was is the event as
// it is stored.
func (w *write) recordWho(ctx context.Context, tx store.Reader, was mirror.Event, fits func(last mirror.JournalEntry) bool) error {
	if w.cause.Person == "" {
		return nil
	}
	for last, err := range mirror.Journal(ctx, tx, was.ID) {
		if err != nil {
			return err
		}
		if last.MirrorID != "" {
			continue
		}
		if last.Who == "" && last.Step == mirror.StepObserved && fits(last) {
			entry := mirror.OriginEntry(mirror.StepObserved, was, was, last.Reason)
			entry.Before, entry.After = last.After, last.After
			w.record(entry)
		}
		break
	}
	return nil
}

// recordDeleter does that for an event that was deleted and is stored no more.
func (s *Service) recordDeleter(ctx context.Context, was mirror.Event, cause scheduler.Cause) error {
	_, err := s.transact(ctx, cause, func(ctx context.Context, tx store.Reader, w *write) error {
		return w.recordWho(ctx, tx, was, func(last mirror.JournalEntry) bool { return last.Reason == cancelled })
	})
	return err
}

// FollowAlso has a calendar of a person's followed from now on, also when no edge leads from
// it any more. Invalid with CodeOverlayCalendar: mirrors go into it.
func (s *Service) FollowAlso(ctx context.Context, ownerID string, place mirror.Place, cause scheduler.Cause) error {
	return s.following(ctx, func(ctx context.Context, tx store.Tx) (begin func(context.Context), err error) {
		return s.wish(ctx, tx, ownerID, cause, func(w *Wishes) (changed bool, err error) {
			if isOverlay(w.Person, place.CalendarID) {
				return false, &fault.Error{
					Kind: fault.Invalid, Code: CodeOverlayCalendar,
					Message: "calendar_id is the calendar for external events, which only shows what is in others. Choose another one.",
				}
			}
			changed = !slices.Contains(w.Person.Followed, place)
			w.Person.Followed = append(slices.Clone(w.Person.Followed), place)
			return changed, nil
		})
	})
}
