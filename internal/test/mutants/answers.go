package main

// answers are faults in what is made of answers that are not as Google documents
// them.
var answers = []mutant{
	{
		name: "malformed-event-not-deferred",
		breaks: "An event that could not be read is passed over with the sync token, and nothing fetches it again: a move that it " +
			"was part of is lost (invariants 8 and 9).",
		changes: []change{{
			file: "calendarsync/part.go",
			old:  `err = ErrLater // once it is readable`,
			new:  `err = nil // once it is readable`,
		}},
	},
	{
		name:   "malformed-event-settled-by-asking",
		breaks: "A deferred event that is malformed once more counts as applied, and nothing fetches it again (invariant 8).",
		changes: []change{{
			file: "calendarsync/part.go",
			old:  `err == nil && observed.Event.Malformed {`,
			new:  `err == nil && observed.Event.Malformed && !observed.Fresh {`,
		}},
	},
	{
		name:   "nameless-event-passed-over",
		breaks: "Where a page of changes does not say which event changed, its token is stored all the same (invariant 9).",
		changes: []change{{
			file: "calendarsync/sync.go",
			old:  `part.incomplete || page.Nameless`,
			new:  `part.incomplete || page.Nameless && listed != nil`,
		}},
	},
	{
		name:   "rejected-token-kept",
		breaks: "A sync token that Google rejects with 400 is sent again for ever: its calendar is never read again (invariant 8).",
		changes: []change{{
			file: "internal/gcal/list.go",
			old:  `rejected.Status == http.StatusBadRequest`,
			new:  `rejected.Status == http.StatusGone`,
		}},
	},
	{
		name:   "event-without-updated-is-older",
		breaks: "An event that Google shows without its updated time counts as older than whatever was applied: its move is lost (invariant 8).",
		changes: []change{{
			file: "rules/rules.go",
			old:  `return !updated.IsZero() && updated.Before(applied)`,
			new:  `return updated.Before(applied)`,
		}},
	},
}
