package mirror

import "time"

// Detail is how much of an event a mirror shows.
type Detail string

// The details, from the least.
const (
	Busy  Detail = "BUSY"  // times alone
	Title Detail = "TITLE" // and the title
	Full  Detail = "FULL"  // and description and location
)

// Target says into which calendar of the account mirrors go.
type Target string

// The targets.
const (
	// Overlay is a calendar of ours in the account, named "External Busy"; colleagues do
	// not see it as busy time.
	Overlay Target = "overlay"
	// PrimaryTarget is the account's own calendar.
	PrimaryTarget Target = "primary"
)

// Edge has the events of one account or calendar mirrored into another account.
type Edge struct {
	FromAccountID string
	// FromCalendarID is "" for the account's primary calendar. An edge of a calendar beats
	// one of its account.
	FromCalendarID string
	ToAccountID    string
	Detail         Detail
	Target         Target
}

// Policy is a document of mirrorPolicies.
type Policy struct {
	// ID is "pol_" and a ULID.
	ID      string
	OwnerID string
	Name    string
	Edges   []Edge
	// Version counts the changes of its edges, from 1.
	Version   int64
	CreatedAt time.Time
	UpdatedAt time.Time
}

// Connection is a document of groupConnections: a member shows the events of a group in
// one of their accounts.
type Connection struct {
	GroupID   string
	AccountID string
	OwnerID   string
	CreatedAt time.Time
	// Ending marks that it was ended: it asks for no more copies, and goes with the last of those
	// in its account, kept ones included.
	Ending bool
}

// Same reports whether another connection is of the same account to the same group.
func (c Connection) Same(other Connection) bool {
	return c.GroupID == other.GroupID && c.AccountID == other.AccountID
}

// Person is a document of mirrorPeople, one for each person who uses mirroring.
type Person struct {
	OwnerID string
	// Overlays are the overlay calendars, by account.
	Overlays map[string]OverlayCalendar
	// PlanDue is when all events of the person must be planned again, since policies, accounts
	// or connections changed; zero: they are planned. PlanAfter is how far that is: a place of
	// EndingAfter. PlanGeneration grows with every request, so that one which arrives
	// during a run is not lost.
	PlanDue        time.Time
	PlanGeneration int64
	PlanAfter      string
	// HeldSince says since when the absence of many events at once awaits a second full
	// listing, by the key of their calendar.
	HeldSince map[string]time.Time
	// HeldEvents are fingerprints of the events that were missing then, by the same keys, or how many
	// were left of them after another listing confirmed it.
	HeldEvents map[string]string
	// Followed are calendars of the person's that are followed although no edge leads from
	// them, since the person made events in them over REST.
	Followed []Place
	// SharesAvailability lets the people of the same polls ask when the person is free.
	SharesAvailability bool
	UpdatedAt          time.Time
}

// OverlayCalendar is our calendar in one account.
type OverlayCalendar struct {
	// CalendarID is "" until it exists.
	CalendarID string
	// Suppressed marks that its owner deleted it: it is not created again until the edges
	// to the account are set again.
	Suppressed bool
	// Generation counts the calendars created for the account.
	Generation int64
	// Mark is the mark of this generation's calendar, "" before the first attempt to create
	// it. Attempts after a restart with another public address search for the same one.
	Mark string
	// TryingUntil is until when an attempt to create it may be under way. A past time means
	// that nobody knows whether the last attempt created it; zero that none did.
	TryingUntil time.Time
}

// Place is a calendar of an account.
type Place struct{ AccountID, CalendarID string }
