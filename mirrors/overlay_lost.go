package mirrors

import (
	"context"
	"time"

	"questscheduler/internal/calendars"
	"questscheduler/internal/mirror"
	"questscheduler/internal/store"
	"questscheduler/mirrors/plan"
	"questscheduler/scheduler"
)

// suppressOverlay leaves an overlay calendar alone that its owner deleted, with all its
// mirrors, until edges to the account are set again (mirror.OverlayCalendar.Again). It may
// be repeated after it was interrupted.
func (w *Writer) suppressOverlay(ctx context.Context, owner, account, calendarID string, cause scheduler.Cause) error {
	now := w.now()
	err := w.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		person, err := mirror.LoadPerson(ctx, tx, owner)
		if err != nil {
			return err
		}
		calendar, found, err := calendars.Load(ctx, tx, account, calendarID)
		if err != nil {
			return err
		}
		if o := person.Overlays[account]; o.CalendarID == calendarID {
			if err := tx.Merge(mirror.PersonPath(owner), mirror.WriteOverlay(owner, account, o.Lost(), now)...); err != nil {
				return err
			}
		}
		if updates := calendar.Want(mirror.Consumer, 0, cause.Request(now), owner); found && len(updates) > 0 {
			return tx.Merge(calendars.Path(calendar.Key), updates...)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := w.Follow(ctx, account, calendarID, cause); err != nil {
		w.Log.WarnContext(ctx, "deleted overlay calendar's channel not stopped yet", "calendar", calendarID, "account", account,
			"trace", cause.Trace, "error", err)
	}
	w.Log.InfoContext(ctx, "overlay calendar deleted by its owner", "calendar", calendarID, "account", account, "trace", cause.Trace)
	for m, err := range mirror.InCalendar(ctx, w.Store, account, calendarID) {
		if err != nil {
			return err
		}
		if m.State == mirror.Suppressed {
			continue
		}
		if plan.Next(m) == plan.Delete { // its event went with the calendar
			err = w.forgotten(ctx, m, false, false, cause)
		} else {
			_, _, err = w.commit(ctx, m, cause, func(m *mirror.Mirror) outcome {
				*m = plan.NextGeneration(*m, now) // in a calendar yet to be created, if ever
				m.State, m.Due = mirror.Suppressed, time.Time{}
				return outcome{mirror.StepPlanned, "its owner deleted the calendar"}
			})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// nextGeneration has a mirror's event created anew.
func (w *Writer) nextGeneration(ctx context.Context, a *attempt, reason string) error {
	now := w.now()
	_, _, err := w.commit(ctx, a.Mirror, a.cause, func(m *mirror.Mirror) outcome {
		*m = plan.NextGeneration(*m, now)
		return outcome{mirror.StepPlanned, reason}
	})
	return err
}
