package main

// intents are faults of the work that intents stand for: finalising, and the
// deletions that follow from commands.
var intents = []mutant{
	{
		name: "no-intent",
		breaks: "The event is inserted without an intent stored before, and transaction 2 does not ask for one: " +
			"an answer that is lost, or a death, leaves an orphan (invariant 5).",
		changes: []change{
			{
				file: "transition/finalise.go",
				old: `
	s.Writes.Create(intent.Path(), poll.EncodeIntent(intent))`,
			},
			{
				file: "scheduler/complete.go",
				old: `
		switch {
		case current == nil: // somebody else finished it, or undid it`,
				new: `
		if current == nil {
			current = &intent
		}
		switch {
		case p.GoogleEventID == intent.EventID:`,
			},
		},
	},
	{
		name:   "lost-answer-treated-as-refusal",
		breaks: "An insert whose answer was lost counts as one that had no effect: its intent goes, the event stays (invariant 5).",
		changes: []change{{
			file: "scheduler/insert.go",
			old:  `case !refused(err):`,
			new:  `case !refused(err) && intent.Attempts > 0:`,
		}},
	},
	{
		name: "deleted-event-left-behind",
		breaks: "The app's own deletion of an event takes its index entry away and writes no intent: the event stays, and nobody " +
			"follows it (invariant 5).",
		changes: []change{{
			file: "transition/command.go",
			old:  `s.unlink(true, account)`,
			new:  `s.unlink(false, account)`,
		}},
	},
	{
		name: "superseded-insert-forgotten",
		breaks: "A command that supersedes an insert removes its intent and does not turn it into a deletion, though the event " +
			"may be there (invariant 5).",
		changes: []change{{
			file: "transition/link.go",
			old:  `s.Outcome.Intents = append(s.Outcome.Intents, s.State.Intents[i])`,
			new:  `s.Writes.Delete(intent.Path())`,
		}},
	},
	{
		name: "generation-not-demanded",
		breaks: "Transaction 2 of a finalisation does not check whether a newer command ran since, " +
			"nor whether its intent was turned into a deletion: a poll that was cancelled is finalised (invariant 1).",
		changes: []change{
			{
				file: "scheduler/complete.go",
				old:  `case current.Kind == poll.IntentDelete:`,
				new:  `case p.ID == "" && current.Kind == poll.IntentDelete:`,
			},
			{
				file: "scheduler/complete.go",
				old:  `case p.ID == "" || p.Sync.Generation != intent.Generation:`,
				new:  `case p.ID == "":`,
			},
			{
				file: "scheduler/complete.go",
				old:  `poll.LoadSlot(ctx, tx, p.ID, current.Session.SlotID)`,
				new:  `poll.LoadSlot(ctx, tx, p.ID, intent.Session.SlotID)`,
			},
			{
				file: "scheduler/complete.go",
				old:  `step.Link(*current, slot,`,
				new:  `step.Link(intent, slot,`,
			},
		},
	},
	{
		name:   "deletion-not-stored",
		breaks: "The deletion of an event is handed over and not stored, so that its task finds nothing to do (invariant 5).",
		changes: []change{{
			file: "scheduler/transact.go",
			old: `
	for _, intent := range out.Intents {
		if err := tx.Set(`,
			new: `
	for _, intent := range out.Intents {
		if intent.Kind == poll.IntentDelete {
			continue
		}
		if err := tx.Set(`,
		}},
	},
	{
		name:   "failed-deletion-counts-as-done",
		breaks: "A deletion that Google did not carry out is not tried again (invariant 5).",
		changes: []change{{
			file: "scheduler/intents.go",
			old: `
	if err != nil {
		return s.intentFailed(`,
			new: `
	if fault.Is(err, fault.Revoked) {
		return s.intentFailed(`,
		}},
	},
	{
		name:   "index-entry-left-by-reopen",
		breaks: "Reopening with the event kept leaves its index entry (invariant 5).",
		changes: []change{{
			file: "transition/command.go",
			old: `
	more.EventGone = s.unlink(more.EventGone, account)
	s.removeCalendarSlot()`,
			new: `
	if more.EventGone {
		more.EventGone = s.unlink(more.EventGone, account)
	}
	s.removeCalendarSlot()`,
		}},
	},
	{
		name: "patched-without-if-match",
		breaks: "Restoring the original time patches the event whatever it has become since it was read, and overwrites a move " +
			"that nobody saw (invariant 2).",
		changes: []change{{
			file: "internal/gcal/events.go",
			old: `
			SendUpdates(notifyAll).Fields(eventFields).Context(ctx)
		if etag != "" {`,
			new: `
			SendUpdates(notifyAll).Fields(eventFields).Context(ctx)
		if etag != "" && id == "" {`,
		}},
	},
	{
		name:   "no-sync-after-unarchive",
		breaks: "What the calendar said while a poll was archived is never asked for again (invariant 8).",
		changes: []change{{
			file: "transition/command.go",
			old:  `if s.Entry != nil && (after.Linked() || s.Awaiting() && after.Status != rules.Archived) {`,
			new:  `if s.Entry != nil && after.Linked() && command == rules.CommandArchive {`,
		}},
	},
}
