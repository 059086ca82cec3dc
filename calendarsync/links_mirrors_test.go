package calendarsync_test

import (
	"context"
	"testing"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/accounts"
	"questscheduler/internal/test/worldtest"
	"questscheduler/scheduler"
)

// accountMirrors stands in for mirroring, which is above this package.
type accountMirrors struct {
	w             *worldtest.World
	err           error
	leaving, back int
	// revoked is how many grants were given back when it was last called.
	revoked int
}

func (m *accountMirrors) AccountLeaving(context.Context, accounts.Account, scheduler.Cause) error {
	m.leaving++
	m.revoked = m.w.Calls("oauth.revoke")
	return m.err
}

func (m *accountMirrors) AccountBack(context.Context, accounts.Account, scheduler.Cause) error {
	m.back++
	return nil
}

func TestUnlink_WhileMirrorsAreLeft_KeepsTheGrant(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	mirrors := &accountMirrors{w: w, err: fault.New(fault.Unavailable, "copies are still to be deleted")}
	w.Links.Mirrors = mirrors
	id := w.Account("gm")
	w.Unlink("gm")
	equal(t, "grants given back", w.Calls("oauth.revoke"), 0)
	mirrors.err = nil
	w.Run(2 * time.Minute)
	equal(t, "grants given back before mirroring ended", mirrors.revoked, 0)
	equal(t, "grants given back", w.Calls("oauth.revoke"), 1)
	gone(t, w, id)
	if mirrors.leaving < 2 {
		t.Errorf("mirroring was ended %d times, and failed the first time", mirrors.leaving)
	}
	w.Link("gm")
	w.Run(time.Minute)
	if mirrors.back == 0 {
		t.Error("mirroring was not resumed")
	}
}
