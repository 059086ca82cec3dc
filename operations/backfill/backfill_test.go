package backfill_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/internal/test/worldtest"
	"questscheduler/operations/backfill"
	"questscheduler/rules"
	"questscheduler/scheduler"
)

var cause = scheduler.Cause{Trigger: "backfill", Trace: "test"}

// legacy makes a poll of a person that was finalised before this backend, with an
// event of an id that Google made.
func legacy(w *worldtest.World, n int, person, calendarID, eventID string) (pollID string) {
	pollID = fmt.Sprintf("10000000-0000-4000-8000-%012d", n)
	w.Write(poll.SlotPath(pollID, "slot"), poll.Set("start", "2026-03-10T10:00:00.000Z"), poll.Set("end", "2026-03-10T11:00:00.000Z"))
	w.Write(poll.Path(pollID), poll.Set("title", "Of before"), poll.Set("creatorId", person), poll.Set("status", "FINALIZED"),
		poll.Set("winningSlotId", "slot"), poll.Set("googleEventId", eventID), poll.Set("googleCalendarId", store.NullIfEmpty(calendarID)),
		poll.Set("participantIds", []string{"ana", "ben"}), poll.Set("fieldOfTheWebApp", true))
	return pollID
}

// index runs the job over polls to its end, and gives what it did and said.
func index(t *testing.T, w *worldtest.World, dryRun bool) (done backfill.Done, problems []string) {
	t.Helper()
	done, err := backfill.Index(w.Context(), w.Documents, w.Scheduler, cause, backfill.Options{
		DryRun: dryRun, Problem: func(p backfill.Problem) { problems = append(problems, p.What+": "+p.Fix) },
	})
	if err != nil {
		t.Fatal(err)
	}
	return done, problems
}

func TestIndex_FollowsOldEvents_AndAnnouncesNothing(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	event := w.InsertEvent("gm", map[string]any{
		"summary": "Of before", "start": map[string]any{"dateTime": "2026-03-10T12:00:00Z"},
		"end": map[string]any{"dateTime": "2026-03-10T13:00:00Z"},
	})
	pollID := legacy(w, 1, "gm", "primary", event.ID)
	w.Finalised() // followed already
	eventless := legacy(w, 2, "gm", "", "")
	before := w.Calls("")

	would, _ := index(t, w, true)
	if len(w.Index()) != 1 || w.Document(store.Doc("backfills", "index")).Exists() {
		t.Error("the dry run wrote something")
	}
	did, problems := index(t, w, false)
	want := backfill.Done{
		Read:   3,
		Counts: map[backfill.Outcome]int{backfill.Followed: 1, backfill.FollowedAlready: 1, backfill.NothingToFollow: 1},
	}
	if !reflect.DeepEqual(did, want) || !reflect.DeepEqual(would, want) || len(problems) != 0 || len(w.Index()) != 2 {
		t.Errorf("it did %+v with %q, and would have done %+v; want %+v", did, problems, would, want)
	}
	if w.Calls("") != before {
		t.Error("Google was asked")
	}
	again, _ := index(t, w, false)
	if again.Counts[backfill.FollowedAlready] != 2 || again.Read != 3 || len(w.Index()) != 2 {
		t.Errorf("a second time it did %+v", again)
	}

	notices := len(w.Notices("ana"))
	w.Run(time.Minute)
	p := w.View(pollID).Poll
	if p.Sync.State != rules.StateOK || p.Sync.Baseline.StartTime() != time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC) ||
		p.GoogleCalendarID != "gm@example.com" {
		t.Errorf("it is %+v in calendar %s", p.Sync, p.GoogleCalendarID)
	}
	if decided := fmt.Sprint(w.Decisions(pollID)); !strings.Contains(decided, "adopt") || len(w.Decisions(eventless)) != 0 {
		t.Errorf("decided was %s", decided)
	}
	w.MoveEvent("gm", event.ID, worldtest.Three)
	if got := len(w.Notices("ana")); got != notices {
		t.Errorf("ana got %d notices", got-notices)
	}
	w.Sweep()
	w.Run(time.Minute)
	if got := w.View(pollID).Poll.Sync.State; got != rules.StateRescheduled {
		t.Errorf("after the event moved it is %q", got)
	}
}

// held is polls that a run which was killed still has in a transaction, for as
// long as Firestore leaves them to it.
type held struct{ backfill.Polls }

func (h held) Reconcile(ctx context.Context, pollID string, cause scheduler.Cause) (rules.Repair, error) {
	if deadline, ok := ctx.Deadline(); !ok || time.Until(deadline) < 90*time.Second {
		return rules.RepairNothing, errors.New("others change the same documents")
	}
	return h.Polls.Reconcile(ctx, pollID, cause)
}

func TestIndex_WaitsForWhatARunThatWasKilledHolds(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	legacy(w, 1, "gm", "", "googlesown")
	done, err := backfill.Index(w.Context(), w.Documents, held{w.Scheduler}, cause, backfill.Options{})
	if err != nil || done.Counts[backfill.Followed] != 1 {
		t.Errorf("it did %+v, %v", done, err)
	}
}

func TestIndex_OfAnUnfollowableEvent_SaysWhatToDo(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	first, second := legacy(w, 1, "gm", "", "googlesown"), legacy(w, 2, "gm", "gm@example.com", "googlesown")
	bens := legacy(w, 3, "ben", "", "another")
	for _, dryRun := range []bool{false, true} {
		done, problems := index(t, w, dryRun)
		all := strings.Join(problems, "\n")
		if done.Problems != 2 || !strings.Contains(all, "poll "+second+": poll "+first+" follows the same event") ||
			!strings.Contains(all, "poll "+bens+": nobody's Google account is linked") {
			t.Errorf("%+v with\n%s", done, all)
		}
	}
	w.Link("ben")
	if done, problems := index(t, w, false); done.Problems != 1 || done.Counts[backfill.Followed] != 1 {
		t.Errorf("once ben has linked his account: %+v, %q", done, problems)
	}
}

// Google may refuse to list the calendars of an account that may have a poll's event: that is one
// person's trouble, and the others' polls are followed.
func TestIndex_GoogleRefusesAPerson_GoesOnWithOthers(t *testing.T) {
	t.Parallel()
	for reason, c := range map[string]struct {
		status int
		fix    string
	}{
		"quotaExceeded":     {http.StatusForbidden, "quota of its creator's account is used up"},
		"rateLimitExceeded": {http.StatusTooManyRequests, "asks for fewer calls"},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{})
			w.LinkAs("gm", "ben")
			refused := legacy(w, 1, "gm", worldtest.ClubCalendar, "googlesown")
			legacy(w, 2, "ana", "", "anas")
			w.Refuse("calendarList.list", c.status, reason, 0)
			for _, dryRun := range []bool{true, false} {
				done, problems := index(t, w, dryRun)
				if done.Read != 2 || done.Problems != 1 || done.Counts[backfill.Followed] != 1 {
					t.Errorf("dry run %t: it did %+v, want one problem and one poll that is followed", dryRun, done)
				}
				if len(problems) != 1 || !strings.Contains(problems[0], "poll "+refused) || !strings.Contains(problems[0], c.fix) {
					t.Errorf("dry run %t: it says %q", dryRun, problems)
				}
			}
			w.Heal()
			w.Skip(time.Hour)
			if done, problems := index(t, w, false); done.Problems != 0 || done.Counts[backfill.Followed] != 1 {
				t.Errorf("once Google answers: %+v, %q", done, problems)
			}
		})
	}
}

// refusing are polls whose reconciliation fails.
type refusing struct {
	backfill.Polls
	kind fault.Kind
}

func (r refusing) Reconcile(context.Context, string, scheduler.Cause) (rules.Repair, error) {
	return rules.RepairNothing, fault.New(r.kind, "refused")
}

func TestIndex_Failure_IsAProblemOnlyOfOnePerson(t *testing.T) {
	t.Parallel()
	for kind, ends := range map[fault.Kind]bool{
		fault.RateLimited: false, fault.Exhausted: false, fault.Provider: false, fault.TooLarge: false,
		fault.Unavailable: true, fault.Internal: true,
	} {
		w := worldtest.New(t, worldtest.Options{})
		legacy(w, 1, "gm", "", "googlesown")
		done, err := backfill.Index(w.Context(), w.Documents, refusing{w.Scheduler, kind}, cause, backfill.Options{})
		if ends != (err != nil) || ends != (done.Problems == 0) {
			t.Errorf("%s: it did %+v, %v; want that it ends: %t", kind, done, err, ends)
		}
	}
}

// dying are polls that answer a few times and no more, as when the program is
// killed.
type dying struct {
	backfill.Polls
	left int
}

var errKilled = errors.New("killed")

func (d *dying) Reconcile(ctx context.Context, pollID string, cause scheduler.Cause) (rules.Repair, error) {
	d.left--
	if d.left < 0 {
		return rules.RepairNothing, errKilled
	}
	return d.Polls.Reconcile(ctx, pollID, cause)
}

func TestIndex_CutOff_GoesOnWhereItWas(t *testing.T) {
	t.Parallel()
	const polls = 170
	w := worldtest.New(t, worldtest.Options{})
	for n := range polls {
		legacy(w, n, "gm", "", fmt.Sprintf("googlesown%03d", n))
	}
	kills := 0
	for {
		done, err := backfill.Index(w.Context(), w.Documents, &dying{w.Scheduler, 60}, cause, backfill.Options{})
		if err == nil {
			if done.Read != polls || done.Counts[backfill.Followed]+done.Counts[backfill.FollowedAlready] != polls {
				t.Errorf("in the end it did %+v", done)
			}
			break
		}
		kills++
		if !errors.Is(err, errKilled) || kills > 10 {
			t.Fatal(err)
		}
	}
	if len(w.Index()) != polls || w.Calendar("gm").Interests[poll.ConsumerPoll] != polls || kills != 3 {
		t.Errorf("%d index entries and %d interests after %d kills", len(w.Index()), w.Calendar("gm").Interests[poll.ConsumerPoll], kills)
	}
	if w.Document(store.Doc("backfills", "index")).Exists() {
		t.Error("it still remembers how far it was")
	}
}

func TestWatchCalendars_WatchesEachOnce_AndGoesOnAfterAProblem(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	legacy(w, 1, "gm", "", "gms")
	legacy(w, 2, "ana", "", "anas")
	index(t, w, false)
	watch := func(dryRun bool) (done backfill.Done, problems []string) {
		done, err := backfill.WatchCalendars(w.Context(), w.Documents, w.Watcher, backfill.Options{
			DryRun: dryRun, Problem: func(p backfill.Problem) { problems = append(problems, p.What+": "+p.Fix) },
		})
		if err != nil {
			t.Fatal(err)
		}
		return done, problems
	}
	if done, _ := watch(true); done.Counts[backfill.Watched] != 2 || len(w.Watches()) != 0 {
		t.Errorf("dry: %+v, %d channels", done, len(w.Watches()))
	}
	w.Refuse("events.watch", http.StatusForbidden, "forbidden", 1)
	done, problems := watch(false)
	if done.Counts[backfill.Watched] != 1 || done.Problems != 1 ||
		!slices.ContainsFunc(problems, func(said string) bool { return strings.Contains(said, "@example.com of account acc_") }) {
		t.Errorf("with one refused: %+v, %q", done, problems)
	}
	done, _ = watch(false)
	if done.Counts[backfill.Watched] != 1 || done.Counts[backfill.WatchedAlready] != 1 || done.Problems != 0 {
		t.Errorf("once it is not refused: %+v", done)
	}
	calls := w.Calls("events.watch")
	done, _ = watch(false)
	if done.Counts[backfill.WatchedAlready] != 2 || w.Calls("events.watch") != calls {
		t.Errorf("a second time: %+v", done)
	}
}
