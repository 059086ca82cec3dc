package scheduler_test

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/internal/test/worldtest"
	"questscheduler/rules"
	"questscheduler/scheduler"
)

// touching is a transition of a poll of a group, which begin makes, and what it
// writes of touchable.
type touching struct {
	begin   func(t *testing.T, w *worldtest.World) fixture
	do      func(w *worldtest.World, s fixture) error
	touches string
}

func TestTransition_EachOne_TouchesWhatItsRowSays(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]touching{
		"observation: reschedule": {
			grouped, observes(present(worldtest.Noon)), "announced journal lastSyncedAt recorded slots snapshots updatedAt",
		},
		"observation: reschedule again": {
			groupedMoved, observes(present(worldtest.Three)), "announced journal lastSyncedAt recorded slots updatedAt",
		},
		"observation: restore": {
			groupedMoved, observes(present(worldtest.Ten)), "announced journal lastSyncedAt recorded slots updatedAt",
		},
		"observation: cancel": {grouped, observes(eventGone), "announced index journal lastSyncedAt recorded updatedAt"},
		"observation: revive": {
			groupedDeleted, observes(present(worldtest.Ten)), "announced index journal lastSyncedAt recorded updatedAt",
		},
		"observation: revive, moved": {
			groupedDeleted, observes(present(worldtest.Noon)),
			"announced index journal lastSyncedAt recorded slots snapshots updatedAt",
		},
		"observation: adopt": {
			linkedDirectly, observes(answered(present(worldtest.Ten))),
			"announced calendar journal known lastSyncedAt recorded updatedAt",
		},
		"observation: warn": {
			grouped, observes(func(o *scheduler.ObservedEvent) { o.EventState = rules.Series }),
			"journal lastSyncedAt recorded updatedAt",
		},
		"observation: clear error":    {groupedFailing, observes(present(worldtest.Ten)), "journal lastSyncedAt recorded updatedAt"},
		"observation: record":         {later(grouped, 15*24*time.Hour), observes(present(worldtest.Noon)), "journal recorded"},
		"observation: forget":         {later(grouped, 50*24*time.Hour), observes(present(worldtest.Noon)), "calendar index"},
		"observation: moved calendar": {grouped, observes(movedToClub), "calendar index journal lastSyncedAt recorded updatedAt"},
		"sync error: set":             {grouped, syncFails, "journal recorded updatedAt"},
		"sync error: cleared":         {groupedFailing, syncRecovers, "calendar journal recorded updatedAt"},
		"command: finalise": {
			groupedOpen, finaliseTen, "announced calendar generation index journal lastSyncedAt recorded updatedAt",
		},
		"command: finalise, no event": {groupedOpen, finaliseWithout, "announced generation journal recorded updatedAt"},
		"command: finalise anew": {
			groupedMoved, finaliseTen, "announced calendar generation index intents journal lastSyncedAt recorded slots updatedAt",
		},
		"command: cancel":               {grouped, cancelling(false), "announced calendar generation index intents journal recorded updatedAt"},
		"command: cancel, keep event":   {grouped, cancelling(true), "announced calendar generation index journal recorded updatedAt"},
		"command: cancel, taking back":  {taking(grouped, worldtest.Person("gm")), cancelling(true), "generation intents journal recorded"},
		"command: reopen":               {groupedMoved, reopening(false), "announced calendar generation index journal recorded slots updatedAt"},
		"command: reopen, delete event": {grouped, reopening(true), "announced calendar generation index intents journal recorded updatedAt"},
		"command: archive":              {grouped, archiving, "card journal recorded updatedAt"},
		"command: unarchive":            {after(grouped, archiving), unarchiving, "calendar card journal recorded updatedAt"},
		"command: edit": {
			grouped, editing(func(s fixture) scheduler.Edit { return scheduler.Edit{Title: &s.poll} }), "card updatedAt",
		},
		"command: edit slots":      {groupedOpen, editing(slotsMoved), "card journal recorded slots updatedAt votes"},
		"command: accept new time": {groupedMoved, accepting, "announced journal recorded slots updatedAt"},
		"command: delete event":    {groupedMoved, deletingEvent, "calendar card generation index intents journal recorded slots updatedAt"},
		"command: delete": {
			grouped, deleting, "announced calendar generation index intents known lastSyncedAt named recorded updatedAt",
		},
		"command: join":  {groupedOpen, joining, "card updatedAt"},
		"command: leave": {after(groupedOpen, joining), leaving, "card updatedAt"},
		"command: vote":  {groupedOpen, voting, "card slots votes"},
		"repair: cancelled": {
			edited(grouped, statusOf(rules.Cancelled)), reconciling,
			"announced calendar generation index intents journal recorded updatedAt",
		},
		"repair: reopened": {
			edited(groupedMoved, append(statusOf(rules.Open), poll.Set("winningSlotId", nil))), reconciling,
			"announced calendar generation index journal recorded slots updatedAt",
		},
		"repair: restored": {
			edited(after(grouped, cancelling(true)), statusOf(rules.Finalized)), reconciling,
			"announced calendar index journal recorded updatedAt",
		},
		"repair: restored, awaiting": {
			edited(groupedDeleted, statusOf(rules.Finalized)), reconciling, "announced calendar journal recorded updatedAt",
		},
		"repair: linked": {
			edited(withoutItsEvent, []store.Update{poll.Set("googleEventId", "theirs")}), reconciling,
			"calendar card generation index journal recorded",
		},
		"repair: unlinked": {
			edited(groupedMoved, []store.Update{poll.Set("googleEventId", nil)}), reconciling,
			"calendar card generation index journal recorded slots",
		},
		"repair: status":    {edited(grouped, statusOf(rules.Archived)), reconciling, "card journal recorded"},
		"repair: slots":     {slotEdited(groupedDeleted), reconciling, "calendar card index journal recorded"},
		"repair: forgotten": {later(groupedDeleted, 40*24*time.Hour), reconciling, "calendar index"},
		"repair: deleted":   {removed(grouped), reconciling, "announced calendar index intents known named"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{})
			s := row.begin(t, w)
			w.Skip(time.Second)
			before := touchable(w, s)
			if err := row.do(w, s); err != nil {
				t.Fatal(err)
			}
			var touched []string
			for what, now := range touchable(w, s) {
				if !reflect.DeepEqual(before[what], now) {
					touched = append(touched, what)
				}
			}
			slices.Sort(touched)
			if got := strings.Join(touched, " "); got != row.touches {
				t.Errorf("it touches\n%q, want\n%q", got, row.touches)
			}
		})
	}
}

// touchable is what stands of a poll beside its journal.
func touchable(w *worldtest.World, s fixture) map[string]any {
	data := store.Fields(w.Document(poll.Path(s.poll)).Data)
	sync, announcement := data.Map("calendarSync"), store.Fields(w.Document(poll.AnnouncementPath(s.poll)).Data)
	below := map[string]map[store.Path]any{"slots": {}, "votes": {}}
	for _, path := range w.Below(s.poll) {
		below[path.Collection()][path] = w.Document(path).Data
	}
	calendar := w.Calendar("gm")
	return map[string]any{
		"updatedAt": data["updatedAt"], "recorded": sync["recorded"], "generation": sync["generation"], "lastSyncedAt": sync["lastSyncedAt"],
		"card": announcement["cardDue"] != nil, "announced": announcement.Map("wanted")["ref"],
		"known": announcement.Map("announced")["ref"], "named": announcement["named"],
		"slots": below["slots"], "votes": below["votes"], "snapshots": w.Snapshots(), "index": w.Index(), "intents": w.Intents(),
		"calendar": calendar, "journal": len(w.Journal(s.poll)),
	}
}

func groupedOpen(_ *testing.T, w *worldtest.World) fixture {
	s := fixture{}
	s.poll, s.slots = w.PollOf("gm", scheduler.Create{GroupID: w.Party(), AllowLinkSharing: true, ParticipantIDs: []string{"gm", "ana"}})
	w.Run(time.Minute)
	return s
}

func grouped(t *testing.T, w *worldtest.World) fixture {
	t.Helper()
	s := groupedOpen(t, w)
	view, err := w.Finalise(s.poll, s.slots[0])
	if err != nil {
		t.Fatal(err)
	}
	s.event = view.Poll.GoogleEventID
	w.Run(time.Minute)
	return s
}

func groupedMoved(t *testing.T, w *worldtest.World) fixture {
	t.Helper()
	s := grouped(t, w)
	w.MoveEvent("gm", s.event, worldtest.Noon)
	w.Run(time.Minute)
	return s
}

func groupedDeleted(t *testing.T, w *worldtest.World) fixture {
	t.Helper()
	s := grouped(t, w)
	w.DeleteEvent("gm", s.event)
	w.Run(time.Minute)
	return s
}

func groupedFailing(t *testing.T, w *worldtest.World) fixture {
	t.Helper()
	s := grouped(t, w)
	if err := syncFails(w, s); err != nil {
		t.Fatal(err)
	}
	return s
}

func withoutItsEvent(t *testing.T, w *worldtest.World) fixture {
	t.Helper()
	s := groupedOpen(t, w)
	if err := finaliseWithout(w, s); err != nil {
		t.Fatal(err)
	}
	w.Run(time.Minute)
	return s
}

// linkedDirectly is a poll that somebody gave an event, which nobody read yet.
func linkedDirectly(t *testing.T, w *worldtest.World) fixture {
	t.Helper()
	s := edited(withoutItsEvent, []store.Update{poll.Set("googleEventId", "theirs")})(t, w)
	if err := reconciling(w, s); err != nil {
		t.Fatal(err)
	}
	s.event = "theirs"
	return s
}

// after is a poll to which something was done since.
func after(
	begin func(t *testing.T, w *worldtest.World) fixture, do func(w *worldtest.World, s fixture) error,
) func(t *testing.T, w *worldtest.World) fixture {
	return func(t *testing.T, w *worldtest.World) fixture {
		t.Helper()
		s := begin(t, w)
		if err := do(w, s); err != nil {
			t.Fatal(err)
		}
		w.Run(time.Minute)
		return s
	}
}

func edited(begin func(t *testing.T, w *worldtest.World) fixture, updates []store.Update) func(t *testing.T, w *worldtest.World) fixture {
	return func(t *testing.T, w *worldtest.World) fixture {
		t.Helper()
		s := begin(t, w)
		w.Edit(poll.Path(s.poll), updates...)
		return s
	}
}

func slotEdited(begin func(t *testing.T, w *worldtest.World) fixture) func(t *testing.T, w *worldtest.World) fixture {
	return func(t *testing.T, w *worldtest.World) fixture {
		t.Helper()
		s := begin(t, w)
		w.Edit(poll.SlotPath(s.poll, s.slots[0]), poll.MoveSlot(timeOf(worldtest.Noon))...)
		return s
	}
}

func removed(begin func(t *testing.T, w *worldtest.World) fixture) func(t *testing.T, w *worldtest.World) fixture {
	return func(t *testing.T, w *worldtest.World) fixture {
		t.Helper()
		s := begin(t, w)
		w.Remove(poll.Path(s.poll))
		return s
	}
}

// taking is a poll of which another finalisation is under way.
func taking(begin func(t *testing.T, w *worldtest.World) fixture, person scheduler.Person) func(t *testing.T, w *worldtest.World) fixture {
	return func(t *testing.T, w *worldtest.World) fixture {
		t.Helper()
		s := begin(t, w)
		if err := cancelling(true)(w, s); err != nil {
			t.Fatal(err)
		}
		w.Plant("events.insert", func(f *worldtest.Fault) { f.LostAnswer, f.Times = true, 1 })
		if _, err := w.Scheduler.Finalise(
			w.Context(), person, s.poll, scheduler.Finalise{SlotID: s.slots[0], CreateEvent: true}, worldtest.Cause,
		); err == nil {
			t.Fatal("the finalisation came through")
		}
		return s
	}
}

func later(begin func(t *testing.T, w *worldtest.World) fixture, by time.Duration) func(t *testing.T, w *worldtest.World) fixture {
	return func(t *testing.T, w *worldtest.World) fixture {
		t.Helper()
		s := begin(t, w)
		w.Skip(by)
		return s
	}
}

func statusOf(status rules.Status) []store.Update {
	return []store.Update{poll.Set("status", string(status))}
}

func observes(set func(o *scheduler.ObservedEvent)) func(w *worldtest.World, s fixture) error {
	return func(w *worldtest.World, s fixture) error {
		o := scheduler.ObservedEvent{
			AccountID: w.Account("gm"), CalendarID: "gm@example.com", EventID: s.event, Fence: w.Calendar("gm").Fence, Fresh: true,
			Updated: w.Clock.Now(), Cause: worldtest.Cause,
		}
		set(&o)
		_, err := w.Scheduler.Apply(w.Context(), o)
		return err
	}
}

func present(at worldtest.Slot) func(o *scheduler.ObservedEvent) {
	return func(o *scheduler.ObservedEvent) { o.EventState, o.Fingerprint = rules.Present, timeOf(at) }
}

// answered observes the answer to our own write.
func answered(set func(o *scheduler.ObservedEvent)) func(o *scheduler.ObservedEvent) {
	return func(o *scheduler.ObservedEvent) {
		set(o)
		o.Own = true
	}
}

func eventGone(o *scheduler.ObservedEvent) { o.EventState, o.Searched = rules.Gone, true }

func movedToClub(o *scheduler.ObservedEvent) {
	eventGone(o)
	o.MovedTo = poll.Place{AccountID: o.AccountID, CalendarID: worldtest.Club}
}

func syncFails(w *worldtest.World, s fixture) error {
	return w.Scheduler.SetSyncError(w.Context(), s.poll, rules.SyncFailed, worldtest.Cause, nil)
}

func syncRecovers(w *worldtest.World, s fixture) error {
	return w.Scheduler.ClearSyncError(w.Context(), s.poll, rules.SyncFailed, worldtest.Cause, nil)
}

func finaliseTen(w *worldtest.World, s fixture) error {
	_, err := w.Finalise(s.poll, s.slots[0])
	return err
}

func finaliseWithout(w *worldtest.World, s fixture) error {
	_, err := w.FinaliseAs(s.poll, worldtest.Ask{SlotID: s.slots[0]})
	return err
}

func cancelling(keep bool) func(w *worldtest.World, s fixture) error {
	return func(w *worldtest.World, s fixture) error {
		_, err := w.Scheduler.Cancel(w.Context(), worldtest.Person("gm"), s.poll, keep, worldtest.Cause)
		return err
	}
}

func reopening(deleteEvent bool) func(w *worldtest.World, s fixture) error {
	return func(w *worldtest.World, s fixture) error {
		_, err := w.Scheduler.Reopen(w.Context(), worldtest.Person("gm"), s.poll, deleteEvent, worldtest.Cause)
		return err
	}
}

// by is a command of a person.
func by(
	person string, command func(ctx context.Context, person scheduler.Person, pollID string, cause scheduler.Cause) error,
) func(w *worldtest.World, s fixture) error {
	return func(w *worldtest.World, s fixture) error {
		return command(w.Context(), worldtest.Person(person), s.poll, worldtest.Cause)
	}
}

func archiving(w *worldtest.World, s fixture) error {
	return by("gm", withoutView(w.Scheduler.Archive))(w, s)
}

func unarchiving(w *worldtest.World, s fixture) error {
	return by("gm", withoutView(w.Scheduler.Unarchive))(w, s)
}

func joining(w *worldtest.World, s fixture) error {
	return by("cho", withoutView(w.Scheduler.Join))(w, s)
}

func leaving(w *worldtest.World, s fixture) error { return by("cho", w.Scheduler.Leave)(w, s) }

func voting(w *worldtest.World, s fixture) error {
	_, err := w.Scheduler.Vote(w.Context(), worldtest.Person("ana"), s.poll, scheduler.Vote{NoTimesWork: true}, worldtest.Cause)
	return err
}

// withoutView is a command without the view that it returns.
func withoutView(command func(
	context.Context, scheduler.Person, string, scheduler.Cause,
) (scheduler.View, error)) func(context.Context, scheduler.Person, string, scheduler.Cause) error {
	return func(ctx context.Context, person scheduler.Person, pollID string, cause scheduler.Cause) error {
		_, err := command(ctx, person, pollID, cause)
		return err
	}
}

func editing(ask func(s fixture) scheduler.Edit) func(w *worldtest.World, s fixture) error {
	return func(w *worldtest.World, s fixture) error {
		_, err := w.Scheduler.Edit(w.Context(), worldtest.Person("gm"), s.poll, ask(s), worldtest.Cause)
		return err
	}
}

func slotsMoved(s fixture) scheduler.Edit {
	return scheduler.Edit{Slots: &[]scheduler.SlotEdit{{ID: s.slots[0], Times: worldtest.Noon}, {Times: worldtest.Three}}}
}

func accepting(w *worldtest.World, s fixture) error {
	_, err := w.Scheduler.AcceptNew(w.Context(), worldtest.Person("gm"), s.poll, timeOf(worldtest.Noon).String(), worldtest.Cause)
	return err
}

func deletingEvent(w *worldtest.World, s fixture) error {
	_, err := w.Scheduler.DeleteEvent(w.Context(), worldtest.Person("gm"), s.poll, worldtest.Cause)
	return err
}

func deleting(w *worldtest.World, s fixture) error {
	return w.Scheduler.Delete(w.Context(), worldtest.Person("gm"), s.poll, false, worldtest.Cause)
}

func reconciling(w *worldtest.World, s fixture) error {
	_, err := w.Scheduler.Reconcile(w.Context(), s.poll, worldtest.Cause)
	return err
}
