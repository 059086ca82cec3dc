package river

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"time"

	riverqueue "github.com/riverqueue/river"

	"questscheduler/internal/queue"
)

// namedQueue is a queue whose inserts are answered by insert.
func namedQueue(insert func() ([]bool, error)) *Queue {
	q := &Queue{kinds: []string{"look"}, now: time.Now}
	q.batcher.insert = func(context.Context, []riverqueue.InsertManyParams) ([]bool, error) { return insert() }
	return q
}

func TestEnqueue_RecentName_IsNotWrittenAgain(t *testing.T) {
	t.Parallel()
	for name, inFile := range map[string]bool{"which this process gave": false, "which another gave before": true} {
		inserts := 0
		q := namedQueue(func() ([]bool, error) { inserts++; return []bool{!inFile}, nil })
		for i := range 3 {
			created, err := q.Enqueue(t.Context(), queue.Task{Kind: "look", Name: "n"})
			if err != nil || created != (i == 0 && !inFile) {
				t.Errorf("a name %s, call %d: %t, %v", name, i+1, created, err)
			}
		}
		if inserts != 1 {
			t.Errorf("the file was queried %[2]d times for a name %[1]s", name, inserts)
		}
	}
}

func TestEnqueue_InsertFailed_NameIsNotRemembered(t *testing.T) {
	t.Parallel()
	broken := errors.New("the disk is full")
	q := namedQueue(func() ([]bool, error) { return nil, broken })
	for range 2 { // the second would be lost if the first were remembered
		if created, err := q.Enqueue(t.Context(), queue.Task{Kind: "look", Name: "n"}); !errors.Is(err, broken) || created {
			t.Errorf("%t, %v", created, err)
		}
	}
}

func TestEnqueue_NoName_IsWrittenEachTime(t *testing.T) {
	t.Parallel()
	q := namedQueue(func() ([]bool, error) { return []bool{true}, nil })
	for range 2 {
		if created, err := q.Enqueue(t.Context(), queue.Task{Kind: "look"}); err != nil || !created {
			t.Errorf("%t, %v", created, err)
		}
	}
}

func TestRecentNames_TheOldestGivesWay(t *testing.T) {
	t.Parallel()
	var names recentNames
	for i := range namesKept + 2 {
		names.add(strconv.Itoa(i))
		names.add(strconv.Itoa(i))
	}
	for name, want := range map[string]bool{"0": false, "1": false, "2": true, strconv.Itoa(namesKept + 1): true} {
		if got := names.has(name); got != want {
			t.Errorf("%s: %t, want %t", name, got, want)
		}
	}
	if len(names.keys) != namesKept {
		t.Errorf("%d names are kept, want %d", len(names.keys), namesKept)
	}
}
