package notify

import (
	"testing"

	"questscheduler/rules"
)

func TestTimes_InTexts_AreInThePollsZone(t *testing.T) {
	t.Parallel()
	read := func(text string) rules.Fingerprint {
		f, err := rules.ParseFingerprint(text)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	winter := read("2027-02-02T18:00:00Z|2027-02-02T21:00:00Z|false")
	summer := read("2027-07-02T23:30:00Z|2027-07-03T01:00:00Z|false")
	for _, row := range []struct {
		at            rules.Fingerprint
		zone          string
		inApp, onCord string
	}{
		{winter, "Europe/Berlin", "Tuesday, 2 February 2027, 19:00 (Europe/Berlin)", "<t:1801591200:F>"},
		{summer, "Europe/Berlin", "Saturday, 3 July 2027, 01:30 (Europe/Berlin)", "<t:1814571000:F>"},
		{summer, "America/New_York", "Friday, 2 July 2027, 19:30 (America/New_York)", "<t:1814571000:F>"},
		{winter, "", "Tuesday, 2 February 2027, 18:00 (UTC)", "<t:1801591200:F>"},
		{winter, "Local", "Tuesday, 2 February 2027, 18:00 (UTC)", "<t:1801591200:F>"},
		{winter, "../../etc/passwd", "Tuesday, 2 February 2027, 18:00 (UTC)", "<t:1801591200:F>"},
		{read("2027-02-03|2027-02-04|true"), "Europe/Berlin", "Wednesday, 3 February 2027", "Wednesday, 3 February 2027"},
		{read("2027-02-03|2027-02-05|true"), "", "Wednesday, 3 February 2027 – Thursday, 4 February 2027", "Wednesday, 3 February 2027 – Thursday, 4 February 2027"},
		{rules.Fingerprint{}, "", "a new time", "a new time"},
	} {
		if got := inAppTime(row.at, row.zone); got != row.inApp {
			t.Errorf("%v in %q: got %q, want %q", row.at, row.zone, got, row.inApp)
		}
		if got := discordTime(row.at); got != row.onCord {
			t.Errorf("%v on Discord: got %q, want %q", row.at, got, row.onCord)
		}
	}
}

func TestTexts_EveryNotice_HasTexts(t *testing.T) {
	t.Parallel()
	for _, notice := range []rules.Notice{rules.NoticeRescheduled, rules.NoticeRestored, rules.NoticeCancelled, rules.NoticeOnAgain} {
		if words := texts[notice]; words.title == "" || words.body == "" || words.message == "" {
			t.Errorf("%s: %+v", notice, words)
		}
	}
}
