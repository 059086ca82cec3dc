package calendarsync_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/accounts"
	"questscheduler/internal/calendars"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/internal/test/points"
	"questscheduler/internal/test/worldtest"
	"questscheduler/rules"
)

// lost fails where a poll does not show an error of its sync, or has another
// status than before.
func lost(t *testing.T, w *worldtest.World, pollID string, code rules.ErrorCode) {
	t.Helper()
	p := w.View(pollID).Poll
	if p.Status != rules.Finalized || p.Sync.State != rules.StateError || p.Sync.Error == nil || p.Sync.Error.Code != code {
		t.Errorf("poll %s is %s, %s with %v, want %s", pollID, p.Status, p.Sync.State, p.Sync.Error, code)
	}
}

// gone fails where something of an unlinked account is left.
func gone(t *testing.T, w *worldtest.World, accountID string) {
	t.Helper()
	account, err := w.Accounts.Get(t.Context(), accountID)
	if err != nil || account.Status != accounts.Unlinked || !account.Due.IsZero() {
		t.Errorf("the account is %s, due %v, %v", account.Status, account.Due, err)
	}
	for _, watch := range w.Watches() {
		if f := store.Fields(watch.Data); f.String("accountId") == accountID && f.String("status") != "expired" {
			t.Errorf("channel %s is left, %s", watch.Path.ID(), f.String("status"))
		}
	}
	if w.Document(store.Doc("accountSecrets", accountID)).Exists() {
		t.Error("its secret is left")
	}
}

func TestUnlink_StopsChannelsRevokesAndAnnouncesOnce(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	pollID, _, eventID := w.Finalised()
	id := w.Account("gm")
	w.Unlink("gm")
	lost(t, w, pollID, rules.CalendarUnlinked)
	gone(t, w, id)
	equal(t, "calls to stop channels", w.Calls("channels.stop"), 1)
	same(t, "channels that are open", w.Google.OpenChannels(), nil)
	equal(t, "grants given back", w.Calls("oauth.revoke"), 1)

	before := w.Calls("")
	w.MoveEvent("gm", eventID, three)
	w.Sweep()
	w.Run(time.Hour)
	equal(t, "further calls of Google", w.Calls("")-before, 0)
	lost(t, w, pollID, rules.CalendarUnlinked)
	same(t, "what the owner was sent", w.Notices("gm"), []string{"CALENDAR_SYNC_ERROR"})
	same(t, "journal", w.Decisions(pollID), []string{"finalise", "warn"})

	watched, listed := w.Calls("events.watch"), w.Calls("events.list")
	equal(t, "the account it is again", w.Link("gm").ID, id)
	w.Run(2 * time.Minute)
	stands(t, w, pollID, rules.StateRescheduled, three.Start)
	equal(t, "error is over", w.View(pollID).Poll.Sync.Error == nil, true)
	equal(t, "channels made", w.Calls("events.watch")-watched, 1)
	equal(t, "listings", w.Calls("events.list")-listed, 1)
	entries := w.Journal(pollID)
	last := entries[len(entries)-1]
	equal(t, "trigger of the last decision", last.Trigger, "relink")
	equal(t, "trace of the last decision", last.Trace, worldtest.Cause.Trace)
	atRest(t, w)
}

// The calendar of a session that is followed outlives the document of its account.
func TestUnlinked_ForSoLongThatTheAccountIsRemoved_StaysUnlinked(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	pollID, _, _ := w.Finalised()
	key := w.CalendarKey("gm")
	w.Unlink("gm")
	w.Skip(accounts.Keep + 24*time.Hour)
	if removed, err := accounts.RemoveUnlinked(t.Context(), w.Documents, w.Clock.Now(), 10); removed != 1 || err != nil {
		t.Fatalf("%d accounts removed, %v", removed, err)
	}
	before := w.Calls("")
	w.Sweep()
	w.Run(2 * time.Hour)
	calendar, _, err := calendars.LoadKey(t.Context(), w.Documents, key)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "it fails as", calendar.LastError, calendars.ReasonRevoked)
	equal(t, "it is tried again", !calendar.SyncAt.IsZero(), false)
	equal(t, "calls of Google", w.Calls("")-before, 0)
	equal(t, "error", w.View(pollID).Poll.Sync.Error.Code, rules.CalendarUnlinked)
}

// A poll that was put away while its account was unlinked has no error left of that when it is
// brought back, be its session past by then.
func TestRelink_WhileAPollIsArchived_ClearsItsError(t *testing.T) {
	t.Parallel()
	for name, wait := range map[string]time.Duration{"ahead": 0, "past": 12 * 24 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{})
			pollID, _, _ := w.Finalised()
			gm := worldtest.Person("gm")
			w.Unlink("gm")
			lost(t, w, pollID, rules.CalendarUnlinked)
			if _, err := w.Scheduler.Archive(t.Context(), gm, pollID, worldtest.Cause); err != nil {
				t.Fatal(err)
			}
			w.Skip(wait)
			w.Link("gm")
			w.Run(2 * time.Minute)
			if _, err := w.Scheduler.Unarchive(t.Context(), gm, pollID, worldtest.Cause); err != nil {
				t.Fatal(err)
			}
			w.Run(2 * time.Minute)
			stands(t, w, pollID, rules.StateOK, ten.Start)
			equal(t, "error is over", w.View(pollID).Poll.Sync.Error == nil, true)
			atRest(t, w)
		})
	}
}

// A sync that began while the account was linked ends after it is unlinked.
func TestUnlink_DuringASync_StaysUnlinked(t *testing.T) {
	t.Parallel()
	for _, point := range []string{"before events.list", "after events.list"} {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{})
			pollID, _, eventID := w.Finalised()
			w.Run(time.Minute)
			w.MoveEvent("gm", eventID, three)
			w.On(point, func() { w.Unlink("gm") })
			w.Run(time.Minute)
			lost(t, w, pollID, rules.CalendarUnlinked)
			gone(t, w, w.Account("gm"))
			atRest(t, w)
		})
	}
}

func TestUnlinked_WhileGoogleIsDown_IsCarriedOnLater(t *testing.T) {
	t.Parallel()
	for _, down := range []string{"channels.stop", "oauth.revoke", "oauth.token"} {
		t.Run(down, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{})
			pollID, _, _ := w.Finalised()
			id := w.Account("gm")
			w.Run(2 * time.Hour) // its access token is old by then
			w.Refuse(down, 503, "backendError", 0)
			w.Unlink("gm")
			w.Run(10 * time.Minute)
			lost(t, w, pollID, rules.CalendarUnlinked)
			w.Heal()
			w.Run(2 * time.Minute)
			gone(t, w, id)
			equal(t, "grants given back", w.Calls("oauth.revoke") > 0, true)
			same(t, "what the owner was sent", w.Notices("gm"), []string{"CALENDAR_SYNC_ERROR"})
			atRest(t, w)
		})
	}
}

// What is cut off at any point is carried on after it, and nothing is forgotten
// that lives on at Google.
func TestUnlinked_CutOffAtAnyPoint_IsCarriedOn(t *testing.T) {
	t.Parallel()
	n := 2
	for struck := true; struck && n/2 <= worldtest.MostPoints; n++ {
		fails, at := n%2 == 0, n/2
		t.Run(fmt.Sprintf("at %d, fails %t", at, fails), func(t *testing.T) {
			w := worldtest.New(t, worldtest.Options{})
			pollID, _, _ := w.Finalised()
			id := w.Account("gm")
			if fails {
				w.FailAt(at, fault.Wrap(fault.Unavailable, errors.New("broken"), "It did not answer."))
				w.Unlink("gm")
				struck = w.Struck()
				w.Calm()
			} else {
				w.CrashAt(at)
				w.Survives(func() { w.Unlink("gm") })
				struck = w.Struck()
				w.Restart()
			}
			w.Run(2 * time.Minute)
			lost(t, w, pollID, rules.CalendarUnlinked)
			gone(t, w, id)
			same(t, "what the owner was sent", w.Notices("gm"), []string{"CALENDAR_SYNC_ERROR"})
			w.Link("gm")
			w.Run(2 * time.Minute)
			stands(t, w, pollID, rules.StateOK, ten.Start)
			atRest(t, w)
		})
	}
	points.Struck(t, n-3, 8)
}

// Many polls in several calendars of one account, and Google refuses its grant
// in their midst.
func TestARevokedGrant_AmongAHundredPolls(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{PageSize: 500})
	var polls []string
	for i := range 100 {
		pollID, slots := w.Poll()
		ask := worldtest.Ask{SlotID: slots[0], CreateEvent: true}
		if i%2 == 1 {
			ask.CalendarID = worldtest.ClubCalendar
		}
		if _, err := w.FinaliseAs(pollID, ask); err != nil {
			t.Fatal(err)
		}
		polls = append(polls, pollID)
	}
	w.Run(2 * time.Minute)
	w.Revoke("gm")
	w.MoveEvent("gm", w.View(polls[0]).Poll.GoogleEventID, noon)
	before := w.Calls("")
	w.Run(2 * time.Minute)
	// The sync is refused with its access token, and then its refresh token is.
	equal(t, "calls of Google up to the refusal", w.Calls("")-before, 2)
	for _, pollID := range polls {
		lost(t, w, pollID, rules.TokenExpired)
	}
	w.Sweep()
	w.Run(time.Hour)
	equal(t, "calls of Google after it", w.Calls("")-before, 2)
	same(t, "what the owner was sent", w.Notices("gm"), []string{"CALENDAR_SYNC_ERROR"})

	w.MoveEvent(worldtest.Club, w.View(polls[1]).Poll.GoogleEventID, three)
	w.DeleteEvent("gm", w.View(polls[2]).Poll.GoogleEventID)
	watched, listed := w.Calls("events.watch"), w.Calls("events.list")
	w.Link("gm")
	w.Run(2 * time.Minute)
	stands(t, w, polls[0], rules.StateRescheduled, noon.Start)
	stands(t, w, polls[1], rules.StateRescheduled, three.Start)
	equal(t, "the one whose event was deleted", w.View(polls[2]).Poll.Status, rules.Cancelled)
	for _, pollID := range polls[3:] {
		stands(t, w, pollID, rules.StateOK, ten.Start)
	}
	equal(t, "channels made", w.Calls("events.watch")-watched, 2)
	equal(t, "listings", w.Calls("events.list")-listed < 6, true)
	atRest(t, w)
}

func TestUnlink_ThenRelinkBeforeItIsCarriedOn_KeepsTheGrant(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	pollID, _, _ := w.Finalised()
	w.Refuse("channels.stop", 503, "backendError", 0)
	w.Unlink("gm")
	lost(t, w, pollID, rules.CalendarUnlinked)
	w.Link("gm")
	w.Heal()
	w.Run(2 * time.Minute)
	stands(t, w, pollID, rules.StateOK, ten.Start)
	equal(t, "grants given back", w.Calls("oauth.revoke"), 0)
	w.MoveEvent("gm", w.View(pollID).Poll.GoogleEventID, noon)
	w.Run(time.Minute)
	stands(t, w, pollID, rules.StateRescheduled, noon.Start)
	atRest(t, w)
}

// It is linked again during what is carried on of its being revoked or unlinked,
// and a sync goes through at once.
func TestAccount_RelinkedDuringItsLoss_IsFollowedAgain(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(w *worldtest.World){
		"revoked":  func(w *worldtest.World) { w.Revoke("gm"); w.Sweep(); w.RunDue(); w.Run(2 * time.Minute) },
		"unlinked": func(w *worldtest.World) { w.Unlink("gm") },
	} {
		n := 1
		for struck := true; struck && n <= worldtest.MostPoints; n++ {
			w := worldtest.New(t, worldtest.Options{})
			pollID, _, _ := w.Finalised()
			w.At(n, func() {
				w.Link("gm")
				w.RunDue()
			})
			lose(w)
			struck = w.Struck()
			w.Calm()
			if !struck {
				w.Link("gm")
			}
			w.Run(2 * time.Minute)
			if p := w.View(pollID).Poll; p.Sync.State != rules.StateOK || p.Sync.Error != nil {
				t.Errorf("%s, linked again at point %d: %s, %v", name, n, p.Sync.State, p.Sync.Error)
			}
			atRest(t, w)
		}
		points.Struck(t, n-2, 8)
	}
}

func TestUnlinked_LeavesTheGrantOfSomebodyElseAlone(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	pollID, _, _ := w.Finalised()
	id := w.Account("gm")
	w.Refuse("oauth.revoke", 503, "backendError", 0)
	w.Unlink("gm")
	w.LinkAs("ana", "gm")
	w.Heal()
	w.Run(2 * time.Minute)
	gone(t, w, id)
	equal(t, "calls to give the grant back", w.Calls("oauth.revoke"), 1) // the call that was refused
	lost(t, w, pollID, rules.CalendarUnlinked)
	atRest(t, w)
}

// A channel whose resource id is not known yet cannot be stopped: its document stays.
func TestUnlink_DuringAWatchRequest_KeepsTheChannel(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	w.On("after events.watch", func() { w.Unlink("gm") })
	pollID, _, _ := w.Finalised()
	w.Run(2 * time.Minute)
	lost(t, w, pollID, rules.CalendarUnlinked)
	gone(t, w, w.Account("gm"))
	equal(t, "channels known", len(w.Watches()), 1)
	equal(t, "calls to stop it", w.Calls("channels.stop"), 0)
	atRest(t, w)
}

// A channel that ended needs no call, and one that Google does not stop is left to expire.
func TestUnlink_OfChannelsThatGoogleDoesNotStop_CarriesOn(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		begin       func(w *worldtest.World, path store.Path)
		calls, left int
	}{
		"it ended": {func(w *worldtest.World, path store.Path) {
			w.Write(path, store.Set("expiration", w.Clock.Now()))
		}, 0, 0},
		"it ends soon": {func(w *worldtest.World, path store.Path) {
			w.Write(path, store.Set("expiration", w.Clock.Now().Add(time.Second)))
		}, 1, 0},
		"it is refused": {func(w *worldtest.World, _ store.Path) { w.Refuse("channels.stop", 403, "forbidden", 0) }, 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{})
			w.Finalised()
			w.Run(time.Minute)
			row.begin(w, w.Watches()[0].Path)
			w.Unlink("gm")
			equal(t, "calls to stop it", w.Calls("channels.stop"), row.calls)
			equal(t, "channels known", len(w.Watches()), row.left)
			for _, watch := range w.Watches() {
				equal(t, "why it is left", store.Fields(watch.Data).String("reason"), "the account was unlinked")
			}
			equal(t, "grants given back", w.Calls("oauth.revoke"), 1)
		})
	}
}

// A calendar that nothing follows any more loses its channel, whether its account can be used or not.
func TestFollow_OfACalendarThatNothingWants_EndsItsChannel(t *testing.T) {
	t.Parallel()
	for name, failing := range map[string]string{"usable": "", "revoked": fault.Revoked.String()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{})
			w.Finalised()
			w.Run(time.Minute)
			c := w.Calendar("gm")
			if failing != "" {
				w.Write(calendars.Path(c.Key), c.MarkFailing(w.Clock.Now(), failing)...)
			}
			w.Write(calendars.Path(c.Key), store.Update{Path: store.Field("interests", poll.ConsumerPoll), Value: int64(0)})
			if err := w.Watcher.Follow(w.Context(), c.AccountID, c.CalendarID, worldtest.Cause); err != nil {
				t.Fatal(err)
			}
			equal(t, "channels", live(w), 0)
		})
	}
}
