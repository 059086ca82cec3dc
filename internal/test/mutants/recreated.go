package main

// recreated are faults of what becomes of a poll that somebody makes of the id of a
// deleted one.
var recreated = []mutant{
	{
		name: "recreated-poll-treated-as-the-old",
		breaks: "A poll that somebody made of the id of a deleted one goes on with its journal, and its link and event stay " +
			"(invariants 1 and 5).",
		changes: []change{{
			file: "internal/poll/recreated.go",
			old:  `return p.Replaces(*latest)`,
			new:  `return false`,
		}},
	},
}

// fed are faults of what calendar feeds show.
var fed = []mutant{
	{
		name:   "sequence-by-the-clock-alone",
		breaks: "Two changes of a session within a second have one SEQUENCE, so calendar programs ignore the second (invariant 27).",
		changes: []change{{
			file: "internal/poll/sequence.go",
			old:  `max(before.Sequence(now)+1, p.sequenceByTime(now))`,
			new:  `p.sequenceByTime(now)`,
		}},
	},
}
