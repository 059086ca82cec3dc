package poll

import (
	"time"

	"questscheduler/internal/store"
	"questscheduler/rules"
)

// Sync is schedulers.calendarSync: what the calendar did to a poll.
// It belongs to the server alone.
type Sync struct {
	State        rules.State
	LastSyncedAt time.Time
	// Applied is lastEventFingerprint: the fingerprint last applied.
	Applied rules.Fingerprint
	// Generation counts the finalisations and whatever supersedes one.
	Generation int64
	// Sequence is the least Poll.Sequence.
	Sequence int64
	// Observed is observedUpdated: the newest `updated` of the event that was applied.
	Observed    time.Time
	Baseline    rules.Fingerprint
	Rescheduled *Rescheduled
	Cancelled   *Cancelled
	Error       *SyncError
	// Awaited is the event whose deletion cancelled the poll, and which may come back; nil
	// where there is none, or a person has decided since.
	Awaited *Awaited
	// Recorded is recorded: what the journal knows of the poll.
	Recorded Recorded
	// Request is request: what finalised the poll last, where that has a name.
	Request Request
}

// Request names the request of a finalisation, so that it is recognised when it is repeated.
// The zero one has no name.
type Request struct {
	ID string
	At time.Time
}

// Recorded is what the journal knows of the fields that others write too, as its last entry
// left them: where they differ, somebody edited the document directly. It is zero for a poll
// that was made elsewhere and has no entry yet.
type Recorded struct {
	// At is the last entry's. The next one's is later, whatever the clock says, so entries
	// sort as they were committed.
	At            time.Time
	Status        rules.Status
	WinningSlotID string
	// EventID is the event that the poll named. This Sync is about it, or where it is "" about
	// the one before.
	EventID string
	// Noted is how the event was when an entry last noted it without a change, and
	// NotedUpdated its `updated`: the same again needs no entry. "" for none.
	Noted        string
	NotedUpdated time.Time
}

// Rescheduled says that the calendar moved the session, and how to undo it.
type Rescheduled struct {
	FromSlotID string
	ToSlotID   string
	SnapshotID string
	// At is when the session was moved first, MovedAt when the present time was applied.
	At, MovedAt time.Time
	// Timely is the calendar's last time that was still to come when it was applied; zero:
	// none.
	Timely rules.Fingerprint
}

// MovedTo is the reschedule after another time was taken over from the calendar.
func (r Rescheduled) MovedTo(when rules.Fingerprint, now time.Time) *Rescheduled {
	r.MovedAt = now
	if when.EndTime().After(now) {
		r.Timely = when
	}
	return &r
}

// Awaited is an event whose deletion cancelled its poll, and which the poll still follows: it
// may be restored from the calendar's bin.
type Awaited struct {
	Link  rules.Link
	Until time.Time
	// Winning and Original are the times of the winning slot and the one from before a
	// reschedule, at the cancellation (zero: none). Where a slot has another time by now,
	// somebody has decided since.
	Winning, Original rules.Fingerprint
}

// SyncError is an error of the sync of a poll, as a person reads it.
type SyncError struct {
	At      time.Time
	Code    rules.ErrorCode
	Message string
}

func decodeSync(f store.Fields) Sync {
	s := Sync{
		State: rules.State(f.String("state")), LastSyncedAt: f.Time("lastSyncedAt"),
		Applied: readFingerprint(f.String("lastEventFingerprint")), Generation: f.Int("generation"), Sequence: f.Int("sequence"),
		Observed: f.Time("observedUpdated"), Baseline: readFingerprint(f.Map("baseline").String("fingerprint")),
		Cancelled: decodeCancelled(f.Map("cancelled")),
	}
	if r := f.Map("rescheduled"); len(r) > 0 {
		s.Rescheduled = &Rescheduled{
			FromSlotID: slotNamed(r.String("fromSlotId")), ToSlotID: r.String("toSlotId"),
			SnapshotID: r.String("snapshotId"), At: r.Time("at"), MovedAt: r.Time("movedAt"),
			Timely: readFingerprint(r.String("timely")),
		}
		if s.Rescheduled.MovedAt.IsZero() { // from before it was kept
			s.Rescheduled.MovedAt = s.Rescheduled.At
		}
	}
	if e := f.Map("error"); len(e) > 0 {
		s.Error = &SyncError{At: e.Time("at"), Code: rules.ErrorCode(e.String("code")), Message: e.String("message")}
	}
	if a := f.Map("awaited"); len(a) > 0 {
		s.Awaited = &Awaited{
			Link: rules.Link{
				Account: a.String("account"), Calendar: a.String("calendar"), Event: a.String("event"), Generation: a.Int("generation"),
			},
			Until: a.Time("until"), Winning: readFingerprint(a.String("winning")), Original: readFingerprint(a.String("original")),
		}
	}
	request := f.Map("request")
	s.Request = Request{ID: request.String("id"), At: request.Time("at")}
	recorded := f.Map("recorded")
	s.Recorded = Recorded{
		At: recorded.Time("at"), Status: rules.Status(recorded.String("status")), WinningSlotID: recorded.String("winningSlotId"),
		EventID: recorded.String("eventId"), Noted: recorded.String("noted"), NotedUpdated: recorded.Time("notedUpdated"),
	}
	return s
}

// readFingerprint is lenient: the next sync adopts what the calendar says.
func readFingerprint(text string) rules.Fingerprint {
	fingerprint, err := rules.ParseFingerprint(text)
	if err != nil {
		return rules.Fingerprint{}
	}
	return fingerprint
}

// Rules is what decisions need of the poll: account is the linked event's, winning the winning
// slot, original the one from before a reschedule, or nil.
func (p Poll) Rules(account string, winning, original *Slot) rules.Poll {
	r := rules.Poll{
		Status: p.Status, State: p.Sync.State,
		Link:     rules.Link{Account: account, Calendar: p.GoogleCalendarID, Event: p.GoogleEventID, Generation: p.Sync.Generation},
		Baseline: p.Sync.Baseline, Applied: p.Sync.Applied, AppliedUpdated: p.Sync.Observed,
		FinalizedAt: p.decidedAt(),
	}
	if moved := p.Sync.Rescheduled; moved != nil {
		r.Rescheduled, r.MovedAt, r.Timely = true, moved.MovedAt, moved.Timely
	}
	if p.Sync.Error != nil {
		r.Error = p.Sync.Error.Code
	}
	if winning != nil {
		r.Winning = winning.Fingerprint()
	}
	if original != nil {
		r.Original = original.Fingerprint()
	}
	if awaited := p.Sync.Awaited; awaited != nil && awaited.Link.Generation == p.Sync.Generation && !awaited.slotsEdited(winning, original) {
		r.Awaited, r.AwaitedUntil = awaited.Link, awaited.Until
	}
	return r
}

// decidedAt is when a person last chose the session's time, by finalising or accepting.
func (p Poll) decidedAt() time.Time {
	if ms := p.SlotPriority[p.WinningSlotID]; ms > 0 && time.UnixMilli(ms).After(p.FinalizedAt) {
		return time.UnixMilli(ms).UTC()
	}
	return p.FinalizedAt
}

// SlotsEdited reports whether somebody changed the time of the winning or the original slot of
// a poll that awaits its event, or let another slot win. A missing slot (nil) is made again
// with the event.
func (p Poll) SlotsEdited(winning, original *Slot) bool {
	known := p.Sync.Recorded
	return p.Sync.Awaited != nil &&
		(p.Sync.Awaited.slotsEdited(winning, original) || !known.At.IsZero() && p.WinningSlotID != known.WinningSlotID)
}

func (a Awaited) slotsEdited(winning, original *Slot) bool {
	differs := func(slot *Slot, was rules.Fingerprint) bool {
		return slot != nil && !was.IsZero() && slot.Fingerprint() != was
	}
	return differs(winning, a.Winning) || differs(original, a.Original)
}

// AnnouncedState is the part of the poll's state that is announced.
func (p Poll) AnnouncedState(winning *Slot) rules.AnnouncedState {
	state := rules.AnnouncedState{
		Status: p.Status, Generation: p.Sync.Generation, Baseline: p.Sync.Baseline, Rescheduled: p.Sync.Rescheduled != nil,
		FinalizedAt: p.FinalizedAt,
	}
	if winning != nil {
		state.At = winning.Fingerprint()
	}
	if p.Status == rules.Cancelled && p.Cancelled != nil {
		state.CancelledAt = p.Cancelled.At
	}
	return state
}

// SyncField names a field below calendarSync.
func SyncField(names ...string) store.FieldPath {
	return append(store.FieldPath{"calendarSync"}, names...)
}

// encodeBaseline is calendarSync.baseline; store.Delete for no time.
func encodeBaseline(f rules.Fingerprint) any {
	if f.IsZero() {
		return store.Delete
	}
	baseline := map[string]any{"fingerprint": f.String(), "allDay": f.AllDay}
	for name, value := range times(f) {
		switch name {
		case "start":
			baseline["startUtc"] = value
		case "end":
			baseline["endUtc"] = value
		default:
			baseline[name] = value
		}
	}
	return baseline
}

// field is calendarSync.rescheduled; store.Delete for nil.
func (r *Rescheduled) field() any {
	if r == nil {
		return store.Delete
	}
	fields := map[string]any{
		"fromSlotId": r.FromSlotID, "toSlotId": r.ToSlotID, "snapshotId": r.SnapshotID, "at": r.At, "movedAt": r.MovedAt,
	}
	if !r.Timely.IsZero() {
		fields["timely"] = r.Timely.String()
	}
	return fields
}

// field is calendarSync.awaited; store.Delete for nil.
func (a *Awaited) field() any {
	if a == nil {
		return store.Delete
	}
	return map[string]any{
		"account": a.Link.Account, "calendar": a.Link.Calendar, "event": a.Link.Event, "generation": a.Link.Generation,
		"until": a.Until, "winning": a.Winning.String(), "original": a.Original.String(),
	}
}

// field is calendarSync.error; store.Delete for nil.
func (e *SyncError) field() any {
	if e == nil {
		return store.Delete
	}
	return map[string]any{"at": e.At, "code": string(e.Code), "message": e.Message}
}

// field is calendarSync.request; store.Delete for one without a name.
func (r Request) field() any {
	if r.ID == "" {
		return store.Delete
	}
	return map[string]any{"id": r.ID, "at": r.At}
}

// field is calendarSync.recorded; store.Delete for the zero one.
func (r Recorded) field() any {
	if r == (Recorded{}) {
		return store.Delete
	}
	return r.encode()
}

// field is one of the places where the web app reads a cancellation; store.Delete for nil.
func (c *Cancelled) field() any {
	if c == nil {
		return store.Delete
	}
	return c.encode()
}

func (r Recorded) encode() map[string]any {
	fields := map[string]any{"at": r.At, "status": string(r.Status), "winningSlotId": store.NullIfEmpty(r.WinningSlotID)}
	if r.EventID != "" {
		fields["eventId"] = r.EventID
	}
	if r.Noted != "" {
		fields["noted"], fields["notedUpdated"] = r.Noted, store.NullIfZero(r.NotedUpdated)
	}
	return fields
}

// Set is store.Set, for packages that import poll alone.
func Set(name string, value any) store.Update { return store.Set(name, value) }
