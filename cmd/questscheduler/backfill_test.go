package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"questscheduler/demo"
	"questscheduler/internal/accounts"
	"questscheduler/internal/accounts/seal"
	"questscheduler/internal/calendars"
	"questscheduler/internal/ids"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/internal/store/sqlite"
	"questscheduler/internal/test/worldtest"
)

// pollsOfBefore is the number of polls from before this backend. gm, who has linked an
// account, created most. Every 25th is of a user without an account, which the command
// prints as a line.
const pollsOfBefore = 400

// openDeployment opens the store of a stopped server.
func openDeployment(t *testing.T, dir string) *sqlite.Store {
	t.Helper()
	documents, err := sqlite.Open(t.Context(), sqlite.Options{
		Path: filepath.Join(dir, demo.StoreFile), Queries: append(queries(), worldtest.AllPolls, everyEntry, everyAnnouncement, everyNotice),
	})
	if err != nil {
		t.Fatal(err)
	}
	return documents
}

var (
	everyEntry        = &store.Query{Name: "test: index entries", Collection: "calendarEventIndex"}
	everyAnnouncement = &store.Query{Name: "test: announcements", Collection: "announcements"}
	everyNotice       = &store.Query{Name: "test: notices", Collection: "notifications", Group: true}
)

// existing writes an existing deployment.
func existing(t *testing.T, dir string) {
	t.Helper()
	documents := openDeployment(t, dir)
	keys, err := seal.ParseKeys("k1:MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlBQkNERUY=")
	if err != nil {
		t.Fatal(err)
	}
	repository := accounts.New(accounts.Options{
		Store: documents, Keys: keys, Now: time.Now, NewID: func() string { return ids.ULID(time.Now()) },
	})
	_, err = repository.Link(
		t.Context(), "gm", accounts.Identity{Provider: accounts.Google, Sub: "1", Email: "gm@example.com"}, "refresh",
		[]string{accounts.ScopeEvents},
	)
	for from := 0; from < pollsOfBefore && err == nil; from += 100 {
		err = documents.Run(t.Context(), func(_ context.Context, tx store.Tx) error {
			var failures []error
			for n := from; n < from+100; n++ {
				creator := "gm"
				if n%25 == 24 {
					creator = "nobody"
				}
				failures = append(failures, tx.Merge(poll.Path(fmt.Sprintf("20000000-0000-4000-8000-%012d", n)),
					poll.Set("creatorId", creator), poll.Set("status", "FINALIZED"), poll.Set("winningSlotId", "slot"),
					poll.Set("googleEventId", fmt.Sprintf("google%04d", n)), poll.Set("fieldOfTheWebApp", n)))
			}
			return errors.Join(failures...)
		})
	}
	err = errors.Join(err, documents.Close())
	if err != nil {
		t.Fatal(err)
	}
}

// backfillUntil runs the command in its own process and kills it after that many
// lines, in the middle of a page. It returns how many lines it printed. With 0 the
// command runs to its end.
func backfillUntil(t *testing.T, environ []string, lines int) (said int, ended *os.ProcessState) {
	t.Helper()
	command := exec.Command(os.Args[0], "backfill", "index") //nolint:gosec // it is this test itself
	command.Env = append(append(os.Environ(), asProgram+"=1"), environ...)
	out, err := command.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	for scanner := bufio.NewScanner(out); scanner.Scan(); {
		if !strings.Contains(scanner.Text(), "nobody's Google account is linked") {
			continue
		}
		said++
		if said == lines {
			_ = command.Process.Kill() // an error says that it had already exited
		}
	}
	_ = command.Wait() // its error is that it was killed, or that there were problems
	return said, command.ProcessState
}

func TestBackfillIndex_KilledFiveTimes_IsRightInTheEnd(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	environ := settings(dir, "QS_SQLITE_PATH="+filepath.Join(dir, demo.StoreFile))
	existing(t, dir)
	run(t, environ, "backfill", "index", "--dry-run").want(t, exitFailed, "followed from now on", "384",
		"left, with a problem", "16", "NOTHING WAS WRITTEN")
	for kill := range 5 {
		if said, ended := backfillUntil(t, environ, 3); ended.Exited() {
			t.Fatalf("kill %d came too late, after %d lines", kill, said)
		}
	}
	if _, ended := backfillUntil(t, environ, 0); ended.ExitCode() != exitFailed {
		t.Errorf("with problems it ends with %d", ended.ExitCode())
	}
	rightInTheEnd(t, dir)
	run(t, environ, "backfill", "index").want(t, exitFailed, "followed already", "384", "followed from now on                0")
	rightInTheEnd(t, dir)
}

// rightInTheEnd requires one index entry for each poll whose creator linked an account,
// unchanged fields of the web app, and nothing to announce.
func rightInTheEnd(t *testing.T, dir string) {
	t.Helper()
	documents := openDeployment(t, dir)
	defer documents.Close()
	count := func(query *store.Query) []store.Document {
		found, err := documents.Query(t.Context(), query.With())
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	followed := map[string]string{}
	for _, doc := range count(everyEntry) {
		entry := poll.DecodeIndex(doc)
		followed[entry.PollID] = entry.EventID
		calendar, _, err := calendars.Load(t.Context(), documents, entry.AccountID, "gm@example.com")
		if err != nil || calendar.Interests[poll.ConsumerPoll] != 384 || !calendar.SyncPending || len(calendar.LegacyEventIDs) != 384 {
			t.Fatalf("the calendar is followed %d times, knows %d events, sync pending %t, %v",
				calendar.Interests[poll.ConsumerPoll], len(calendar.LegacyEventIDs), calendar.SyncPending, err)
		}
	}
	if len(followed) != 384 || len(count(everyEntry)) != 384 {
		t.Errorf("%d polls are followed by %d entries", len(followed), len(count(everyEntry)))
	}
	for n, doc := range count(worldtest.AllPolls) {
		p := poll.Decode(doc)
		if p.GoogleEventID != fmt.Sprintf("google%04d", n) || doc.Data["fieldOfTheWebApp"] != int64(n) ||
			followed[p.ID] != p.GoogleEventID && n%25 != 24 {
			t.Errorf("poll %d is %v, and its entry is for %q", n, doc.Data, followed[p.ID])
		}
		journal, _, err := poll.LoadJournal(t.Context(), documents, p.ID, store.Paging{Limit: 0})
		if want := n%25 != 24; err != nil || (len(journal) == 1) != want {
			t.Errorf("poll %d has %d journal entries, %v", n, len(journal), err)
		}
	}
	if a, b := len(count(everyAnnouncement)), len(count(everyNotice)); a+b != 0 {
		t.Errorf("%d announcements and %d notices", a, b)
	}
}

func TestBackfillWatches_WhereGoogleCannotPush_SaysWhatToSet(t *testing.T) {
	t.Parallel()
	run(t, settings(t.TempDir()), "backfill", "watches").want(t, exitUsage, "QS_SYNC", "QS_PUBLIC_URL")
}
