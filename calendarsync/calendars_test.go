package calendarsync_test

import (
	"slices"
	"testing"

	"questscheduler/fault"
	"questscheduler/internal/accounts"
	"questscheduler/internal/gcal"
	"questscheduler/internal/store"
	"questscheduler/internal/test/worldtest"
)

// Where the list of calendars is not to be had, the primary calendar is known all the same.
func TestCalendars_WithoutTheList_AreThePrimaryAlone(t *testing.T) {
	t.Parallel()
	alone := gcal.CalendarEntry{ID: "gm@example.com", Summary: "gm@example.com", Primary: true, Writable: true}
	for name, c := range map[string]struct {
		begin    func(w *worldtest.World)
		complete bool
		calls    int
		fails    fault.Kind // 0: it does not
	}{
		"granted":                 {func(*worldtest.World) {}, true, 1, 0},
		"granted with everything": {func(w *worldtest.World) { w.LinkAs("gm", "gm", accounts.ScopeCalendar) }, true, 1, 0},
		"not granted":             {onlyTimes, false, 0, 0},
		"granted once, refused":   {func(w *worldtest.World) { w.Refuse("calendarList.list", 403, "insufficientPermissions", 1) }, false, 1, 0},
		"granted before us": {func(w *worldtest.World) {
			onlyTimes(w)
			w.Write(accounts.Path(w.Account("gm")), store.Set("sub", ""))
			w.Refuse("calendarList.list", 403, "insufficientPermissions", 1)
		}, false, 1, 0},
		"not answered": {func(w *worldtest.World) { w.Refuse("calendarList.list", 503, "backendError", 1) }, false, 1, fault.Unavailable},
		"unlinked":     {func(w *worldtest.World) { w.Unlink("gm") }, false, 0, fault.Revoked},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{})
			c.begin(w)
			account, err := w.Accounts.Get(t.Context(), w.Account("gm"))
			if err != nil {
				t.Fatal(err)
			}
			before := w.Calls("calendarList.list")
			entries, complete, err := w.Lookup.Calendars.Of(t.Context(), account)
			equal(t, "failed", fault.KindOf(err), c.fails)
			equal(t, "complete", complete, c.complete)
			equal(t, "calls", w.Calls("calendarList.list")-before, c.calls)
			switch {
			case c.fails != 0:
				equal(t, "calendars", len(entries), 0)
			case c.complete:
				equal(t, "calendars", len(entries), 2)
			default:
				equal(t, "calendars are the primary alone", slices.Equal(entries, []gcal.CalendarEntry{alone}), true)
			}
		})
	}
}

// A finalisation finds the account of a calendar by what was recorded when it was listed.
func TestCalendars_Listed_AreRecordedWhereTheyCanBeWritten(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	w.OpenCalendar("read@group.test", "ana")
	if err := w.Google.Share("read@group.test", "gm", worldtest.Reader); err != nil {
		t.Fatal(err)
	}
	read := func() accounts.Account {
		t.Helper()
		account, err := w.Accounts.Get(t.Context(), w.Account("gm"))
		if err != nil {
			t.Fatal(err)
		}
		return account
	}
	w.Write(accounts.Path(w.Account("gm")), store.Set("calendarIds", []string{}), store.Set("primaryCalendarId", nil))
	if _, _, err := w.Lookup.Calendars.Of(t.Context(), read()); err != nil {
		t.Fatal(err)
	}
	same(t, "calendars", read().CalendarIDs, []string{worldtest.ClubCalendar, "gm@example.com"})
	equal(t, "primary", read().PrimaryCalendarID, "gm@example.com")
}
