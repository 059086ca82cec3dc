package calendarsync

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/calendars"
	"questscheduler/internal/store"
	"questscheduler/scheduler"
)

// Push is Google's notice that a calendar changed. It names the channel, not the change.
type Push struct {
	ChannelID  string
	Token      string
	ResourceID string
	State      string // sync, exists or not_exists
	// Expiration is when Google ends the channel; zero if not given.
	Expiration time.Time
	Trace      string
	// Admit, if set, is called once before anything is read, with whether the token alone
	// proves that it was made here for the channel. Its error refuses the push and is
	// returned unchanged.
	Admit func(proven bool) error
}

// Tokens makes and verifies the tokens of watch channels (seal.Keys), without the store.
type Tokens interface {
	ChannelToken(channelID string) (string, error)
	// VerifyChannelToken reports whether a token was made for that channel (valid), and
	// whether the keys here decide that (signed).
	VerifyChannelToken(token, channelID string) (signed, valid bool)
}

// stateSync is the state of a channel's first push, which only says that it is open.
const stateSync = "sync"

// errForged refuses a push that is not authentic. The message is the same for every
// reason; the reason is logged.
func errForged(reason string) error {
	return fault.Wrap(fault.Unauthenticated, errors.New(reason), "This push is not one of ours. Check the channel and its token.")
}

// Push authenticates a push and requests a sync run that begins after it: the request is in
// the calendar's document before Push returns. Unauthenticated: unknown channel, or wrong
// token or resource. Other errors: perhaps nothing was requested, and Google should send the
// push again.
//
// A token in the format of Tokens that was not made for the channel is refused without a
// read. The channel's document verifies the random tokens of older channels, and tokens
// under an unknown key, which another instance may have during a change of keys.
func (w *Watcher) Push(ctx context.Context, push Push) error {
	if push.ChannelID == "" || push.Token == "" || len(push.ChannelID) > 64 || len(push.Token) > 256 ||
		strings.Contains(push.ChannelID, "/") || watchPath(push.ChannelID).Valid() != nil {
		return errForged("no channel of ours has such an id or token")
	}
	if err := w.admit(push); err != nil {
		w.Meter.Count(PushRefused{})
		return err
	}
	watch, err := w.authenticate(ctx, push)
	if err != nil {
		return err
	}
	if push.State == stateSync {
		return nil
	}
	return w.requestSync(ctx, watch.CalendarKey, scheduler.Cause{Trigger: calendars.TriggerPush, Trace: push.Trace})
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

// authenticate returns the channel that a push proves to come from.
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
		w.Meter.Count(PushRefused{})
		return Watch{}, errForged(reason)
	}
	w.confirmByPush(ctx, watch, push)
	if watch.Status == Active {
		w.cache.put(watch, now)
	}
	return watch, nil
}

// refusal is the reason to refuse a push of a channel; "" accepts it.
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

// requestSync requests a calendar's next run, and has it begin. Nothing is written for a
// calendar that nothing follows, and none but the first of many triggers writes and wakes: a
// request that no run took is covered by the run that does, which lists after that.
func (w *Watcher) requestSync(ctx context.Context, key string, cause scheduler.Cause) error {
	if w.Alone {
		// What is requested now is taken later, by a run that lists after that.
		if calendar, _, err := calendars.LoadKey(ctx, w.Store, key); err == nil && calendar.Asked() {
			return nil
		}
	}
	var request calendars.Request
	requested := false
	err := w.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		request, requested = cause.Request(w.Now()), false
		calendar, _, err := calendars.LoadKey(ctx, tx, key)
		if err != nil || !calendar.Wanted() || calendar.Asked() {
			return err
		}
		requested = true
		return tx.Update(calendars.Path(key), calendars.RequestSync(request)...)
	})
	if err != nil {
		return fmt.Errorf("calendar %s: request sync: %w", key, err)
	}
	if requested {
		w.Outbox.Soon(ctx, calendars.SyncKind, key, request.At)
	}
	return nil
}
