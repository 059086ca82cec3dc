package calendarsync

import (
	"context"
	"slices"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/calendars"
	"questscheduler/internal/gcal"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/rules"
)

// tooMany reports whether too many linked events are missing at once to be believed gone
// unconfirmed.
func (l *pollConsumer) tooMany(absent absences) bool {
	missing := len(absent.gone) + len(absent.unread) + absent.held
	return missing > l.HoldMin && float64(missing) > l.HoldShare*float64(absent.linked)
}

// withoutSettled removes from absences those that cancel nothing, as long as hold says that the
// others must be held.
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

// deferMissing records that events were missing with many others and could not be read: found gone,
// they are held as well. What is recorded already keeps its time, from which its hold is announced.
func (l *pollConsumer) deferMissing(ctx context.Context, unread []string) error {
	if len(unread) == 0 {
		return nil
	}
	return l.commitWith(ctx, func(now calendars.Calendar) (updates []store.Update) {
		for _, eventID := range unread {
			if known := now.Deferred(eventID); !known.Awaits() && known.Why != calendars.DeferredMissing {
				updates = append(updates, calendars.Defer(eventID, calendars.DeferredMissing, l.Now()))
			}
		}
		return updates
	})
}

// joinsHold reports whether an event is found gone that was missing with many others.
func (l *pollConsumer) joinsHold(observed SyncedEvent) bool {
	missing := l.calendar.Deferred(observed.Event.ID).Why == calendars.DeferredMissing
	return missing && observed.Fresh && observed.Event.EventState == rules.Gone
}

// holdWithOthers holds an event that was missing with others, unless its absence cancels nothing.
func (l *pollConsumer) holdWithOthers(ctx context.Context, run Run, event gcal.Event) error {
	absent := absences{gone: []gcal.Event{event}}
	err := l.withoutSettled(ctx, run, &absent, func(left absences) bool { return len(left.gone) > 0 })
	if err != nil {
		return err
	}
	if applied, met := run.part.outcome[event.ID]; met && !applied {
		return ErrLater // as moved, in vain
	}
	return l.hold(ctx, absent.gone)
}

// hold keeps absences from cancelling their polls until a person confirms them, which the end of
// the run announces. A run that only observes holds nothing, since it notifies nobody; the first
// one that applies lists everything again.
func (l *pollConsumer) hold(ctx context.Context, gone []gcal.Event) error {
	if l.Observing {
		return nil
	}
	for _, event := range gone {
		if err := l.keepLease(ctx); err != nil {
			return err
		}
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
		// Hold first: a poll that shows the error must be one that a person can confirm. After a
		// failure the end of the next run shows it.
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

// gathering is how long a hold waits for events that were missing too, before it is announced.
const gathering = 10 * time.Minute

// announceHeld tells the calendar's owner once what this run, or an interrupted one, has held. All
// its polls show it by then: others nobody could confirm.
func (l *pollConsumer) announceHeld(ctx context.Context) error {
	now, _, err := calendars.LoadKey(ctx, l.Store, l.calendar.Key)
	if err != nil {
		return err
	}
	held := now.Held()
	for _, eventID := range held {
		if err := l.showHeld(ctx, eventID); err != nil {
			return err
		}
	}
	if slices.ContainsFunc(now.DeferredEvents(), func(eventID string) bool {
		deferral := now.Deferred(eventID)
		return deferral.Why == calendars.DeferredMissing && l.Now().Sub(deferral.At) < gathering
	}) {
		return nil
	}
	if len(held) > 0 {
		if err := l.Owners.NotifyHeld(ctx, now.OwnerID, now.Key, held); err != nil {
			return err
		}
	}
	return l.commit(ctx, calendars.HoldAnnounced())
}

func (l *pollConsumer) showHeld(ctx context.Context, eventID string) error {
	entry, _, err := poll.FindIndex(ctx, l.Store, l.ref.Account, l.ref.Calendar, eventID)
	if err != nil || entry == nil {
		return err
	}
	return l.Polls.SetSyncError(ctx, entry.PollID, rules.MassCancellationHeld, l.cause, l.stillHolds)
}
