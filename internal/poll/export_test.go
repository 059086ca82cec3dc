package poll

import (
	"time"

	"questscheduler/internal/store"
	"questscheduler/rules"
)

// Bare is a poll without the document that it was read from.
func Bare(p Poll) Poll {
	p.stored, p.namesCalendar = store.Document{}, false
	return p
}

// Anew is a poll that was read from an empty document.
func Anew(p Poll) Poll {
	p.stored = store.Document{Path: Path(p.ID), Data: map[string]any{}}
	return p
}

// WrittenPart is what of a poll Changes writes.
func WrittenPart(p Poll) Poll {
	p = Bare(p)
	p.CreatorID, p.CreatorEmail, p.GroupID, p.GroupName, p.Discord, p.Votes, p.CreatedAt = "", "", "", "", Card{},
		VoteVisibility{}, time.Time{}
	p.HasCancelledAt = false
	return p
}

// The parts of calendarSync, each written separately.

func SetSync(name string, value any) store.Update {
	return store.Update{Path: SyncField(name), Value: value}
}
func SetBaseline(f rules.Fingerprint) store.Update { return SetSync("baseline", encodeBaseline(f)) }
func SetRescheduled(r *Rescheduled) store.Update   { return SetSync("rescheduled", r.field()) }
func SetError(e *SyncError) store.Update           { return SetSync("error", e.field()) }
func SetRecorded(r Recorded) store.Update          { return SetSync("recorded", r.field()) }

func SetCancelled(c *Cancelled) []store.Update {
	return []store.Update{SetSync("cancelled", c.field()), Set("cancelled", c.field())}
}
