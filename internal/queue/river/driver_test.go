package river

import (
	"database/sql"
	"path/filepath"
	"testing"
	"time"

	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/rivertype"
	_ "modernc.org/sqlite"

	"questscheduler/internal/queue"
)

// Each test covers one fault of River's SQLite driver that our driver repairs. The suite,
// run in other time zones, covers the fault with zones.

// openForDriver opens a queue with tasks whose jobs have the ids 1 to n, in a
// state that the statement makes.
func openForDriver(t *testing.T, n int, statement string) (*sql.DB, riverdriver.Executor) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(t.TempDir(), "data.sqlite"))
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	q, err := New(t.Context(), Options{DB: db, Kinds: []string{"look"}})
	if err != nil {
		t.Fatal(err)
	}
	for range n {
		if _, err := q.Enqueue(t.Context(), queue.Task{Kind: "look"}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := db.ExecContext(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
	return db, newDriver(db).GetExecutor()
}

// states lists the jobs' states by id.
func states(t *testing.T, db *sql.DB) map[int64]string {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), `SELECT id, state FROM river_job`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close() // rows.Err tells
	found := map[int64]string{}
	for rows.Next() {
		var id int64
		var state string
		if err := rows.Scan(&id, &state); err != nil {
			t.Fatal(err)
		}
		found[id] = state
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return found
}

func TestSettle_OneJobOfBatchDeleted_OthersAreSettled(t *testing.T) {
	t.Parallel()
	db, executor := openForDriver(t, 3, `UPDATE river_job SET state = 'running'`)
	if _, err := db.ExecContext(t.Context(), `DELETE FROM river_job WHERE id = 2`); err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	batch := &riverdriver.JobSetStateIfRunningManyParams{}
	for _, id := range []int64{2, 1, 2, 3, 2} {
		batch.ID = append(batch.ID, id)
		batch.Attempt = append(batch.Attempt, nil)
		batch.ErrData = append(batch.ErrData, nil)
		batch.FinalizedAt = append(batch.FinalizedAt, &now)
		batch.MetadataDoMerge = append(batch.MetadataDoMerge, false)
		batch.MetadataUpdates = append(batch.MetadataUpdates, nil)
		batch.ScheduledAt = append(batch.ScheduledAt, nil)
		batch.State = append(batch.State, rivertype.JobStateCompleted)
	}
	rows, err := executor.JobSetStateIfRunningMany(t.Context(), batch)
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 2 || rows[0].ID != 1 || rows[1].ID != 3 {
		t.Errorf("settled %v, want jobs 1 and 3 and no empty row", rows)
	}
	if got := states(t, db); got[1] != "completed" || got[3] != "completed" {
		t.Errorf("the jobs are %v, want 1 and 3 completed", got)
	}
	if len(batch.ID) != 5 {
		t.Error("the caller's batch was changed")
	}
}

func TestClean_JobsKeptForEver_Stay(t *testing.T) {
	t.Parallel()
	db, executor := openForDriver(t, 3, `UPDATE river_job SET finalized_at = '2020-01-01 00:00:00',
		state = CASE id WHEN 1 THEN 'cancelled' WHEN 2 THEN 'discarded' ELSE 'completed' END`)
	soon := time.Now().Add(time.Minute)
	deleted, err := executor.JobDeleteBefore(t.Context(), &riverdriver.JobDeleteBeforeParams{
		CancelledFinalizedAtHorizon: soon, DiscardedFinalizedAtHorizon: soon,
		CompletedDoDelete: true, CompletedFinalizedAtHorizon: soon, Max: 10,
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := states(t, db); deleted != 1 || len(got) != 2 || got[1] != "cancelled" || got[2] != "discarded" {
		t.Errorf("%d deleted, %v left; want the completed job deleted and the others left", deleted, got)
	}
}

func TestReadTime_EveryFormInTheFile(t *testing.T) {
	t.Parallel()
	want := time.Date(2026, 3, 29, 1, 2, 3, 400_000_000, time.UTC)
	for _, value := range []any{
		"2026-03-29 01:02:03.4", "2026-03-29 01:02:03.400", "2026-03-29 01:02:03.4 +0000 UTC",
		"2026-03-29 01:02:03.4 +0000 UTC m=+7.1", "2026-03-29 01:02:03.4+00:00", want.Local(),
	} {
		if got, err := readTime(value); err != nil || !got.Equal(want) {
			t.Errorf("%v: got %v, %v; want %v", value, got, err, want)
		}
	}
	if got, err := readTime(nil); err != nil || !got.IsZero() {
		t.Errorf("nothing: got %v, %v", got, err)
	}
	for _, value := range []any{"yesterday", "", 7} {
		if got, err := readTime(value); err == nil {
			t.Errorf("%v: got %v, want an error", value, got)
		}
	}
}

func TestRoundUp_NeverEarlier(t *testing.T) {
	t.Parallel()
	whole := time.Date(2026, 3, 29, 1, 2, 3, 4_000_000, time.UTC)
	for after, want := range map[time.Duration]time.Duration{
		0: 0, time.Nanosecond: time.Millisecond, 400 * time.Microsecond: time.Millisecond,
		time.Millisecond: time.Millisecond,
	} {
		if got := roundUp(whole.Add(after)); !got.Equal(whole.Add(want)) {
			t.Errorf("%v after the whole: got %v after it, want %v", after, got.Sub(whole), want)
		}
	}
}
