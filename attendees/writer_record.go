package attendees

import (
	"context"
	"maps"
	"slices"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/store"
)

// day is after how long a record is due again whose event only an unusable account could
// change, or that failed too often.
const day = 24 * time.Hour

// record stores what a turn made of its record, by change, if nothing that decided has
// changed since; held is false if it has.
func (s *Service) record(ctx context.Context, a *attempt, change func(next *EventRecord)) (held bool, err error) {
	var next EventRecord
	err = s.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		var now EventRecord
		now, held, err = s.holds(ctx, tx, a)
		if err != nil || !held {
			return err
		}
		next = a.updated(now, s.now())
		change(&next)
		return tx.Set(EventPath(next.ID), EncodeEvent(next))
	})
	if err != nil || !held {
		return false, err
	}
	a.record = next
	return true, nil
}

// updated is a stored record with what a turn found out about its copies, as a new version.
func (a *attempt) updated(now EventRecord, at time.Time) EventRecord {
	now.Copies, now.UpdatedAt = maps.Clone(now.Copies), at
	for key, c := range a.copies {
		if c != a.stored[key] {
			now.Copies[key] = c
		}
	}
	if a.event.ID != "" {
		now.EndsAt = laterEnd(now, endOf(a.event))
	}
	now.Version++
	return now
}

// begin records what a patch is about to do, so that an address that it adds is known to be
// ours even if its answer is lost.
func (s *Service) begin(ctx context.Context, a *attempt, decision Decision) (held bool, err error) {
	held, err = s.record(ctx, a, func(next *EventRecord) { s.decided(next, a, decision, false) })
	if held {
		s.count(decision)
	}
	return held, err
}

// settle records a decision that needs no patch: nothing is due.
func (s *Service) settle(ctx context.Context, a *attempt, decision Decision) (outcome, error) {
	held, err := s.record(ctx, a, func(next *EventRecord) {
		s.decided(next, a, decision, false)
		succeeded(next)
		next.Due = time.Time{}
	})
	if err != nil || !held {
		return again, err
	}
	s.count(decision)
	return done, nil
}

// succeeded forgets failures.
func succeeded(next *EventRecord) {
	next.Failures, next.Missing, next.FailedSince, next.Error = 0, 0, time.Time{}, ""
}

// observeOnly notes what a patch would do. The record stays due, for when the server writes.
func (s *Service) observeOnly(ctx context.Context, a *attempt, decision Decision) (outcome, error) {
	held, err := s.record(ctx, a, func(next *EventRecord) {
		s.decided(next, a, decision, true)
	})
	if err != nil || !held {
		return again, err
	}
	return done, nil
}

// confirm records the answer to a patch, an observation like any other. If the record was
// made due again since, it stays due; if another run decided since, that one does this.
func (s *Service) confirm(ctx context.Context, a *attempt, asked Decision, shown shownEvent) (outcome, error) {
	decision := a.judge(shown, s.now())
	if lacks(asked.Add, decision.Add) || lacks(asked.Remove, decision.Remove) {
		return nextCopy, called(errNotTaken)
	}
	var kept bool
	var next EventRecord
	err := s.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		kept = false
		now, _, err := Load(ctx, tx, a.record.ID)
		if err != nil || !sameEntries(now.Entries, a.record.Entries) {
			return err
		}
		next = a.updated(now, s.now())
		s.decided(&next, a, decision, false)
		succeeded(&next)
		kept = true
		if now.Version == a.record.Version && len(decision.Add)+len(decision.Remove) == 0 {
			next.Due = time.Time{}
		}
		return tx.Set(EventPath(next.ID), EncodeEvent(next))
	})
	if err != nil || !kept {
		return again, err
	}
	s.count(decision)
	a.record = next
	if !next.Due.IsZero() {
		return again, nil
	}
	return done, nil
}

// lacks reports whether an address that a patch was to change must still be changed.
func lacks(asked, still []string) bool {
	return slices.ContainsFunc(asked, func(address string) bool { return slices.Contains(still, address) })
}

// errNotTaken says that Google's answer to a patch is without what the patch asked for.
var errNotTaken = fault.New(fault.Provider, "Google Calendar did not take all changes of the guests; check the second addresses.")

// withoutCopy records that no copy lets us change the event. If one would whose account
// cannot be used now, it is tried again a day later, or with the next observation of it; else
// there is nothing to do.
func (s *Service) withoutCopy(ctx context.Context, a *attempt) (settled bool, err error) {
	return s.record(ctx, a, func(next *EventRecord) {
		succeeded(next)
		next.Due = (time.Time{})
		if allGone(next.Copies) {
			next.EndsAt = s.now()
			return
		}
		if !a.waiting || hasEnded(next.EndsAt, s.now()) {
			return
		}
		next.Due = store.Instant(s.now().Add(day))
		for key, c := range next.Copies {
			c.ETag = ""
			next.Copies[key] = c
		}
	})
}

// decided gives a record the entries of a decision and notes the changes in its history.
// would: it is not carried out, and the entries stay; what the history already says is not
// repeated.
func (s *Service) decided(next *EventRecord, a *attempt, decision Decision, would bool) {
	if !would {
		next.Entries = decision.Entries
	}
	for _, changed := range decision.Changes {
		change := Change{
			At: s.now(), Trigger: a.cause.Trigger, Trace: a.cause.Trace, Address: changed.Address, Primary: changed.Primary,
			Before: changed.From, After: changed.To, Would: would,
		}
		said := func(other Change) bool {
			return other.Would && other.Address == change.Address && other.Before == change.Before && other.After == change.After
		}
		if !would || !slices.ContainsFunc(next.History, said) {
			next.History = append(next.History, change)
		}
	}
	if over := len(next.History) - HistoryKept; over > 0 {
		next.History = slices.Clone(next.History[over:])
	}
}

// sameEntries compares entries.
func sameEntries(a, b map[string]Entry) bool {
	return maps.EqualFunc(a, b, func(x, y Entry) bool {
		at := x.At.Equal(y.At)
		x.At, y.At = time.Time{}, time.Time{}
		return at && x == y
	})
}

// count counts what people did with addresses.
func (s *Service) count(decision Decision) {
	for _, changed := range decision.Changes {
		switch changed.To {
		case Theirs, Removed, Declined:
			s.Meter.Count(Noted{State: changed.To})
		}
	}
}
