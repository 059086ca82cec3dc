package calendars

import (
	"time"

	"questscheduler/internal/store"
)

// SyncKind is the outbox's kind of sync runs. Its entries are the calendars that have a SyncAt.
const SyncKind = "sync"

// Request is a call for a sync run: when, by what and with what trace.
type Request struct {
	At             time.Time
	Trigger, Trace string
}

// RequestSync has a run begin after this transaction, and another one follow a run under way.
func RequestSync(r Request) []store.Update {
	return []store.Update{
		store.Set("syncAt", r.At), store.Set("syncAsked", true),
		store.Set("syncCause", r.Trigger), store.Set("syncTrace", store.NullIfEmpty(r.Trace)),
	}
}

// PlanSync has a run begin at a time, r.At, unless one is due by then, or the calendar rests or fails:
// its retries have their own times. Any run that begins before takes the place of the planned one.
func (c Calendar) PlanSync(r Request) []store.Update {
	due := c.SyncPending || !c.SyncAt.IsZero() && !c.SyncAt.After(r.At)
	if due || !c.Wanted() || !c.FailedSince.IsZero() || c.PausedUntil.After(r.At) {
		return nil
	}
	return []store.Update{
		store.Set("syncAt", r.At), store.Set("syncCause", r.Trigger), store.Set("syncTrace", store.NullIfEmpty(r.Trace)),
	}
}

// Asked reports whether a run is requested that has not begun. It begins after now, so that a
// further request would change nothing.
func (c Calendar) Asked() bool { return c.SyncPending && !c.SyncAt.IsZero() }

// TriggerPush is the trigger of a request by a push, which names nothing: whatever it reports, the
// run that takes it finds.
const TriggerPush = "push"

// demanded reports whether something was asked for since the claim that the run may have passed
// already, such as an event or a full listing. Pushes come all the time, our own writes cause
// some: were they to count, a listing would be repeated for as long as they come.
func (c Calendar) demanded() bool { return c.SyncPending && c.SyncCause != TriggerPush }

// Claim begins a run if one is due: it takes the request, the next fence and the lease, until
// whose end no other run is due. Where fence is 0, none begins, and again is when to try again;
// zero: nothing is due. The updates of a calendar that rests move its run to the end of the
// rest, and there are no updates otherwise.
func (c Calendar) Claim(now time.Time, gap time.Duration) (updates []store.Update, fence int64, again time.Time) {
	if !c.SyncPending && (c.SyncAt.IsZero() || c.SyncAt.After(now)) {
		return nil, 0, c.SyncAt
	}
	if held := c.LeaseUntil.Sub(now); held > 0 {
		return nil, 0, now.Add(min(held, max(gap, 50*time.Millisecond)))
	}
	if c.PausedUntil.After(now) {
		return []store.Update{store.Set("syncAt", c.PausedUntil)}, 0, c.PausedUntil
	}
	if rest := c.StartedAt.Add(gap).Sub(now); rest > 0 && rest <= gap {
		return nil, 0, now.Add(rest)
	}
	fence, until := c.Fence+1, now.Add(Lease)
	updates = []store.Update{
		store.Set("fence", fence), store.Set("leaseUntil", until), store.Set("startedAt", now),
		store.Set("syncAt", until), store.Set("syncAsked", store.Delete),
	}
	return updates, fence, time.Time{}
}

// Skip drops the run of a calendar that nothing follows.
func (c Calendar) Skip() []store.Update {
	if !c.SyncPending && c.SyncAt.IsZero() {
		return nil
	}
	return []store.Update{store.Set("syncAt", store.Delete), store.Set("syncAsked", store.Delete)}
}

// next has a run that ends followed by one at a time, zero for none. A run that was requested
// since the claim stays due.
func (c Calendar) next(at time.Time) []store.Update {
	switch {
	case c.SyncPending:
		return nil
	case at.IsZero():
		return []store.Update{store.Set("syncAt", store.Delete)}
	default:
		return []store.Update{store.Set("syncAt", at)}
	}
}

// Abandon ends a run that the end of its process cut short: another one is due at once.
func (c Calendar) Abandon(now time.Time) []store.Update { return append(c.next(now), release()) }

// Renew extends the lease.
func (c Calendar) Renew(now time.Time) []store.Update {
	until := now.Add(Lease)
	return append(c.next(until), store.Set("leaseUntil", until))
}

// release gives the lease back.
func release() store.Update { return store.Set("leaseUntil", store.Delete) }
