package dashboard_test

import (
	"bytes"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"questscheduler/api/dashboard"
	"questscheduler/attendees"
	"questscheduler/attendees/mappings"
	"questscheduler/calendarsync"
	"questscheduler/internal/calendars"
	"questscheduler/internal/mirror"
	"questscheduler/internal/outbox"
	"questscheduler/internal/poll"
	"questscheduler/operations/health"
	"questscheduler/web-hooks/timers"
)

var update = flag.Bool("update", false, "write the golden files anew")

// now is when every page here is read.
var now = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

// troubled is a page with something of everything.
var troubled = dashboard.Page{
	Admin: "admin", Notice: "The task is retried.", NextAccounts: "/dashboard?accounts=abc", NextRegister: strings.Repeat("0a", 16),
	Version: "1.2.3", Overview: health.Overview{
		Now: now, Sync: "observe",
		Concerns: []health.Concern{
			{Level: health.Bad, Text: "1 watch channel is in error or has ended", Part: "watches"},
			{Level: health.Mind, Text: "1 account is degraded", Part: "accounts"},
		},
		Channels: []health.Channel{
			{
				Watch: calendarsync.Watch{
					ChannelID: "c1", CalendarID: "gm@example.com", UserID: "gm", Expiration: now.AddDate(0, 0, 7),
					NextTry: now.Add(4 * time.Minute),
				},
				Level: health.Bad, State: "error", Why: "Google did not answer; it is retried.",
			},
			{
				Watch: calendarsync.Watch{ChannelID: "c2", CalendarID: "ana@example.com", UserID: "ana", Expiration: now.AddDate(0, 0, 5)},
				Level: health.Fine, State: "active",
			},
			{
				Watch: calendarsync.Watch{
					ChannelID: "c3", CalendarID: "ana@example.com", UserID: "ana", Status: calendarsync.Retiring, Expiration: now.Add(time.Hour),
				},
				Level: health.Fine, State: "retiring",
			},
		},
		MoreChannels: true,
		Accounts: []health.Account{
			{
				ID: "acc_1", OwnerID: "gm", Email: "gm@example.com", Status: health.Degraded, PendingWrites: 2,
				Troubles: []health.Trouble{{Code: "watch_failed", Message: "Google does not tell of changes now.", Since: now.Add(-3 * time.Hour)}},
				Calendars: slices.Repeat([]health.Calendar{{
					CalendarID: "gm@example.com", Channel: health.ChannelFailed, LastSuccess: now.Add(-3 * time.Hour), Held: 2, Failing: 1,
					SyncPending: true, PausedUntil: now.Add(time.Hour),
				}}, 15),
			},
			{ID: "acc_2", OwnerID: "ana", Status: health.Healthy},
		},
		MoreFailing: true,
		Work: []outbox.Depth{
			{Kind: "announce", Does: "announcements and cards", Due: 3, Failing: make([]outbox.FailingEntry, 1), Oldest: now.Add(-90 * time.Second)},
			{Kind: "sync", Does: "syncs of calendars"},
		},
		FailingWork: []outbox.FailingEntry{{
			ID: "announce:<b>poll</b>", Kind: "announce", Error: "provider", Attempts: 7, FailedSince: now.Add(-time.Hour),
			Due: now.Add(8 * time.Minute),
		}},
		MoreFailingWork: true,
		Held: []health.HeldCalendar{{
			Calendar: calendars.Calendar{Key: strings.Repeat("0b", 16), CalendarID: "gm@example.com", OwnerID: "gm"},
			Polls: []poll.Poll{{
				ID: "7f3c1c52-8b5e-4f6e-9d6a-1f2e3d4c5b6a", Title: "Session \"12\" <script>alert(1)</script>",
				Sync: poll.Sync{Error: &poll.SyncError{At: now.Add(-50 * time.Hour)}},
			}},
		}},
		MoreHeld: true,
		Mirrors: health.Mirrors{
			States: []health.MirrorState{
				{State: mirror.Pending, Count: 3}, {State: mirror.Active, Count: 50, More: true}, {State: mirror.Failed, Count: 2},
			},
			OldestDue: now.Add(-20 * time.Minute), Planning: 1, MoreFailed: true,
			Failed: []mirror.Mirror{
				{
					CanonicalID: "evt_1", OwnerID: "gm", FromAccountID: "acc_1", TargetAccountID: "acc_3", State: mirror.Failed, Attempts: 7,
					LastError: "The calendar <b>refuses</b> the event.", FailedSince: now.Add(-50 * time.Hour), Due: now.Add(22 * time.Hour),
				},
				{
					CanonicalID: "evt_2", OwnerID: "ana", GroupID: "g1", TargetAccountID: "acc_2", State: mirror.Failed, Attempts: 1,
					FailedSince: now, Due: now.Add(24 * time.Hour),
				},
			},
		},
		Attendees: health.Attendees{
			On: true, Status: health.Degraded, Pending: 50, MorePending: true, MoreFailed: true,
			Record: mappings.Record{
				Version: "0123abcd", Followed: "0123abcd", Count: 240, WithoutAccess: 2, LoadedAt: now.Add(-3 * time.Minute), SkippedCount: 120,
				Skipped: []mappings.Skipped{{Row: 7, Reason: "Its <primary> address is none."}},
			},
			Troubles: []health.Trouble{
				{Code: "mappings_held", Status: health.Degraded, Since: now.Add(-time.Hour), Message: "7 of 9 second addresses are gone at once."},
				{Code: "calendars_without_access", Status: health.Degraded, Message: "2 calendars cannot be followed."},
			},
			Failed: []attendees.EventRecord{
				{ID: "att_1", Failures: 5, FailedSince: now.Add(-time.Hour), Due: now.Add(23 * time.Hour), Error: "Google <b>refuses</b> it."},
			},
		},
		Jobs: []health.Job{
			{
				Job:    timers.Job{Name: "poll-fallback", Does: "find what pushes missed", Every: 6 * time.Hour},
				Record: timers.Record{StartedAt: now.Add(-time.Hour), Did: timers.Counts{{What: "calendars", N: 7}, {What: "failed", N: 1}}},
				Level:  health.Bad, State: "failed: unavailable",
			},
			{Job: timers.Job{Name: "cleanup", Does: "remove what is past its time", Every: 24 * time.Hour}, Level: health.Mind, State: "never ran"},
		},
		Entries: []poll.JournalEntry{
			{
				ID: "jrn_2", PollID: "7f3c1c52-8b5e-4f6e-9d6a-1f2e3d4c5b6a", At: now, Trigger: "push", Decision: "cancel",
				Reason: "gone", Status: "CANCELLED", State: "CANCELLED", Error: "mass_cancellation_held", Observed: true,
			},
			{
				ID: "jrn_1", PollID: "7f3c1c52-8b5e-4f6e-9d6a-1f2e3d4c5b6a", At: now.Add(-time.Hour), Trigger: "person", Who: "gm",
				Command: "finalise", Status: "FINALIZED",
			},
		},
	},
}

// golden holds a page against testdata/name.
func golden(t *testing.T, name string, render func(*bytes.Buffer) error) string {
	t.Helper()
	var got bytes.Buffer
	if err := render(&got); err != nil {
		t.Fatal(err)
	}
	path := "testdata/" + name
	if *update {
		if err := os.WriteFile(path, got.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), want) {
		t.Errorf("%s is another page now (go test ./dashboard -update writes it anew):\n%s", path, got.Bytes())
	}
	return got.String()
}

func TestPages_Rendered_MatchTheGoldenFiles(t *testing.T) {
	t.Parallel()
	well := dashboard.Page{
		Admin: "admin", Version: "1.2.3",
		Overview: health.Overview{Now: now, Sync: "on", Work: []outbox.Depth{{Kind: "sync", Does: "syncs of calendars"}}},
	}
	for name, render := range map[string]func(*bytes.Buffer) error{
		"troubled.html":       func(out *bytes.Buffer) error { return dashboard.Render(out, troubled) },
		"well.html":           func(out *bytes.Buffer) error { return dashboard.Render(out, well) },
		"sign_in.html":        func(out *bytes.Buffer) error { return dashboard.RenderSignIn(out, dashboard.SignIn{}) },
		"sign_in_failed.html": func(out *bytes.Buffer) error { return dashboard.RenderSignIn(out, dashboard.SignIn{Failed: true}) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := golden(t, name, render)
			for _, forbidden := range []string{"http://", "https://", "//cdn", "style=", "onclick", "<script>", "javascript:"} {
				if strings.Contains(text, forbidden) {
					t.Errorf("the page holds %s, which its policy does not let run", forbidden)
				}
			}
		})
	}
}

func TestAssets_LoadNothingFromElsewhere(t *testing.T) {
	t.Parallel()
	files, err := dashboard.Assets.ReadDir("assets")
	if err != nil || len(files) != 3 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		name := file.Name()
		content, err := dashboard.Assets.ReadFile("assets/" + name)
		if err != nil {
			t.Fatal(err)
		}
		text := strings.ReplaceAll(string(content), "http://www.w3.org/2000/svg", "") // a name, and no address
		for _, outside := range []string{"http://", "https://", "@import", "url("} {
			if strings.Contains(text, outside) {
				t.Errorf("%s holds %s", name, outside)
			}
		}
	}
}
