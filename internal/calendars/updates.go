package calendars

import (
	"slices"
	"time"

	"questscheduler/internal/poll"
	"questscheduler/internal/store"
)

// Holds reports whether the run with that fence may still commit.
func (c Calendar) Holds(fence int64) bool { return fence != 0 && c.Fence == fence }

// Succeeded ends a run that applied everything up to token. next is when the next one is due;
// zero: none is.
func (c Calendar) Succeeded(now time.Time, token string, mask int64, next time.Time) []store.Update {
	return append(c.next(next),
		store.Set("syncToken", token), store.Set("maskVersion", mask), store.Set("lastSyncedAt", now), store.Set("lastSuccessAt", now),
		store.Set("failedSince", store.Delete), store.Set("lastError", store.Delete), release(),
		store.Set("pausedUntil", store.Delete), store.Set("refusedSince", store.Delete), store.Set("syncAttempts", store.Delete),
	)
}

// InZone records the calendar's time zone as a listing gives it. "" keeps the known one.
func InZone(name string) []store.Update {
	if name == "" {
		return nil
	}
	return []store.Update{store.Set("timeZone", name)}
}

// Pause pauses a calendar until a time.
func Pause(until time.Time) store.Update { return store.Set("pausedUntil", until) }

// Failed ends a failed run. next is when it is tried again; zero: when something else requests
// a run. The reason is shown to people and holds no secret.
func (c Calendar) Failed(now time.Time, reason string, next time.Time) []store.Update {
	return append(c.MarkFailing(now, reason), c.Ended(now, next)...)
}

// CountFailure counts a failed run. A successful one forgets the count.
func (c Calendar) CountFailure() store.Update { return store.Set("syncAttempts", c.SyncAttempts+1) }

// Relinked has a calendar of an account that was linked again synced at once, also during a
// rest. Failures of before count no more.
func (c Calendar) Relinked(r Request) []store.Update {
	return slices.Concat(c.MarkFailing(r.At, "linked again"), RequestSync(r), []store.Update{
		store.Set("pausedUntil", store.Delete), store.Set("syncAttempts", store.Delete),
	})
}

// MarkFailing marks a calendar as failing without a run; the next successful run clears its
// polls' errors.
func (c Calendar) MarkFailing(now time.Time, reason string) []store.Update {
	since := c.FailedSince
	if since.IsZero() {
		since = now
	}
	return []store.Update{store.Set("failedSince", since), store.Set("lastError", reason)}
}

// Refused records that Google refuses to list the calendar, from now on if it did not
// before.
func (c Calendar) Refused(now time.Time) []store.Update {
	if !c.RefusedSince.IsZero() {
		return nil
	}
	return []store.Update{store.Set("refusedSince", now)}
}

// Answered records that a failed run could list the calendar. A lost one stays lost until a
// run succeeds.
func (c Calendar) Answered() []store.Update {
	if c.RefusedSince.IsZero() || c.Lost() {
		return nil
	}
	return []store.Update{store.Set("refusedSince", store.Delete)}
}

// Ended ends a run whose failure is already recorded (MarkFailing).
func (c Calendar) Ended(now, next time.Time) []store.Update {
	return append(c.next(next), store.Set("lastSyncedAt", now), release())
}

// Invalidate invalidates a run under way, which none follows unless one was requested since;
// request another one after it.
func (c Calendar) Invalidate() []store.Update {
	return append(c.next(time.Time{}), store.Set("fence", c.Fence+1), release())
}

// ReasonRevoked is the error of a calendar whose account is unlinked or has a dead grant:
// only relinking it helps.
const ReasonRevoked = "revoked"

// Revoked reports whether that is the calendar's error.
func (c Calendar) Revoked() bool { return c.LastError == ReasonRevoked }

// ReasonLost is the error of a calendar that is gone or no longer shared with its account.
const ReasonLost = "lost"

// Lost reports whether that is the calendar's error. It stays so until a run succeeds.
func (c Calendar) Lost() bool { return c.LastError == ReasonLost }

// ResetToken drops the sync token; the next run is a full sync.
func ResetToken() []store.Update { return []store.Update{store.Set("syncToken", store.Delete)} }

// Unwatched records a sweep that could open no watch channel. good counts such sweeps in
// a row between which runs succeeded, with none failing now.
func (c Calendar) Unwatched(now time.Time) (updates []store.Update, good int64) {
	if !c.SweptAt.IsZero() && !c.SuccessAt.Before(c.SweptAt) && c.FailedSince.IsZero() {
		good = c.GoodSweeps + 1
	}
	return []store.Update{store.Set("sweptAt", now), store.Set("goodSweeps", good)}, good
}

// Link adds the interest of one more poll and requests a run. The caller must merge
// the updates. legacyEvent is the event's id if Google generated it.
func (c Calendar) Link(r Request, ownerID, legacyEvent string) []store.Update {
	updates := slices.Concat(c.followed(r.At, ownerID), []store.Update{interest(c.Interests[poll.ConsumerPoll] + 1)}, RequestSync(r))
	if legacyEvent != "" && !slices.Contains(c.LegacyEventIDs, legacyEvent) {
		updates = append(updates, store.Set("legacyEventIds", append(slices.Clone(c.LegacyEventIDs), legacyEvent)))
	}
	return updates
}

// followed writes what a calendar needs that something follows from now on.
func (c Calendar) followed(now time.Time, ownerID string) []store.Update {
	updates := []store.Update{store.Set("accountId", c.AccountID), store.Set("calendarId", c.CalendarID), store.Set("ownerId", ownerID)}
	if c.LinkedAt.IsZero() {
		updates = append(updates, store.Set("linkedAt", now))
	}
	if !c.Wanted() && !c.FailedSince.IsZero() { // relinking the account skipped it
		updates = append(updates, store.Set("failedSince", store.Delete), store.Set("lastError", store.Delete),
			store.Set("refusedSince", store.Delete))
	}
	return updates
}

// Unlink removes the interest of one poll, and its event.
func (c Calendar) Unlink(eventID string) []store.Update {
	updates := []store.Update{interest(max(0, c.Interests[poll.ConsumerPoll]-1))}
	if c.Deferred(eventID) != (Deferral{}) {
		updates = append(updates, Settle(eventID))
	}
	if i := slices.Index(c.LegacyEventIDs, eventID); i >= 0 {
		updates = append(updates, store.Set("legacyEventIds", slices.Delete(slices.Clone(c.LegacyEventIDs), i, i+1)))
	}
	return updates
}

// Exchange is Unlink and Link in one, for a poll's new event in the same calendar.
func (c Calendar) Exchange(r Request, oldEvent string) []store.Update {
	updates := c.Unlink(oldEvent)
	updates[0] = interest(max(1, c.Interests[poll.ConsumerPoll]))
	return append(updates, RequestSync(r)...)
}

// Defer has an event fetched individually for polls, from now on, for one of the Deferred reasons.
func Defer(eventID, why string, now time.Time) store.Update {
	return store.Update{Path: store.Field("deferred", poll.ConsumerPoll, eventID), Value: Deferral{now, why}.encode()}
}

// Hold holds the cancellation of an event until its owner confirms it, which is yet to be
// announced.
func Hold(eventID string, now time.Time) []store.Update {
	return []store.Update{Defer(eventID, DeferredHeld, now), store.Set("holdUnannounced", true)}
}

// Held lists the held events, sorted.
func (c Calendar) Held() []string {
	return slices.DeleteFunc(c.DeferredEvents(), func(eventID string) bool { return c.Deferred(eventID).Why != DeferredHeld })
}

// HoldAnnounced records that the hold was announced to the owner.
func HoldAnnounced() store.Update { return store.Set("holdUnannounced", store.Delete) }

// RequestFetch requests a run that fetches one event, for a command. An event that fails, or that
// awaits or has a person's confirmation, keeps its reason.
func (c Calendar) RequestFetch(r Request, eventID string) []store.Update {
	why := DeferredCommand
	switch is := c.Deferred(eventID); {
	case is.Awaits():
		return RequestSync(r)
	case is.Why == DeferredFailed:
		why = is.Why
	}
	return append(RequestSync(r), Defer(eventID, why, r.At))
}

// Settle undoes Defer.
func Settle(eventID string) store.Update {
	return store.Update{Path: store.Field("deferred", poll.ConsumerPoll, eventID), Value: store.Delete}
}

func interest(count int64) store.Update {
	return store.Update{Path: store.Field("interests", poll.ConsumerPoll), Value: count}
}
