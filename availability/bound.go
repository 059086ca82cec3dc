package availability

import (
	"cmp"
	"slices"
)

// The bounds of one answer, over all people, accounts and series in it. What is beyond them
// is unknown (ReasonTooMany).
const (
	// mostIntervals is how many events are kept, and how many times when somebody is busy,
	// joined.
	mostIntervals = 20_000
	// mostStarts is how many starts of recurring events are generated.
	mostStarts = 500_000
)

// bound is what an account may still add to an answer.
type bound struct{ intervals, starts int }

// inTurn calls use for each reading with an equal share of what is left of the bounds: those
// with the fewest events first, so that nobody's many events make other people unknown. use
// subtracts what it needs.
func inTurn(readings []*reading, size func(*reading) int, use func(*reading, *bound) error) error {
	left := bound{intervals: mostIntervals, starts: mostStarts}
	sorted := slices.SortedStableFunc(slices.Values(readings), func(a, b *reading) int { return cmp.Compare(size(a), size(b)) })
	for i, r := range sorted {
		waiting := len(sorted) - i
		share := bound{intervals: left.intervals / waiting, starts: left.starts / waiting}
		given := share
		if err := use(r, &share); err != nil {
			return err
		}
		left.intervals -= given.intervals - max(0, share.intervals)
		left.starts -= given.starts - max(0, share.starts)
	}
	return nil
}

// union is the union of intervals, in memory of the order of most of them however many
// are added.
type union struct {
	most int
	all  []Interval
	// full: the union has more than most intervals.
	full bool
}

// add adds an interval, and reports whether there is room for more.
func (u *union) add(i Interval) bool {
	if last := len(u.all) - 1; last >= 0 && !i.Start.Before(u.all[last].Start) && !i.Start.After(u.all[last].End) {
		if i.End.After(u.all[last].End) {
			u.all[last].End = i.End
		}
		return !u.full
	}
	u.all = append(u.all, i)
	if len(u.all) > u.most+joinedAt {
		u.join()
	}
	return !u.full
}

// joinedAt is how many intervals are added to a union before they are joined with it.
const joinedAt = 1024

// join returns the intervals: sorted and separate.
func (u *union) join() []Interval {
	u.all = merge(u.all)
	u.full = u.full || len(u.all) > u.most
	return u.all
}
