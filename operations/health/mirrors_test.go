package health_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"questscheduler/calendarsync"
	"questscheduler/internal/calendars"
	"questscheduler/internal/mirror"
	"questscheduler/internal/poll"
	"questscheduler/operations/health"
)

// mirrors writes mirrors into the account of a person, n in a state.
func (w *reading) mirrors(who string, state mirror.State, n int, since time.Time) {
	w.t.Helper()
	for i := range n {
		m := mirror.Mirror{
			ID: fmt.Sprintf("mir_%s_%s_%03d", who, state, i), OwnerID: who, TargetAccountID: "acc_" + who, State: state, Wanted: "hash",
			FailedSince: since.Add(time.Duration(i) * time.Minute), LastError: fmt.Sprintf("Reason %d.", i),
		}
		if state == mirror.Pending || state == mirror.Failed {
			m.Due = now.Add(time.Duration(i-5) * time.Minute)
		}
		w.write(string(mirror.Path(m.ID)), mirror.Encode(m))
	}
}

func (w *reading) account(who string) health.Account {
	w.t.Helper()
	account, err := w.reader.OfAccount(w.t.Context(), who, "acc_"+who)
	if err != nil {
		w.t.Fatal(err)
	}
	return account
}

func TestOfAccount_WithMirrors_CountsThoseThatNeedAWrite(t *testing.T) {
	t.Parallel()
	since := now.Add(-48 * time.Hour)
	for _, row := range []struct {
		states          map[mirror.State]int
		pending, failed int
		status          health.Status
		message         string
	}{
		{nil, 0, 0, health.Healthy, ""},
		{map[mirror.State]int{mirror.Active: 3, mirror.Covered: 2, mirror.Suppressed: 1, mirror.Contested: 1}, 0, 0, health.Healthy, ""},
		{map[mirror.State]int{mirror.Pending: 2, mirror.Deleting: 3}, 5, 0, health.Healthy, ""},
		{map[mirror.State]int{mirror.Failed: 1}, 0, 1, health.Degraded, "1 event of another calendar is missing"},
		{map[mirror.State]int{mirror.Pending: 60, mirror.Failed: 2}, 50, 2, health.Degraded, "2 events of other calendars are missing"},
		{map[mirror.State]int{mirror.Contested: 120, mirror.Failed: 2}, 0, 2, health.Degraded, "2 events of other calendars are missing"},
		{map[mirror.State]int{mirror.Failed: 60}, 0, 50, health.Degraded, "50 or more events"},
	} {
		w := newReading(t)
		w.follow("gm", calendarsync.Active, time.Time{})
		w.follow("ana", calendarsync.Active, time.Time{})
		for state, n := range row.states {
			w.mirrors("gm", state, n, since)
		}
		got := w.account("gm")
		if got.PendingWrites != row.pending || got.FailedMirrors != row.failed || got.Status != row.status {
			t.Errorf("with %v: %d pending, %d failed, %s", row.states, got.PendingWrites, got.FailedMirrors, got.Status)
		}
		if row.message == "" != (len(got.Troubles) == 0) {
			t.Errorf("with %v the troubles are %+v", row.states, got.Troubles)
		}
		if row.message != "" {
			trouble := got.AllTroubles()[0]
			if !strings.HasPrefix(trouble.Message, row.message) || !strings.Contains(trouble.Message, "Reason 0.") || !trouble.Since.Equal(since) {
				t.Errorf("with %v the trouble is %+v", row.states, trouble)
			}
		}
		if other := w.account("ana"); other.Status != health.Healthy || other.PendingWrites != 0 || other.FailedMirrors != 0 {
			t.Errorf("with mirrors of gm's, ana's account is %+v", other)
		}
	}
}

func TestOfAccount_WithCopiesOfCopies_SaysWhatToDo(t *testing.T) {
	t.Parallel()
	w := newReading(t)
	w.follow("gm", calendarsync.Active, time.Time{})
	w.follow("ana", calendarsync.Active, time.Time{})
	w.mirrors("gm", mirror.Contested, 1, now)
	for i, at := range []time.Time{now, now.Add(-time.Hour)} {
		m := mirror.Mirror{
			ID: fmt.Sprint("mir_looping", i), OwnerID: "gm", TargetAccountID: "acc_gm", State: mirror.Contested,
			LastError: "Take one out.", CreatedAt: at,
		}
		w.write(string(mirror.Path(m.ID)), mirror.Encode(m))
	}
	got := w.account("gm")
	if got.Status != health.Degraded || got.FailedMirrors != 0 || len(got.Troubles) != 1 {
		t.Fatalf("the account is %+v", got)
	}
	trouble := got.Troubles[0]
	if trouble.Code != "copied_by_another_program" || !trouble.Since.Equal(now.Add(-time.Hour)) ||
		trouble.Message != "Copies of copies that are not made here: 2. Take one out." {
		t.Errorf("the trouble is %+v", trouble)
	}
	if other := w.account("ana"); other.Status != health.Healthy {
		t.Errorf("ana's account is %+v", other)
	}
	figures, err := w.reader.Figures(t.Context())
	if err != nil || figures.MirrorsLooping != 2 || figures.Mirrors[mirror.Contested] != 3 {
		t.Errorf("the figures are %+v, %v", figures, err)
	}
}

func TestOfAccount_OfACalendarThatOnlyMirrorsFollow_ShowsIt(t *testing.T) {
	t.Parallel()
	w := newReading(t)
	key := w.follow("gm", calendarsync.Active, time.Time{})
	for _, row := range []struct {
		backlog calendars.Backlog
		status  health.Status
		pending int
	}{
		{calendars.Backlog{}, health.Healthy, 0},
		{calendars.Backlog{Relist: now.Add(-time.Minute)}, health.Healthy, 0},
		{calendars.Backlog{Relist: now.Add(-time.Hour)}, health.Degraded, 0},
		{calendars.Backlog{Deferred: map[string]calendars.Deferral{"e1": {At: now}, "e2": {At: now.Add(-7 * time.Hour)}}}, health.Stale, 2},
	} {
		calendar := map[string]any{
			"accountId": "acc_gm", "calendarId": "gm@example.com", "ownerId": "gm",
			"interests":    map[string]any{mirror.Consumer: 1, poll.ConsumerPoll: 0},
			"lastSyncedAt": now, "lastSuccessAt": now,
		}
		if len(row.backlog.Deferred) > 0 {
			deferred := map[string]any{}
			for event, deferral := range row.backlog.Deferred {
				deferred[event] = map[string]any{"at": deferral.At, "why": deferral.Why}
			}
			calendar["deferred"] = map[string]any{mirror.Consumer: deferred}
		}
		if !row.backlog.Relist.IsZero() {
			calendar["relist"] = map[string]any{mirror.Consumer: row.backlog.Relist}
		}
		w.write("calendars/"+key, calendar)
		got := w.account("gm")
		if len(got.Calendars) != 1 || got.Status != row.status || got.Calendars[0].Deferred != row.pending {
			t.Fatalf("with %+v the account is %+v", row.backlog, got)
		}
		behind := slices.ContainsFunc(got.AllTroubles(), func(t health.Trouble) bool { return t.Code == "mirrors_behind" })
		if behind != (row.status != health.Healthy) {
			t.Errorf("with %+v the troubles are %+v", row.backlog, got.AllTroubles())
		}
	}
}

func TestOverview_WithMirrors_CountsThemByState(t *testing.T) {
	t.Parallel()
	w := newReading(t)
	if empty := w.overview().Mirrors; len(empty.States) != 0 || len(empty.Failed) != 0 || empty.Planning != 0 || !empty.OldestDue.IsZero() {
		t.Errorf("without mirrors: %+v", empty)
	}
	w.follow("gm", calendarsync.Active, time.Time{})
	w.mirrors("gm", mirror.Pending, 3, time.Time{})
	w.mirrors("gm", mirror.Active, 120, time.Time{})
	w.mirrors("gm", mirror.Failed, 2, now.Add(-time.Hour))
	for i := range 3 {
		person := mirror.Person{OwnerID: fmt.Sprint("p", i)}
		if i > 0 { // one of them waits after a failure
			person.PlanDue = now.Add(time.Duration(i-1) * time.Hour)
		}
		w.write("mirrorPeople/"+person.OwnerID, mirror.EncodePerson(person))
	}
	view := w.overview()
	want := []health.MirrorState{
		{State: mirror.Pending, Count: 3}, {State: mirror.Active, Count: 50, More: true}, {State: mirror.Failed, Count: 2},
	}
	if got := view.Mirrors; !slices.Equal(got.States, want) || got.Planning != 2 || got.MorePlanning ||
		!got.OldestDue.Equal(now.Add(-5*time.Minute)) {
		t.Errorf("the mirrors are %+v", got)
	}
	if got := view.Mirrors.Failed; len(got) != 2 || !got[0].FailedSince.Before(got[1].FailedSince) || view.Mirrors.MoreFailed {
		t.Errorf("in error are %+v", got)
	}
	if !slices.ContainsFunc(
		view.Concerns, func(c health.Concern) bool { return c.Part == "mirrors" && c.Text == "2 mirrors cannot be written" },
	) {
		t.Errorf("the concerns are %+v", view.Concerns)
	}
}

func TestFigures_WithMirrors_CountThoseThatAreNotAsWanted(t *testing.T) {
	t.Parallel()
	w := newReading(t)
	w.mirrors("gm", mirror.Active, 5, time.Time{})
	w.mirrors("gm", mirror.Covered, 5, time.Time{})
	w.mirrors("gm", mirror.Failed, 2, now)
	w.mirrors("ana", mirror.Suppressed, 1, time.Time{})
	w.store.reads = 0
	got, err := w.reader.Figures(t.Context())
	if err != nil || len(got.Mirrors) != 2 || got.Mirrors[mirror.Failed] != 2 || got.Mirrors[mirror.Suppressed] != 1 ||
		!got.MirrorsDue.Equal(now.Add(-5*time.Minute)) {
		t.Errorf("the figures are %+v, %v", got, err)
	}
	if w.store.reads > 30 {
		t.Errorf("they read %d documents", w.store.reads)
	}
}

// The copies of events that are gone at once are kept, and their owner's sync status says so.
func TestOfAccount_WithAHeldMassDeletion_SaysSo(t *testing.T) {
	t.Parallel()
	w := newReading(t)
	since := now.Add(-30 * time.Minute)
	key := w.follow("gm", calendarsync.Active, time.Time{})
	w.write("calendars/"+key, map[string]any{
		"accountId": "acc_gm", "calendarId": "gm@example.com", "ownerId": "gm", "lastSyncedAt": now, "lastSuccessAt": now,
		"interests": map[string]any{mirror.Consumer: 1}, "relist": map[string]any{mirror.Consumer: since},
	})
	for held, want := range map[string]string{"another": "mirrors_behind", key: "mass_deletion_held"} {
		w.write(string(mirror.PersonPath("gm")), map[string]any{"ownerId": "gm", "heldSince": map[string]any{held: since}})
		if got := w.account("gm").Calendars[0].Troubles; len(got) != 1 || got[0].Code != want || !got[0].Since.Equal(since) {
			t.Errorf("held of %s: %+v, want %s", held, got, want)
		}
	}
}
