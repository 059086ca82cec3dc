package mirrors_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/accounts"
	"questscheduler/internal/calendars"
	"questscheduler/internal/mirror"
	"questscheduler/internal/store"
	"questscheduler/internal/test/points"
)

func TestRemoveStale_RevokedForLong_ForgetsItsEvents(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.insert(work, "Stand-up", thursday)
	w.insert(work, "Weekly", thursday, "RRULE:FREQ=WEEKLY")
	w.mirrorWork()
	w.settle()
	w.account(work, accounts.Revoked)
	w.set(accounts.Path(work), store.Set("updatedAt", w.clock.Now()))
	for _, row := range []struct {
		after   time.Duration
		removed int
	}{{29 * 24 * time.Hour, 0}, {2 * 24 * time.Hour, 2}, {0, 0}} {
		w.must(w.clock.Advance(row.after))
		if removed := w.removeStale(); removed != row.removed {
			t.Errorf("after %v: %d removed, want %d", row.after, removed, row.removed)
		}
	}
	w.settle()
	for _, m := range w.mirrors() {
		if m.State != mirror.Deleting {
			t.Errorf("the mirror %s is %s", m.CanonicalID, m.State)
		}
	}
}

// removeStale removes what is stale, one event after the other.
func (w *world) removeStale() (removed int) {
	w.Helper()
	for at, calls := "", 0; ; calls++ {
		n, next, err := w.service.RemoveStale(w.ctx, at, 1, cause)
		w.must(err)
		if n > 1 {
			w.Errorf("a call removed %d", n)
		}
		removed += n
		if next == "" {
			break
		}
		if calls > 100 {
			w.Fatal("it does not end")
		}
		at = next
	}
	w.settle()
	return removed
}

// staleOnce removes what is stale of accounts, and then of calendars: up to an error.
func (w *world) staleOnce() (removed int, err error) {
	w.Helper()
	removed, next, err := w.service.RemoveStale(w.ctx, "", 10, cause)
	if err != nil {
		return removed, err
	}
	more, next, err := w.service.RemoveStale(w.ctx, next, 10, cause)
	if err == nil && next != "" {
		w.Errorf("it goes on at %q", next)
	}
	return removed + more, err
}

// fail has the sync runs of an account's calendar fail since a time, and lose it at another.
func (w *world) fail(account string, failing, lost time.Time) {
	w.Helper()
	calendar := w.calendar(account)
	w.set(calendars.Path(calendar.Key), append(calendar.MarkFailing(failing, calendars.ReasonLost), calendar.Refused(lost)...)...)
}

func (w *world) calendar(account string) calendars.Calendar {
	w.Helper()
	calendar, _, err := calendars.LoadKey(w.ctx, w.memory, w.key(account))
	w.must(err)
	return calendar
}

// twoSeries is a world with a series in each of two accounts, that home shows.
func twoSeries(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.insert(work, "Weekly", thursday, "RRULE:FREQ=WEEKLY")
	w.insert(club, "Training", thursday, "RRULE:FREQ=WEEKLY")
	into := func(from string) mirror.Edge {
		return mirror.Edge{FromAccountID: from, ToAccountID: home, Detail: mirror.Full, Target: mirror.PrimaryTarget}
	}
	w.mirrorWork(into(work), into(club))
	w.settle()
	return w
}

// What a calendar that is gone or not shared any more once showed blocks no time for ever.
func TestRemoveStale_ACalendarLostForLong_ForgetsItsEvents(t *testing.T) {
	t.Parallel()
	w := twoSeries(t)
	began := w.clock.Now()
	w.fail(work, began.Add(-40*24*time.Hour), began) // for other reasons at first
	for _, row := range []struct {
		after   time.Duration
		removed int
	}{{29 * 24 * time.Hour, 0}, {2 * 24 * time.Hour, 1}, {0, 0}} {
		w.must(w.clock.Advance(row.after))
		if removed := w.removeStale(); removed != row.removed {
			t.Errorf("after %v: %d removed, want %d", row.after, removed, row.removed)
		}
	}
	w.wantTitles(home, "Training")
	if w.calendar(work).Backlogs[mirror.Consumer].Relist.IsZero() {
		t.Error("an answer of the calendar would not list its events")
	}
	w.sync(work) // it is shared again
	w.wantTitles(home, "Training", "Weekly")
	if removed := w.removeStale(); removed > 0 {
		t.Errorf("%d removed although it came back", removed)
	}
}

func TestRemoveStale_ACalendarFoundJustNow_KeepsItsEvents(t *testing.T) {
	t.Parallel()
	w := twoSeries(t)
	w.fail(work, stageStart.Add(-time.Hour), stageStart)
	w.fail(club, stageStart, stageStart)
	w.must(w.clock.Advance(31 * 24 * time.Hour))
	w.onWake = func() { // for the mirror of what work showed
		w.set(calendars.Path(w.key(club)), calendars.Calendar{}.Succeeded(w.clock.Now(), "token", 1, time.Time{})...)
	}
	if removed, err := w.staleOnce(); err != nil || removed != 1 {
		t.Errorf("%d removed, %v", removed, err)
	}
	w.settle()
	w.wantTitles(home, "Training")
}

// The account is linked again after it was found, before its turn comes.
func TestRemoveStale_AnAccountLinkedJustNow_KeepsItsEvents(t *testing.T) {
	t.Parallel()
	w := twoSeries(t)
	for _, account := range []string{club, work} {
		w.account(account, accounts.Revoked)
		w.set(accounts.Path(account), store.Set("updatedAt", stageStart))
	}
	w.must(w.clock.Advance(31 * 24 * time.Hour))
	w.onWake = func() { // for the mirror of what club showed
		w.account(work, accounts.Active)
		w.set(accounts.Path(work), store.Set("updatedAt", w.clock.Now()))
	}
	if removed, err := w.staleOnce(); err != nil || removed != 1 {
		t.Errorf("%d removed, %v", removed, err)
	}
	w.settle()
	w.wantTitles(home, "Weekly")
}

// A calendar that fails for another reason, however long, is not lost.
func TestRemoveStale_ACalendarThatFails_KeepsItsEvents(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.insert(work, "Weekly", thursday, "RRULE:FREQ=WEEKLY")
	w.mirrorWork()
	w.settle()
	w.set(calendars.Path(w.key(work)), calendars.Calendar{}.MarkFailing(w.clock.Now(), "unavailable")...)
	w.must(w.clock.Advance(60 * 24 * time.Hour))
	if removed := w.removeStale(); removed > 0 {
		t.Errorf("%d removed", removed)
	}
	w.wantTitles(home, "Weekly")
}

func TestRemoveStale_DocumentUnread_SaysThatItFailed(t *testing.T) {
	t.Parallel()
	for n := 1; ; n++ {
		w := staleTwice(t)
		p := w.fallible()
		p.FailAt(n)
		removed, err := w.staleOnce()
		if !p.Reached() {
			points.Struck(t, n-1, 10)
			w.must(err)
			if removed != 2 {
				t.Errorf("%d are removed", removed)
			}
			return
		}
		if !fault.Is(err, fault.Unavailable) {
			t.Errorf("read %d failed, and the call gave %v", n, err)
		}
	}
}

// Nothing is listed of a dead account's calendar that nobody follows any more, or that is unknown.
func TestRemoveStale_OfCalendarsNobodyFollows_ListsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.known("old", thursday, "2026-03-05T10:00:00Z", func(e *mirror.Event) { e.AccountID, e.CalendarID = club, "club@example.test" })
	w.known("older", thursday, "2026-03-05T10:00:00Z", func(e *mirror.Event) { e.AccountID, e.CalendarID = club, "unknown" })
	followed := calendars.Calendar{AccountID: club, CalendarID: "club@example.test"}
	w.set(calendars.Path(w.key(club)), followed.Want("polls", 1, cause.Request(w.clock.Now()), gm)...)
	w.account(club, accounts.Revoked)
	w.set(accounts.Path(club), store.Set("updatedAt", stageStart.Add(-31*24*time.Hour)))
	if removed := w.removeStale(); removed != 2 {
		t.Errorf("%d removed", removed)
	}
	if !w.calendar(club).Backlogs[mirror.Consumer].Relist.IsZero() {
		t.Error("a calendar is requested that nobody follows")
	}
}

// A group's work follows the poll of a session that the group shares, and of no other one.
func TestRemoveStale_Sessions_StayWhileAGroupSharesThem(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		change  func(e *mirror.Event)
		removed int
	}{
		"a shared session": {func(*mirror.Event) {}, 0},
		"one of a poll":    {func(e *mirror.Event) { e.GroupID = "" }, 1},
		"one of a group":   {func(e *mirror.Event) { e.PollID = "" }, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newMirroringWorld(t)
			w.pollsSession(row.change)
			w.account(work, accounts.Revoked)
			w.set(accounts.Path(work), store.Set("updatedAt", stageStart))
			w.must(w.clock.Advance(31 * 24 * time.Hour))
			if removed := w.removeStale(); removed != row.removed {
				t.Errorf("%d removed, want %d", removed, row.removed)
			}
		})
	}
}

// An account whose events were removed stays revoked, and a calendar lost: neither may stand before
// one whose turn has not come.
func TestRemoveStale_BehindManyThatHaveNoEvents_ComesToEach(t *testing.T) {
	t.Parallel()
	w := twoSeries(t)
	w.must(w.memory.Run(w.ctx, func(_ context.Context, tx store.Tx) error {
		for i := range 1001 {
			account := map[string]any{"ownerId": gm, "status": string(accounts.Revoked), "updatedAt": stageStart.Add(-time.Hour)}
			if err := tx.Set(accounts.Path(fmt.Sprintf("%04d", i)), account); err != nil {
				return err
			}
			calendar := calendars.Calendar{}
			updates := append(calendar.MarkFailing(stageStart.Add(-time.Hour), calendars.ReasonLost), calendar.Refused(stageStart)...)
			if err := tx.Merge(calendars.Path(fmt.Sprintf("%04d", i)), updates...); err != nil {
				return err
			}
		}
		return nil
	}))
	w.account(work, accounts.Revoked)
	w.set(accounts.Path(work), store.Set("updatedAt", stageStart))
	w.fail(club, stageStart, stageStart)
	w.must(w.clock.Advance(31 * 24 * time.Hour))
	for _, want := range []int{2, 0} {
		if removed := w.removeStale(); removed != want {
			t.Errorf("%d removed, want %d", removed, want)
		}
	}
}

// What a call leaves since it has removed enough is met by the next one, wherever it is.
func TestRemoveStale_MoreThanOneCallRemoves_ForgetsAll(t *testing.T) {
	t.Parallel()
	w := twoSeries(t)
	for i := range 2 {
		w.known(fmt.Sprint("dead", i), thursday, "2026-03-05T10:00:00Z", func(e *mirror.Event) { e.AccountID = club })
		w.known(fmt.Sprint("lost", i), thursday, "2026-03-05T10:00:00Z", func(e *mirror.Event) {
			e.AccountID, e.CalendarID = work, w.calendar(work).CalendarID
		})
	}
	w.account(club, accounts.Revoked)
	w.set(accounts.Path(club), store.Set("updatedAt", stageStart))
	w.fail(work, stageStart, stageStart)
	w.must(w.clock.Advance(31 * 24 * time.Hour))
	if removed := w.removeStale(); removed != 6 {
		t.Errorf("%d removed, want 6", removed)
	}
}

// What is removed is planned again in the end, wherever the removal is interrupted: nothing else knows
// what it was.
func TestRemoveStale_InterruptedAtAnyPoint_LeavesNoCopies(t *testing.T) {
	t.Parallel()
	for n := 1; ; n++ {
		w := staleTwice(t)
		p, documents := &points.Points{}, w.service.Store
		w.service.Store = &points.Store{Store: documents, Points: p}
		p.FailAt(n)
		_, err := w.staleOnce()
		reached := p.Reached()
		w.service.Store = documents
		if reached && !fault.Is(err, fault.Unavailable) {
			t.Errorf("point %d failed, and the call gave %v", n, err)
		}
		_, err = w.staleOnce()
		w.must(err)
		w.run(5 * time.Minute)
		w.wantTitles(home)
		if !reached {
			points.Struck(t, n-1, 6)
			return
		}
	}
}

// An event that cannot be planned delays no other person's, and is planned once it can be.
func TestRemoveStale_AnEventIsNotPlanned_DelaysNoOther(t *testing.T) {
	t.Parallel()
	w := staleTwice(t)
	r := &refusing{Store: w.service.Store, kind: fault.TooLarge, uids: map[string]bool{w.canonical(club)[0].ICalUID: true}}
	w.service.Store = r
	if removed, err := w.staleOnce(); err != nil || removed != 2 {
		t.Errorf("%d removed, %v", removed, err)
	}
	w.settle()
	w.wantTitles(home, "Training")
	clear(r.uids)
	w.run(10 * time.Minute)
	w.wantTitles(home)
}

// staleTwice is twoSeries a month after the calendar of one was lost and the grant of the other revoked.
func staleTwice(t *testing.T) *world {
	t.Helper()
	w := twoSeries(t)
	w.fail(work, stageStart, stageStart)
	w.account(club, accounts.Revoked)
	w.set(accounts.Path(club), store.Set("updatedAt", stageStart))
	w.must(w.clock.Advance(31 * 24 * time.Hour))
	return w
}
