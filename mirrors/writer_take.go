package mirrors

import (
	"context"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/gcal"
	"questscheduler/internal/mirror"
	"questscheduler/internal/store"
	"questscheduler/mirrors/plan"
	"questscheduler/rules"
	"questscheduler/scheduler"
)

// take takes one step. Errors of Google are recorded in the mirror; those of the store
// are returned.
func (w *Writer) take(ctx context.Context, a *attempt, step choice) error {
	switch step {
	case doForget:
		return w.forgotten(ctx, a.Mirror, false, true, a.cause)
	case doRemove:
		return w.remove(ctx, a)
	case doOpen:
		return w.openOverlay(ctx, a)
	case doFind:
		return w.find(ctx, a)
	case doCancel:
		return w.cancel(ctx, a)
	case doInsert:
		return w.insert(ctx, a)
	case doPatch:
		return w.patch(ctx, a)
	default:
		return w.wait(ctx, a, step)
	}
}

// seriesPause is how long an exception waits at least for its series.
const seriesPause = 5 * time.Second

// wait takes the steps that call nobody.
func (w *Writer) wait(ctx context.Context, a *attempt, step choice) error {
	now := w.now()
	_, _, err := w.commit(ctx, a.Mirror, a.cause, func(m *mirror.Mirror) outcome {
		if !sameWork(*m, a.Mirror) {
			return outcome{} // the step was chosen for what is not so any more
		}
		switch step {
		case doDefer: // Relinked makes it due again
			m.Due, m.LastError = time.Time{}, sayRelink
			return outcome{mirror.StepFailed, "the account must be linked again"}
		case doHold:
			m.Due = store.Instant(a.Paused)
		case doPace:
			m.Due = m.NotBefore
		case doAwait:
			m.Due = store.Instant(now.Add(seriesPause))
			if a.Series.Due.After(now) {
				m.Due = store.Instant(a.Series.Due.Add(seriesPause))
			}
		case doFollow:
			m.State, m.Due, m.Attempts, m.LastError = a.Series.State, time.Time{}, 0, ""
			return outcome{mirror.StepPlanned, "its series is left alone"}
		case doSuppress:
			m.State, m.Due = mirror.Suppressed, time.Time{}
			return outcome{mirror.StepPlanned, "its owner deleted the calendar"}
		}
		return outcome{}
	})
	return err
}

// sameWork reports whether a mirror has the same to be done, at the same time.
func sameWork(m, was mirror.Mirror) bool {
	return m.State == was.State && m.Wanted == was.Wanted && m.Replacing == was.Replacing && m.Due.Equal(was.Due)
}

// insert creates a mirror's event.
func (w *Writer) insert(ctx context.Context, a *attempt) error {
	content := plan.Project(a.Event, a.Mirror.Detail)
	answer, err := a.google.InsertContent(ctx, a.ref(), a.Mirror.EventID, content, plan.Marks(a.Mirror, w.Installation))
	switch {
	case fault.CodeOf(err) == gcal.CodeDuplicate:
		return w.adopt(ctx, a)
	case fault.Is(err, fault.NotFound):
		return w.calendarMissing(ctx, a, err)
	case err != nil:
		return w.failed(ctx, a, err)
	}
	return w.written(ctx, a, answer, true)
}

// adopt takes an event that a call with a lost answer, or another writer, created. An id
// that was deleted stays taken, so the next event is of the next generation.
func (w *Writer) adopt(ctx context.Context, a *attempt) error {
	shown, err := a.google.Get(ctx, a.ref(), a.Mirror.EventID)
	if err != nil {
		return w.failed(ctx, a, err)
	}
	switch {
	case shown.EventState == rules.Gone || !isOf(shown, a.Mirror.ID):
		return w.nextGeneration(ctx, a, "the id of its event is used up")
	case shown.Details != nil && plan.Hash(plan.Shown(*shown.Details)) == plan.Hash(plan.Project(a.Event, a.Mirror.Detail)):
		return w.written(ctx, a, shown, true)
	}
	_, _, err = w.commit(ctx, a.Mirror, a.cause, func(m *mirror.Mirror) outcome {
		m.ETag = shown.ETag // and the next step changes it
		return outcome{}
	})
	return err
}

// patch brings a mirror's event to its projection.
func (w *Writer) patch(ctx context.Context, a *attempt) error {
	answer, err := a.google.PatchContent(ctx, a.ref(), a.Mirror.EventID, a.Mirror.ETag, plan.Project(a.Event, a.Mirror.Detail))
	switch {
	case fault.CodeOf(err) == gcal.CodeStale, fault.Is(err, fault.NotFound):
		return w.checkAgain(ctx, a, err)
	case err != nil:
		return w.failed(ctx, a, err)
	}
	return w.written(ctx, a, answer, false)
}

// written records an answered write. An event that was created for a document which names
// it no more is deleted at once.
func (w *Writer) written(ctx context.Context, a *attempt, answer gcal.Event, created bool) error {
	w.pauses.over(a.Mirror.TargetAccountID)
	now := w.now()
	m, held, err := w.commit(ctx, a.Mirror, a.cause, func(m *mirror.Mirror) outcome {
		*m = plan.Written(*m, a.Mirror.Wanted, answer, now)
		if m.State == mirror.Pending && m.Wanted == a.Mirror.Wanted {
			return outcome{mirror.StepWritten, string(plan.Early)}
		}
		return outcome{step: mirror.StepWritten}
	})
	if err != nil {
		return err
	}
	if held && m.Due.IsZero() {
		a.left = &m
	}
	w.Meter.Count(Written{})
	if len(a.Event.Recurrence) > 0 && m.State == mirror.Active {
		if err := w.wake(ctx, m, a.cause); err != nil {
			return err
		}
	}
	if created && m.EventID != answer.ID {
		w.deleteReplaced(ctx, a, answer.ID, answer.ETag)
	}
	return nil
}

// wake makes the mirrors of exceptions due that wait for their series, which was just
// written. After a crash they become due after seriesPause.
func (w *Writer) wake(ctx context.Context, series mirror.Mirror, cause scheduler.Cause) error {
	all, err := mirror.MirrorsOfUIDs(ctx, w.Store, series.OwnerID, []string{series.ICalUID})
	if err != nil {
		return err
	}
	for _, m := range all {
		if m.SeriesMirrorID != series.ID || m.Attempts > 0 || !m.Due.After(w.Now()) || m.NotBefore.After(w.Now()) {
			continue
		}
		m, held, err := w.commit(ctx, m, cause, func(m *mirror.Mirror) outcome {
			if m.Attempts == 0 && m.Due.After(w.Now()) {
				m.Due = w.now()
			}
			return outcome{}
		})
		if err != nil {
			return err
		}
		if held {
			w.writeSoon(ctx, m)
		}
	}
	return nil
}

// find finds the instance that an exception replaces.
func (w *Writer) find(ctx context.Context, a *attempt) error {
	ref := gcal.Ref{Account: a.Series.TargetAccountID, Calendar: a.Series.TargetCalendarID}
	shown, err := a.google.Instance(ctx, ref, a.Series.EventID, a.Event.OriginalStart)
	missing := fault.Is(err, fault.NotFound)
	switch {
	case err == nil, missing && plan.Next(a.Mirror) == plan.Cancel:
	case a.Series.State == mirror.Contested && (missing || fault.Is(err, fault.Provider)):
		return w.wait(ctx, a, doFollow) // a person made it another series, or a single event
	case missing:
		if _, gone := a.google.Access(ctx, ref); fault.Is(gone, fault.NotFound) {
			return w.calendarMissing(ctx, a, gone)
		}
		return w.failed(ctx, a, err)
	default:
		return w.failed(ctx, a, err)
	}
	now := w.now()
	_, _, err = w.commit(ctx, a.Mirror, a.cause, func(m *mirror.Mirror) outcome {
		if shown.ID == "" { // there is no such occurrence, as wanted
			*m = plan.Written(*m, a.Mirror.Wanted, gcal.Event{EventState: rules.Gone}, now)
			return outcome{mirror.StepWritten, "there is no such occurrence"}
		}
		*m = plan.Begin(*m, ref.Calendar, shown.ID)
		m.ETag = shown.ETag
		return outcome{}
	})
	return err
}

// cancel deletes the instance of an occurrence that is not to be shown. The mirror stays,
// so that the occurrence is cancelled again in a later event of the series.
func (w *Writer) cancel(ctx context.Context, a *attempt) error {
	if _, err := a.google.DeleteQuietly(ctx, a.ref(), a.Mirror.EventID, ""); err != nil && !fault.Is(err, fault.NotFound) {
		return w.failed(ctx, a, err)
	}
	return w.written(ctx, a, gcal.Event{ID: a.Mirror.EventID, EventState: rules.Gone}, false)
}

// insertGrace is how long after a mirror began to be deleted an insert that began before
// may still reach Google: the time of a run, and of a call that was abandoned.
const insertGrace = 2 * time.Minute

// remove deletes a mirror's event and then its document. If the event was never known to exist, a
// call under way may still create it, and the document stays until that is over.
func (w *Writer) remove(ctx context.Context, a *attempt) error {
	deleted, refused, err := w.deleteEvent(ctx, a.google, a.Mirror)
	if err != nil {
		return err
	}
	if refused != nil && !fault.Is(refused, fault.NotFound) {
		return w.failed(ctx, a, refused)
	}
	if until := a.Mirror.UpdatedAt.Add(insertGrace); refused != nil && a.Mirror.ETag == "" && w.Now().Before(until) {
		_, _, err := w.commit(ctx, a.Mirror, a.cause, func(m *mirror.Mirror) outcome { m.Due = store.Instant(until); return outcome{} })
		return err
	}
	if deleted {
		w.Meter.Count(Deleted{})
	}
	return w.forgotten(ctx, a.Mirror, deleted, true, a.cause)
}
