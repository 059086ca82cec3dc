package calendarsync_test

import (
	"context"
	"slices"
	"strconv"
	"testing"
	"time"

	"questscheduler/calendarsync"
	"questscheduler/internal/accounts"
	"questscheduler/internal/outbox"
	"questscheduler/internal/store"
	"questscheduler/internal/test/points"
	"questscheduler/internal/test/worldtest"
	"questscheduler/rules"
)

// unlinks marks an account as unlinked, and nothing follows from that at once.
func unlinks(t *testing.T, w *worldtest.World, person string) {
	t.Helper()
	if _, err := w.Accounts.Unlink(t.Context(), person, w.Account(person)); err != nil {
		t.Fatal(err)
	}
}

// entry is an account as the outbox has it.
func entry(w *worldtest.World, accountID string) outbox.State {
	return w.Links.Work().Codec.Decode(w.Document(accounts.Path(accountID)))
}

// An account whose channel cannot be stopped is tried again later each time, up to a minute,
// and keeps no other from its turn.
func TestLinks_OneThatKeepsFailing_DelaysNoOther(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	w.Finalised()
	w.Run(time.Minute)
	began := w.Clock.Now()
	w.Refuse("channels.stop", 503, "backendError", 0)
	gm, ana := w.Account("gm"), w.Account("ana")
	for _, person := range []string{"gm", "ana"} {
		unlinks(t, w, person)
	}
	before := w.Calls("channels.stop")
	w.Run(10 * time.Minute)
	gone(t, w, ana)
	failing := entry(w, gm)
	if failing.Attempts < 9 || failing.Attempts > 15 || failing.Error != "unavailable" || failing.FailedSince.Before(began) ||
		failing.FailedSince.After(began.Add(2*time.Minute)) {
		t.Errorf("it failed as %+v", failing)
	}
	if wait := failing.Due.Sub(w.Clock.Now()); wait <= 0 || wait > time.Minute {
		t.Errorf("it is due in %v", wait)
	}
	equal(t, "calls of Google", w.Calls("channels.stop")-before, int(failing.Attempts))
	w.Heal()
	w.Run(2 * time.Minute)
	gone(t, w, gm)
	if over := entry(w, gm); over.Attempts != 0 || over.Error != "" || !over.FailedSince.IsZero() {
		t.Errorf("settled, it is %+v", over)
	}
}

// A new change of an account does not wait for what the last one waits for.
func TestLinks_ChangedWhileTheyFail_BeginAgain(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	w.Finalised()
	w.Run(time.Minute)
	w.Refuse("channels.stop", 503, "backendError", 0)
	unlinks(t, w, "gm")
	w.Run(5 * time.Minute)
	grant, err := w.Google.NewGrant("gm")
	if err != nil {
		t.Fatal(err)
	}
	account, err := w.Accounts.Link(
		t.Context(), "gm", accounts.Identity{Provider: accounts.Google, Sub: "sub-gm", Email: worldtest.Person("gm").Email},
		grant.RefreshToken, grant.Scopes,
	)
	if err != nil {
		t.Fatal(err)
	}
	if state := entry(w, account.ID); !state.Due.Equal(store.Instant(w.Clock.Now())) || state.Attempts != 0 ||
		state.Error != "" || !state.FailedSince.IsZero() {
		t.Errorf("after the change it is %+v", state)
	}
	w.Run(2 * time.Minute)
	if state := entry(w, account.ID); !state.Due.IsZero() {
		t.Errorf("it is left due: %+v", state)
	}
}

// A run that began for the primary calendar under an earlier id settles nothing of the later one, and the
// trace that it logs has no address.
func TestLinks_ThePrimaryUnderAnotherID_IsAnotherChange(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	id := w.Account("gm")
	before := entry(w, id)
	if err := w.Accounts.RecordCalendars(t.Context(), id, "alias@example.test", nil); err != nil {
		t.Fatal(err)
	}
	after := entry(w, id)
	if after.Due.IsZero() || after.Ref == before.Ref || after.Trace != before.Trace {
		t.Errorf("it was %+v and is %+v", before, after)
	}
	w.Run(2 * time.Minute)
	if settled := entry(w, id); !settled.Due.IsZero() {
		t.Errorf("it is left due: %+v", settled)
	}
}

// Whatever becomes of an account, it forgets the failures of an earlier change.
func TestLinks_EachChange_ForgetsFailures(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(w *worldtest.World, id string) error{
		"unlinked": func(w *worldtest.World, id string) error {
			_, err := w.Accounts.Unlink(t.Context(), "gm", id)
			return err
		},
		"revoked": func(w *worldtest.World, id string) error {
			_, err := w.Accounts.MarkRevoked(t.Context(), id, 1)
			return err
		},
		"followed": func(w *worldtest.World, id string) error { return w.Links.Follow(t.Context(), id, worldtest.Cause) },
	} {
		w := worldtest.New(t, worldtest.Options{})
		id, now := w.Account("gm"), w.Clock.Now()
		err := w.Documents.Run(t.Context(), func(_ context.Context, tx store.Tx) error {
			return tx.Update(accounts.Path(id), outbox.Fields.Encode(outbox.State{
				Due: now.Add(time.Hour), Attempts: 7, FailedSince: now, Error: "unavailable",
			})...)
		})
		if err == nil {
			err = change(w, id)
		}
		if state := entry(w, id); err != nil || state.Attempts != 0 || !state.FailedSince.IsZero() || state.Error != "" || state.Due.After(now) {
			t.Errorf("%s: %+v, %v", name, state, err)
		}
	}
}

// A run that is cut off at any point is done again after its lease, and tells nobody twice.
func TestLinks_CutOffAtAnyPoint_AreCarriedOn(t *testing.T) {
	t.Parallel()
	n := 1
	for struck := true; struck && n <= worldtest.MostPoints; n++ {
		t.Run(strconv.Itoa(n), func(t *testing.T) {
			w := worldtest.New(t, worldtest.Options{})
			pollID, _, _ := w.Finalised()
			w.Run(time.Minute)
			id := w.Account("gm")
			unlinks(t, w, "gm")
			w.CrashAt(n)
			w.Survives(func() { w.FollowDue(id) })
			struck = w.Struck()
			w.Restart()
			w.Run(5 * time.Minute)
			lost(t, w, pollID, rules.CalendarUnlinked)
			gone(t, w, id)
			same(t, "what the owner was sent", w.Notices("gm"), []string{"CALENDAR_SYNC_ERROR"})
			atRest(t, w)
		})
	}
	points.Struck(t, n-2, 8)
}

// What follows from a change is correlated, however often it is tried.
func TestLinks_Trace_NamesTheChange(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	pollID, _, _ := w.Finalised()
	id := w.Account("gm")
	unlinks(t, w, "gm")
	w.Run(2 * time.Minute)
	entries := w.Journal(pollID)
	if last := entries[len(entries)-1]; last.Trigger != calendarsync.LinkKind || last.Trace != id+"/unlinked/1" {
		t.Errorf("the last entry is of %q, %q", last.Trigger, last.Trace)
	}
}

// An event that waits to be deleted until its account has a grant is deleted at once then, and
// not when its next try is due.
func TestLinks_Relinked_BringForwardWhatWaitedForTheGrant(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	pollID, _, eventID := w.Finalised()
	w.Revoke("gm")
	if _, err := w.Cancel(pollID); err != nil {
		t.Fatal(err)
	}
	w.Run(2 * time.Minute)
	equal(t, "intents that wait", len(w.Intents()), 1)
	relinked := w.Clock.Now()
	w.Link("gm")
	w.RunDue()
	equal(t, "intents that wait", len(w.Intents()), 0)
	equal(t, "the clock went on by", w.Clock.Now().Sub(relinked), 0)
	if slices.ContainsFunc(w.Events("gm"), func(e worldtest.Event) bool { return e.ID == eventID }) {
		t.Error("the event is there still")
	}
	atRest(t, w)
}

// An account that nothing is due for is left alone, however often it is followed.
func TestLinks_OfWhatIsSettled_DoNothing(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	w.Finalised()
	w.Run(time.Minute)
	var calls []string
	w.Links.Listeners = []calendarsync.AccountListener{&listener{w: w, name: "one", calls: &calls}}
	if err := w.Links.Follow(t.Context(), w.Account("gm"), worldtest.Cause); err != nil {
		t.Fatal(err)
	}
	same(t, "calls of a listener", calls, nil)
	equal(t, "a sync is asked for", w.Calendar("gm").Asked(), false)
	w.Link("gm")
	same(t, "calls once it is linked again", calls, []string{"back one"})
	equal(t, "a sync is asked for then", w.Calendar("gm").Asked(), true)
	equal(t, "when it is due", w.Calendar("gm").SyncAt, w.Clock.Now())
}

// The owner of an account whose grant Google refused is told if anything follows it.
func TestLinks_OfARefusedGrant_TellItsOwnerWhereItMatters(t *testing.T) {
	t.Parallel()
	for person, want := range map[string][]string{"gm": {"CALENDAR_SYNC_ERROR"}, "ana": nil} {
		w := worldtest.New(t, worldtest.Options{})
		w.Finalised()
		w.Run(time.Minute)
		w.Revoke(person)
		w.Skip(2 * time.Hour) // the token ended
		account := w.Account(person)
		if err := w.Lookup.Find(t.Context(), person, account, "unknown@group.test"); err != nil {
			t.Fatal(err)
		}
		w.FollowDue(account)
		same(t, "notices of "+person, w.Notices(person), want)
	}
}
