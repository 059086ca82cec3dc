package notify_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/internal/test/points"
	"questscheduler/notify"
)

// moment is on which side of a step's effect a run ends.
type moment bool

const (
	before moment = false
	after  moment = true
)

// fuse ends a run at one of its steps: transactions and calls to Discord, in
// the order in which the run makes them, from 1. From there on nothing the run
// does has an effect, as after a crash.
type fuse struct {
	steps int
	at    int
	when  moment
	blown bool
}

var errBlown = fault.New(fault.Unavailable, "the run was ended here")

func (f *fuse) step(effect func() error) error {
	if f.blown {
		return errBlown
	}
	f.steps++
	if f.steps != f.at {
		return effect()
	}
	f.blown = true
	if f.when == after {
		if err := effect(); err != nil {
			return err
		}
	}
	return errBlown
}

type fusedStore struct {
	store.Store
	fuse *fuse
}

func (s fusedStore) Run(ctx context.Context, fn func(context.Context, store.Tx) error) error {
	return s.fuse.step(func() error { return s.Store.Run(ctx, fn) })
}

type fusedDiscord struct {
	notify.DiscordAPI
	fuse *fuse
}

func (d fusedDiscord) Post(
	ctx context.Context, channelID string, message notify.DiscordMessage, nonce string,
) (posted notify.DiscordMessage, err error) {
	err = d.fuse.step(func() error { posted, err = d.DiscordAPI.Post(ctx, channelID, message, nonce); return err })
	if err != nil {
		return notify.DiscordMessage{}, err
	}
	return posted, nil
}

func (d fusedDiscord) Edit(ctx context.Context, channelID, messageID string, message notify.DiscordMessage) error {
	return d.fuse.step(func() error { return d.DiscordAPI.Edit(ctx, channelID, messageID, message) })
}

func (d fusedDiscord) Recent(ctx context.Context, channelID string) (list []notify.DiscordMessage, err error) {
	err = d.fuse.step(func() error { list, err = d.DiscordAPI.Recent(ctx, channelID); return err })
	return list, err
}

// interrupt is the world's announcer, with a run that ends at a step.
func (w *world) interrupt(step int, when moment) *notify.Announcer {
	a, _ := w.fused(step, when)
	return a
}

func (w *world) fused(step int, when moment) (*notify.Announcer, *fuse) {
	f := &fuse{at: step, when: when}
	a, _ := w.around(fusedStore{w.store, f}, fusedDiscord{w.onDiscord.API, f})
	return a, f
}

// hooks run instead of a call to Discord, once each, and are given the call.
type hooks struct {
	post, edit func(effect func() error) error
}

type hookedDiscord struct {
	notify.DiscordAPI
	hooks *hooks
}

func (d hookedDiscord) Post(
	ctx context.Context, channelID string, message notify.DiscordMessage, nonce string,
) (posted notify.DiscordMessage, err error) {
	if d.hooks.post == nil {
		return d.DiscordAPI.Post(ctx, channelID, message, nonce)
	}
	err = d.hooks.post(func() error { posted, err = d.DiscordAPI.Post(ctx, channelID, message, nonce); return err })
	return posted, err
}

func (d hookedDiscord) Edit(ctx context.Context, channelID, messageID string, message notify.DiscordMessage) error {
	if d.hooks.edit == nil {
		return d.DiscordAPI.Edit(ctx, channelID, messageID, message)
	}
	return d.hooks.edit(func() error { return d.DiscordAPI.Edit(ctx, channelID, messageID, message) })
}

// hooked is the world's announcer with hooks.
func (w *world) hooked(h hooks) *notify.Announcer {
	a, _ := w.around(w.store, hookedDiscord{w.onDiscord.API, &h})
	return a
}

func TestHandle_CrashAtAnyStep_ContinuesWithoutDuplicates(t *testing.T) {
	t.Parallel()
	for _, size := range []struct{ members, steps int }{
		// Begin with the documents, message, finish with its delivery; recent messages, card, its record.
		{3, 6},
		// Beside these: two batches of documents, and their delivery.
		{150, 9},
	} {
		for _, when := range []moment{before, after} {
			// Within the nonce's minutes, and long after them.
			for _, pause := range []time.Duration{time.Second, time.Hour} {
				t.Run(fmt.Sprintf("%d members, after its effect %v, continued after %v", size.members, when, pause), func(t *testing.T) {
					t.Parallel()
					step := 1
					for ; endsAt(t, size.members, step, when, pause); step++ {
						if step > 50 {
							t.Fatal("a run has no end")
						}
					}
					points.Struck(t, step-1, size.steps)
					if step-1 != size.steps {
						t.Errorf("a run has %d steps, want %d", step-1, size.steps)
					}
				})
			}
		}
	}
}

// endsAt ends a run at a step and continues it with another; false if the run has
// fewer steps.
func endsAt(t *testing.T, members, step int, when moment, pause time.Duration) bool {
	t.Helper()
	w := newWorld(t) // no card yet, so posting one is among the steps
	people, group := []string{"ana", "ben", "cho"}, []any{"gm", "ben", "cho"}
	for i := range members - len(group) {
		people = append(people, fmt.Sprint("member-", i))
		group = append(group, people[len(people)-1])
	}
	w.write(func(tx store.Tx) error { return tx.Update(poll.GroupPath(groupID), poll.Set("memberIds", group)) })
	w.finalise()
	w.onDiscord.Cards = false
	w.want("gm", 0)
	w.mustEnd()
	w.onDiscord.Cards = true
	w.move(moved)
	w.want("gm", 0)

	a, f := w.fused(step, when)
	verdict := runTask(a)
	if !f.blown {
		if verdict.Outcome != runDone {
			t.Fatalf("an undisturbed run ends with %+v", verdict)
		}
		return false
	}
	if verdict.Outcome != runFailed {
		t.Errorf("step %d: verdict %+v", step, verdict)
	}
	w.clock.add(pause)
	w.toTheEnd()

	at := fmt.Sprintf("step %d", step)
	wantTexts(t, at+": messages", contents(w.messages(channel)), movedMessage)
	for _, uid := range people {
		wantTexts(t, at+": "+uid, w.bell(uid), movedBody)
	}
	wantTexts(t, at+": gm", w.bell("gm"))
	cards := w.cards(channel)
	if len(cards) != 1 || w.field("Status") != "RESCHEDULED" || w.poll().Discord.MessageID != cards[0].ID {
		t.Errorf("%s: cards %+v", at, cards)
	}
	if a := w.announcement(); !a.Due.IsZero() || a.Announced.Ref != a.Wanted.Ref || a.Delivering.Ref != "" {
		t.Errorf("%s: announcement %+v", at, a)
	}
	return true
}

func TestHandle_CrashWhileEditing_Continues(t *testing.T) {
	t.Parallel()
	step := 1
	for ; ; step++ {
		w := announced(t)
		w.move(moved)
		w.want("gm", 0)
		a, f := w.fused(step, after)
		runTask(a)
		if !f.blown {
			break
		}
		// What was drawn, if anything was, is no longer true.
		w.restore()
		w.want("gm", 0)
		w.toTheEnd()
		if got := w.field("Status"); got != "FINALIZED" {
			t.Errorf("step %d: the card shows %q", step, got)
		}
		if n := len(w.cards(channel)); n != 1 {
			t.Errorf("step %d: %d cards", step, n)
		}
	}
	if struck := step - 1; struck != 5 { // begin, message, finish, card, its record
		t.Errorf("%d steps were struck", struck)
	}
}

func TestHandle_DeliveryDeletedByPeople_IsNotRepeated(t *testing.T) {
	t.Parallel()
	w := announced(t)
	p := &pager{err: fault.New(fault.Unavailable, "the pager did not answer")}
	w.announcer.Channels = append(w.announcer.Channels, p)
	w.cancel()
	ref := w.want("gm", 0)
	w.run() // delivered by the others, and not yet finished
	wantTexts(t, "messages", contents(w.messages(channel)), cancelledMessage)
	w.delete(w.messages(channel)[0].ID)
	w.write(func(tx store.Tx) error {
		return tx.Delete(notify.NotificationPath("ana", "dedupe:"+ref))
	})
	p.err = nil
	w.clock.add(time.Hour)
	w.toTheEnd()
	wantTexts(t, "messages", contents(w.messages(channel)))
	wantTexts(t, "ana", w.bell("ana"))
	wantTexts(t, "pager", p.texts, cancelledBody)
}
