package mirrors

import (
	"context"
	"slices"

	"questscheduler/internal/accounts"
	"questscheduler/internal/gcal"
	"questscheduler/internal/mirror"
	"questscheduler/internal/store"
	"questscheduler/mirrors/plan"
	"questscheduler/scheduler"
)

// attempt is one step's scene, with what is needed to take it.
type attempt struct {
	scene
	Account accounts.Account
	google  Google
	cause   scheduler.Cause
}

// ref is the mirror's calendar.
func (a *attempt) ref() gcal.Ref {
	return gcal.Ref{Account: a.Mirror.TargetAccountID, Calendar: a.Mirror.TargetCalendarID}
}

// load reads what the next step for a mirror needs; found is false if the mirror is gone.
// The mirror is read first: an event that is newer than its mirror is planned again, and
// the outcome is recorded as that of the newer event.
func (w *Writer) load(ctx context.Context, id string, google Google, cause scheduler.Cause) (a *attempt, found bool, err error) {
	a = &attempt{google: google, cause: cause}
	a.Mirror, found, err = mirror.Load(ctx, w.Store, id)
	if err != nil || !found {
		return nil, false, err
	}
	paths := []store.Path{mirror.EventPath(a.Mirror.CanonicalID), mirror.PersonPath(a.Mirror.OwnerID), accounts.Path(a.Mirror.TargetAccountID)}
	if a.Mirror.SeriesMirrorID != "" {
		paths = append(paths, mirror.Path(a.Mirror.SeriesMirrorID))
	}
	docs, err := w.Store.GetAll(ctx, paths)
	if err != nil {
		return nil, false, err
	}
	if a.HasEvent = docs[0].Exists(); a.HasEvent {
		a.Event = mirror.DecodeEvent(docs[0])
	}
	a.Overlay = mirror.DecodePerson(docs[1]).Overlays[a.Mirror.TargetAccountID]
	a.Account = accounts.Decode(docs[2])
	a.Usable = docs[2].Exists() && a.Account.Usable() == nil
	if len(docs) > 3 && docs[3].Exists() {
		a.Series, a.HasSeries = mirror.Decode(docs[3]), true
	}
	a.Paused = w.pauses.until(a.Mirror.TargetAccountID, w.Now())
	return a, true, nil
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
// more than once.
func (w *Writer) commit(ctx context.Context, was mirror.Mirror, cause scheduler.Cause, change func(now *mirror.Mirror) outcome) (m mirror.Mirror, held bool, err error) {
	return w.commitWith(ctx, was, cause, nil, change)
}

// commitWith is commit that also writes what also returns for the mirrors with the same
// iCalUID, in the same transaction.
func (w *Writer) commitWith(
	ctx context.Context, was mirror.Mirror, cause scheduler.Cause, also func(all []mirror.Mirror) []mirror.Mirror, change func(now *mirror.Mirror) outcome,
) (m mirror.Mirror, held bool, err error) {
	at, id := store.Instant(w.Now()), "jrn_"+w.NewID()
	err = w.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		var found bool
		var stored, others []mirror.Mirror
		held = false
		if m, found, err = mirror.Load(ctx, tx, was.ID); err != nil || !found || m.Generation != was.Generation || m.ETag != was.ETag {
			return err
		}
		if also != nil {
			if stored, err = mirror.MirrorsOfUID(ctx, tx, m.OwnerID, m.ICalUID); err != nil {
				return err
			}
			others = also(stored)
		}
		held = true
		before := m
		did := change(&m)
		for _, other := range append(others, m) {
			if err := tx.Set(mirror.Path(other.ID), mirror.Encode(other)); err != nil {
				return err
			}
		}
		for _, other := range others {
			i := slices.IndexFunc(stored, func(m mirror.Mirror) bool { return m.ID == other.ID })
			entry := mirror.MirrorStep(mirror.StepPlanned, stored[i], other, "its series was written anew")
			entry.ID, entry.At = "jrn_"+w.NewID(), at
			if err := journal(tx, entry, cause); err != nil {
				return err
			}
		}
		if did.step == "" {
			return nil
		}
		entry := mirror.MirrorStep(did.step, before, m, did.reason)
		entry.ID, entry.At = id, at
		return journal(tx, entry, cause)
	})
	return m, held, err
}

// journal writes an entry of the writer.
func journal(tx store.Tx, entry mirror.Entry, cause scheduler.Cause) error {
	entry.Trigger, entry.Trace = cause.Trigger, cause.Trace
	return tx.Create(mirror.EntryPath(entry.EventID, entry.ID), mirror.EncodeEntry(entry))
}

// forgotten records that a mirror has no event (any more), and removes the document unless
// it is to have another one. The mirrors with the same iCalUID are then decided again,
// since another may take its place.
func (w *Writer) forgotten(ctx context.Context, was mirror.Mirror, deleted bool, cause scheduler.Cause) error {
	at, id := store.Instant(w.Now()), "jrn_"+w.NewID()
	err := w.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		m, found, err := mirror.Load(ctx, tx, was.ID)
		if err != nil || !found || m.Generation != was.Generation || m.EventID != was.EventID {
			return err
		}
		step := mirror.StepForgotten
		if deleted {
			step = mirror.StepDeleted
		}
		event, err := tx.Get(ctx, mirror.EventPath(m.CanonicalID))
		if err != nil {
			return err
		}
		next, keep := plan.Deleted(m, at)
		if keep && event.Exists() {
			err = tx.Set(mirror.Path(m.ID), mirror.Encode(next))
		} else {
			next = mirror.Mirror{}
			err = tx.Delete(mirror.Path(m.ID))
		}
		if err != nil {
			return err
		}
		entry := mirror.MirrorStep(step, m, next, "")
		entry.ID, entry.At = id, at
		return journal(tx, entry, cause)
	})
	if err != nil || was.ICalUID == "" { // a stray is nobody's mirror
		return err
	}
	return w.Plan(ctx, was.OwnerID, was.ICalUID, cause)
}

// eventID is the id of the event of a mirror's generation in a calendar.
func (w *Writer) eventID(m mirror.Mirror, calendarID string) string {
	return mirror.EventID(w.Installation, m.CanonicalID, m.TargetAccountID, calendarID, m.Generation)
}

// ours reports whether an event has the marks of this installation's mirror.
func (w *Writer) ours(event gcal.Event, mirrorID string) bool {
	return event.Private[plan.MarkInstallation] == w.Installation && event.Private[plan.MarkMirror] == mirrorID
}
