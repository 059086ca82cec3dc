package notify_test

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"time"

	"questscheduler/demo/sim/control"
	"questscheduler/fault"
	"questscheduler/internal/outbox"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
)

// makeCardPending writes what a change writes that is not announced.
func (w *world) makeCardPending() {
	w.t.Helper()
	w.changes++
	w.write(func(tx store.Tx) error {
		updates := poll.CardPendingUpdates(pollID, "crd_"+strconv.Itoa(w.changes), "trace-3", w.clock.Now())
		return tx.Merge(poll.AnnouncementPath(pollID), updates...)
	})
}

func TestHandle_PendingCard_IsDrawnAndNothingIsAnnounced(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.makeCardPending()
	w.mustEnd()
	if got := w.field("Status"); got != "OPEN" {
		t.Errorf("the card shows %q", got)
	}
	if a := w.announcement(); a.CardPending() || !a.Due.IsZero() || a.Announced.Ref != "" {
		t.Errorf("announcement %+v", a)
	}
	wantTexts(t, "messages", contents(w.messages(channel)))
	wantTexts(t, "ana", w.bell("ana"))
}

// A pending card does not hasten an announcement before it is due, which
// the same task draws then.
func TestHandle_PendingCardBeforeDueAnnouncement_HastensNothing(t *testing.T) {
	t.Parallel()
	w := announced(t)
	w.move(moved)
	w.want("gm", time.Minute)
	w.makeCardPending()
	if verdict := w.run(); verdict.Outcome != runLater || verdict.After != time.Minute {
		t.Errorf("the run ends as %+v", verdict)
	}
	wantTexts(t, "messages", contents(w.messages(channel)))
	w.toTheEnd()
	wantTexts(t, "messages", contents(w.messages(channel)), movedMessage)
	if got := w.field("Status"); got != "RESCHEDULED" {
		t.Errorf("the card shows %q", got)
	}
}

func TestHandle_PendingCardOfDeletedPoll_IsNoLongerPending(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.makeCardPending()
	w.write(func(tx store.Tx) error { return tx.Delete(poll.Path(pollID)) })
	w.mustEnd()
	if w.announcement().CardPending() {
		t.Error("it is pending for ever")
	}
}

func TestHandle_WhileAnotherRunDelivers_SendsNothing(t *testing.T) {
	t.Parallel()
	w := announced(t)
	w.cancel()
	w.want("gm", 0)
	hooked := w.hooked(hooks{post: func(effect func() error) error {
		before := w.discord.Control().Calls()["messages.create"]
		w.mustEnd()
		if a := w.announcement(); a.Attempts != 1 || w.discord.Control().Calls()["messages.create"] != before {
			t.Errorf("a second run sends it too: %+v", a)
		}
		return effect()
	}})
	if verdict := runTask(hooked); verdict.Outcome != runDone {
		t.Fatalf("the run ends as %+v", verdict)
	}
	wantTexts(t, "messages", contents(w.messages(channel)), cancelledMessage)
	if a := w.announcement(); !a.AgainAt.IsZero() {
		t.Errorf("it keeps others away until %v", a.AgainAt)
	}
}

// A card is pending until what it shows is recorded, wherever a run dies.
func TestHandle_CrashWhileACardIsDrawn_LeavesItPending(t *testing.T) {
	t.Parallel()
	step := 1
	for ; ; step++ {
		for _, when := range []moment{before, after} {
			w := announced(t)
			w.write(voteOf("cho", "s1"))
			w.makeCardPending()
			a, f := w.fused(step, when)
			runTask(a)
			if !f.blown {
				if step < 4 {
					t.Errorf("a run has %d steps: the test misses some", step-1)
				}
				return
			}
			if w.field("Votes") != "2/4 voted (2 pending)" && !w.announcement().CardPending() {
				t.Errorf("step %d, after its effect %v: the card is not pending", step, when)
			}
			// What was drawn, if anything was, is no longer true, and no change says so.
			w.write(voteOf("cho", ""))
			if w.announcement().CardPending() {
				w.toTheEnd()
				if got := w.field("Votes"); got != "1/4 voted (3 pending)" {
					t.Errorf("step %d, after its effect %v: votes %q", step, when, got)
				}
			}
		}
	}
}

func TestHandle_NewerChangeWhileACardIsDrawn_LeavesItPending(t *testing.T) {
	t.Parallel()
	w := announced(t)
	w.write(voteOf("cho", "s1"))
	w.makeCardPending()
	changed := false
	hooked := w.hooked(hooks{edit: func(effect func() error) error {
		if !changed {
			changed = true
			w.write(voteOf("ben", "s1"))
			w.makeCardPending()
		}
		return effect()
	}})
	runTask(hooked)
	if !w.announcement().CardPending() {
		t.Error("the run ended what a newer change asks for")
	}
	w.mustEnd()
	if got := w.field("Votes"); got != "3/4 voted (1 pending)" || w.announcement().CardPending() {
		t.Errorf("votes %q", got)
	}
}

// state is the announcement as work of the outbox, which operators are shown.
func (w *world) state() outbox.State {
	w.t.Helper()
	doc, err := w.store.Get(context.Background(), poll.AnnouncementPath(pollID))
	if err != nil {
		w.t.Fatal(err)
	}
	return w.announcer.Work().Codec.Decode(doc)
}

func TestHandle_ThatKeepsFailing_WaitsLonger(t *testing.T) {
	t.Parallel()
	for name, begin := range map[string]func(w *world){
		"a message": func(w *world) { w.cancel(); w.want("gm", 0) },
		"a card":    func(w *world) { w.write(voteOf("cho", "s1")); w.makeCardPending() },
	} {
		w := announced(t)
		w.plant(control.Rule{Match: "messages.*", Status: 503})
		begin(w)
		for i, want := range []time.Duration{10 * time.Second, 20 * time.Second, 40 * time.Second} {
			w.run()
			a := w.announcement()
			if wait := a.AgainAt.Sub(w.clock.Now()); wait != want || a.Failures != int64(i+1) {
				t.Errorf("%s: after %d failures it waits %v", name, a.Failures, wait)
			}
			if state := w.state(); !state.FailedSince.Equal(a.Wanted.At) || state.Attempts != a.Failures {
				t.Errorf("%s: operators are shown %+v", name, state)
			}
			w.discord.Control().ResetCalls()
			w.run() // a wake too early
			if calls := w.discord.Control().Calls(); len(calls) != 0 {
				t.Errorf("%s: calls during the wait: %v", name, calls)
			}
			w.clock.add(want)
		}
		w.discord.Control().Clear()
		w.mustEnd()
		if a := w.announcement(); a.Failures != 0 || !a.AgainAt.IsZero() || a.CardPending() || !a.Due.IsZero() {
			t.Errorf("%s: left %+v", name, a)
		}
		if state := w.state(); !state.FailedSince.IsZero() {
			t.Errorf("%s: operators are shown %+v", name, state)
		}
	}
}

// The end of the program is no failure: the next start goes on at once.
func TestHandle_WhenTheProgramStops_IsDueAtOnce(t *testing.T) {
	t.Parallel()
	w := announced(t)
	w.cancel()
	w.want("gm", 0)
	ctx, stop := context.WithCancel(t.Context())
	hooked := w.hooked(hooks{post: func(func() error) error {
		stop()
		return ctx.Err()
	}})
	work := outbox.Outbox{Store: hooked.Store, Now: hooked.Now, Log: hooked.Log}
	work.Add(hooked.Work())
	if _, err := work.Run(ctx, poll.AnnounceKind, pollID); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if a := w.announcement(); !a.AgainAt.IsZero() || a.Failures != 0 || a.Delivering.Ref == "" {
		t.Errorf("left %+v", a)
	}
	w.mustEnd()
	wantTexts(t, "messages", contents(w.messages(channel)), cancelledMessage)
}

// A wake finds nothing that may be taken up, and gives when the first of message and card may.
func TestHandle_WokenTooEarly_WaitsForTheEarlierOfMessageAndCard(t *testing.T) {
	t.Parallel()
	const wait = 10 * time.Second // after the first failure
	for name, row := range map[string]struct {
		card    bool // its drawing failed
		rest    time.Duration
		repairs bool // and not the card, but the repair before the message failed
		want    time.Duration
	}{
		"a card alone":                        {card: true, rest: -1, want: wait},
		"a message alone":                     {rest: 7 * time.Second, want: 7 * time.Second},
		"a message before the card":           {card: true, rest: 7 * time.Second, want: 7 * time.Second},
		"a card before the message":           {card: true, rest: 20 * time.Second, want: wait},
		"a message that failed before it was": {repairs: true, want: wait},
	} {
		w := announced(t)
		w.discord.Control().ResetCalls()
		if row.card {
			w.write(voteOf("cho", "s1"))
			w.makeCardPending()
			runTask(w.hooked(hooks{edit: func(func() error) error { return fault.New(fault.Unavailable, "Discord did not answer") }}))
		}
		if row.rest >= 0 {
			w.cancel()
			w.want("gm", row.rest)
		}
		if row.repairs {
			w.announcer.Repair = func(context.Context, string, string) error {
				return fault.New(fault.Unavailable, "Google did not answer")
			}
			w.set(store.Update{Path: poll.SyncField("recorded"), Value: map[string]any{"at": w.clock.Now(), "status": "OPEN"}})
			w.run()
		}
		if verdict := w.run(); verdict.Outcome != runLater || verdict.After != row.want {
			t.Errorf("%s: the run ends as %+v, want it after %v", name, verdict, row.want)
		}
		if calls := w.discord.Control().Calls(); len(calls) != 0 {
			t.Errorf("%s: calls %v", name, calls)
		}
	}
}
