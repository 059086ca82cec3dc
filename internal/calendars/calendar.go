// Package calendars holds the document of a watched calendar: how far we have
// read it, who is reading it now, and what is still owed to it.
//
// A calendar here is one calendar as one account sees it. Its sync token says
// how far its changes are applied; its fence counts the looks, so that one that
// lost its lease commits nothing; its lookGen names the next look, so that
// hints which arrive before it begins are covered by it; its interests count
// what follows it, so that a calendar that nothing follows is not watched.
//
// The functions are pure: they read a Calendar and give the updates to write in
// the same transaction that read it. Correctness rests on the fence; the lease
// only saves double work.
package calendars

import (
	"context"
	"maps"
	"slices"
	"time"

	"questscheduler/internal/poll"
	"questscheduler/internal/store"
)

// Lease is how long a look holds a calendar without a sign of life.
const Lease = 60 * time.Second

// Calendar is a document of calendars. Closed to clients.
type Calendar struct {
	Key        string
	AccountID  string
	CalendarID string
	// OwnerID is the person whose account it is.
	OwnerID string
	// SyncToken is where the next listing goes on; "" asks for a full one.
	SyncToken string
	// MaskVersion is that of the fields mask the token was got with.
	MaskVersion int64
	// LookGen names the next look. It grows with every look begun and never
	// restarts, not even when the document is made anew.
	LookGen int64
	// BegunGen is the generation by which the last look was asked for: hints
	// of an older one are covered by it.
	BegunGen int64
	// Fence is the number of the look that may commit.
	Fence      int64
	LeaseUntil time.Time
	// LookedAt is when the last look began.
	LookedAt time.Time
	// SyncedAt is when the last look ended, SuccessAt when the last one ended
	// well, FailedSince when looks began to fail (zero: the last was good).
	SyncedAt    time.Time
	SuccessAt   time.Time
	FailedSince time.Time
	LastError   string
	// ParkedUntil is until when the calendar is left alone, where its quota is
	// used up.
	ParkedUntil time.Time
	// SweptAt is when a sweep last found that no watch channel could be made;
	// GoodSweeps counts those in a row by which looks went well all the same.
	SweptAt    time.Time
	GoodSweeps int64
	// LookDue tells that a look is owed since LookDueAt, whatever became of
	// its task.
	LookDue bool
	// Interests count by consumer what follows this calendar.
	Interests map[string]int64
	// LegacyEventIDs are linked events with ids that Google made, before us.
	LegacyEventIDs []string
	// Pending are events to be asked for one by one, by event id: why.
	Pending map[string]string
	// HoldUntold tells that its owner has yet to hear of events that are held.
	HoldUntold bool
}

// Reasons for which an event is asked for by itself.
const (
	PendingFailed  = "apply_failed"   // applying it kept failing
	PendingRace    = "insert_pending" // it changed while it was being linked
	PendingCommand = "command"        // a command asked to have it looked at
	PendingMoved   = "moved_calendar" // it was moved here, maybe after a look had passed it
	PendingHeld    = "held"           // gone with many others: a person is to say
	// PendingConfirmed is what a person said of one that was held.
	PendingConfirmed = "confirmed"
)

// Path is where a calendar's document stands.
func Path(key string) store.Path { return store.Doc("calendars", key) }

// Load reads a calendar; ok is false where there is none, and then the zero
// calendar with its identity is given.
func Load(ctx context.Context, reader store.Reader, accountID, calendarID string) (c Calendar, ok bool, err error) {
	c, ok, err = LoadKey(ctx, reader, poll.CalendarKey(accountID, calendarID))
	if err == nil && !ok {
		c.AccountID, c.CalendarID = accountID, calendarID
	}
	return c, ok, err
}

// LoadKey reads the calendar of a key.
func LoadKey(ctx context.Context, reader store.Reader, key string) (c Calendar, ok bool, err error) {
	doc, err := reader.Get(ctx, Path(key))
	if err != nil {
		return Calendar{}, false, err
	}
	if !doc.Exists() {
		return Calendar{Key: key}, false, nil
	}
	return Decode(doc), true, nil
}

// Decode reads a calendar's document.
func Decode(doc store.Document) Calendar {
	f := store.Fields(doc.Data)
	c := Calendar{
		Key: doc.Path.ID(), AccountID: f.String("accountId"), CalendarID: f.String("calendarId"), OwnerID: f.String("ownerId"),
		SyncToken: f.String("syncToken"), MaskVersion: f.Int("maskVersion"),
		LookGen: f.Int("lookGen"), BegunGen: f.Int("begunGen"), Fence: f.Int("fence"), LeaseUntil: f.Time("leaseUntil"), LookedAt: f.Time("lookedAt"),
		SyncedAt: f.Time("lastSyncedAt"), SuccessAt: f.Time("lastSuccessAt"),
		FailedSince: f.Time("failedSince"), LastError: f.String("lastError"), ParkedUntil: f.Time("parkedUntil"),
		SweptAt: f.Time("sweptAt"), GoodSweeps: f.Int("goodSweeps"),
		LookDue: f.Bool("lookDue"), HoldUntold: f.Bool("holdUntold"), LegacyEventIDs: f.Strings("legacyEventIds"),
		Interests: map[string]int64{}, Pending: map[string]string{},
	}
	interests, pending := f.Map("interests"), f.Map("pendingLooks")
	for consumer := range interests {
		c.Interests[consumer] = interests.Int(consumer)
	}
	for event := range pending {
		c.Pending[event] = pending.String(event)
	}
	return c
}

// Wanted tells whether anything follows the calendar.
func (c Calendar) Wanted() bool {
	for _, count := range c.Interests {
		if count > 0 {
			return true
		}
	}
	return false
}

// LinkedAt is about when the calendar's document was made: generations begin
// there, in microseconds, and grow by one with every look, so what is told is
// right but for some thousandths of a second. Zero where there is none.
func (c Calendar) LinkedAt() time.Time {
	if c.LookGen == 0 {
		return time.Time{}
	}
	return time.UnixMicro(c.LookGen).UTC()
}

// PendingEvents lists the events to be asked for one by one, sorted.
func (c Calendar) PendingEvents() []string { return slices.Sorted(maps.Keys(c.Pending)) }

// Covers tells whether a look that was asked for later than by this generation
// has begun. It does whatever the earlier one was to do, and where it fails it
// is tried again itself, so the earlier one's task is done: a calendar that
// cannot be read for hours has one task that tries again, not one for each hint.
func (c Calendar) Covers(generation int64) bool { return c.BegunGen > generation }

// Claim asks to begin a look at now, by the task of a generation. wait is how
// long to stay away where another look holds the calendar, or began less than
// gap ago; then updates are nil. Otherwise the updates begin the look, whose
// fence is given.
func (c Calendar) Claim(now time.Time, gap time.Duration, generation int64) (updates []store.Update, fence int64, wait time.Duration) {
	if held := c.LeaseUntil.Sub(now); held > 0 {
		return nil, 0, min(held, max(gap, 50*time.Millisecond))
	}
	if parked := c.ParkedUntil.Sub(now); parked > 0 {
		return nil, 0, parked
	}
	if rest := c.LookedAt.Add(gap).Sub(now); rest > 0 && rest <= gap {
		return nil, 0, rest
	}
	fence = c.Fence + 1
	return []store.Update{
		set("lookGen", c.LookGen+1), set("begunGen", generation), set("fence", fence), set("leaseUntil", now.Add(Lease)),
		set("lookedAt", now), set("lookDue", false),
	}, fence, 0
}

// Skip gives the updates of a look that is not needed, since nothing follows
// the calendar. The generation moves as with any other: the name of the task
// that skipped it may stay taken, and the next look needs another.
func (c Calendar) Skip() []store.Update {
	return []store.Update{set("lookGen", c.LookGen+1), set("lookDue", false)}
}

// Holds tells whether the look with that fence may still commit.
func (c Calendar) Holds(fence int64) bool { return fence != 0 && c.Fence == fence }

// Renew gives the updates of a sign of life.
func Renew(now time.Time) []store.Update {
	return []store.Update{set("leaseUntil", now.Add(Lease))}
}

// Succeeded gives the updates that end a look which applied everything up to
// token.
func Succeeded(now time.Time, token string, mask int64) []store.Update {
	return []store.Update{
		set("syncToken", token), set("maskVersion", mask), set("lastSyncedAt", now), set("lastSuccessAt", now),
		set("failedSince", store.Delete), set("lastError", store.Delete), set("leaseUntil", store.Delete),
		set("parkedUntil", store.Delete),
	}
}

// Leave is the update that leaves a calendar alone until a time.
func Leave(until time.Time) store.Update { return set("parkedUntil", until) }

// Failed gives the updates that end a look which did not get through. Its task
// tries again, or whoever mends the cause asks for another look: none is owed
// here, or each minute's drain would begin one beside them. The reason is shown
// to people and holds no secret.
func (c Calendar) Failed(now time.Time, reason string) []store.Update {
	return append(c.Lost(now, reason), Ended(now)...)
}

// Lost gives the updates of a calendar that is known, without a look, not to be
// readable any more, or not to have been until now: the next good look takes
// off its polls what was said of that.
func (c Calendar) Lost(now time.Time, reason string) []store.Update {
	since := c.FailedSince
	if since.IsZero() {
		since = now
	}
	return []store.Update{set("failedSince", since), set("lastError", reason)}
}

// Ended gives the updates that end a look whose failure is written down already
// (Lost).
func Ended(now time.Time) []store.Update {
	return []store.Update{set("lastSyncedAt", now), Release()}
}

// Overtake gives the updates that take the calendar from a look under way: what
// that still holds is worth nothing. A look is owed by whoever wants one after it.
func (c Calendar) Overtake() []store.Update {
	return []store.Update{set("fence", c.Fence+1), set("leaseUntil", store.Delete)}
}

// ReasonRevoked is why looks fail at a calendar whose account's grant is dead, or
// which was unlinked: nothing helps but that its owner links it again.
const ReasonRevoked = "revoked"

// Revoked tells whether that is known of the calendar.
func (c Calendar) Revoked() bool { return c.LastError == ReasonRevoked }

// Forget gives the updates that drop the cursor and nothing else: the next
// look lists everything.
func Forget() []store.Update { return []store.Update{set("syncToken", store.Delete)} }

// Owe gives the updates that ask for a look, by whatever way it comes.
func Owe() []store.Update { return []store.Update{set("lookDue", true)} }

// Unwatched gives the updates of a sweep that could make no watch channel, and
// how many such sweeps in a row went well: between each and the next a look came
// through, and none fails now.
func (c Calendar) Unwatched(now time.Time) (updates []store.Update, good int64) {
	if !c.SweptAt.IsZero() && !c.SuccessAt.Before(c.SweptAt) && c.FailedSince.IsZero() {
		good = c.GoodSweeps + 1
	}
	return []store.Update{set("sweptAt", now), set("goodSweeps", good)}, good
}

// Link gives the updates, to be merged, that add the interest of one more poll
// and ask for a look. legacyEvent is the event's id where Google made it.
func (c Calendar) Link(now time.Time, ownerID, legacyEvent string) []store.Update {
	updates := []store.Update{
		set("accountId", c.AccountID), set("calendarId", c.CalendarID), set("ownerId", ownerID),
		interest(c.Interests[poll.ConsumerPoll] + 1), set("lookDue", true),
	}
	if c.LookGen == 0 {
		updates = append(updates, set("lookGen", now.UnixMicro()))
	}
	if !c.Wanted() && !c.FailedSince.IsZero() { // linking the account again left it out
		updates = append(updates, set("failedSince", store.Delete), set("lastError", store.Delete))
	}
	if legacyEvent != "" && !slices.Contains(c.LegacyEventIDs, legacyEvent) {
		updates = append(updates, set("legacyEventIds", append(slices.Clone(c.LegacyEventIDs), legacyEvent)))
	}
	return updates
}

// Unlink gives the updates that take the interest of one poll and its event
// away.
func (c Calendar) Unlink(eventID string) []store.Update {
	updates := []store.Update{interest(max(0, c.Interests[poll.ConsumerPoll]-1))}
	if _, pending := c.Pending[eventID]; pending {
		updates = append(updates, Settle(eventID))
	}
	if i := slices.Index(c.LegacyEventIDs, eventID); i >= 0 {
		updates = append(updates, set("legacyEventIds", slices.Delete(slices.Clone(c.LegacyEventIDs), i, i+1)))
	}
	return updates
}

// Exchange gives the updates of an Unlink and a Link in one: a poll's event
// takes the place of its older one in the same calendar.
func (c Calendar) Exchange(oldEvent string) []store.Update {
	updates := c.Unlink(oldEvent)
	updates[0] = interest(max(1, c.Interests[poll.ConsumerPoll]))
	return append(updates, set("lookDue", true))
}

// Park asks for an event to be looked at by itself; the reason is one of the
// Pending constants.
func Park(eventID, reason string) store.Update {
	return store.Update{Path: store.Field("pendingLooks", eventID), Value: reason}
}

// Hold gives the updates that keep the cancellation of an event until its owner,
// who has yet to be told, says so.
func Hold(eventID string) []store.Update {
	return []store.Update{Park(eventID, PendingHeld), set("holdUntold", true)}
}

// Held lists the events that are held, sorted.
func (c Calendar) Held() []string {
	return slices.DeleteFunc(c.PendingEvents(), func(eventID string) bool { return c.Pending[eventID] != PendingHeld })
}

// HoldTold is the update for when the owner was told.
func HoldTold() store.Update { return set("holdUntold", store.Delete) }

// Ask gives the updates that ask for a look at one event by itself, for a
// command. What waits for a person's word, or has it, stays what it is.
func (c Calendar) Ask(eventID string) []store.Update {
	if c.Awaits(eventID) {
		return Owe()
	}
	return append(Owe(), Park(eventID, PendingCommand))
}

// Awaits tells whether an event waits for a person's word, or has it and waits
// for the look.
func (c Calendar) Awaits(eventID string) bool {
	return c.Pending[eventID] == PendingHeld || c.Pending[eventID] == PendingConfirmed
}

// Settled gives the updates that settle what a look asked for, given the
// calendar as it was when the look began. What was asked for anew since, and so
// is owed a look again, or waits for another reason by now, stays.
func (c Calendar) Settled(began Calendar, eventIDs []string) []store.Update {
	var updates []store.Update
	for _, eventID := range eventIDs {
		if !c.LookDue && c.Pending[eventID] == began.Pending[eventID] {
			updates = append(updates, Settle(eventID))
		}
	}
	return updates
}

// Settle ends what Park began.
func Settle(eventID string) store.Update {
	return store.Update{Path: store.Field("pendingLooks", eventID), Value: store.Delete}
}

func interest(count int64) store.Update {
	return store.Update{Path: store.Field("interests", poll.ConsumerPoll), Value: count}
}

func set(name string, value any) store.Update {
	return store.Update{Path: store.Field(name), Value: value}
}

// Release is the update that gives a lease back.
func Release() store.Update { return set("leaseUntil", store.Delete) }
