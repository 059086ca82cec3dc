// Package notify tells people what became of their polls: documents in the app,
// messages and cards on Discord.
//
// A transition's own transaction writes what is wanted to be known
// (announcements/{pollId}); when that is due, it is compared with what was
// told before, so that a change that was taken back is never told (see
// rules.Announce). Telling goes through these steps, and a run that ends
// between any two of them is gone on with by the next:
//
//	begin    what is told now is written down       (telling.go),
//	         or put off where there was much already (pace.go)
//	in-app   one document a recipient, by a fixed id (inapp.go)
//	line     one message in the group's channel      (tell.go)
//	finish   told is told; what is newer comes next  (telling.go)
//	card     the poll's card shows what is true      (draw.go)
package notify

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"questscheduler/internal/fault"
	"questscheduler/internal/meter"
	"questscheduler/internal/poll"
	"questscheduler/internal/queue"
	"questscheduler/internal/store"
)

// Which parts of Discord are ours (setting QS_DISCORD_OWN): the messages on
// transitions alone, for a deployment whose own functions draw the card, or
// all.
const (
	OwnTransitions = "transitions"
	OwnAll         = "all"
)

// The channels by which people are told, as they are named in
// announcements/{pollId}.
const (
	ChannelInApp = "in-app"
	ChannelLine  = "discord"
	ChannelCard  = "card"
)

// Announcer carries out announcements. Store, Now and Log are needed.
type Announcer struct {
	Store store.Store
	Now   func() time.Time
	// Discord is nil where there is none: then people are told in the app.
	Discord Discord
	// AppURL is the web app's address, which links lead to; "" leaves links
	// out, and with them the mark by which a message is found again whose
	// answer was lost.
	AppURL string
	// Own is OwnTransitions or OwnAll.
	Own string
	// PerHour is how many notices of a poll are begun in an hour, at least 1 (see
	// pace.go); 0: any number.
	PerHour int
	// Repair carries a direct edit of a poll through, as a hint about its document
	// does. It is called before people are told of a poll that was edited since,
	// so that a change that was taken back directly is not told. nil: what is
	// wanted is told whatever was edited.
	Repair func(ctx context.Context, pollID, trace string) error
	Log    *slog.Logger
	// Meter counts events of meter.go; nil: nothing does.
	Meter meter.Meter
}

// task is the payload of announce tasks.
type task struct {
	ID    string `json:"id"` // the poll's
	Trace string `json:"trace"`
}

// Handle carries out a task of kind poll.AnnounceKind: it tells what is owed of
// the poll and due, and brings its card up to date. A task of a poll that owes
// nothing, or has no announcement, is for the card alone; one of a poll that
// is gone does nothing.
//
// Later says that it is not due yet, or that something newer came up while it
// was told. What is put off ends Done: the drain hands it over when it is due, so
// that the tasks of many changes do not wait beside each other. Retry says that the
// store or Discord did not answer; nothing that was done is done again. What Discord refuses for good is recorded and holds
// up nothing. Permanent is for a payload that names no poll.
func (a *Announcer) Handle(ctx context.Context, delivery queue.Delivery) queue.Verdict {
	var work task
	if err := json.Unmarshal(delivery.Payload, &work); err != nil || strings.Contains(work.ID, "/") || poll.Path(work.ID).Valid() != nil {
		return queue.Verdict{Outcome: queue.Permanent, Err: errors.New("announce: the payload names no poll")}
	}
	again, err := a.announce(ctx, work, delivery.Attempt > 1)
	switch {
	case err != nil:
		err = fmt.Errorf("poll %s: announce: %w", work.ID, err)
		after := fault.RetryAfter(err)
		if left := a.leaveAlone(ctx, work.ID, max(after, queue.Backoff(delivery.Attempt, nil))+queue.Grace); left != nil {
			err = errors.Join(err, left)
		}
		return queue.Verdict{Outcome: queue.Retry, After: after, Err: err}
	case again.needed:
		return queue.Verdict{Outcome: queue.Later, After: again.after}
	default:
		return queue.Verdict{Outcome: queue.Done}
	}
}

// leaveAlone has the drain leave to this task for a while what it could not
// announce.
func (a *Announcer) leaveAlone(ctx context.Context, pollID string, wait time.Duration) error {
	return a.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		announcement, err := poll.LoadAnnouncement(ctx, tx, pollID)
		if err != nil || announcement.Due.IsZero() {
			return err
		}
		return tx.Update(poll.AnnouncementPath(pollID), poll.AgainUpdate(store.Instant(a.Now().Add(wait))))
	})
}

// turn is when a task is to run again though nothing failed.
type turn struct {
	needed bool
	after  time.Duration
}

// announce is Handle. rerun says that an earlier run of the task ended without
// a verdict, or with Retry.
func (a *Announcer) announce(ctx context.Context, work task, rerun bool) (turn, error) {
	telling, err := a.begin(ctx, work.ID, a.Repair != nil)
	if err == nil && telling.edited {
		if err = a.Repair(ctx, work.ID, work.Trace); err == nil {
			telling, err = a.begin(ctx, work.ID, false) // what cannot be repaired is told all the same
		}
	}
	if err != nil || telling.gone {
		return turn{}, err
	}
	if telling.wait > 0 {
		return turn{true, telling.wait}, nil
	}
	next := turn{}
	if telling.told.Ref != "" {
		if next, err = a.tell(ctx, telling, work.Trace); err != nil {
			return turn{}, err
		}
	}
	return next, a.drawCard(ctx, work.ID, rerun || telling.resumed)
}

// company is a poll with its group (nil where it has none).
type company struct {
	poll  poll.Poll
	group *poll.Group
}

func (a *Announcer) company(ctx context.Context, pollID string) (c company, err error) {
	if c.poll, err = poll.Load(ctx, a.Store, pollID); err != nil {
		return company{}, err
	}
	c.group, err = poll.LoadGroup(ctx, a.Store, c.poll.GroupID)
	return c, err
}

// channelID is the channel of a group; "" where it has none.
func channelID(group *poll.Group) string {
	if group == nil {
		return ""
	}
	return group.Discord.ChannelID
}
