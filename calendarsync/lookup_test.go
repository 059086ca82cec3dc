package calendarsync_test

import (
	"testing"
	"time"

	"questscheduler/calendarsync"
	"questscheduler/fault"
	"questscheduler/internal/test/worldtest"
)

// later is a calendar that was shared with gm's second account after that was linked.
const later = "cho@example.com"

// twoAccounts is a world in which gm linked ben's account too.
func twoAccounts(t *testing.T) (w *worldtest.World, second string) {
	t.Helper()
	w = worldtest.New(t, worldtest.Options{})
	second = w.LinkAs("gm", "ben").ID
	if err := w.Google.Share(later, "ben", worldtest.Writer); err != nil {
		t.Fatal(err)
	}
	return w, second
}

// in finalises a new poll of gm's into a calendar, without naming an account.
func in(w *worldtest.World, calendarID string) (accountID string, err error) {
	pollID, slots := w.Poll()
	_, err = w.FinaliseAs(pollID, worldtest.Ask{SlotID: slots[0], CreateEvent: true, CalendarID: calendarID})
	w.Run(time.Minute)
	for _, entry := range w.Index() {
		if entry.PollID == pollID {
			accountID = entry.AccountID
		}
	}
	return accountID, err
}

func TestFinalise_CalendarMadeAfterLinking_IsFound(t *testing.T) {
	t.Parallel()
	w, second := twoAccounts(t)
	before := w.Calls("calendarList.list")
	for range 2 {
		if account, err := in(w, later); err != nil || account != second {
			t.Errorf("it is in account %q, not %s: %v", account, second, err)
		}
	}
	equal(t, "listings", w.Calls("calendarList.list")-before, 2) // one for each account
}

func TestFinalise_CalendarKnown_ListsNone(t *testing.T) {
	t.Parallel()
	w, second := twoAccounts(t)
	linked, err := w.Accounts.List(t.Context(), "gm")
	if err != nil {
		t.Fatal(err)
	}
	first := linked[0].ID
	for calendarID, want := range map[string]string{"": first, "primary": first, "ben@example.com": second} {
		before := w.Calls("calendarList.list")
		if account, err := in(w, calendarID); err != nil || account != want {
			t.Errorf("%q: it is in account %q, not %s: %v", calendarID, account, want, err)
		}
		equal(t, calendarID+": listings", w.Calls("calendarList.list")-before, 0)
	}
}

// Google answers for one account alone, which is the one.
func TestFinalise_OneOfTwoListsNotAnswered_IsFoundInTheOther(t *testing.T) {
	t.Parallel()
	w, second := twoAccounts(t)
	w.Refuse("calendarList.list", 503, "", 1)
	before := w.Calls("calendarList.list")
	if account, err := in(w, later); err != nil || account != second {
		t.Errorf("it is in account %q, not %s: %v", account, second, err)
	}
	equal(t, "listings", w.Calls("calendarList.list")-before, 2)
}

func TestFinalise_ListNotAnswered_IsTriedAgainLater(t *testing.T) {
	t.Parallel()
	w, second := twoAccounts(t)
	w.Refuse("calendarList.list", 503, "", 0)
	pollID, slots := w.Poll()
	ask := worldtest.Ask{SlotID: slots[0], CreateEvent: true, CalendarID: later}
	if _, err := w.FinaliseAs(pollID, ask); !fault.Is(err, fault.Unavailable) {
		t.Fatalf("while Google does not answer: %v", err)
	}
	w.Heal()
	w.Run(time.Minute)
	if _, err := w.FinaliseAs(pollID, ask); err != nil {
		t.Fatal(err)
	}
	equal(t, "account", w.Index()[0].AccountID, second)
}

func TestLookup_UnknownCalendars_AreListedOnce(t *testing.T) {
	t.Parallel()
	w, second := twoAccounts(t)
	lookup := w.Lookup
	find := func(ids ...string) {
		t.Helper()
		if err := lookup.Find(t.Context(), "gm", second, ids...); err != nil {
			t.Fatal(err)
		}
	}
	listings := func(what string, want int, do func()) {
		t.Helper()
		before := w.Calls("calendarList.list")
		do()
		equal(t, what, w.Calls("calendarList.list")-before, want)
	}
	listings("nothing unknown", 0, func() { find("", "primary", "ben@example.com", "BEN@example.com") })
	listings("misses", 1, func() {
		for range 20 {
			find("no@group.test", "neither@group.test")
		}
	})
	listings("what the miss found", 0, func() { find(later) })
	w.Clock.Advance(calendarsync.LookupEvery)
	listings("later", 1, func() { find("no@group.test") })
	listings("a person's first account", 1, func() {
		if err := lookup.Find(t.Context(), "gm", w.Account("gm"), "no@group.test"); err != nil {
			t.Error(err)
		}
	})
	listings("somebody else's account", 0, func() {
		if err := lookup.Find(t.Context(), "ana", second, "no@group.test"); err != nil {
			t.Error(err)
		}
	})
}

// A second question at once has the answer of the first, and no calendar counts as unknown
// because nobody could ask.
func TestLookup_NotAnswered_SaysSoToAllWhoAsk(t *testing.T) {
	t.Parallel()
	w, second := twoAccounts(t)
	w.Refuse("calendarList.list", 503, "backendError", 0)
	before := w.Calls("calendarList.list")
	for range 3 {
		if err := w.Lookup.Find(t.Context(), "gm", second, later); !fault.Is(err, fault.Unavailable) {
			t.Errorf("got %v", err)
		}
	}
	equal(t, "listings", w.Calls("calendarList.list")-before, 1)
	w.Heal()
	w.Clock.Advance(calendarsync.LookupEvery)
	if err := w.Lookup.Find(t.Context(), "gm", second, later); err != nil {
		t.Error(err)
	}
}
