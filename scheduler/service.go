// Package scheduler carries out people's commands on polls, and applies the rules' decisions.
//
// Every change of a poll is one store transaction: the scheduler reads, transition
// works the change out, and apply writes it. Calendar calls happen between transactions, under
// an intent that was written before, so a crash at any point leaves something that completes
// or undoes the work (insert.go).
package scheduler

import (
	"context"
	"log/slog"
	"time"

	"questscheduler/internal/calendars"
	"questscheduler/internal/meter"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/rules"
)

// Person is the caller of a command.
type Person struct {
	ID    string
	Email string // lower case; "" where it is not verified
	Admin bool
}

// Cause is the trigger of an action, for journal and logs.
type Cause struct {
	Trigger string // such as person, push, timer
	Trace   string // correlates all effects of one trigger
	// Person is the id of the person who commanded it; "" if nobody did.
	Person string
	// Interaction is the id of the Discord interaction that commanded it; "" if none did. The
	// transaction of a vote or another command records it (discord.InteractionPath), so that it
	// takes effect once: a repeat is a Conflict with discord.CodeInteractionDone. Where what it did
	// stands, creating and finalising answer a repeat with that.
	Interaction string
	// Quiet is for linking many events at once: cards stay as they are, and the drain starts
	// the syncs, one a calendar.
	Quiet bool
}

// Request asks for a sync of a calendar for this cause.
func (c Cause) Request(at time.Time) calendars.Request {
	return calendars.Request{At: at, Trigger: c.Trigger, Trace: c.Trace}
}

// Calendar is what finalising, restoring and deleting need of a calendar provider. Its errors have the kinds
// NotFound, Revoked, RateLimited, Exhausted, Provider (refused for good), Conflict with
// CodeTaken if the event id is in use, Unavailable (the effect may have taken place).
type Calendar interface {
	// Insert makes the event of an intent, under the intent's own event id.
	Insert(ctx context.Context, intent poll.Intent) (CalendarEvent, error)
	// Get reads one event, deleted ones included.
	Get(ctx context.Context, accountID, calendarID, eventID string) (CalendarEvent, error)
	// Move gives an event, as it was read, another time. Conflict with code
	// CodeStale where it changed since.
	Move(ctx context.Context, at poll.Place, event CalendarEvent, to rules.Fingerprint, zone string) (CalendarEvent, error)
	// Delete removes an event; deleted is false, without an error, for one that is
	// not there. NotFound: it is the calendar that is not there.
	Delete(ctx context.Context, accountID, calendarID, eventID string) (deleted bool, err error)
	// Find searches the other calendars of the same person for a missing event of ours; nil
	// where all answered and none has it, Unavailable where some did not.
	Find(ctx context.Context, missing Missing) (*Found, error)
	// MayFollow reports whether the account may make events in the calendar, and confirm
	// deletions.
	MayFollow(ctx context.Context, accountID, calendarID string) (bool, error)
}

// Found is where an event was moved to, and the event as it is there.
type Found struct {
	poll.Place
	CalendarEvent
}

// Codes of a Calendar's Conflicts: an event id is taken; an event is not the one that was read.
const (
	CodeTaken = "duplicate"
	CodeStale = "stale"
)

// CodeCalendarReadOnly (Forbidden) is a finalisation into a calendar whose events
// the account may not make, or whose deletions it could not confirm.
const CodeCalendarReadOnly = "calendar_read_only"

// CalendarEvent is an event as the calendar shows it.
type CalendarEvent struct {
	ID string
	// Version changes with every change of the event.
	Version     string
	EventState  rules.EventState
	Fingerprint rules.Fingerprint
	Updated     time.Time
	// Poll and Generation are the private marks of an event that we made.
	Poll       string
	Generation int64
	// MovedTo is the calendar that the event was found in; the zero place where it was made.
	MovedTo poll.Place
}

// at is where the event of an insert is.
func (e CalendarEvent) at(intent poll.Intent) poll.Place {
	if e.MovedTo == (poll.Place{}) {
		return intent.Place()
	}
	return e.MovedTo
}

// Outbox begins work that a transaction recorded (outbox.Outbox).
type Outbox interface {
	// Soon has an entry of a kind carried out when it is due. It is best effort.
	Soon(ctx context.Context, kind, id string, due time.Time)
}

// Accounts chooses the linked account and the calendar of a finalisation.
type Accounts interface {
	// Choose gives the account and the calendar's real id. "" leaves the choice: the account
	// that owns the calendar, else the first linked; its primary calendar. NotFound for
	// another person's account, Revoked where none is linked or its grant is dead.
	Choose(ctx context.Context, ownerID, accountID, calendarID string) (account, calendar string, err error)
}

// CodeStillWatched is the code of an error about a watch channel that could not be renewed, and
// still lives.
const CodeStillWatched = "still_watched"

// Watches makes sure of watch channels.
type Watches interface {
	// Ensure makes a watch channel for a calendar unless one lives and lasts. Its failure is
	// retried, and fails nothing else (CodeStillWatched: the old channel still lives).
	Ensure(ctx context.Context, accountID, calendarID string) error
}

// Channels knows the channels of Discord. Errors: NotFound and Forbidden for a channel that the
// bot does not see, Provider where Discord refuses the bot for good, RateLimited, Unavailable.
type Channels interface {
	// GuildOf gives the id of the guild that a channel belongs to; "" for one of no guild.
	GuildOf(ctx context.Context, channelID string) (string, error)
}

// IDs makes identifiers: UUIDs for shared documents, ULIDs with a prefix for our own.
type IDs struct {
	UUID func() string
	ULID func(prefix string) string
}

// Service carries out commands and decisions. All fields are needed but those
// that say what holds without them.
type Service struct {
	Store    store.Store
	Outbox   Outbox
	Calendar Calendar
	Accounts Accounts
	Watches  Watches
	// Channels, where set, checks the channels that groups are given; nil: there
	// is no Discord, and a group can be given none.
	Channels Channels
	Now      func() time.Time
	// Wait returns after the duration, or earlier with ctx's error.
	Wait func(ctx context.Context, d time.Duration) error
	IDs  IDs
	// Settle is how long a transition rests before it is announced.
	Settle time.Duration
	// AppNoticeDelay is how long at least a cancellation by the web app rests, for the app's
	// functions to announce it (AnnouncedByApp); zero where the app has none.
	AppNoticeDelay time.Duration
	// SnapshotKeep is how long a snapshot is kept.
	SnapshotKeep time.Duration
	// GroupsPerPerson is how many groups one person may have created; 0:
	// DefaultGroupsPerPerson.
	GroupsPerPerson int
	// Shares reports whether any of a poll's session is shared with its group, or was; groupID is
	// "" where the group is not known (groupevents.Shares). nil: it may be.
	Shares func(ctx context.Context, reader store.Reader, pollID, groupID string) (bool, error)
	// MembersListed says that nobody but the person and the server can have listed a member of a
	// group, so being listed proves acceptance (poll.Group.Listed).
	MembersListed bool
	Log           *slog.Logger
	// Meter counts events of meter.go; nil: nothing does.
	Meter meter.Meter
}
