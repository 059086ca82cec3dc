package availability

import (
	"slices"
	"time"
)

// Interval is the time from Start up to but not including End.
type Interval struct {
	Start, End time.Time
}

// overlaps reports whether the intervals have an instant in common. An interval without
// length is the instant of its Start.
func (i Interval) overlaps(other Interval) bool {
	end, otherEnd := i.End, other.End
	if !end.After(i.Start) {
		end = i.Start.Add(1)
	}
	if !otherEnd.After(other.Start) {
		otherEnd = other.Start.Add(1)
	}
	return i.Start.Before(otherEnd) && other.Start.Before(end)
}

// Merge returns the intervals' union: sorted, with overlapping and touching intervals
// merged, and without those that have no length. It changes no argument.
func Merge(intervals []Interval) []Interval { return merge(slices.Clone(intervals)) }

// merge is Merge in the argument's memory.
func merge(intervals []Interval) []Interval {
	slices.SortFunc(intervals, func(a, b Interval) int { return a.Start.Compare(b.Start) })
	merged := intervals[:0]
	for _, i := range intervals {
		if !i.Start.Before(i.End) {
			continue
		}
		if last := len(merged) - 1; last >= 0 && !i.Start.After(merged[last].End) {
			if i.End.After(merged[last].End) {
				merged[last].End = i.End
			}
			continue
		}
		merged = append(merged, i)
	}
	return merged
}

// SlotState says whether somebody can come to a slot.
type SlotState string

// The states of a slot, as the API writes them.
const (
	StateFree    SlotState = "free"
	StateBusy    SlotState = "busy"
	StateUnknown SlotState = "unknown"
)

// State is the state of a slot within the range that busy and unknown are about. Busy wins
// over unknown.
func State(slot Interval, busy, unknown []Interval) SlotState {
	switch {
	case slices.ContainsFunc(busy, slot.overlaps):
		return StateBusy
	case slices.ContainsFunc(unknown, slot.overlaps):
		return StateUnknown
	default:
		return StateFree
	}
}

// Times are the times of a range at which a person is busy, and those of which it is not
// known. Both are merged; they may overlap.
type Times struct {
	Busy, Unknown []Interval
}

// Join returns the times of a person with several accounts or calendars, of one range: busy
// if one is busy, else unknown if one is unknown. One that could not be read is the Times
// whose Unknown is the whole range.
func Join(accounts ...Times) Times {
	var all Times
	for _, account := range accounts {
		all.Busy = append(all.Busy, account.Busy...)
		all.Unknown = append(all.Unknown, account.Unknown...)
	}
	return Times{Busy: Merge(all.Busy), Unknown: Merge(all.Unknown)}
}
