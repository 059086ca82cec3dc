package calendarsync_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"questscheduler/internal/calendars"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/internal/test/worldtest"
	"questscheduler/rules"
	"questscheduler/scheduler"
)

// errorOf is what sets an error code and what clears it. It stands in the state
// until then, whatever sweeps come; afterwards the poll is in another one.
type errorOf struct {
	code         rules.ErrorCode
	set, clear   func(w *worldtest.World, pollID, eventID string)
	state, after rules.State
}

var errorsOf = map[string]errorOf{
	"a grant that is revoked, until it is linked again": {
		code: rules.TokenExpired, state: rules.StateError, after: rules.StateOK,
		set:   func(w *worldtest.World, _, _ string) { w.Revoke("gm") },
		clear: func(w *worldtest.World, _, _ string) { w.Link("gm") },
	},
	"a grant that is revoked while the event is moved": {
		code: rules.TokenExpired, state: rules.StateError, after: rules.StateRescheduled,
		set:   func(w *worldtest.World, _, eventID string) { w.Revoke("gm"); w.MoveEvent("gm", eventID, noon) },
		clear: func(w *worldtest.World, _, _ string) { w.Link("gm") },
	},
	"an account that is unlinked, until it is linked again": {
		code: rules.CalendarUnlinked, state: rules.StateError, after: rules.StateOK,
		set:   func(w *worldtest.World, _, _ string) { w.Unlink("gm") },
		clear: func(w *worldtest.World, _, _ string) { w.Link("gm") },
	},
	"an event that cannot be applied, until it can": {
		code: rules.SyncFailed, state: rules.StateError, after: rules.StateRescheduled,
		set: func(w *worldtest.World, pollID, eventID string) {
			// The document that its announcement would be written to is full.
			known := w.Document(poll.AnnouncementPath(pollID))
			left := store.MaxDocument - store.DocumentSize(known.Path, known.Data) - len("filler") - 2
			w.Write(known.Path, poll.Set("filler", strings.Repeat("f", left)))
			w.MoveEvent("gm", eventID, noon)
		},
		clear: func(w *worldtest.World, pollID, _ string) {
			w.Write(poll.AnnouncementPath(pollID), poll.Set("filler", nil))
		},
	},
	"an event that became a series, until it is single": {
		code: rules.RecurringUnsupported, state: rules.StateOK, after: rules.StateOK,
		set: func(w *worldtest.World, _, eventID string) { w.PatchEvent("gm", eventID, weekly) },
		clear: func(w *worldtest.World, _, eventID string) {
			w.PatchEvent("gm", eventID, map[string]any{"recurrence": nil})
		},
	},
	"a moved event that became a series, until it is single": {
		code: rules.RecurringUnsupported, state: rules.StateRescheduled, after: rules.StateRescheduled,
		set: func(w *worldtest.World, _, eventID string) {
			w.MoveEvent("gm", eventID, noon)
			w.Run(time.Minute)
			w.PatchEvent("gm", eventID, weekly)
		},
		clear: func(w *worldtest.World, _, eventID string) {
			w.PatchEvent("gm", eventID, map[string]any{"recurrence": nil})
		},
	},
}

func TestErrorCodes_WhatSetsEach_AndWhatClearsIt(t *testing.T) {
	t.Parallel()
	for name, c := range errorsOf {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{})
			pollID, _, eventID := w.Finalised()
			c.set(w, pollID, eventID)
			for range 3 {
				w.Sweep()
				w.Run(2 * time.Minute)
				shows(t, w, pollID, c.code, c.state)
			}
			warned := len(w.Decisions(pollID))
			c.clear(w, pollID, eventID)
			w.Sweep()
			w.Run(2 * time.Minute)
			shows(t, w, pollID, "", c.after)
			if done := w.Decisions(pollID); done[warned-1] != "warn" || slices.Index(done, "warn") != warned-1 {
				t.Errorf("the journal says %v, want one warning before it is cleared", done)
			}
			equal(t, "deferred events", len(w.Calendar("gm").DeferredEvents()), 0)
			atRest(t, w)
		})
	}
}

// A calendar without a watch channel is synced by the sweep: what was said of
// it is over when a channel lives, or when two sweeps went well without.
func TestWatchFailed_IsOverWithAChannel_OrAfterTwoGoodSweeps(t *testing.T) {
	t.Parallel()
	unwatched := func(t *testing.T) (w *worldtest.World, pollID string) {
		w = worldtest.New(t, worldtest.Options{})
		w.Refuse("events.watch", 403, "push.webhookUrlUnauthorized", 0)
		pollID, _, _ = w.Finalised()
		shows(t, w, pollID, rules.WatchFailed, rules.StateError)
		return w, pollID
	}
	sweep := func(w *worldtest.World) { w.Sweep(); w.Run(6 * time.Hour) }
	t.Run("a channel", func(t *testing.T) {
		t.Parallel()
		w, pollID := unwatched(t)
		w.Heal()
		sweep(w)
		shows(t, w, pollID, "", rules.StateOK)
		equal(t, "a channel lives", slices.Contains(statuses(w), "active"), true)
		atRest(t, w)
	})
	t.Run("two good sweeps", func(t *testing.T) {
		t.Parallel()
		w, pollID := unwatched(t)
		sweep(w)
		shows(t, w, pollID, rules.WatchFailed, rules.StateError)
		sweep(w)
		sweep(w)
		shows(t, w, pollID, "", rules.StateOK)
		sweep(w)
		shows(t, w, pollID, "", rules.StateOK)
		same(t, "journal", w.Decisions(pollID), []string{"finalise", "warn", "clear_error"})
		atRest(t, w)
	})
	t.Run("a sweep that does not come through counts for nothing", func(t *testing.T) {
		t.Parallel()
		w, pollID := unwatched(t)
		w.Refuse("events.list", 503, "backendError", 0)
		for range 4 {
			sweep(w)
			shows(t, w, pollID, rules.WatchFailed, rules.StateError)
		}
		atRest(t, w)
	})
}

// Google shows no times that cannot be read, so what a sync would make of them
// is said here.
func TestAnUnreadableEvent_WarnsUntilItCanBeRead(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	pollID, _, eventID := w.Finalised()
	_, err := w.Scheduler.Apply(t.Context(), scheduler.ObservedEvent{
		AccountID: w.Account("gm"), CalendarID: "gm@example.com", EventID: eventID, EventState: rules.Unreadable, Updated: w.Clock.Now(),
		Fence: w.Calendar("gm").Fence, Cause: worldtest.Cause,
	})
	if err != nil {
		t.Fatal(err)
	}
	shows(t, w, pollID, rules.UnreadableEvent, rules.StateOK)
	w.MoveEvent("gm", eventID, noon)
	w.Run(time.Minute)
	shows(t, w, pollID, "", rules.StateRescheduled)
	same(t, "journal", w.Decisions(pollID), []string{"finalise", "warn", "reschedule"})
	atRest(t, w)
}

// Many sessions whose events a full listing lacks are held for their owner's
// word, and each goes by what its event says when it was given.
func TestManyAbsencesAtOnce_AreHeldUntilAPersonConfirms(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	type session struct{ poll, event string }
	var sessions []session
	for range 8 {
		pollID, _, eventID := w.Finalised()
		sessions = append(sessions, session{pollID, eventID})
	}
	lose := func(sessions []session) {
		t.Helper()
		for _, s := range sessions {
			w.DeleteEvent("gm", s.event)
		}
		if err := w.Google.ExpireSyncTokens(); err != nil {
			t.Fatal(err)
		}
		w.LosePushes()
		w.Sweep()
		w.Run(2 * time.Minute)
	}
	lost, left := sessions[:7], sessions[7]
	lose(lost)
	for _, s := range lost {
		shows(t, w, s.poll, rules.MassCancellationHeld, rules.StateError)
	}
	stands(t, w, left.poll, rules.StateOK, ten.Start)
	same(t, "what the owner was sent", w.Notices("gm"), []string{"CANCELLATIONS_HELD"})
	equal(t, "notices of ana", len(w.Notices("ana")), 0)
	for range 2 { // neither a sweep nor another full listing changes that, or tells it again
		lose(nil)
	}
	for _, s := range lost {
		shows(t, w, s.poll, rules.MassCancellationHeld, rules.StateError)
	}
	same(t, "what the owner was sent later", w.Notices("gm"), []string{"CANCELLATIONS_HELD"})

	confirm := func(person string, sessions ...session) (int, error) {
		var polls []string
		for _, s := range sessions {
			polls = append(polls, s.poll)
		}
		count, err := w.Watcher.Confirm(t.Context(), worldtest.Person(person), w.CalendarKey("gm"), polls, worldtest.Cause)
		w.Run(time.Minute)
		return count, err
	}
	if _, err := confirm("ana", lost...); err == nil {
		t.Error("ana may say so")
	}
	back := lost[5]
	w.PatchEvent("gm", back.event, map[string]any{"status": "confirmed"})
	w.Run(time.Minute)
	shows(t, w, back.poll, rules.MassCancellationHeld, rules.StateError)
	if count, err := confirm("gm", append(slices.Clone(lost[:6]), left)...); count != 6 || err != nil {
		t.Errorf("%d were fetched (%v), want 6", count, err)
	}
	for _, s := range lost[:5] {
		equal(t, "status once it was confirmed", w.View(s.poll).Poll.Status, rules.Cancelled)
		same(t, "journal", w.Decisions(s.poll), []string{"finalise", "warn", "cancel"})
	}
	stands(t, w, back.poll, rules.StateOK, ten.Start)
	shows(t, w, back.poll, "", rules.StateOK)
	shows(t, w, lost[6].poll, rules.MassCancellationHeld, rules.StateError)
	equal(t, "what is held of it", w.Calendar("gm").Deferred(lost[6].event).Why, calendars.DeferredHeld)
	equal(t, "notices of ana in the end", len(w.Notices("ana")), 5)
	atRest(t, w)
}

// A handful, or a small share, is no accident.
func TestFewAbsencesAtOnce_Cancel(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ polls, deleted int }{
		"a handful of all": {5, 5}, "half of many": {12, 6},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{})
			var polls []string
			for i := range c.polls {
				pollID, _, eventID := w.Finalised()
				if i < c.deleted {
					polls = append(polls, pollID)
					w.DeleteEvent("gm", eventID)
					w.LosePushes()
				}
			}
			if err := w.Google.ExpireSyncTokens(); err != nil {
				t.Fatal(err)
			}
			w.Sweep()
			w.Run(2 * time.Minute)
			for _, pollID := range polls {
				equal(t, "status", w.View(pollID).Poll.Status, rules.Cancelled)
			}
			equal(t, "notices of gm", len(w.Notices("gm")), 0)
			atRest(t, w)
		})
	}
}
