package calendarsync_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"questscheduler/calendarsync"
	"questscheduler/fault"
	"questscheduler/internal/calendars"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/internal/test/worldtest"
	"questscheduler/rules"
)

// genuine is a push that Google would send on the only channel there is.
func genuine(t *testing.T, w *worldtest.World) calendarsync.Push {
	t.Helper()
	watches := w.Watches()
	if len(watches) != 1 {
		t.Fatalf("there are %d watch channels", len(watches))
	}
	fields := store.Fields(watches[0].Data)
	return calendarsync.Push{
		ChannelID: watches[0].Path.ID(), Token: w.Secrets()[0], ResourceID: fields.String("resourceId"), State: "exists", Trace: "t",
	}
}

func waiting(w *worldtest.World, kind string) int { return w.Wakes.Waiting(kind) }

func TestAForgedPush_IsRefusedAndDoesNothing(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	w.Finalised()
	push := genuine(t, w)
	for name, forge := range map[string]func(p *calendarsync.Push){
		"another token":                  func(p *calendarsync.Push) { p.Token = "guessed" },
		"no token":                       func(p *calendarsync.Push) { p.Token = "" },
		"the hash of the token":          func(p *calendarsync.Push) { p.Token = store.Fields(w.Watches()[0].Data).String("tokenHash") },
		"a token beyond any length":      func(p *calendarsync.Push) { p.Token = strings.Repeat("x", 257) },
		"another resource":               func(p *calendarsync.Push) { p.ResourceID = "other" },
		"no resource":                    func(p *calendarsync.Push) { p.ResourceID = "" },
		"an unknown channel":             func(p *calendarsync.Push) { p.ChannelID = "00000000-0000-4000-8000-999999999999" },
		"no channel":                     func(p *calendarsync.Push) { p.ChannelID = "" },
		"a channel that is a path":       func(p *calendarsync.Push) { p.ChannelID = "a/b/c" },
		"a channel beyond any length":    func(p *calendarsync.Push) { p.ChannelID = strings.Repeat("x", 65) },
		"another token, said to be sync": func(p *calendarsync.Push) { p.Token, p.State = "guessed", "sync" },
	} {
		t.Run(name, func(t *testing.T) {
			forged := push
			forge(&forged)
			if err := w.Watcher.Push(t.Context(), forged); !fault.Is(err, fault.Unauthenticated) {
				t.Errorf("got %v", err)
			}
			equal(t, "syncs waiting", waiting(w, calendars.SyncKind), 0)
		})
	}
	if err := w.Watcher.Push(t.Context(), push); err != nil {
		t.Fatalf("the genuine push: %v", err)
	}
	equal(t, "syncs waiting after the genuine push", waiting(w, calendars.SyncKind), 1)
	atRest(t, w)
}

// What no channel of ours can have costs no read: anybody may send it.
func TestAPush_ThatCannotBeOurs_IsRefusedWithoutARead(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	w.Finalised()
	for name, forge := range map[string]func(p *calendarsync.Push){
		"no token":                   func(p *calendarsync.Push) { p.Token = "" },
		"a long token":               func(p *calendarsync.Push) { p.Token = strings.Repeat("x", 257) },
		"no channel":                 func(p *calendarsync.Push) { p.ChannelID = "" },
		"a channel beyond any id":    func(p *calendarsync.Push) { p.ChannelID = strings.Repeat("x", 65) },
		"a channel that is a path":   func(p *calendarsync.Push) { p.ChannelID = "a/b" },
		"a channel beside the store": func(p *calendarsync.Push) { p.ChannelID = "__id__" },
		"another channel's token":    func(p *calendarsync.Push) { p.ChannelID = "00000000-0000-4000-8000-999999999999" },
	} {
		push := genuine(t, w)
		forge(&push)
		passed := w.Points(func() {
			if err := w.Watcher.Push(t.Context(), push); !fault.Is(err, fault.Unauthenticated) {
				t.Errorf("%s: got %v", name, err)
			}
		})
		equal(t, name+": calls that leave the program", len(passed), 0)
	}
	whole := genuine(t, w)
	passed := w.Points(func() {
		for range 5 {
			if err := w.Watcher.Push(t.Context(), whole); err != nil {
				t.Error(err)
			}
		}
	})
	reads := 0
	for _, point := range passed {
		if point == "before store.read" {
			reads++
		}
	}
	equal(t, "reads of the channel by many pushes at once", reads, 1)
}

func TestASyncPush_IsAcknowledgedOnly(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	w.Finalised()
	push := genuine(t, w)
	push.State = "sync"
	if err := w.Watcher.Push(t.Context(), push); err != nil {
		t.Fatal(err)
	}
	equal(t, "syncs waiting", waiting(w, calendars.SyncKind), 0)
}

func TestAPushThatCannotBeRecorded_ComesAgain(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	pollID, _, eventID := w.Finalised()
	w.Run(time.Minute)
	w.MoveEvent("gm", eventID, noon)
	w.Fail("before store.run", fault.Wrap(fault.Unavailable, errors.New("no answer"), "The store did not answer."))
	w.RunDue()
	equal(t, "pushes that Google keeps", len(w.Google.PendingPushes()), 1)
	w.Run(time.Minute)
	stands(t, w, pollID, rules.StateRescheduled, noon.Start)
	atRest(t, w)
}

func TestConcurrentPushes_CauseOneMoreSyncAtMost(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	pollID, _, eventID := w.Finalised()
	before := w.Calls("events.list")
	push := genuine(t, w)
	w.MoveEvent("gm", eventID, noon)
	for range 20 {
		if err := w.Watcher.Push(t.Context(), push); err != nil {
			t.Fatal(err)
		}
	}
	equal(t, "syncs waiting", waiting(w, calendars.SyncKind), 1)
	w.Run(time.Minute)
	equal(t, "listings", w.Calls("events.list")-before, 1)
	same(t, "journal", w.Decisions(pollID), []string{"finalise", "reschedule"})
	same(t, "ana's notices", w.Notices("ana"), []string{"SESSION_RESCHEDULED"})
	atRest(t, w)
}

// A push that comes while a sync is listing is not covered by it: another sync
// follows, after SYNC_MIN_GAP.
func TestPush_DuringASync_CausesAnother(t *testing.T) {
	t.Parallel()
	for _, point := range []string{"before events.list", "after events.list"} {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{})
			pollID, _, eventID := w.Finalised()
			w.MoveEvent("gm", eventID, noon)
			w.On(point, func() {
				w.MoveEvent("gm", eventID, three)
				if err := w.Watcher.Push(t.Context(), genuine(t, w)); err != nil {
					t.Error(err)
				}
			})
			before := w.Calls("events.list")
			w.Run(worldtest.MinGap + time.Second)
			stands(t, w, pollID, rules.StateRescheduled, three.Start)
			if listings := w.Calls("events.list") - before; listings > 3 {
				t.Errorf("there were %d listings", listings)
			}
			atRest(t, w)
		})
	}
}

// A sync fails while pushes come: every change is applied afterwards.
func TestPushesDuringAnOutage_AreCovered(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	pollID, _, eventID := w.Finalised()
	w.Refuse("events.list", 503, "backendError", 2)
	w.MoveEvent("gm", eventID, noon)
	w.RunDue()
	w.MoveEvent("gm", eventID, three)
	w.Run(30 * time.Second)
	stands(t, w, pollID, rules.StateRescheduled, three.Start)
	atRest(t, w)
}

func TestTheFirstPushOfAChannel_IsKnownBeforeGooglesAnswerIs(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	pollID, slots := w.Poll()
	w.On("after events.watch", func() {
		pushes := w.Google.PendingPushes()
		if len(pushes) != 1 || pushes[0].State != "sync" {
			t.Errorf("pushes: %+v", pushes)
		}
		w.RunDue()
		equal(t, "pushes refused or kept", len(w.Google.PendingPushes()), 0)
		push := calendarsync.Push{ChannelID: pushes[0].ChannelID, Token: w.Secrets()[0], ResourceID: "whatever", State: "exists"}
		if err := w.Watcher.Push(t.Context(), push); err != nil {
			t.Errorf("an early push: %v", err)
		}
	})
	if _, err := w.Finalise(pollID, slots[0]); err != nil {
		t.Fatal(err)
	}
	w.Run(time.Minute)
	w.Check()
}

// The queue may keep a name for ever; a sync that nothing followed must not
// take the name of one that something does.
func TestCalendar_FollowedAgain_IsSynced(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	pollID, slots, _ := w.Finalised()
	if _, err := w.Cancel(pollID); err != nil {
		t.Fatal(err)
	}
	for range 3 { // pushes of a calendar that nothing follows
		w.InsertEvent("gm", map[string]any{"start": map[string]any{"date": "2026-03-10"}, "end": map[string]any{"date": "2026-03-11"}})
		w.Run(time.Minute)
	}
	equal(t, "interests", w.Calendar("gm").Interests[poll.ConsumerPoll], 0)
	view, err := w.Finalise(pollID, slots[0])
	if err != nil {
		t.Fatal(err)
	}
	w.Run(time.Minute)
	w.MoveEvent("gm", view.Poll.GoogleEventID, noon)
	w.Run(time.Minute)
	stands(t, w, pollID, rules.StateRescheduled, noon.Start)
	atRest(t, w)
}

// A channel that pushed lately is known without its document; what is refused
// is refused by the document all the same.
func TestAChannelThatWasStopped_IsNotKnownForLong(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	w.Finalised()
	push := genuine(t, w)
	if err := w.Watcher.Push(t.Context(), push); err != nil {
		t.Fatal(err)
	}
	w.Remove(w.Watches()[0].Path) // by another process
	if err := w.Watcher.Push(t.Context(), push); err != nil {
		t.Errorf("a push that was on its way: %v", err)
	}
	forged := push
	forged.Token = "guessed"
	if err := w.Watcher.Push(t.Context(), forged); !fault.Is(err, fault.Unauthenticated) {
		t.Errorf("a forged push of a known channel: %v", err)
	}
	for what, passed := range map[string]time.Duration{"a minute later": time.Minute, "by a clock that was set back": -time.Hour} {
		w.Watcher.Now = func() time.Time { return w.Clock.Now().Add(passed) }
		if err := w.Watcher.Push(t.Context(), push); !fault.Is(err, fault.Unauthenticated) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestAChannelThatWeStop_IsNotKnownAnyMore(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	w.Finalised()
	push := genuine(t, w)
	if err := w.Watcher.Push(t.Context(), push); err != nil {
		t.Fatal(err)
	}
	if err := w.Watcher.StopAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := w.Watcher.Push(t.Context(), push); !fault.Is(err, fault.Unauthenticated) {
		t.Errorf("got %v", err)
	}
}
