package calendarsync_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"questscheduler/calendarsync"
	"questscheduler/fault"
	"questscheduler/internal/accounts"
	"questscheduler/internal/test/worldtest"
	"questscheduler/scheduler"
)

// listener stands in for mirroring, which is above this package.
type listener struct {
	w     *worldtest.World
	name  string
	err   error
	calls *[]string
	// revoked is how many grants were given back when it was last called.
	revoked int
}

func (m *listener) AccountLeaving(context.Context, accounts.Account, scheduler.Cause) error {
	*m.calls = append(*m.calls, "leaving "+m.name)
	m.revoked = m.w.Calls("oauth.revoke")
	return m.err
}

func (m *listener) AccountBack(context.Context, accounts.Account, scheduler.Cause) error {
	*m.calls = append(*m.calls, "back "+m.name)
	return nil
}

func TestUnlink_WhileAListenerFails_KeepsTheGrant(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	var calls []string
	first, second := &listener{w: w, name: "first", calls: &calls}, &listener{w: w, name: "second", calls: &calls}
	first.err = fault.New(fault.Unavailable, "copies are still to be deleted")
	w.Links.Listeners = []calendarsync.AccountListener{first, second}
	id := w.Account("gm")
	w.Unlink("gm")
	equal(t, "grants given back", w.Calls("oauth.revoke"), 0)
	equal(t, "called while the first fails", strings.Join(slices.Compact(calls), ", "), "leaving first")
	first.err, calls = nil, nil
	w.Run(2 * time.Minute)
	equal(t, "called then", strings.Join(calls, ", "), "leaving first, leaving second")
	equal(t, "grants given back before the second was called", second.revoked, 0)
	equal(t, "grants given back", w.Calls("oauth.revoke"), 1)
	gone(t, w, id)
	calls = nil
	w.Link("gm")
	w.Run(time.Minute)
	equal(t, "called when the account is back", strings.Join(calls, ", "), "back second, back first")
}
