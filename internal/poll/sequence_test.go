package poll_test

import (
	"math"
	"testing"
	"time"

	"questscheduler/internal/poll"
	"questscheduler/rules"
)

// seconds2020 is what feeds showed as the SEQUENCE before changes were counted, less the generation.
func seconds2020(at time.Time) int64 {
	return at.Unix() - time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
}

func TestSequence_OfStoredPolls_IsNeverLess(t *testing.T) {
	t.Parallel()
	later := moment.Add(time.Hour)
	recorded := poll.Sync{Generation: 3, Recorded: poll.Recorded{At: moment, Status: rules.Finalized}}
	counted, ahead := recorded, recorded
	counted.Sequence, ahead.Sequence = 7, seconds2020(moment)+9
	for _, c := range []struct {
		name string
		poll poll.Poll
		want int64
	}{
		{"of a journal without a count", poll.Poll{Sync: recorded, UpdatedAt: later}, seconds2020(moment) + 3},
		{"with a lesser count", poll.Poll{Sync: counted}, seconds2020(moment) + 3},
		{"with a greater count", poll.Poll{Sync: ahead}, seconds2020(moment) + 9},
		{"edited directly", poll.Poll{Sync: ahead, Status: rules.Cancelled}, seconds2020(moment) + 10},
		{"without a journal", poll.Poll{CreatedAt: moment}, seconds2020(moment)},
		{"without a journal, and edited", poll.Poll{CreatedAt: moment, UpdatedAt: later}, seconds2020(later)},
		{"edited at a time to come", poll.Poll{CreatedAt: moment, UpdatedAt: later.Add(time.Second)}, seconds2020(moment)},
		{"of no time at all", poll.Poll{}, 0},
		{"of a far time", poll.Poll{CreatedAt: moment.AddDate(99, 0, 0)}, math.MaxInt32},
	} {
		if c.poll.Status == "" {
			c.poll.Status = c.poll.Sync.Recorded.Status
		}
		if got := c.poll.Sequence(later); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

func TestCounted_AnyNumberOfTimes_Grows(t *testing.T) {
	t.Parallel()
	p := poll.Poll{Status: rules.Open, CreatedAt: moment, Sync: poll.Sync{Recorded: poll.Recorded{At: moment, Status: rules.Open}}}
	for i := range 3 {
		after := p.Counted(p, moment)
		if got, before := after.Sequence(moment), p.Sequence(moment); got != before+1 {
			t.Errorf("%d: %d after %d", i, got, before)
		}
		p = after
	}
	edited := p
	edited.Status = rules.Cancelled
	repaired := edited
	repaired.Sync.Recorded.Status = rules.Cancelled
	repaired = repaired.Counted(edited, moment)
	if got, before := repaired.Sequence(moment), edited.Sequence(moment); got != before+1 {
		t.Errorf("repaired: %d after %d", got, before)
	}
	repaired.Sync.Recorded.At = moment.Add(time.Hour)
	if got := repaired.Counted(p, moment).Sync.Sequence; got != seconds2020(moment)+3600 {
		t.Errorf("an hour later: %d", got)
	}
}
