package mirrors

import (
	"context"

	"questscheduler/internal/accounts"
	"questscheduler/internal/gcal"
	"questscheduler/internal/mirror"
	"questscheduler/internal/outbox"
	"questscheduler/internal/store"
	"questscheduler/mirrors/plan"
	"questscheduler/scheduler"
)

// attempt is one step's facts, with what is needed to take it.
type attempt struct {
	facts
	Account accounts.Account
	google  Google
	cause   scheduler.Cause
	// left is the mirror as a step left it, where the next one may use the same facts: what
	// remains to do is what it was, or nothing. nil: all is read again.
	left *mirror.Mirror
}

// ref is the mirror's calendar.
func (a *attempt) ref() gcal.Ref {
	return gcal.Ref{Account: a.Mirror.TargetAccountID, Calendar: a.Mirror.TargetCalendarID}
}

// load reads what the next step for a mirror needs; found is false if the mirror is gone. A mirror of
// which the next step creates the event is given its calendar and the event's id in the same transaction, so
// that no event exists that no document names.
func (w *Writer) load(ctx context.Context, item outbox.Item) (a *attempt, found bool, err error) {
	err = w.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		a, found, err = w.read(ctx, tx, item.ID)
		if err != nil || !found || item.Observing || choose(a.facts, w.Now()) != doName {
			return err
		}
		calendarID := a.Account.Primary()
		if a.Mirror.Target == mirror.Overlay {
			calendarID = a.Overlay.CalendarID
		}
		a.Mirror = plan.Begin(a.Mirror, calendarID, w.eventID(a.Mirror, calendarID))
		return tx.Set(mirror.Path(item.ID), mirror.Encode(a.Mirror))
	})
	return a, found, err
}

// read is the part of load that writes nothing.
func (w *Writer) read(ctx context.Context, reader store.Reader, id string) (a *attempt, found bool, err error) {
	a = &attempt{google: w.Google}
	a.Mirror, found, err = mirror.Load(ctx, reader, id)
	if err != nil || !found {
		return nil, false, err
	}
	a.cause = scheduler.Cause{Trigger: WriteKind, Trace: a.Mirror.Trace}
	paths := []store.Path{mirror.EventPath(a.Mirror.CanonicalID), accounts.Path(a.Mirror.TargetAccountID)}
	if a.Mirror.Target == mirror.Overlay {
		paths = append(paths, mirror.PersonPath(a.Mirror.OwnerID))
	}
	if a.Mirror.SeriesMirrorID != "" {
		paths = append(paths, mirror.Path(a.Mirror.SeriesMirrorID))
	}
	docs, err := reader.GetAll(ctx, paths)
	if err != nil {
		return nil, false, err
	}
	if docs[0].Exists() {
		a.Event = mirror.DecodeEvent(docs[0])
		a.HasEvent = a.Event.OwnerID == a.Mirror.OwnerID || a.Event.GroupID != ""
	}
	if a.HasEvent && plan.IsInPlace(a.Mirror, a.Event) {
		meeting, err := mirror.OfUIDs(ctx, reader, a.Mirror.OwnerID, []string{a.Mirror.ICalUID})
		if err != nil {
			return nil, false, err
		}
		a.Event, a.HasEvent = plan.InPlaceOf(a.Mirror, a.Event, meeting)
	}
	a.Account = accounts.Decode(docs[1])
	a.Usable = docs[1].Exists() && a.Account.Usable() == nil
	if a.Mirror.Target == mirror.Overlay {
		a.Overlay = mirror.DecodePerson(docs[2]).Overlays[a.Mirror.TargetAccountID]
	}
	if series := docs[len(docs)-1]; a.Mirror.SeriesMirrorID != "" && series.Exists() {
		a.Series, a.HasSeries = mirror.Decode(series), true
	}
	a.Paused = w.pauses.until(a.Mirror.TargetAccountID, w.Now())
	return a, true, nil
}

// after are the facts of the next step; nil has them read.
func (a *attempt) after() *attempt {
	if a.left == nil {
		return nil
	}
	a.Mirror, a.left = *a.left, nil
	return a
}

// outcome is a step to record in the journal of the canonical event; the zero outcome
// records none.
type outcome struct {
	step   mirror.Step
	reason string
}

// commit changes a mirror's document in a transaction, as long as its generation and its
// etag are those of was; otherwise another writer was here first, and held is false. It
// returns the document as it then is. change is given the present document and may run
// more than once. If the mirror gets another event, or none, all with its iCalUID are
// decided again in the same transaction, since those of exceptions name instances of it.
func (w *Writer) commit(
	ctx context.Context, was mirror.Mirror, cause scheduler.Cause, change func(now *mirror.Mirror) outcome,
) (m mirror.Mirror, held bool, err error) {
	var changes *write
	err = w.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		changes, held = &write{s: w.Service, cause: cause}, false
		var found bool
		m, found, err = mirror.Load(ctx, tx, was.ID)
		if err != nil || !found || m.Generation != was.Generation || m.ETag != was.ETag {
			return err
		}
		held = true
		before := m
		did := change(&m)
		changes.put(m)
		if did.step != "" {
			changes.record(mirror.StepEntry(did.step, before, m, did.reason))
		}
		if m.Generation != before.Generation || m.State != before.State && m.State == mirror.Suppressed {
			if err := w.decideAgain(ctx, tx, changes, m, true); err != nil {
				return err
			}
		}
		return changes.commit(tx)
	})
	if err != nil {
		return m, false, err
	}
	for _, other := range changes.mirrors {
		if other.ID == m.ID {
			m = other
			continue
		}
		w.writeSoon(ctx, other)
	}
	return m, held, nil
}

// decideAgain plans the mirrors with a mirror's iCalUID, given that mirror or without it. A
// stray has none.
func (w *Writer) decideAgain(ctx context.Context, reader store.Reader, changes *write, m mirror.Mirror, keep bool) error {
	if m.IsStray() {
		return nil
	}
	of, err := w.situation(ctx, reader, m.OwnerID, m.ICalUID)
	if err != nil {
		return err
	}
	of.dropMirror(m.ID)
	if keep {
		of.putMirror(m)
	}
	changes.decide(&of)
	return nil
}

// forgotten records that a mirror has no event (any more), and removes the document unless
// it is to have another one. The mirrors with the same iCalUID are decided again, since
// another may take its place. running: it is called by the mirror's own run, which goes on.
func (w *Writer) forgotten(ctx context.Context, was mirror.Mirror, deleted, running bool, cause scheduler.Cause) error {
	at := store.Instant(w.Now())
	_, err := w.transact(ctx, cause, func(ctx context.Context, tx store.Reader, changes *write) error {
		if running {
			changes.own = was.ID
		}
		m, found, err := mirror.Load(ctx, tx, was.ID)
		if err != nil || !found || m.Generation != was.Generation || m.EventID != was.EventID {
			return err
		}
		event, err := tx.Get(ctx, mirror.EventPath(m.CanonicalID))
		if err != nil {
			return err
		}
		step := mirror.StepForgotten
		if deleted {
			step = mirror.StepDeleted
		}
		next, keep := plan.Deleted(m, at)
		keep = keep && event.Exists()
		if keep {
			changes.record(mirror.StepEntry(step, m, next, ""))
			changes.put(next)
		} else {
			changes.record(mirror.StepEntry(step, m, mirror.Mirror{}, ""))
			changes.dropped = append(changes.dropped, m.ID)
		}
		return w.decideAgain(ctx, tx, changes, next, keep)
	})
	return err
}

// eventID is the id of the event of a mirror's generation in a calendar.
func (w *Writer) eventID(m mirror.Mirror, calendarID string) string {
	return mirror.EventID(w.Installation, m.CanonicalID, m.TargetAccountID, calendarID, m.Generation)
}

// isOf reports whether an event has the mark of a mirror, whose id no other installation has.
// The installation's own mark may be another since the event was created.
func isOf(event gcal.Event, mirrorID string) bool { return event.Private[plan.MarkMirror] == mirrorID }
