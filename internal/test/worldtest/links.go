package worldtest

import (
	"fmt"
	"time"

	"questscheduler/internal/accounts"
	"questscheduler/internal/calendars"
	"questscheduler/internal/store"
	"questscheduler/scheduler"
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

// judgeBack: of an account that is linked again, and settled, no calendar that
// something follows is still taken for lost: a look at it is to come.
func (w *World) judgeBack(accountID string) {
	defer w.meter.turn(w.meter.turn(checks))
	if status, due := w.accountIs(accountID); status != accounts.Active || due || w.running != nil {
		return
	}
	for _, doc := range w.all(allCalendars) {
		if calendar := calendars.Decode(doc); calendar.AccountID == accountID && calendar.Wanted() && calendar.Revoked() {
			w.wrong("account %s is linked again, and nobody looks at its calendar %s", accountID, calendar.CalendarID)
		}
	}
}

// followDue is what the drain does of it.
func (w *World) followDue() {
	defer w.carryingOn()()
	if _, err := w.Links.FollowDue(w.ctx, scheduler.Cause{Trigger: "drain", Trace: "drain"}); err != nil {
		w.Verdicts = append(w.Verdicts, fmt.Sprintf("accounts: %v", err))
	}
	w.judgeLeft()
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

// judgeLeft: an account that is unlinked, and settled, leaves no channel that
// would be counted on or that Google still has to be asked to stop. Amid other
// things one may just be asked for, which is refused.
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

// judgeCall gives what is to be done after a call of Google: in the name of an
// account whose grant is known to be dead, or which was unlinked, none reaches
// it, but for those that say goodbye.
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
	return accounts.Status(f.String("status")), f.Bool("due")
}
