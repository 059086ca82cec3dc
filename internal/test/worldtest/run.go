package worldtest

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"questscheduler/attendees"
	"questscheduler/calendarsync"
	"questscheduler/fault"
	"questscheduler/internal/calendars"
	"questscheduler/internal/outbox"
	"questscheduler/internal/store"
	"questscheduler/internal/test/wakes"
	"questscheduler/scheduler"
)

// mostSteps ends a world that does not come to rest.
const mostSteps = 20_000

// RunDue delivers pushes and runs tasks that are due, until there are neither.
// The clock stands still.
func (w *World) RunDue() {
	w.t.Helper()
	for range mostSteps {
		if !w.Step() {
			return
		}
	}
	w.t.Fatalf("the world does not come to rest: %v", w.Wakes.Due(w.Clock.Now()))
}

// Step delivers the first push or runs the first entry that is due; false: there
// was none.
func (w *World) Step() bool {
	if w.pushDue() {
		return true
	}
	due := w.Wakes.Due(w.Clock.Now())
	if len(due) == 0 {
		return false
	}
	w.RunTask(due[0].ID)
	return true
}

// pushDue delivers the first push that is due; false: there was none.
func (w *World) pushDue() bool {
	due := w.PushesDue()
	if len(due) > 0 {
		w.deliver(due[0])
	}
	return len(due) > 0
}

// PushesDue are the pushes that may be delivered now, and are not on their way.
func (w *World) PushesDue() (ids []int64) {
	now := w.Clock.Now()
	for _, push := range w.Google.PendingPushes() {
		if !push.Due.After(now) && !push.Held && !w.delivering[push.ID] {
			ids = append(ids, push.ID)
		}
	}
	return ids
}

// DelayPushes makes every pending push late, each by as much as late gives, so
// that they may come in another order.
func (w *World) DelayPushes(late func() time.Duration) {
	w.t.Helper()
	for _, push := range w.Google.PendingPushes() {
		w.Google.Delay(push.ID, w.Clock.Now().Add(late()))
	}
}

// Deliver makes an attempt at a push that is due.
func (w *World) Deliver(push int64) {
	w.t.Helper()
	w.deliver(push)
}

// RunTask runs a waiting task, due or not.
func (w *World) RunTask(id string) {
	w.t.Helper()
	w.carryOut(w.take(id))
}

func (w *World) take(id string) *wakes.Run {
	w.t.Helper()
	run, ok := w.Wakes.Take(id)
	if !ok {
		w.t.Fatalf("wake %s does not wait", id)
	}
	return run
}

// run is a run of the outbox (outbox.Outbox.Run of a kind).
type run func(ctx context.Context, id string) (again time.Time, err error)

// carryOut runs an entry that was taken. Where it dies alone of several things
// that are under way at once, the waker hands it out again.
func (w *World) carryOut(taken *wakes.Run) {
	if s := w.running; s != nil {
		s.lost = append(s.lost, func() { taken.Lose() })
	}
	w.noted(false)
	again, err := w.runs[taken.Kind](w.ctx, taken.Entry)
	w.refuseKilled("the end of a run") // what recovers from panics recovers from no death
	w.noted(taken.Kind == attendees.Kind && again.IsZero() && err == nil)
	w.judgeOrigins(taken.Kind)
	if err != nil {
		w.Verdicts = append(w.Verdicts, err.Error())
	}
	taken.Settle(again, err)
}

// Run lets the program go on for that long, as it does in production: pushes
// and tasks as they become due, and a drain every minute.
func (w *World) Run(d time.Duration) {
	w.t.Helper()
	w.run(d, w.RunDue)
}

// run is Run with a way of doing what is due.
func (w *World) run(d time.Duration, due func()) {
	w.t.Helper()
	end := w.Clock.Now().Add(d)
	for range mostSteps {
		due()
		if w.tries.endless != "" {
			w.t.Fatalf("%s", w.tries.endless)
		}
		now := w.Clock.Now()
		minute := now.Truncate(time.Minute).Add(time.Minute)
		next := minute
		if due, ok := w.Wakes.Next(); ok && due.Before(next) {
			next = due
		}
		for _, push := range w.Google.PendingPushes() {
			if push.Due.Before(next) && !push.Held && !w.delivering[push.ID] {
				next = push.Due
			}
		}
		if next.After(end) {
			w.advance(end.Sub(now))
			return
		}
		w.advance(next.Sub(now))
		if next.Equal(minute) {
			w.drain()
		}
	}
	w.t.Fatalf("the world does not come to rest")
}

// drain is the timer's job of every minute. What fails is left to the next one.
func (w *World) drain() {
	w.DrainOutbox()
	w.tickAttendees()
}

// DrainOutbox is that of the outbox alone.
func (w *World) DrainOutbox() {
	if _, err := w.Outbox.Drain(w.ctx); err != nil {
		w.Verdicts = append(w.Verdicts, fmt.Sprintf("drain of the outbox: %v", err))
	}
}

// Skip lets time pass in which the program does not run.
func (w *World) Skip(d time.Duration) {
	w.t.Helper()
	w.advance(d)
}

// Drain is the timer's job of every minute.
func (w *World) Drain() []outbox.Woken {
	w.t.Helper()
	woken, err := w.Outbox.Drain(w.ctx)
	w.must(err)
	return woken
}

// Sweep is the timer's job of every six hours, and leaves out no calendar for
// being fresh.
func (w *World) Sweep() {
	w.t.Helper()
	cause := scheduler.Cause{Trigger: "sweep", Trace: "sweep"}
	found, _, err := calendars.Followed(w.ctx, w.Documents, store.Paging{Limit: 0})
	w.must(err)
	for _, calendar := range found {
		w.Write(calendars.Path(calendar.Key), calendars.RequestSync(cause.Request(w.Clock.Now()))...)
	}
	w.must(w.SweepPages(cause))
	for _, calendar := range found { // the sweep takes them for woken
		w.Outbox.Soon(w.ctx, calendars.SyncKind, calendar.Key, w.Clock.Now())
	}
	w.sweepCards()
}

// SweepPages runs a sweep to its end, page by page.
func (w *World) SweepPages(cause scheduler.Cause) error {
	for at := ""; ; {
		_, next, err := w.Watcher.SweepPage(w.ctx, cause, at, 0)
		if err != nil || next == "" {
			return err
		}
		at = next
	}
}

// RenewAll renews the watch channels of all calendars, page by page. It is an error if a
// calendar's failed.
func (w *World) RenewAll(trace string) error {
	failed := 0
	for at := ""; ; {
		renewed, next, err := w.Watcher.RenewPage(w.ctx, scheduler.Cause{Trigger: "start", Trace: trace}, at)
		failed += renewed.Failed
		if err != nil {
			return err
		}
		if next == "" && failed > 0 {
			return fmt.Errorf("%d calendars failed", failed)
		}
		if next == "" {
			return nil
		}
		at = next
	}
}

// TryChannels tries the watch channels whose time has come, as the outbox does after a drain.
func (w *World) TryChannels() error {
	for doc, err := range w.Watcher.Channels().Due(w.ctx, w.Watcher.Store, w.Watcher.Now()) {
		if err == nil {
			_, err = w.Outbox.Run(w.ctx, calendarsync.WatchKind, doc.Path.ID())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// sweepCards checks the cards of what was written behind the program's back, as
// the timer's job does after the calendars.
func (w *World) sweepCards() {
	w.t.Helper()
	if w.Discord == nil || w.observing {
		return
	}
	for at := ""; ; {
		_, next, err := w.Scheduler.SweepCards(w.ctx, at, scheduler.Cause{Trigger: "sweep", Trace: "sweep"})
		w.must(err)
		if next == "" {
			return
		}
		at = next
	}
}

// Depths are the state of each kind's work.
func (w *World) Depths() []outbox.Depth {
	w.t.Helper()
	depths, err := w.Outbox.Depths(w.ctx)
	w.must(err)
	return depths
}

// LosePushes makes every pending push one that never arrives.
func (w *World) LosePushes() {
	w.t.Helper()
	for _, push := range w.Google.PendingPushes() {
		if w.delivering[push.ID] {
			continue
		}
		w.Plant("push", func(f *Fault) { f.Drop, f.Times = true, 1 })
		w.deliver(push.ID)
	}
}

// deliver has the simulator make one attempt at a push. Where the program dies
// over it, the simulator sees a connection that broke.
func (w *World) deliver(pushID int64) {
	w.t.Helper()
	w.delivering[pushID] = true
	err := w.Google.Deliver(w.ctx, pushID)
	delete(w.delivering, pushID)
	w.must(err)
	if death := w.died; death != nil {
		w.died = nil
		panic(*death)
	}
}

func (w *World) advance(d time.Duration) {
	w.t.Helper()
	if d > 0 {
		w.must(w.Clock.Advance(d))
		w.endDeadlines()
	}
}

// wait is the service's Wait: the world goes on during it, and so do the operations
// concurrent with the caller.
func (w *World) wait(_ context.Context, d time.Duration) error {
	if w.running != nil {
		w.halt(halt{point: "waiting", until: w.Clock.Now().Add(d)})
		return nil
	}
	w.advance(d)
	w.RunDue()
	return nil
}

// receivePush is the push route: it hands a push over and answers as the
// documentation of Push says.
func (w *World) receivePush(rw http.ResponseWriter, r *http.Request) {
	defer func() {
		switch death := recover().(type) {
		case nil:
		case crashed:
			w.ports.dead, w.died = nil, &death
			panic(http.ErrAbortHandler)
		default:
			panic(death)
		}
	}()
	acknowledged := w.arrives(r.Header.Get("X-Goog-Channel-ID"))
	until, err := http.ParseTime(r.Header.Get("X-Goog-Channel-Expiration"))
	w.must(err)
	err = w.Watcher.Push(r.Context(), calendarsync.Push{
		ChannelID: r.Header.Get("X-Goog-Channel-ID"), Token: r.Header.Get("X-Goog-Channel-Token"),
		ResourceID: r.Header.Get("X-Goog-Resource-ID"), State: r.Header.Get("X-Goog-Resource-State"), Expiration: until,
		Trace: "push-" + r.Header.Get("X-Goog-Message-Number"),
	})
	switch {
	case err == nil:
		acknowledged(r.Header.Get("X-Goog-Resource-State"))
		rw.WriteHeader(http.StatusOK)
	case fault.Is(err, fault.Unauthenticated):
		rw.WriteHeader(http.StatusUnauthorized)
	default:
		rw.WriteHeader(http.StatusServiceUnavailable)
	}
}
