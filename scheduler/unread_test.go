package scheduler_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/internal/test/points"
	"questscheduler/internal/test/worldtest"
	"questscheduler/rules"
	"questscheduler/scheduler"
)

// fallible is a world in which reads of the program fail at the points that it returns. No
// transaction is run again for another reason: that would hide the failure.
func fallible(t *testing.T) (*worldtest.World, *points.Points) {
	t.Helper()
	p := &points.Points{}
	wrap := func(documents store.Store) store.Store { return &points.Reads{Store: documents, Points: p} }
	return worldtest.New(t, worldtest.Options{Wrap: wrap}), p
}

// list gives all polls of gm.
func list(ctx context.Context, w *worldtest.World, parts scheduler.Parts) error {
	_, err := w.Scheduler.List(ctx, gm, poll.List{UserID: "gm", Limit: 9}, parts, func(scheduler.View) (bool, error) { return true, nil })
	return err
}

// cancelledDirectly is a poll that the web app cancelled, of which nobody here knows yet.
func cancelledDirectly(w *worldtest.World) fixture {
	s := finalised(w)
	w.Write(poll.Path(s.poll), poll.Set("status", string(rules.Cancelled)))
	return s
}

// deletedDirectly is a poll that the web app deleted, of which nobody here knows yet.
func deletedDirectly(w *worldtest.World) fixture {
	s := finalised(w)
	w.DeleteDirectly(s.poll)
	return s
}

// grantDead is a poll whose account's grant is said to be dead.
func grantDead(w *worldtest.World) fixture {
	s := finalised(w)
	if err := w.Scheduler.SetSyncError(w.Context(), s.poll, rules.TokenExpired, worldtest.Cause, nil); err != nil {
		panic(err)
	}
	return s
}

// observed is what the last sync run of gm's calendar would have read of a poll's event.
func observed(w *worldtest.World, s fixture, at worldtest.Slot) scheduler.ObservedEvent {
	return scheduler.ObservedEvent{
		AccountID: w.Account("gm"), CalendarID: "gm@example.com", EventID: s.event, EventState: rules.Present,
		Fingerprint: rules.Timed(at.Start, at.End), Updated: w.Clock.Now(), Fence: w.Calendar("gm").Fence,
		Cause: scheduler.Cause{Trigger: "push", Trace: "push"},
	}
}

// ofAParty is a poll of gm's party.
func ofAParty(w *worldtest.World) (s fixture) {
	s.poll, s.slots = w.PollOf("gm", scheduler.Create{GroupID: w.Party()})
	return s
}

// unread is a call of which one read fails, and what is there before.
type unread struct {
	begin func(*worldtest.World) fixture
	do    func(ctx context.Context, w *worldtest.World, s fixture) error
}

type applying = func(context.Context, scheduler.ObservedEvent) (scheduler.Applied, error)

// seeing is the application of an observation that was made before any read failed.
func seeing(begin func(*worldtest.World) fixture, at worldtest.Slot, by func(*worldtest.World) applying) unread {
	var seen scheduler.ObservedEvent
	return unread{func(w *worldtest.World) fixture {
		s := begin(w)
		seen = observed(w, s, at)
		return s
	}, func(ctx context.Context, w *worldtest.World, _ fixture) error {
		_, err := by(w)(ctx, seen)
		return err
	}}
}

// A command that took a document that could not be read for one that is not there would decide
// as if there were no event, no slot or no vote.
func TestCalls_DocumentUnread_SayThatTheyFailed(t *testing.T) {
	t.Parallel()
	ana, gm, cause := worldtest.Person("ana"), worldtest.Person("gm"), worldtest.Cause
	title, words := "Another", "Bring dice."
	calls := map[string]unread{
		"view": {finalised, func(ctx context.Context, w *worldtest.World, s fixture) error {
			_, err := w.Scheduler.View(ctx, ana, s.poll)
			return err
		}},
		"following": {finalised, func(ctx context.Context, w *worldtest.World, s fixture) error {
			_, err := w.Scheduler.Following(ctx, s.poll)
			return err
		}},
		"journal": {finalised, func(ctx context.Context, w *worldtest.World, s fixture) error {
			_, err := w.Scheduler.Journal(ctx, gm, s.poll, store.Paging{Limit: 9}, func(poll.JournalEntry) (bool, error) { return true, nil })
			return err
		}},
		"create": {fresh, func(ctx context.Context, w *worldtest.World, _ fixture) error {
			_, err := w.Scheduler.Create(ctx, gm, scheduler.Create{Title: title, Slots: []scheduler.Times{{
				Start: worldtest.Noon.Start, End: worldtest.Noon.End,
			}}}, cause)
			return err
		}},
		"edit": {finalised, func(ctx context.Context, w *worldtest.World, s fixture) error {
			_, err := w.Scheduler.Edit(ctx, gm, s.poll, scheduler.Edit{Title: &title, Description: &words}, cause)
			return err
		}},
		"vote": {fresh, func(ctx context.Context, w *worldtest.World, s fixture) error {
			_, err := w.Scheduler.Vote(ctx, ana, s.poll, scheduler.Vote{Choices: map[string]string{s.slots[0]: poll.Preferred}}, cause)
			return err
		}},
		"leave": {fresh, func(ctx context.Context, w *worldtest.World, s fixture) error {
			return w.Scheduler.Leave(ctx, ana, s.poll, cause)
		}},
		"archive": {finalised, func(ctx context.Context, w *worldtest.World, s fixture) error {
			_, err := w.Scheduler.Archive(ctx, gm, s.poll, cause)
			return err
		}},
		"reopen": {moved, func(ctx context.Context, w *worldtest.World, s fixture) error {
			_, err := w.Scheduler.Reopen(ctx, gm, s.poll, true, cause)
			return err
		}},
		"cancel": {finalised, func(ctx context.Context, w *worldtest.World, s fixture) error {
			_, err := w.Scheduler.Cancel(ctx, gm, s.poll, false, cause)
			return err
		}},
		"delete": {finalised, func(ctx context.Context, w *worldtest.World, s fixture) error {
			return w.Scheduler.Delete(ctx, gm, s.poll, false, cause)
		}},
		"reconcile": {finalised, func(ctx context.Context, w *worldtest.World, s fixture) error {
			_, err := w.Scheduler.Reconcile(ctx, s.poll, cause)
			return err
		}},
		"show an error": {finalised, func(ctx context.Context, w *worldtest.World, s fixture) error {
			return w.Scheduler.SetSyncError(ctx, s.poll, rules.MassCancellationHeld, cause, nil)
		}},
		"list": {moved, func(ctx context.Context, w *worldtest.World, _ fixture) error {
			return list(ctx, w, scheduler.Parts{})
		}},
		"list with all": {moved, func(ctx context.Context, w *worldtest.World, _ fixture) error {
			return list(ctx, w, scheduler.Parts{Slots: true, Votes: true})
		}},
		"list with votes": {moved, func(ctx context.Context, w *worldtest.World, _ fixture) error {
			return list(ctx, w, scheduler.Parts{Votes: true})
		}},
		"create for others": {fresh, func(ctx context.Context, w *worldtest.World, _ fixture) error {
			_, err := w.Scheduler.Create(ctx, gm, scheduler.Create{
				ID: "00000000-0000-4000-8000-00000000beef", Again: true, Title: title, Slots: []scheduler.Times{worldtest.Noon},
				ParticipantIDs: []string{"dee", "eve"},
			}, cause)
			return err
		}},
		"edit of people": {fresh, func(ctx context.Context, w *worldtest.World, s fixture) error {
			_, err := w.Scheduler.Edit(ctx, gm, s.poll, scheduler.Edit{ParticipantIDs: &[]string{"ana", "dee"}}, cause)
			return err
		}},
		"edit of slots": {fresh, func(ctx context.Context, w *worldtest.World, s fixture) error {
			_, err := w.Scheduler.Edit(ctx, gm, s.poll, scheduler.Edit{
				Slots: &[]scheduler.SlotEdit{{ID: s.slots[0], Times: worldtest.Noon}}, Demand: func(scheduler.View) error { return nil },
			}, cause)
			return err
		}},
		"finalise without an event": {fresh, func(ctx context.Context, w *worldtest.World, s fixture) error {
			_, err := w.Scheduler.Finalise(ctx, gm, s.poll, scheduler.Finalise{SlotID: s.slots[0]}, cause)
			return err
		}},
		"whether a finalisation is under way": {fresh, func(ctx context.Context, w *worldtest.World, s fixture) error {
			_, err := w.Scheduler.InProgress(ctx, gm, s.poll, scheduler.Finalise{SlotID: s.slots[0], CreateEvent: true})
			return err
		}},
		"delete an event": {finalised, func(ctx context.Context, w *worldtest.World, s fixture) error {
			_, err := w.Scheduler.DeleteEvent(ctx, gm, s.poll, cause)
			return err
		}},
		"join": {fresh, func(ctx context.Context, w *worldtest.World, s fixture) error {
			_, err := w.Scheduler.Join(ctx, ana, s.poll, cause)
			return err
		}},
		"check of a card": {finalised, func(ctx context.Context, w *worldtest.World, s fixture) error {
			return w.Scheduler.CheckCard(ctx, s.poll, cause)
		}},
		"check of a group's cards": {ofAParty, func(ctx context.Context, w *worldtest.World, s fixture) error {
			groupID := poll.Decode(w.Document(poll.Path(s.poll))).GroupID
			w.Write(poll.GroupPath(groupID), store.Update{Path: store.Field("discord", "channelId"), Value: worldtest.OtherChannel})
			_, err := w.Scheduler.CheckCards(ctx, groupID, "", cause)
			return err
		}},
		"link a channel": {ofAParty, func(ctx context.Context, w *worldtest.World, s fixture) error {
			groupID := poll.Decode(w.Document(poll.Path(s.poll))).GroupID
			_, err := w.Scheduler.LinkChannel(ctx, gm, groupID, there)
			return err
		}},
		"sweep of cards": {finalised, func(ctx context.Context, w *worldtest.World, _ fixture) error {
			_, _, err := w.Scheduler.SweepCards(ctx, "", cause)
			return err
		}},
		"announced by the app": {finalised, func(ctx context.Context, w *worldtest.World, s fixture) error {
			return w.Scheduler.AnnouncedByApp(ctx, gm, s.poll, cause)
		}},
		"reconcile a direct edit": {cancelledDirectly, func(ctx context.Context, w *worldtest.World, s fixture) error {
			_, err := w.Scheduler.Reconcile(ctx, s.poll, cause)
			return err
		}},
		"reconcile a deleted poll": {deletedDirectly, func(ctx context.Context, w *worldtest.World, s fixture) error {
			_, err := w.Scheduler.Reconcile(ctx, s.poll, cause)
			return err
		}},
		"clear an error": {grantDead, func(ctx context.Context, w *worldtest.World, s fixture) error {
			return w.Scheduler.ClearSyncError(ctx, s.poll, rules.TokenExpired, cause, nil)
		}},
		"apply an observation":    seeing(finalised, worldtest.Three, func(w *worldtest.World) applying { return w.Scheduler.Apply }),
		"apply one that restores": seeing(moved, worldtest.Ten, func(w *worldtest.World) applying { return w.Scheduler.Apply }),
		"observe": seeing(finalised, worldtest.Three, func(w *worldtest.World) applying {
			return scheduler.Observer{Service: w.Scheduler}.Apply
		}),
		"polls of a channel": {ofAParty, func(ctx context.Context, w *worldtest.World, _ fixture) error {
			_, err := w.Scheduler.PollsHere(ctx, gm, here)
			return err
		}},
		"unlink a channel": {fresh, func(ctx context.Context, w *worldtest.World, _ fixture) error {
			_, err := w.Scheduler.UnlinkChannel(ctx, here)
			return err
		}},
		"recover": {moved, func(ctx context.Context, w *worldtest.World, _ fixture) error { return w.Scheduler.Recover(ctx) }},
		"resend": {moved, func(ctx context.Context, w *worldtest.World, s fixture) error {
			_, err := w.Scheduler.Resend(ctx, gm, s.poll, cause)
			return err
		}},
	}
	for name, c := range calls {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, p := fallible(t)
			s := c.begin(w)
			p.NoneUnread(t, 1, func() error { return c.do(t.Context(), w, s) })
		})
	}
}

// Whichever read fails, poll and event agree in the end.
func TestReads_FailAnywhere_LeavePollAndEventAgreeing(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		begin func(*worldtest.World) fixture
		act   act
	}{
		{fresh, finaliseFirst}, {finalised, finaliseSecond}, {finalised, cancelIt}, {moved, restoreIt}, {finalised, moveIt}, {moved, deleteEvent},
	} {
		t.Run(c.act.name, func(t *testing.T) {
			t.Parallel()
			n := 1
			for reached := true; reached && n <= worldtest.MostPoints; n += *stride {
				t.Run(fmt.Sprintf("at read %d", n), func(t *testing.T) {
					w, p := fallible(t)
					s := c.begin(w)
					p.FailAt(n)
					c.act.do(w, s)
					w.Run(time.Minute)
					reached = p.Reached()
					p.FailAt(0)
					w.Sweep()
					w.Run(3 * time.Minute)
					checkAgreement(t, w, s)
					atRest(t, w)
				})
			}
			points.Struck(t, n-*stride-1, 25)
		})
	}
}
