package mirror

import (
	"fmt"
	"strings"
	"time"

	"questscheduler/internal/ids"
)

// EventPrefix begins the id of every mirror's event. It is no prefix of a poll's event id
// (poll.EventPrefix), nor the reverse. Google takes the characters a to v and 0 to 9.
const EventPrefix = "questmirror"

// State is where a mirror stands.
type State string

// The states, as stored and as the API shows them.
const (
	Pending    State = "PENDING"    // its event must be created or changed
	Active     State = "ACTIVE"     // its event is as wanted
	Deleting   State = "DELETING"   // its event must be deleted; the mirror goes with it
	Suppressed State = "SUPPRESSED" // a person deleted it twice within a day: left alone
	Covered    State = "COVERED"    // its calendar shows the meeting already; it has no event
	Contested  State = "CONTESTED"  // a person keeps changing it, or IsLooping: left alone
	Failed     State = "ERROR"      // writing it failed five times, or was refused for good; retried daily
)

// States are all there are.
var States = []State{Pending, Active, Deleting, Suppressed, Covered, Contested, Failed}

// Mirror is a document of mirrors: one canonical event in one account that should show
// it. It is its own outbox: a writer brings the calendar to what the document wants, so
// no other record of pending writes exists.
type Mirror struct {
	// ID is MirrorID of the canonical event and the target account.
	ID string
	// OwnerID owns the target account.
	OwnerID     string
	CanonicalID string
	ICalUID     string
	// FromAccountID and FromCalendarID are the origin's; "" for a group's event.
	FromAccountID  string
	FromCalendarID string
	// GroupID is set if a connection to the group asks for the mirror.
	GroupID         string
	TargetAccountID string
	// TargetCalendarID is "" until the overlay calendar exists.
	TargetCalendarID string
	Target           Target
	Detail           Detail
	// SeriesMirrorID is the mirror of the series, for the mirror of an exception: its event
	// is an instance of that mirror's event. "" for others.
	SeriesMirrorID string
	// Generation grows after each confirmed deletion of the event, before the next insert.
	Generation int64
	// EventID is EventID of the generation; for an exception the id of the instance, "" until
	// it was found.
	EventID string
	// Wanted is what the calendar should show, as mirrors/plan encodes it: mostly the hash of
	// the projection, "" for nothing. Written is the Wanted of the last write, "" if none or
	// if it was overwritten; Answered the hash of what the calendar showed last.
	Wanted, Written, Answered string
	// ETag and AnsweredAt are the answer's etag and time of change (Google's clock), or those
	// of a later observation. ETag is "" until the event of this generation is known to exist.
	ETag       string
	AnsweredAt time.Time
	// Replacing marks that the event must be deleted before the next generation is written,
	// in the calendar that Target then means.
	Replacing bool
	State     State
	// Due is when the writer should next take it up; zero if there is nothing to do.
	Due time.Time
	// Trace correlates its writes with the change that last called for one.
	Trace string
	// NotBefore is until when a write waits because its series has many exceptions; zero or
	// past for others. A deletion does not wait.
	NotBefore time.Time
	// Attempts counts failures since the last success.
	Attempts  int64
	LastError string
	// FailedSince is when it last became ERROR.
	FailedSince time.Time
	// LastWrite is when the event was last written.
	LastWrite time.Time
	// Reverts are when changes by a person were reverted, and DeletedAt when the event was
	// last deleted by a person, within the last day.
	Reverts   []time.Time
	DeletedAt time.Time
	// Ends is the Until of the canonical event; mirrors of groups' events go 90 days after.
	Ends      time.Time
	CreatedAt time.Time
	UpdatedAt time.Time
}

// IsLooping reports whether the mirror is not made because its canonical event is another
// program's copy of mirrors of ours, and would be copied back again.
func (m Mirror) IsLooping() bool { return m.State == Contested && m.Wanted == "" }

// IDOf names the mirror of a canonical event in an account.
func IDOf(canonicalID, targetAccountID string) string {
	return "mir_" + hash(canonicalID, targetAccountID)
}

// EventID is the id of the event of a mirror's generation in a calendar: always the same,
// so an insert whose answer was lost is found again. installation names the deployment.
func EventID(installation, canonicalID, targetAccountID, targetCalendarID string, generation int64) string {
	return EventPrefix + hash(installation, canonicalID, targetAccountID, targetCalendarID, fmt.Sprint(generation))
}

// APIEventPrefix begins the id of every event that a person makes over REST.
const APIEventPrefix = "questevent"

// APIEventID is the id of the event that a person's request makes: always the same, so a
// request whose answer was lost finds its event again.
func APIEventID(ownerID, request string) string { return APIEventPrefix + hash(ownerID, request) }

// IsMirror reports whether an event id, or that of a series that an instance belongs to,
// begins like a mirror's. Anybody can choose such an id: NamingOf says which event is ours.
func IsMirror(eventID string) bool { return strings.HasPrefix(eventID, EventPrefix) }

func hash(parts ...string) string { return ids.Of(parts...).Google() }
