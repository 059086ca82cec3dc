package mirrors

import (
	"context"

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
		var others []mirror.Mirror
		held = false
		if m, found, err = mirror.Load(ctx, tx, was.ID); err != nil || !found || m.Generation != was.Generation || m.ETag != was.ETag {
			return err
		}
		if also != nil {
			all, err := mirror.MirrorsOfUID(ctx, tx, m.OwnerID, m.ICalUID)
			if err != nil {
				return err
			}
			others = also(all)
		}
		held = true
		before := m.State
		did := change(&m)
		for _, other := range append(others, m) {
			if err := tx.Set(mirror.Path(other.ID), mirror.Encode(other)); err != nil {
				return err
			}
		}
		if did.step == "" {
			return nil
		}
		return tx.Create(mirror.EntryPath(m.CanonicalID, id), mirror.EncodeEntry(mirror.Entry{
			At: at, Trigger: cause.Trigger, Trace: cause.Trace, Step: did.step, MirrorID: m.ID,
			Before: string(before), After: string(m.State), Reason: did.reason,
		}))
	})
	return m, held, err
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
		entry := mirror.Entry{At: at, Trigger: cause.Trigger, Trace: cause.Trace, Step: mirror.StepForgotten, MirrorID: m.ID, Before: string(m.State)}
		if deleted {
			entry.Step = mirror.StepDeleted
		}
		event, err := tx.Get(ctx, mirror.EventPath(m.CanonicalID))
		if err != nil {
			return err
		}
		next, keep := plan.Deleted(m, at)
		if keep && event.Exists() {
			entry.After = string(next.State)
			err = tx.Set(mirror.Path(m.ID), mirror.Encode(next))
		} else {
			err = tx.Delete(mirror.Path(m.ID))
		}
		if err != nil {
			return err
		}
		return tx.Create(mirror.EntryPath(m.CanonicalID, id), mirror.EncodeEntry(entry))
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
