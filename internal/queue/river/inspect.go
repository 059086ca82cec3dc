package river

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/riverqueue/river/rivertype"

	"questscheduler/internal/fault"
	"questscheduler/internal/queue"
)

// DeadLetters implements queue.Queue. A task is listed up to a quarter of a second after
// its last run. The query is ours: River's JobList cannot order by finalized_at.
func (q *Queue) DeadLetters(ctx context.Context, limit int) ([]queue.DeadLetter, error) {
	rows, err := q.db.QueryContext(ctx, `
		SELECT id, queue, args, attempt, coalesce(json_extract(errors, '$[#-1].error'), ''), finalized_at
		FROM river_job
		WHERE state IN ('cancelled', 'discarded')
		ORDER BY finalized_at DESC, id DESC
		LIMIT ?`, max(limit, 0))
	if err != nil {
		return nil, unavailable(err, "list dead letters")
	}
	defer rows.Close() // rows.Err returns the error
	letters := []queue.DeadLetter{}
	for rows.Next() {
		letter, err := scanDeadLetter(rows)
		if err != nil {
			return nil, unavailable(err, "list dead letters")
		}
		letters = append(letters, letter)
	}
	if err := rows.Err(); err != nil {
		return nil, unavailable(err, "list dead letters")
	}
	return letters, nil
}

func scanDeadLetter(rows *sql.Rows) (queue.DeadLetter, error) {
	var letter queue.DeadLetter
	var encoded []byte
	var ended any
	if err := rows.Scan(&letter.ID, &letter.Kind, &encoded, &letter.Attempt, &letter.Reason, &ended); err != nil {
		return letter, err
	}
	var args jobArgs
	if err := json.Unmarshal(encoded, &args); err != nil {
		return letter, fmt.Errorf("job %s: %w", letter.ID, err)
	}
	letter.Name, letter.Payload = string(args.Name), args.Payload
	var err error
	letter.At, err = readTime(ended)
	return letter, err
}

// sinceKey is the metadata field that holds when a dead letter was retried.
const sinceKey = "since"

// since is when a job was inserted or its dead letter retried.
func since(job *rivertype.JobRow) time.Time {
	var metadata struct {
		Since time.Time `json:"since"`
	}
	if err := json.Unmarshal(job.Metadata, &metadata); err != nil || metadata.Since.IsZero() {
		return job.CreatedAt
	}
	return metadata.Since
}

// Retry implements queue.Queue.
func (q *Queue) Retry(ctx context.Context, id string) error {
	unknown := fault.New(fault.NotFound, "there is no such dead letter; list them again")
	number, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		return unknown
	}
	changed, err := q.db.ExecContext(ctx, `
		UPDATE river_job
		SET state = 'available', finalized_at = NULL, attempt = 0, scheduled_at = datetime('now', 'subsec'),
		    metadata = json_set(metadata, '$.`+sinceKey+`', ?)
		WHERE id = ? AND state IN ('cancelled', 'discarded')`,
		q.now().UTC().Format(time.RFC3339Nano), number)
	if err != nil {
		return unavailable(err, "put a dead letter back")
	}
	rows, err := changed.RowsAffected()
	if err != nil {
		return unavailable(err, "put a dead letter back")
	}
	if rows == 0 {
		return unknown
	}
	return nil
}

// Depths implements queue.Queue. It includes kinds that the queue was not opened with,
// where the file holds tasks of theirs.
func (q *Queue) Depths(ctx context.Context) ([]queue.Depth, error) {
	rows, err := q.db.QueryContext(ctx, `
		SELECT queue, state IN ('cancelled', 'discarded'), count(*),
		       min(CASE WHEN scheduled_at <= ? THEN scheduled_at END)
		FROM river_job
		WHERE state IN ('available', 'scheduled', 'retryable', 'cancelled', 'discarded')
		GROUP BY 1, 2`, timeText(q.now()))
	if err != nil {
		return nil, unavailable(err, "count tasks")
	}
	defer rows.Close() // rows.Err returns the error
	byKind := map[string]*queue.Depth{}
	for _, kind := range q.kinds {
		byKind[kind] = &queue.Depth{Kind: kind}
	}
	for rows.Next() {
		if err := scanDepth(rows, byKind); err != nil {
			return nil, unavailable(err, "count tasks")
		}
	}
	if err := rows.Err(); err != nil {
		return nil, unavailable(err, "count tasks")
	}
	depths := make([]queue.Depth, 0, len(byKind))
	for _, depth := range byKind {
		depths = append(depths, *depth)
	}
	slices.SortFunc(depths, func(a, b queue.Depth) int { return strings.Compare(a.Kind, b.Kind) })
	return depths, nil
}

func scanDepth(rows *sql.Rows, byKind map[string]*queue.Depth) error {
	var kind string
	var dead bool
	var count int
	var oldest any
	if err := rows.Scan(&kind, &dead, &count, &oldest); err != nil {
		return err
	}
	depth := byKind[kind]
	if depth == nil {
		depth = &queue.Depth{Kind: kind}
		byKind[kind] = depth
	}
	if dead {
		depth.Dead = count
		return nil
	}
	depth.Waiting = count
	var err error
	depth.Oldest, err = readTime(oldest)
	return err
}

// timeFormat is how River's SQLite driver writes times, in UTC, and compares them.
const timeFormat = "2006-01-02 15:04:05.000"

func timeText(t time.Time) string { return t.UTC().Format(timeFormat) }

// readTime reads a time from the file, which is UTC whatever follows the fraction. The
// driver may have parsed it.
func readTime(value any) (time.Time, error) {
	switch v := value.(type) {
	case nil:
		return time.Time{}, nil
	case time.Time:
		return v.UTC(), nil
	case string:
		const seconds = len("2006-01-02 15:04:05")
		end := min(seconds, len(v))
		for end < len(v) && (v[end] == '.' || v[end] >= '0' && v[end] <= '9') {
			end++
		}
		return time.Parse(time.DateTime, v[:end])
	default:
		return time.Time{}, fmt.Errorf("a time in the file is a %T", value)
	}
}
