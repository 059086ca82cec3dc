package plan_test

import (
	"errors"
	"testing"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/mirror"
	"questscheduler/mirrors/plan"
)

func TestNext(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		m    mirror.Mirror
		want plan.Op
	}{
		"pending":                {mirror.Mirror{State: mirror.Pending, Wanted: "hash"}, plan.Write},
		"an exception":           {mirror.Mirror{State: mirror.Pending, Wanted: "hash.stamp"}, plan.Write},
		"a cancelled exception":  {mirror.Mirror{State: mirror.Pending, Wanted: "cancelled.stamp"}, plan.Cancel},
		"unwanted":               {mirror.Mirror{State: mirror.Deleting}, plan.Delete},
		"covered, with an event": {mirror.Mirror{State: mirror.Deleting, Wanted: "covered"}, plan.Delete},
		"replaced":               {mirror.Mirror{State: mirror.Deleting, Wanted: "hash", Replacing: true}, plan.Delete},
		"a failed write":         {mirror.Mirror{State: mirror.Failed, Wanted: "hash"}, plan.Write},
		"a failed deletion":      {mirror.Mirror{State: mirror.Failed}, plan.Delete},
		"a failed replacement":   {mirror.Mirror{State: mirror.Failed, Wanted: "hash", Replacing: true}, plan.Delete},
		"active":                 {mirror.Mirror{State: mirror.Active, Wanted: "hash"}, plan.Nothing},
		"covered":                {mirror.Mirror{State: mirror.Covered, Wanted: "covered"}, plan.Nothing},
		"suppressed":             {mirror.Mirror{State: mirror.Suppressed, Wanted: "hash"}, plan.Nothing},
		"contested":              {mirror.Mirror{State: mirror.Contested, Wanted: "hash"}, plan.Nothing},
	} {
		if got := plan.Next(row.m); got != row.want {
			t.Errorf("%s: %s, want %s", name, got, row.want)
		}
	}
}

func TestWritten(t *testing.T) {
	t.Parallel()
	content := plan.Project(meeting("a", hour), mirror.Busy)
	for name, row := range map[string]struct {
		m     mirror.Mirror
		state mirror.State
		due   bool
	}{
		"as wanted":                    {mirror.Mirror{State: mirror.Pending, Wanted: "hash"}, mirror.Active, false},
		"after an error":               {mirror.Mirror{State: mirror.Failed, Wanted: "hash", Attempts: 6, LastError: "x"}, mirror.Active, false},
		"wanted moved on":              {mirror.Mirror{State: mirror.Pending, Wanted: "newer"}, mirror.Pending, true},
		"unwanted since":               {mirror.Mirror{State: mirror.Deleting, Due: now}, mirror.Deleting, true},
		"an error of a later deletion": {mirror.Mirror{State: mirror.Failed, Due: now}, mirror.Failed, true},
	} {
		next := plan.Written(row.m, "hash", answer("id", "7", content, now), now)
		if next.State != row.state || !next.Due.IsZero() != row.due || next.ETag != "7" || next.EventID != "id" ||
			next.Written != "hash" || next.Answered != plan.Hash(content) {
			t.Errorf("%s: it is %+v", name, next)
		}
		if row.state == mirror.Active && (next.Attempts != 0 || next.LastError != "" || !next.LastWrite.Equal(now)) {
			t.Errorf("%s: it keeps its failures: %+v", name, next)
		}
	}
}

func TestDeleted(t *testing.T) {
	t.Parallel()
	written := mirror.Mirror{
		State: mirror.Deleting, EventID: "id", ETag: "7", Written: "hash", Generation: 3, TargetCalendarID: "old", Attempts: 2,
	}
	for name, row := range map[string]struct {
		wanted string
		keep   bool
		state  mirror.State
	}{
		"unwanted": {"", false, mirror.Deleting}, "covered": {"covered", true, mirror.Covered}, "replaced": {"hash", true, mirror.Pending},
	} {
		m := written
		m.Wanted, m.Replacing = row.wanted, row.wanted == "hash"
		next, keep := plan.Deleted(m, now)
		if keep != row.keep || next.State != row.state {
			t.Errorf("%s: kept is %t, %+v", name, keep, next)
		}
		if keep &&
			(next.Generation != 4 || next.EventID != "" || next.ETag != "" || next.Written != "" || next.Replacing ||
				next.TargetCalendarID != "" || next.Attempts != 0) {
			t.Errorf("%s: it is %+v", name, next)
		}
	}
}

func TestFailedWrite(t *testing.T) {
	t.Parallel()
	slow := fault.New(fault.RateLimited, "wait")
	slow.RetryAfter = 5 * time.Minute
	for name, row := range map[string]struct {
		attempts int64
		err      error
		state    mirror.State
		counted  int64
		wait     time.Duration // 0: not due
	}{
		"the first failure":       {0, fault.New(fault.Unavailable, "down"), mirror.Pending, 1, 5 * time.Second},
		"the fourth":              {3, fault.New(fault.NotFound, "not there"), mirror.Pending, 4, 320 * time.Second},
		"the fifth":               {4, errors.New("odd"), mirror.Failed, 5, 24 * hour},
		"a day after that":        {5, fault.New(fault.Forbidden, "read only"), mirror.Failed, 6, 24 * hour},
		"refused":                 {0, fault.New(fault.Provider, "refused"), mirror.Failed, 1, 24 * hour},
		"forbidden":               {0, fault.New(fault.Forbidden, "read only"), mirror.Failed, 1, 24 * hour},
		"invalid":                 {0, fault.New(fault.Invalid, "no such date"), mirror.Failed, 1, 24 * hour},
		"rate limited":            {4, fault.New(fault.RateLimited, "wait"), mirror.Pending, 4, time.Minute},
		"rate limited, with time": {4, slow, mirror.Pending, 4, 5 * time.Minute},
		"quota used up":           {4, fault.New(fault.Exhausted, "wait"), mirror.Pending, 4, time.Minute},
		"revoked":                 {4, fault.New(fault.Revoked, "link again"), mirror.Pending, 4, 0},
	} {
		next := plan.FailedWrite(mirror.Mirror{State: mirror.Pending, Attempts: row.attempts, Due: now}, row.err, now)
		var due time.Time
		if row.wait > 0 {
			due = now.Add(row.wait)
		}
		if next.State != row.state || next.Attempts != row.counted || !next.Due.Equal(due) || next.LastError == "" || next.LastError == "odd" {
			t.Errorf("%s: it is %+v", name, next)
		}
	}
}

// Alerts and pages count from the first failure of a run of them, however many follow.
func TestFailedWrite_Repeated_KeepsSinceWhenItFails(t *testing.T) {
	t.Parallel()
	refused := fault.New(fault.Forbidden, "read only")
	m := plan.FailedWrite(mirror.Mirror{State: mirror.Pending, Wanted: "hash", FailedSince: now.Add(-48 * hour)}, refused, now)
	if !m.FailedSince.Equal(now) {
		t.Errorf("it fails since %v, want %v", m.FailedSince, now)
	}
	m = plan.FailedWrite(m, refused, now.Add(24*hour))
	if !m.FailedSince.Equal(now) {
		t.Errorf("after another failure it fails since %v, want %v", m.FailedSince, now)
	}
	m = plan.FailedWrite(mirror.Mirror{State: mirror.Pending}, fault.New(fault.Unavailable, "down"), now)
	if !m.FailedSince.IsZero() {
		t.Errorf("a first failure that is tried again soon fails since %v", m.FailedSince)
	}
}
