// Package groupevents keeps the events that a group shares: its members connect accounts of
// theirs, and each event of the group shows in all of them. With share_sessions, so do the
// sessions of the group's finalised polls.
//
// An event of a group is one canonical event (mirror.Event) and is planned once for each
// member, as that member's own mirrors. A transaction that changes an event makes its PlanAt
// due; one that changes connections, settings or members records the planning that it calls for
// (poll.GroupWork). So a crash in between leaves work that the drain finds. Membership decides in
// the transaction of each change: somebody who left a group gets nothing new, even where the web
// app removed them directly.
package groupevents

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/mirror"
	"questscheduler/internal/outbox"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/scheduler"
)

// Keep is how long after its end an event and its mirrors stay on record.
const Keep = 90 * 24 * time.Hour

// Planner decides about mirrors: mirrors.Service.
type Planner interface {
	// PlanUID decides about a person's mirrors of the events with one iCalUID. It is
	// idempotent.
	PlanUID(ctx context.Context, ownerID, icalUID string, cause scheduler.Cause) error
	// PlanEventSoon has a group's event planned for everybody once its PlanAt has come, when
	// the drain finds it too.
	PlanEventSoon(ctx context.Context, event mirror.Event)
	// ChangeConnections has what a person's connections call for followed and planned, in the
	// transaction that changes them, which reads before it and writes afterwards. Call begin
	// after the commit.
	ChangeConnections(
		ctx context.Context, tx store.Tx, ownerID string, cause scheduler.Cause, change func([]mirror.Connection) []mirror.Connection,
	) (begin func(context.Context), err error)
	// EndConnection has the copies in an account deleted, kept ones included, and then the
	// connection removed, which need not exist any more. It is idempotent.
	EndConnection(ctx context.Context, c mirror.Connection, cause scheduler.Cause) error
	// RestoreKept makes mirrors again of some of the copies that an ending connection kept; more
	// reports that some are left. It is idempotent.
	RestoreKept(ctx context.Context, c mirror.Connection) (more bool, err error)
}

// Service carries out what members do with the events of their groups. All fields but
// Settle, ReadOnly and CheckCards are needed.
type Service struct {
	Store store.Store
	// Outbox carries out Work.
	Outbox *outbox.Outbox
	Plans  Planner
	// Settle is how long a changed event rests before its copies follow.
	Settle time.Duration
	// ReadOnly refuses what would write to calendars (QS_SYNC=off or observe). What follows
	// from other changes is still planned, for the journal.
	ReadOnly bool
	// CheckCards checks a page of the cards of a group's polls (scheduler.Service.CheckCards); nil:
	// this server draws none.
	CheckCards func(ctx context.Context, groupID, at string, cause scheduler.Cause) (next string, err error)
	Now        func() time.Time
	// NewID makes a ULID with a prefix, such as evt_01H….
	NewID func(prefix string) string
	Log   *slog.Logger
}

func errNoGroup() error {
	return fault.New(fault.NotFound, "There is no such group, or you do not belong to it.")
}

func errNoEvent() error {
	return fault.New(fault.NotFound, "There is no such event in this group. List the group's events for the references there are.")
}

// Writes refuses a request that would write to calendars while the server only observes
// them (Unavailable).
func (s *Service) Writes() error {
	if s.ReadOnly {
		return fault.New(fault.Unavailable, "This server only observes calendars for now (QS_SYNC). Try again once it writes to them.")
	}
	return nil
}

// member loads a group that a person belongs to. NotFound for everybody else, invitees too.
func member(ctx context.Context, reader store.Reader, personID, groupID string) (poll.Group, error) {
	if poll.GroupPath(groupID).Valid() != nil {
		return poll.Group{}, errNoGroup()
	}
	group, err := poll.LoadGroup(ctx, reader, groupID)
	if err == nil && !group.Has(personID) {
		err = errNoGroup()
	}
	if err != nil {
		return poll.Group{}, err
	}
	return *group, nil
}

// errFormer is the outcome of a transaction that met connections of former members.
var errFormer = errors.New("people who left the group are still connected")

// formerRetries is how often a change is tried again after former members were disconnected.
const formerRetries = 3

// change runs a transaction of a group's member that leads to new planning. It first
// disconnects former members of the group, whose planning would show them the change.
func (s *Service) change(
	ctx context.Context, groupID string, cause scheduler.Cause, fn func(ctx context.Context, tx store.Tx) error,
) error {
	for try := 0; ; try++ {
		err := s.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
			former, err := formerConnections(ctx, tx, groupID)
			if err == nil && len(former) > 0 {
				err = errFormer
			}
			if err != nil {
				return err
			}
			return fn(ctx, tx)
		})
		if !errors.Is(err, errFormer) {
			return err
		}
		if try == formerRetries {
			return fault.Wrap(fault.Unavailable, err, "The members of this group keep changing. Try again.")
		}
		if _, err := s.Prune(ctx, groupID, cause); err != nil {
			return err
		}
	}
}

// formerConnections lists the connections of people who do not belong to the group any more. Those
// of a group that is gone are left to EndConnections, which sees whether others are gone too.
func formerConnections(ctx context.Context, reader store.Reader, groupID string) (former []mirror.Connection, err error) {
	group, err := poll.LoadGroup(ctx, reader, groupID)
	if err != nil || group == nil {
		return nil, err
	}
	connections, err := mirror.ConnectionsOfGroup(ctx, reader, groupID)
	if err != nil {
		return nil, err
	}
	for _, connection := range connections {
		if !group.Has(connection.OwnerID) {
			former = append(former, connection)
		}
	}
	return former, nil
}
