package poll_test

import (
	"fmt"
	"regexp"
	"slices"
	"testing"

	"questscheduler/internal/poll"
	"questscheduler/internal/store"
)

// Google accepts ids of a-v and 0-9, 5 to 1024 characters, and never frees a used
// one.
func TestEventID_IsOneThatGoogleTakes_TheSameEveryTime(t *testing.T) {
	t.Parallel()
	form := regexp.MustCompile(`^` + poll.EventPrefix + `[a-v0-9]{26}$`)
	if !regexp.MustCompile(`^[a-v0-9]{5,}$`).MatchString(poll.EventPrefix) {
		t.Errorf("the prefix %q has characters that Google refuses", poll.EventPrefix)
	}
	used := map[string]bool{}
	for _, pollID := range []string{"7f3c1c52-8b5e-4f6e-9d6a-1f2e3d4c5b6a", "p", "p/1", ""} {
		for generation := range int64(50) {
			made := poll.EventID(pollID, generation)
			if !form.MatchString(made) || used[made] || made != poll.EventID(pollID, generation) {
				t.Errorf("poll %q, generation %d: %s", pollID, generation, made)
			}
			used[made] = true
		}
	}
	// Events in calendars carry these ids: they never change.
	same(t, "a known id", poll.EventID("7f3c1c52-8b5e-4f6e-9d6a-1f2e3d4c5b6a", 1), knownEventID)
}

const knownEventID = "questschedniok1u2qb9n93aheo527l03k1o"

func TestCalendarKey_AccountOrCalendarDiffers_Differs(t *testing.T) {
	t.Parallel()
	again := poll.CalendarKey("a", "bc")
	if poll.CalendarKey("a", "bc") == poll.CalendarKey("ab", "c") || poll.CalendarKey("a", "bc") != again {
		t.Error("the key of a calendar is not that of account and calendar")
	}
}

var (
	gms  = poll.IndexEntry{EventID: "e1", PollID: "p1", AccountID: "acc_gm", CalendarID: "gm@example.com"}
	anas = poll.IndexEntry{EventID: "e1", PollID: "p2", AccountID: "acc_ana", CalendarID: "ana@example.com"}
)

// find gives the poll that follows an event of a calendar, and where its entry
// stands, or would stand.
func find(t *testing.T, documents store.Store, calendar poll.IndexEntry) (pollID string, path store.Path) {
	t.Helper()
	entry, path, err := poll.FindIndex(t.Context(), documents, calendar.AccountID, calendar.CalendarID, calendar.EventID)
	if err != nil {
		t.Fatal(err)
	}
	if entry != nil {
		pollID = entry.PollID
	}
	return pollID, path
}

func TestFindIndex_AGuestsCopyIsNotTheOrganisersEvent(t *testing.T) {
	t.Parallel()
	documents := open(t)
	put(t, documents, poll.IndexPath("e1"), poll.EncodeIndex(gms))
	for name, c := range map[string]struct {
		calendar poll.IndexEntry
		want     string
	}{
		"the organiser's":                      {gms, "p1"},
		"a guest's copy":                       {anas, ""},
		"the same account's other calendar":    {poll.IndexEntry{EventID: "e1", AccountID: "acc_gm", CalendarID: "club"}, ""},
		"the calendar through another account": {poll.IndexEntry{EventID: "e1", AccountID: "acc_ana", CalendarID: "gm@example.com"}, ""},
		"another event":                        {poll.IndexEntry{EventID: "e2", AccountID: "acc_gm", CalendarID: "gm@example.com"}, ""},
		"no event":                             {poll.IndexEntry{AccountID: "acc_gm", CalendarID: "gm@example.com"}, ""},
	} {
		got, _ := find(t, documents, c.calendar)
		same(t, name, got, c.want)
	}
}

func TestFindIndex_TwoCalendarsShareAnID(t *testing.T) {
	t.Parallel()
	documents := open(t)
	put(t, documents, poll.IndexPath("e1"), poll.EncodeIndex(gms))
	_, path := find(t, documents, anas)
	same(t, "where another entry would stand", path, poll.SharedIndexPath("e1", "acc_ana", "ana@example.com"))
	put(t, documents, path, poll.EncodeIndex(anas))

	check := func(when string, first, second string) {
		t.Helper()
		got, _ := find(t, documents, gms)
		same(t, when+", gm's", got, first)
		got, _ = find(t, documents, anas)
		same(t, when+", ana's", got, second)
		for _, want := range []poll.IndexEntry{gms, anas} {
			linked := poll.Poll{ID: want.PollID, GoogleEventID: "e1"}
			entry, at, err := poll.IndexOf(t.Context(), documents, linked)
			if err != nil {
				t.Fatal(err)
			}
			there := want == gms && first != "" || want == anas && second != ""
			if (entry != nil) != there || there && (entry.PollID != want.PollID || at == "") {
				t.Errorf("%s, the entry of %s: %+v at %s", when, want.PollID, entry, at)
			}
		}
	}
	check("both are there", "p1", "p2")
	write(t, documents, func(tx store.Tx) error { return tx.Delete(poll.IndexPath("e1")) })
	check("the first is gone", "", "p2")
	put(t, documents, poll.IndexPath("e1"), poll.EncodeIndex(gms))
	write(t, documents, func(tx store.Tx) error { return tx.Delete(path) })
	check("the second is gone", "p1", "")
}

func TestIndexOfCalendar_ListsItsOwn_PageByPage(t *testing.T) {
	t.Parallel()
	documents := open(t)
	var events []string
	for i := range 150 { // more than one page
		events = append(events, fmt.Sprintf("e%03d", i*7%150))
	}
	for _, event := range events {
		entry := gms
		entry.EventID = event
		put(t, documents, poll.IndexPath(event), poll.EncodeIndex(entry))
	}
	put(t, documents, poll.IndexPath("x9"), poll.EncodeIndex(anas))
	var listed []string
	for entry, err := range poll.IndexOfCalendar(t.Context(), documents, "acc_gm", "gm@example.com") {
		if err != nil {
			t.Fatal(err)
		}
		listed = append(listed, entry.EventID)
		// A deletion during the iteration moves no other entry.
		write(t, documents, func(tx store.Tx) error { return tx.Delete(poll.IndexPath(entry.EventID)) })
	}
	same(t, "listed", listed, slices.Sorted(slices.Values(events)))
}
