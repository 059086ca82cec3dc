package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"questscheduler/attendees/mappings"
	"questscheduler/demo"
	"questscheduler/internal/calendars"
	"questscheduler/internal/config"
	"questscheduler/internal/mirror"
	"questscheduler/internal/poll"
	"questscheduler/internal/signin"
	"questscheduler/internal/store"
	"questscheduler/internal/store/sqlite"
)

// change writes into the store of a stopped server.
func change(t *testing.T, dir string, write func(tx store.Tx) error) {
	t.Helper()
	s, err := sqlite.Open(t.Context(), sqlite.Options{Path: filepath.Join(dir, demo.StoreFile), Queries: queries()})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Run(t.Context(), func(_ context.Context, tx store.Tx) error { return write(tx) }); err != nil {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestOperatorCommands_BesideADemo_Work runs every operator's command on the store of a
// running demo, and again after the demo ended.
func TestOperatorCommands_BesideADemo_Work(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	d, err := openTestDemo(t.Context(), demo.Place{Dir: dir, Addr: "127.0.0.1:0"}, Process{Stderr: testLog{t}})
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Begin(t.Context()); err != nil {
		t.Error(err)
	}
	linked, environ := d.Ready().Polls["linked"], []string{"QS_SQLITE_PATH=" + filepath.Join(dir, demo.StoreFile)}
	copied := filepath.Join(dir, "copy.db")

	t.Run("explain prints the poll's timeline", func(t *testing.T) {
		explained := run(t, environ, "explain", linked, "--replay")
		explained.want(t, exitOK, "title      Session 11: The Long Road", "finalised, by gm", "the event stands at",
			"agrees: the journal gives back the stored poll")
	})
	t.Run("explain speaks JSON", func(t *testing.T) {
		explained := run(t, environ, "explain", linked, "--json", "--replay")
		var report map[string]any
		if err := json.Unmarshal([]byte(explained.out), &report); err != nil {
			t.Fatal(err)
		}
		if err := expect(report, map[string]any{"replay.agrees": true}); err != nil {
			t.Error(err)
		}
		if head := list(report["head"]); len(head) == 0 || head[0]["label"] != "poll" || head[0]["text"] != linked {
			t.Errorf("the head is %v", report["head"])
		}
		if steps := list(report["steps"]); len(steps) != 1 || steps[0]["step"] != "finalise" {
			t.Errorf("the steps are %v", report["steps"])
		}
	})
	t.Run("explain knows no other polls", func(t *testing.T) {
		for _, id := range []string{"none", "a/b", ".."} {
			run(t, environ, "explain", id).want(t, exitFailed, "there is no poll "+id)
		}
	})
	t.Run("backup copies what is there", func(t *testing.T) {
		run(t, environ, "backup", copied).want(t, exitOK, copied+" is a copy of ")
		before, err := os.ReadFile(copied)
		if err != nil {
			t.Fatal(err)
		}
		run(t, environ, "backup", copied).want(t, exitFailed, "the backup file is there already")
		if after, err := os.ReadFile(copied); err != nil || string(after) != string(before) {
			t.Errorf("the backup that was there was changed (%v)", err)
		}
		run(t, []string{"QS_SQLITE_PATH=" + copied}, "explain", linked, "--replay").want(t, exitOK, "agrees")
	})
	t.Run("doctor finds the store sound", func(t *testing.T) {
		run(t, environ, "doctor").want(t, exitFailed, "questscheduler.db is sound; schema version 8", "signin.key can be used")
	})
	t.Run("a token is good for the server that runs", func(t *testing.T) {
		issued := run(t, environ, "token", "--user", "ana")
		issued.want(t, exitOK)
		users := map[string]demo.User{"ana": {Token: strings.TrimSpace(issued.out)}}
		o := &outside{t, demo.Ready{API: d.Ready().API, Party: demo.Party{Users: users}}}
		if _, err := o.v1("ana", "GET", "/polls/"+linked, nil); err != nil {
			t.Error(err)
		}
	})
	if err := d.End(); err != nil {
		t.Fatal(err)
	}

	change(t, dir, func(tx store.Tx) error {
		return tx.Update(poll.Path(linked), store.Update{Path: poll.SyncField("state"), Value: "RESCHEDULED"})
	})
	t.Run("explain finds a poll that was changed on the sly", func(t *testing.T) {
		explained := run(t, environ, "explain", linked, "--replay")
		explained.want(t, exitFailed, "DISAGREES", "journal and stored poll disagree")
		run(t, environ, "explain", linked).want(t, exitOK, "finalised, by gm")
	})
}

func TestExplain_OfAnEvent_ShowsItsMirrors(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	environ := settings(dir)
	event := mirror.Event{ID: "evt_1", OwnerID: "gm", Status: "confirmed", Version: 1, Title: "Dentist"}
	m := mirror.Mirror{
		ID: "mir_1", CanonicalID: event.ID, OwnerID: "gm", TargetAccountID: "acc_2", Generation: 1, Wanted: "hash",
		State: mirror.Pending,
	}
	change(t, dir, func(tx store.Tx) error {
		observed := mirror.OriginEntry(mirror.StepObserved, mirror.Event{}, event, "confirmed")
		planned := mirror.StepEntry(mirror.StepPlanned, mirror.Mirror{}, m, "")
		return errors.Join(
			tx.Create(mirror.EventPath(event.ID), mirror.EncodeEvent(event)), tx.Create(mirror.Path(m.ID), mirror.Encode(m)),
			tx.Create(mirror.EntryPath(event.ID, "jrn_1"), mirror.EncodeEntry(observed)),
			tx.Create(mirror.EntryPath(event.ID, "jrn_2"), mirror.EncodeEntry(planned)),
		)
	})
	explained := run(t, environ, "explain", event.ID)
	explained.want(t, exitOK, "mir_1 into acc_2 of gm: PENDING", "none → PENDING")
	if strings.Contains(explained.out, event.Title) {
		t.Error("it names the title")
	}
	run(t, environ, "explain", event.ID, "--json").want(t, exitOK, `"text": "evt_1"`, `"mirror": "mir_1 into acc_2"`)
	run(t, environ, "explain", "evt_2").want(t, exitFailed, "there is no event evt_2")
	run(t, environ, "explain", event.ID, "--replay").want(t, exitUsage, "only polls are replayed")
}

func TestToken_SpeaksForItsPerson(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	environ := settings(dir)
	first := run(t, environ, "token", "--user", "gm", "--email", "Gm@Example.org", "--ttl", "2h")
	first.want(t, exitOK, "made a new sign-in key")
	if again := run(t, environ, "token", "--user", "gm"); again.errors != "" {
		t.Errorf("the second time it says %s", again.errors)
	}
	cfg, err := loadSettings(environ, config.Default())
	if err != nil {
		t.Fatal(err)
	}
	key, err := signin.LoadOrCreateKey(cfg.SignInKeyPath())
	if err != nil {
		t.Fatal(err)
	}
	for after, good := range map[time.Duration]bool{0: true, time.Hour + 59*time.Minute: true, 3 * time.Hour: false} {
		verifier, err := signin.NewLocal(signin.LocalOptions{Key: key, Now: func() time.Time { return time.Now().Add(after) }})
		if err != nil {
			t.Fatal(err)
		}
		person, err := verifier.Verify(t.Context(), strings.TrimSpace(first.out))
		want := signin.Person{UID: "gm", Email: "gm@example.org", EmailVerified: true, VouchedFor: true}
		if good && (err != nil || person != want) {
			t.Errorf("after %v it speaks for %+v (%v)", after, person, err)
		}
		if !good && err == nil {
			t.Errorf("after %v it still speaks for %+v", after, person)
		}
	}
}

func TestSweepDrain_SaysWhatItHandedOver(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	environ := append(settings(dir), "QS_SYNC=on", "QS_PUBLIC_URL=https://quests.example")
	run(t, environ, "sweep", "drain").want(t, exitOK, "HANDED OVER", "syncs of calendars                       0")
	change(t, dir, func(tx store.Tx) error {
		for i := range 3 {
			key := poll.CalendarKey("account", fmt.Sprint(i))
			updates := append(calendars.RequestSync(calendars.Request{At: time.Now().Add(-time.Minute), Trigger: "push"}),
				poll.Set("accountId", "account"), poll.Set("calendarId", fmt.Sprint(i)))
			if err := tx.Merge(calendars.Path(key), updates...); err != nil {
				return err
			}
		}
		due := poll.Message{Ref: "jrn_1"}
		return tx.Merge(poll.AnnouncementPath("p"), poll.PendingUpdates("p", due, time.Now().Add(-time.Minute))...)
	})
	run(t, environ, "sweep", "drain").want(t, exitOK,
		"calendar events to make or delete        0", "announcements and cards                  1", "syncs of calendars                       3")
}

// Each job runs by command as it does by the timer, prints what it did, and has nothing
// left to do the second time.
func TestSweep_RunsEachJob(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	environ := settings(dir)
	run(t, environ, "sweep", "drain").want(t, exitOK)
	change(t, dir, func(tx store.Tx) error {
		calendar := calendars.Calendar{Key: poll.CalendarKey("account", "c"), AccountID: "account", CalendarID: "c"}
		if err := tx.Merge(calendars.Path(calendar.Key), calendar.Link(calendars.Request{At: time.Now()}, "gm", "")...); err != nil {
			return err
		}
		if err := tx.Merge(calendars.Path(calendar.Key), calendar.Want(
			mappings.Consumer, 1, calendars.Request{At: time.Now()}, "gm",
		)...); err != nil { // they are off since
			return err
		}
		snapshot := poll.Snapshot{ID: "old", ExpiresAt: time.Now().Add(-time.Hour)}
		return tx.Create(poll.SnapshotPath("gone", "old"), poll.EncodeSnapshot("gone", snapshot))
	})
	environ = append(environ, "QS_SYNC=on", "QS_PUBLIC_URL=https://quests.example")
	for _, c := range []struct {
		job         string
		first, then []string
	}{
		{"cleanup", []string{"REMOVED COUNT", "expired snapshots 1", "idempotency keys 0", "what followed calendars for second addresses 1"},
			[]string{"expired snapshots 0", "what followed calendars for second addresses 0"}},
		{"poll-fallback", []string{"SWEPT COUNT", "calendars 1", "looks 1", "failed 1"}, []string{"calendars 1"}},
		{"reconcile-mirrors", []string{"RECONCILED COUNT", "calendars 0", "strays deleted 0"}, []string{"calendars 0"}},
		{"renew-watches", []string{"WATCH CHANNELS COUNT", "calendars 1", "failed 1"}, []string{"failed 1"}},
	} {
		for n, wanted := range [][]string{c.first, c.then} {
			swept := run(t, environ, "sweep", c.job)
			swept.want(t, exitOK)
			rows := strings.Join(strings.Fields(swept.out), " ")
			for _, row := range wanted {
				if !strings.Contains(rows, row) {
					t.Errorf("sweep %s, run %d, does not say %q: %s", c.job, n+1, row, rows)
				}
			}
		}
	}
	if shown := run(t, environ, "sweep", "cleanup"); strings.Contains(shown.errors, "\r") {
		t.Errorf("progress is shown where there is no terminal: %q", shown.errors)
	}
}

func TestSweep_WithoutAJob_ListsThem(t *testing.T) {
	t.Parallel()
	got := run(t, []string{"QS_SYNC=off"}, "sweep")
	got.want(t, exitUsage, "drain              Run the drain once", "renew-watches      Off, since QS_SYNC is off.", "poll-fallback      Off,",
		"cleanup            Remove what has expired.", "reconcile-mirrors  Off,", "refresh-mappings   Off,")
	run(t, []string{"QS_SYNC=sometimes"}, "sweep").want(t, exitUsage, "QS_SYNC has to be")
}

func TestSweep_OfAJobThatIsOff_SaysWhy(t *testing.T) {
	t.Parallel()
	environ := settings(t.TempDir())
	for _, job := range []string{"renew-watches", "poll-fallback", "plan-upcoming", "reconcile-mirrors", "refresh-mappings"} {
		run(t, environ, "sweep", job).want(t, exitOK, "nothing to do: "+job+" is off, since QS_SYNC is off")
	}
	environ = append(environ, "QS_SYNC=on", "QS_PUBLIC_URL=https://quests.example")
	run(t, environ, "sweep", "refresh-mappings").want(t, exitOK, "is off, since neither QS_ATTENDEES_SHEET nor QS_ATTENDEES_CSV is set")
	run(t, environ, "sweep", "cleanup").want(t, exitOK, "REMOVED", "\nnothing to do\n")
}
