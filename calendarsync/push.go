package calendarsync

import (
	"context"
	"fmt"
	"strings"
	"time"

	"questscheduler/cursor"
	"questscheduler/fault"
)

// Push is what Google says when a calendar changed: which channel, and nothing
// of what changed (external-apis.md, "Watch channels and push").
type Push struct {
	ChannelID  string
	Token      string
	ResourceID string
	State      string // sync, exists or not_exists
	// Expiration is when Google ends the channel; zero: it does not say.
	Expiration time.Time
	Trace      string
}

// stateSync is the first push of a channel, which says only that it is open.
const stateSync = "sync"

// errForged is the answer to a push that does not prove where it comes from,
// whatever it is that does not fit.
func errForged() error {
	return fault.New(fault.Unauthenticated, "This push is not one of ours. Check the channel and its token.")
}

// Push authenticates a push and hands a look over: it is here that a forged
// push is told from Google's. Nothing is read of the calendar. After nil a look
// follows that begins later than the push. Unauthenticated: the channel is not
// known, or token or resource do not fit; Unavailable: nothing was handed over,
// Google is to send it again.
func (w *Watcher) Push(ctx context.Context, push Push) error {
	if push.ChannelID == "" || push.Token == "" || len(push.ChannelID) > 64 || len(push.Token) > 256 ||
		strings.Contains(push.ChannelID, "/") || watchPath(push.ChannelID).Valid() != nil {
		return errForged()
	}
	watch, err := w.channelOf(ctx, push)
	if err != nil {
		return err
	}
	if push.State == stateSync {
		return nil
	}
	return w.enqueueLook(ctx, watch.CalendarKey, "push", push.Trace)
}

// channelOf is the channel that a push proves to come by.
func (w *Watcher) channelOf(ctx context.Context, push Push) (Watch, error) {
	now := w.Now()
	if watch, ok := w.known.of(push.ChannelID, now); ok && watch.authentic(push.Token, push.ResourceID) {
		return watch, nil
	}
	doc, err := w.Store.Get(ctx, watchPath(push.ChannelID))
	if err != nil {
		return Watch{}, fmt.Errorf("push: %w", err)
	}
	watch := decodeWatch(doc)
	if !doc.Exists() || !watch.accepted() || !watch.authentic(push.Token, push.ResourceID) {
		w.meter().PushRefused()
		w.Log.WarnContext(ctx, "push refused", "channel_known", doc.Exists(), "status", watch.Status, "trace", push.Trace)
		return Watch{}, errForged()
	}
	w.heard(ctx, watch, push)
	if watch.Status == Active {
		w.known.remember(watch, now)
	}
	return watch, nil
}

// enqueueLook hands the next look of a calendar over. A calendar without a
// document is followed by nothing.
//
// Where the name is taken, the hint is covered: a look's claim is what moves
// the generation, so the task of the generation read here either has not begun,
// or began after this hint came.
func (w *Watcher) enqueueLook(ctx context.Context, key, hint, trace string) error {
	calendar, ok, err := cursor.LoadKey(ctx, w.Store, key)
	if err != nil || !ok {
		return err
	}
	if _, err := w.Queue.Enqueue(ctx, cursor.LookTask(calendar, hint, trace)); err != nil {
		return fmt.Errorf("calendar %s: enqueue look: %w", key, err)
	}
	return nil
}
