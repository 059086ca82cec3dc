package calendarsync

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"questscheduler/internal/calendars"
	"questscheduler/internal/fault"
)

// Push is what Google says when a calendar changed: which channel, and nothing
// of what changed.
type Push struct {
	ChannelID  string
	Token      string
	ResourceID string
	State      string // sync, exists or not_exists
	// Expiration is when Google ends the channel; zero: it does not say.
	Expiration time.Time
	Trace      string
	// Admit is called once, before anything is read, with whether the token proves
	// by itself that it was made here for the channel. Its error refuses the push and
	// is returned as it is. nil: every push is admitted.
	Admit func(proven bool) error
}

// Tokens makes and verifies the tokens of watch channels (seal.Keys). Neither
// reads anything that is stored.
type Tokens interface {
	// ChannelToken makes the token of a channel.
	ChannelToken(channelID string) (string, error)
	// VerifyChannelToken reports whether a token was made for that channel (valid), and
	// whether the keys here decide that (signed).
	VerifyChannelToken(token, channelID string) (signed, valid bool)
}

// stateSync is the first push of a channel, which says only that it is open.
const stateSync = "sync"

// errForged is the answer to a push that does not prove where it comes from. Its
// sentence is the same for every reason; the reason is for the log.
func errForged(reason string) error {
	return fault.Wrap(fault.Unauthenticated, errors.New(reason), "This push is not one of ours. Check the channel and its token.")
}

// Push authenticates a push and hands a look over: it is here that a forged
// push is told from Google's. Nothing is read of the calendar. After nil a look
// follows that begins later than the push. Unauthenticated: the channel is not
// known, or token or resource do not fit; Unavailable: nothing was handed over,
// Google is to send it again.
//
// A token in the form of Tokens that was not made for the channel is refused
// without a read. Only the channel's document can verify the random tokens of
// channels from before that form, and those under a key that is not here: during a
// change of keys another instance may have it already.
func (w *Watcher) Push(ctx context.Context, push Push) error {
	if push.ChannelID == "" || push.Token == "" || len(push.ChannelID) > 64 || len(push.Token) > 256 ||
		strings.Contains(push.ChannelID, "/") || watchPath(push.ChannelID).Valid() != nil {
		return errForged("no channel of ours has such an id or token")
	}
	if err := w.admit(push); err != nil {
		w.meter().PushRefused()
		return err
	}
	watch, err := w.authenticate(ctx, push)
	if err != nil {
		return err
	}
	if push.State == stateSync {
		return nil
	}
	return w.enqueueSync(ctx, watch.CalendarKey, "push", push.Trace)
}

// admit refuses what can be refused before anything is read.
func (w *Watcher) admit(push Push) error {
	signed, valid := w.Tokens.VerifyChannelToken(push.Token, push.ChannelID)
	if push.Admit != nil {
		if err := push.Admit(valid); err != nil {
			return err
		}
	}
	if signed && !valid {
		return errForged("no key of QS_ENC_KEYS made the token for this channel")
	}
	return nil
}

// channelOf is the channel that a push proves to come by.
func (w *Watcher) authenticate(ctx context.Context, push Push) (Watch, error) {
	now := w.Now()
	if watch, ok := w.cache.get(push.ChannelID, now); ok && watch.authentic(push.Token, push.ResourceID) {
		return watch, nil
	}
	doc, err := w.Store.Get(ctx, watchPath(push.ChannelID))
	if err != nil {
		return Watch{}, fmt.Errorf("push: %w", err)
	}
	watch := decodeWatch(doc)
	if reason := watch.refusal(doc.Exists(), push); reason != "" {
		w.meter().PushRefused()
		return Watch{}, errForged(reason)
	}
	w.confirmByPush(ctx, watch, push)
	if watch.Status == Active {
		w.cache.put(watch, now)
	}
	return watch, nil
}

// refuses says why a push by a channel is not taken; "": it is.
func (w Watch) refusal(known bool, push Push) string {
	switch {
	case !known:
		return "the channel is not known"
	case !w.accepted():
		return "the channel's status is " + string(w.Status)
	case !w.authentic(push.Token, push.ResourceID):
		return "token or resource id is not the channel's"
	default:
		return ""
	}
}

// enqueueLook hands the next look of a calendar over. A calendar without a
// document is followed by nothing.
//
// Where the name is taken, the hint is covered: a look's claim is what moves
// the generation, so the task of the generation read here either has not begun,
// or began after this hint came.
func (w *Watcher) enqueueSync(ctx context.Context, key, trigger, trace string) error {
	calendar, ok, err := calendars.LoadKey(ctx, w.Store, key)
	if err != nil || !ok {
		return err
	}
	if _, err := w.Queue.Enqueue(ctx, calendars.LookTask(calendar, trigger, trace)); err != nil {
		return fmt.Errorf("calendar %s: enqueue look: %w", key, err)
	}
	return nil
}
