package notify_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
)

func TestHandle_NewStateDuringTheRun_IsAnnouncedNext(t *testing.T) {
	t.Parallel()
	w := announced(t)
	w.move(moved)
	w.want("gm", 0)
	hooked := w.hooked(hooks{post: func(before func() error) error {
		w.restore()
		w.want("gm", 7*time.Second)
		return before()
	}})
	if verdict := runTask(hooked); verdict.Outcome != runLater || verdict.After != 7*time.Second {
		t.Fatalf("the run ends as %+v", verdict)
	}
	w.clock.add(7 * time.Second)
	w.mustEnd()
	wantTexts(t, "messages", contents(w.messages(channel)), movedMessage, restoredMessage)
	wantTexts(t, "ana", w.bell("ana"), movedBody, restoredBody)
}

// A finalisation that was refused numbers the poll's link anew, also during a delivery.
func TestHandle_LinkNumberedAnewDuringTheRun_IsAnnouncedUnderItsNumber(t *testing.T) {
	t.Parallel()
	w := announced(t)
	w.move(moved)
	w.want("gm", 0)
	hooked := w.hooked(hooks{post: func(effect func() error) error {
		updates := poll.RenumberUpdates(w.announcement(), 1, 3)
		w.write(func(tx store.Tx) error { return tx.Update(poll.AnnouncementPath(pollID), updates...) })
		return effect()
	}})
	if verdict := runTask(hooked); verdict.Outcome != runDone {
		t.Fatalf("the run ends as %+v", verdict)
	}
	if a := w.announcement(); a.Announced.State.Generation != 3 || a.Before.State.Generation != 3 {
		t.Errorf("announcement %+v", a)
	}
}

func TestHandle_BegunAndTakenBack_IsDeliveredToTheEnd(t *testing.T) {
	t.Parallel()
	w := announced(t)
	w.move(moved)
	w.want("gm", 0)
	if verdict := runTask(w.interrupt(1, after)); verdict.Outcome != runFailed { // the app has it, Discord not yet
		t.Fatalf("the run ends as %+v", verdict)
	}
	w.restore()
	w.want("gm", time.Minute)
	w.toTheEnd()
	wantTexts(t, "messages", contents(w.messages(channel)), movedMessage, restoredMessage)
	wantTexts(t, "ana", w.bell("ana"), movedBody, restoredBody)
}

func TestHandle_ConcurrentRuns_DeliverOnceAndDrawThePresentState(t *testing.T) {
	t.Parallel()
	t.Run("the other run delivers it while this one posts", func(t *testing.T) {
		t.Parallel()
		w := announced(t)
		w.cancel()
		w.want("gm", 0)
		hooked := w.hooked(hooks{post: func(effect func() error) error {
			w.toTheEnd()
			return effect()
		}})
		w.makeCardPending()
		if verdict := runTask(hooked); verdict.Outcome != runDone {
			t.Fatalf("the run ends as %+v", verdict)
		}
		wantTexts(t, "messages", contents(w.messages(channel)), cancelledMessage)
		wantTexts(t, "ana", w.bell("ana"), cancelledBody)
	})
	t.Run("the other run delivers it and the next while this one posts", func(t *testing.T) {
		t.Parallel()
		w := announced(t)
		w.move(moved)
		w.want("gm", 0)
		last := ""
		hooked := w.hooked(hooks{post: func(effect func() error) error {
			w.toTheEnd()
			w.restore()
			last = w.want("gm", 0)
			w.toTheEnd()
			return effect()
		}})
		w.makeCardPending()
		if verdict := runTask(hooked); verdict.Outcome != runDone {
			t.Fatalf("the run ends as %+v", verdict)
		}
		if a := w.announcement(); a.Announced.Ref != last || !a.Due.IsZero() {
			t.Errorf("announcement %+v", a)
		}
		w.clock.add(time.Hour)
		w.toTheEnd()
		wantTexts(t, "messages", contents(w.messages(channel)), movedMessage, restoredMessage)
	})
	t.Run("this one's drawing lands after the other's newer one", func(t *testing.T) {
		t.Parallel()
		w := announced(t)
		w.move(moved)
		w.want("gm", 0)
		hooked := w.hooked(hooks{edit: func(effect func() error) error {
			w.restore()
			w.want("gm", 0)
			w.toTheEnd()
			return effect()
		}})
		w.makeCardPending()
		if verdict := runTask(hooked); verdict.Outcome != runDone {
			t.Fatalf("the run ends as %+v", verdict)
		}
		if got := w.field("Status"); got != "FINALIZED" {
			t.Errorf("the card shows %q", got)
		}
	})
	t.Run("this one's drawing lands after the other's newer one, and its answer is lost", func(t *testing.T) {
		t.Parallel()
		w := announced(t)
		w.move(moved)
		w.want("gm", 0)
		hooked := w.hooked(hooks{edit: func(effect func() error) error {
			w.restore()
			w.want("gm", 0)
			w.toTheEnd()
			return errors.Join(effect(), fault.New(fault.Unavailable, "the answer is lost"))
		}})
		w.makeCardPending()
		if verdict := runTask(hooked); verdict.Outcome != runFailed {
			t.Fatalf("the run ends as %+v", verdict)
		}
		w.clock.add(time.Minute)
		w.toTheEnd()
		if got := w.field("Status"); got != "FINALIZED" {
			t.Errorf("the card shows %q", got)
		}
	})
	t.Run("both post the first card, this one an older one", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		hooked := w.hooked(hooks{post: func(effect func() error) error {
			if err := effect(); err != nil {
				return err
			}
			w.finalise()
			w.checkCard() // is given the same card by its nonce
			return nil
		}})
		w.makeCardPending()
		if verdict := runTask(hooked); verdict.Outcome != runDone {
			t.Fatalf("the run ends as %+v", verdict)
		}
		if got := w.field("Status"); got != "FINALIZED" {
			t.Errorf("the card shows %q", got)
		}
	})
}

func TestHandle_PollThatKeepsChanging_IsRetried(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	titles := 0
	hooked := w.hooked(hooks{
		post: func(effect func() error) error {
			titles++
			w.set(poll.Set("title", string(rune('a'+titles))))
			return effect()
		},
		edit: func(effect func() error) error {
			titles++
			w.set(poll.Set("title", string(rune('a'+titles))))
			return effect()
		},
	})
	w.makeCardPending()
	if verdict := runTask(hooked); verdict.Outcome != runFailed {
		t.Fatalf("the run ends as %+v", verdict)
	}
	if titles > 10 {
		t.Errorf("drawn %d times in one run", titles)
	}
	w.toTheEnd()
}

func TestHandle_PollDeletedDuringTheRun_HasNothingPending(t *testing.T) {
	t.Parallel()
	remove := func(w *world) { w.write(func(tx store.Tx) error { return tx.Delete(poll.Path(pollID)) }) }
	hasNothingPending := func(t *testing.T, w *world) {
		t.Helper()
		due, err := store.Collect(poll.DueAnnouncements(context.Background(), w.store, w.clock.Now().Add(time.Hour)))
		if err != nil || len(due) != 0 {
			t.Errorf("still due: %+v, %v", due, err)
		}
	}
	t.Run("before the message is posted again", func(t *testing.T) {
		t.Parallel()
		w := announced(t)
		w.cancel()
		w.want("gm", 0)
		runTask(w.interrupt(1, after))
		remove(w)
		w.clock.add(time.Hour)
		w.mustEnd()
		wantTexts(t, "messages", contents(w.messages(channel)))
		hasNothingPending(t, w)
	})
	t.Run("while it is posted", func(t *testing.T) {
		t.Parallel()
		w := announced(t)
		w.cancel()
		w.want("gm", 0)
		hooked := w.hooked(hooks{post: func(effect func() error) error { remove(w); return effect() }})
		if verdict := runTask(hooked); verdict.Outcome != runDone {
			t.Fatalf("the run ends as %+v", verdict)
		}
		hasNothingPending(t, w)
	})
	t.Run("while its card is drawn", func(t *testing.T) {
		t.Parallel()
		w := announced(t)
		w.cancel()
		w.want("gm", 0)
		hooked := w.hooked(hooks{edit: func(effect func() error) error { remove(w); return effect() }})
		if verdict := runTask(hooked); verdict.Outcome != runDone {
			t.Fatalf("the run ends as %+v", verdict)
		}
		hasNothingPending(t, w)
	})
}

// A channel that refuses the card for a while holds up no notice in the app.
func TestHandle_CardThatFails_HoldsUpNoMessage(t *testing.T) {
	t.Parallel()
	w := announced(t)
	before := len(w.bell("ana"))
	w.set(poll.Set("title", "Session ten"))
	w.makeCardPending()
	hooked := w.hooked(hooks{edit: func(func() error) error { return fault.New(fault.Unavailable, "Discord did not answer") }})
	if verdict := runTask(hooked); verdict.Outcome != runFailed || !w.announcement().AgainAt.After(w.clock.Now()) {
		t.Fatalf("the run ends as %+v", verdict)
	}
	w.cancel()
	w.want("gm", 0)
	due, err := store.Collect(poll.DueAnnouncements(t.Context(), w.store, w.clock.Now()))
	if err != nil || len(due) != 1 {
		t.Errorf("the drain finds %d, %v", len(due), err)
	}
	w.run()
	if bell := w.bell("ana"); len(bell) != before+1 {
		t.Errorf("ana reads %q", bell)
	}
}

// slowStore stands still after its first transaction.
type slowStore struct {
	store.Store
	pause func()
}

func (s *slowStore) Run(ctx context.Context, fn func(context.Context, store.Tx) error) error {
	err := s.Store.Run(ctx, fn)
	if pause := s.pause; pause != nil {
		s.pause = nil
		pause()
	}
	return err
}

// Discord knows a message's nonce for some minutes, and a first attempt does not look for the
// message: nothing but its time keeps a run from sending what another one sent.
func TestHandle_HeldUpBeforeItDelivers_LeavesThatToTheNextRun(t *testing.T) {
	t.Parallel()
	for name, another := range map[string]bool{"which delivered in between": true, "which is still to come": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := announced(t)
			w.cancel()
			w.want("gm", 0)
			held, _ := w.around(&slowStore{Store: w.store, pause: func() {
				w.clock.add(2 * time.Minute)
				if another {
					w.toTheEnd()
					w.clock.add(10 * time.Minute)
				}
			}}, w.onDiscord.API)
			if result := runTask(held); result.Outcome != runLater && !another {
				t.Errorf("the run ends as %+v", result)
			}
			w.toTheEnd()
			wantTexts(t, "messages", contents(w.messages(channel)), cancelledMessage)
			wantTexts(t, "ana", w.bell("ana"), cancelledBody)
		})
	}
}
