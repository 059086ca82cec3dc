package calendarsync

import (
	"context"

	"questscheduler/fault"
	"questscheduler/internal/calendars"
	"questscheduler/internal/gcal"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/rules"
)

// tooMany reports whether too many linked events are gone at once to be believed
// unconfirmed.
func (l *pollConsumer) tooMany(absent absences) bool {
	missing := len(absent.gone) + absent.unread
	return len(absent.gone) > 0 && missing > l.HoldMin && float64(missing) > l.HoldShare*float64(absent.linked)
}

// withoutSettled removes from absences those that cancel nothing, as long as they are to be held.
func (l *pollConsumer) withoutSettled(ctx context.Context, run Run, absent *absences, hold func(absences) bool) error {
	for _, without := range []func(context.Context, Run, []gcal.Event) ([]gcal.Event, error){l.withoutPast, l.withoutMoved} {
		if !hold(*absent) {
			break
		}
		remaining, err := without(ctx, run, absent.gone)
		if err != nil {
			return err
		}
		absent.linked -= len(absent.gone) - len(remaining)
		absent.gone = remaining
	}
	return nil
}

// joinsHold reports whether an event that could not be read is found gone while others of its
// calendar are held: it was missing with them, and is held with them.
func (l *pollConsumer) joinsHold(observed SyncedEvent) bool {
	missed := l.calendar.Deferred(observed.Event.ID).Why == calendars.DeferredFailed
	return missed && observed.Fresh && observed.Event.EventState == rules.Gone && len(l.calendar.Held()) > 0
}

// holdWithOthers holds an event beside those that are held, unless its absence cancels nothing.
func (l *pollConsumer) holdWithOthers(ctx context.Context, run Run, event gcal.Event) error {
	absent := absences{gone: []gcal.Event{event}}
	err := l.withoutSettled(ctx, run, &absent, func(left absences) bool { return len(left.gone) > 0 })
	if err != nil || len(absent.gone) == 0 {
		return err
	}
	return l.hold(ctx, absent.gone)
}

// hold keeps absences from cancelling their polls until a person confirms them, and
// announces that to the calendar's owner once.
func (l *pollConsumer) hold(ctx context.Context, gone []gcal.Event) error {
	l.Log.WarnContext(ctx, "many events gone at once; cancellations held", "calendar", l.ref.Calendar,
		"count", len(gone), "trace", l.cause.Trace)
	for _, event := range gone {
		entry, _, err := poll.FindIndex(ctx, l.Store, l.ref.Account, l.ref.Calendar, event.ID)
		if err != nil {
			return err
		}
		if entry == nil {
			continue
		}
		p, err := poll.Load(ctx, l.Store, entry.PollID)
		switch {
		case fault.Is(err, fault.NotFound):
			continue
		case err != nil:
			return err
		case p.GoogleEventID != event.ID:
			continue // the poll names another event by now
		}
		// Hold first: a poll that shows the error must be one that a person can confirm. After
		// a crash the next run shows it.
		held, err := l.holdUnlessConfirmed(ctx, event.ID)
		if err != nil {
			return err
		}
		if !held {
			continue
		}
		l.calendar.HoldUnannounced = true
		if err := l.Polls.SetSyncError(ctx, entry.PollID, rules.MassCancellationHeld, l.cause, l.stillHolds); err != nil {
			return err
		}
	}
	return nil
}

// holdUnlessConfirmed holds the cancellation of an event unless a person has confirmed
// it.
func (l *pollConsumer) holdUnlessConfirmed(ctx context.Context, eventID string) (held bool, err error) {
	err = l.commitWith(ctx, func(now calendars.Calendar) []store.Update {
		held = now.Deferred(eventID).Why != calendars.DeferredConfirmed
		if !held {
			return nil
		}
		return calendars.Hold(eventID, l.Now())
	})
	return held, err
}

// announceHeld tells the calendar's owner once what this run, or an interrupted one, has
// held.
func (l *pollConsumer) announceHeld(ctx context.Context) error {
	now, _, err := calendars.LoadKey(ctx, l.Store, l.calendar.Key)
	if err != nil {
		return err
	}
	if held := now.Held(); len(held) > 0 {
		if err := l.Owners.NotifyHeld(ctx, now.OwnerID, now.Key, held); err != nil {
			return err
		}
	}
	return l.commit(ctx, calendars.HoldAnnounced())
}
