package main

// comebacks are faults of following an event on that seems to be over: one that
// was deleted, or dragged into the past.
var comebacks = []mutant{
	{
		name:   "deletion-is-final",
		breaks: "An event that is restored from the calendar's bin leaves its poll cancelled (invariant 8).",
		changes: []change{{
			file: "rules/awaited.go",
			old:  `return open && p.Awaited.Event != ""`,
			new:  `return false && open && p.Awaited.Event != ""`,
		}},
	},
	{
		name:   "revived-still-marked",
		breaks: "A poll whose event is back keeps the marks of its cancellation, and with them the web app's badge.",
		changes: []change{{
			file: "transition/observe.go",
			old: `
		p = p.Unmarked()
		link := p.Sync.Awaited.Link`,
			new: `
		link := p.Sync.Awaited.Link`,
		}},
	},
	{
		name:   "reopened-still-awaiting",
		breaks: "A person's decision about a cancelled poll leaves it awaiting its event (invariant 5).",
		changes: []change{{
			file: "transition/after.go",
			old:  `Recorded: p.Sync.Recorded, Request: p.Sync.Request,`,
			new:  `Recorded: p.Sync.Recorded, Request: p.Sync.Request, Awaited: p.Sync.Awaited,`,
		}},
	},
	{
		name:   "dragged-into-the-past-is-past",
		breaks: "An event that is dragged to last year ends its session, so that nothing more of it is followed (invariant 8).",
		changes: []change{{
			file: "rules/past.go",
			old:  `return p.Rescheduled && !p.Applied.IsZero() && !p.Applied.EndTime().After(p.MovedAt)`,
			new:  `return false`,
		}},
	},
}
