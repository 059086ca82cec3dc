package main

import (
	"fmt"

	"questscheduler/internal/test/cost"
	"questscheduler/internal/test/mirrortest"
)

// goal is what a figure, or its ratio to another, should be. A line says whether it is; nothing
// fails.
type goal struct {
	least, most float64 // one of them; the other is zero
	ofRatio     bool
}

// goals are the figures that have one, by name.
var goals = withCosts(map[string]goal{
	"push_64_connections":                 {least: 0.6, ofRatio: true},
	"push_starts_sync_100000_p50":         {most: 10, ofRatio: true},
	"push_starts_sync_100000_p99":         {most: 10, ofRatio: true},
	"transitions_1_at_once":               {least: 0.25, ofRatio: true},
	"transitions_64_at_once":              {least: 0.5, ofRatio: true},
	"edit_to_poll_p99":                    {most: 2, ofRatio: true},
	"edit_to_message_p99":                 {most: 2, ofRatio: true},
	"edit_processor_time":                 {most: 4},
	"press_to_answer_50_a_second_p99":     {most: 100},
	"change_with_1000_streams":            {most: 1.5, ofRatio: true},
	"memory_of_a_stream":                  {most: 64},
	"page_fetched_decoded_decided":        {most: 0.55, ofRatio: true},
	mirrortest.MirroredChange + "_reads":  {most: 8},
	mirrortest.MirroredChange + "_writes": {most: 4},
	mirrortest.FirstListing + "_reads":    {most: 4000},
	mirrortest.FirstListing + "_writes":   {most: 3000},
	mirrortest.Relisting + "_reads":       {most: 1010},
	"of_1000000_polls_ready":              {most: 300},
	"of_1000000_polls_heap":               {most: 64},
	"of_100000_polls_stop":                {most: 0.5},
	"growth_of_poll_read_p50":             {most: 0.1},
	"growth_of_transition_p50":            {most: 0.1},
	"simulated_worlds":                    {least: 150},
	"stored_poll":                         {most: 4},
	"lived_poll":                          {most: 12},
})

// withCosts adds the store operations of the flows of which the least possible is known.
func withCosts(goals map[string]goal) map[string]goal {
	for _, f := range cost.Flows {
		if allowed := f.Allowed(); allowed.Reads > 0 {
			goals[f.Name+"_reads"], goals[f.Name+"_writes"] = goal{most: float64(allowed.Reads)}, goal{most: float64(allowed.Writes)}
		}
	}
	return goals
}

// of says what a figure should be and whether it is; "" for one without a goal.
func (g goal) of(f figure) string {
	value := f.value
	if g.ofRatio {
		value = f.ratio
	}
	switch {
	case g.least > 0 && value >= g.least:
		return fmt.Sprintf("  goal >= %g: met", g.least)
	case g.least > 0:
		return fmt.Sprintf("  goal >= %g: missed", g.least)
	case g.most > 0 && value <= g.most:
		return fmt.Sprintf("  goal <= %g: met", g.most)
	case g.most > 0:
		return fmt.Sprintf("  goal <= %g: missed", g.most)
	default:
		return ""
	}
}
