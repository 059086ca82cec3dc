package mirrortest_test

import (
	"context"
	"testing"
	"time"

	"questscheduler/internal/calendars"
	"questscheduler/internal/mirror"
	"questscheduler/internal/store"
	"questscheduler/internal/test/mirrortest"
)

// dying has the run of a task end after so many transactions, as at its deadline.
type dying struct {
	store.Store
	world *mirrortest.World
	left  int // 0: no end
}

func (d *dying) Run(ctx context.Context, fn func(context.Context, store.Tx) error) error {
	err := d.Store.Run(ctx, fn)
	d.left--
	if d.left == 0 {
		d.world.Cancel()
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

var workAtHome = mirror.Edge{FromAccountID: "work", ToAccountID: "home", Detail: mirror.Full, Target: mirror.PrimaryTarget}

// A sync run that dies keeps what it stored of a long listing, and the next one goes on there.
func TestFirstListing_OutOfTime_GoesOn(t *testing.T) {
	t.Parallel()
	const events, most = 600, 6 // transactions of a run; the listing takes twenty and more
	documents := &dying{}
	w := mirrortest.New(t, mirrortest.Options{Wrap: func(s store.Store) store.Store { documents.Store = s; return documents }})
	documents.world = w
	runs := 0
	w.Began = func(kind string) {
		documents.left = 0
		if kind == calendars.SyncKind {
			documents.left, runs = most, runs+1
		}
	}
	w.Link("gm", "work")
	w.Link("gm", "home")
	w.Insert("work", "meeting", events)
	w.Mirror("gm", workAtHome)
	w.Run(2 * time.Hour)
	if runs < 4 {
		t.Errorf("it took %d runs, so none died", runs)
	}
	if got := len(w.Mirrors("home")); got != events || len(w.Shown("home")) != events {
		t.Errorf("after %d runs there are %d canonical events, %d mirrors and %d events at home, want %d: %v",
			runs, len(w.Events("work")), got, len(w.Shown("home")), events, w.Failed)
	}
}
