package timers

import (
	"fmt"
	"slices"
	"strings"

	"questscheduler/internal/store"
)

// Count is how many of something a job dealt with.
type Count struct {
	What string
	N    int
}

// Counts are shown to people in their order. What is unique.
type Counts []Count

// Add adds the counts of more, and appends those that c does not have.
func (c Counts) Add(more Counts) Counts {
	for _, count := range more {
		i := slices.IndexFunc(c, func(known Count) bool { return known.What == count.What })
		if i < 0 {
			c = append(c, count)
		} else {
			c[i].N += count.N
		}
	}
	return c
}

// NonZero returns the counts that are not zero.
func (c Counts) NonZero() Counts {
	return slices.DeleteFunc(slices.Clone(c), func(count Count) bool { return count.N == 0 })
}

// String lists the counts that are not zero: "3 calendars, 1 failed".
func (c Counts) String() string {
	var texts []string
	for _, count := range c.NonZero() {
		texts = append(texts, fmt.Sprintf("%d %s", count.N, count.What))
	}
	return strings.Join(texts, ", ")
}

// fields are the counts as a document and a log line keep them.
func (c Counts) fields() map[string]any {
	fields := make(map[string]any, len(c))
	for _, count := range c {
		fields[count.What] = int64(count.N)
	}
	return fields
}

// countsFrom reads what fields wrote, in the order of the names.
func countsFrom(fields store.Fields) (counts Counts) {
	for what := range fields {
		counts = append(counts, Count{what, int(fields.Int(what))})
	}
	slices.SortFunc(counts, func(a, b Count) int { return strings.Compare(a.What, b.What) })
	return counts
}
