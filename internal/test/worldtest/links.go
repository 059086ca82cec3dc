package worldtest

import (
	"context"
	"fmt"
	"time"

	"questscheduler/calendarsync"
	"questscheduler/internal/accounts"
	"questscheduler/internal/calendars"
	"questscheduler/internal/store"
)

// follow carries what became of an account to its calendars; where that fails,
// the drain does it.
func (w *World) follow(accountID string) {
	defer w.carryingOn()()
	if err := w.Links.Follow(w.ctx, accountID, Cause); err != nil {
		w.Verdicts = append(w.Verdicts, fmt.Sprintf("account %s: %v", accountID, err))
	}
	w.judgeLeft()
	w.judgeBack(accountID)
}

// judgeBack: once an account is linked again and settled, no followed calendar of it
// still counts as lost: a sync is pending.
func (w *World) judgeBack(accountID string) {
	defer w.meter.turn(w.meter.turn(checks))
	if status, due := w.accountIs(accountID); status != accounts.Active || due || w.running != nil {
		return
	}
	for _, doc := range w.all(allCalendars) {
		if calendar := calendars.Decode(doc); calendar.AccountID == accountID && calendar.Wanted() && calendar.Revoked() {
			w.wrong("account %s is linked again, and no sync is pending for its calendar %s", accountID, calendar.CalendarID)
		}
	}
}

// followLater is the handler of what is not carried on at once.
func (w *World) followLater(follow run) run {
	return func(ctx context.Context, id string) (time.Time, error) {
		defer w.carryingOn()()
		again, err := follow(ctx, id)
		w.judgeLeft()
		return again, err
	}
}

// FollowDue carries on the change of an account that is due, as a wake does.
func (w *World) FollowDue(accountID string) {
	w.t.Helper()
	_, err := w.runs[calendarsync.LinkKind](w.ctx, accountID)
	w.must(err)
}

// carryingOn notes that what became of an account is carried on, until it ends.
func (w *World) carryingOn() (end func()) {
	before := w.following
	w.following = true
	return func() { w.following = before }
}

// askedFor is how long a channel may be pending: a sweep that asks for it is held up no
// longer in any world, and is refused then.
const askedFor = 15 * time.Minute

// judgeLeft: an account that is unlinked and settled leaves no channel that counts
// as live or that the program must still ask Google to stop. During concurrent
// operations one may just be requested, which Google refuses.
func (w *World) judgeLeft() {
	defer w.meter.turn(w.meter.turn(checks))
	if w.running != nil {
		return
	}
	for _, watch := range w.all(allWatches) {
		f := store.Fields(watch.Data)
		if status := f.String("status"); status == "expired" || status == "error" {
			continue
		}
		if asked := f.Time("createdAt"); f.String("status") == "pending" && w.Clock.Now().Sub(asked) < askedFor {
			continue // by a sweep that stands still and read the account before
		}
		if status, due := w.accountIs(f.String("accountId")); status == accounts.Unlinked && !due {
			w.wrong("channel %s of account %s is left, which was unlinked", watch.Path.ID(), f.String("accountId"))
		}
	}
}

// judgeCall returns a check to run after a call of Google: for an account that was
// unlinked, or whose grant is known to be dead, no call reaches Google but those that
// end the link.
func (w *World) judgeCall(leaving bool, accountID, call string) (after func()) {
	status, due := w.accountIs(accountID)
	if status == accounts.Active || leaving && status == accounts.Unlinked && due {
		return func() {}
	}
	before := w.Google.Control().Calls()
	return func() {
		now := w.Google.Control().Calls()
		if now[call] != before[call] || now["oauth.token"] != before["oauth.token"] {
			w.wrong("%s was called for account %s, which is %s", call, accountID, status)
		}
	}
}

// accountIs is how an account stands, read as no read of the program.
func (w *World) accountIs(id string) (status accounts.Status, due bool) {
	f := store.Fields(w.observed.document(accounts.Path(id)).Data)
	return accounts.Status(f.String("status")), f.Has("due")
}
