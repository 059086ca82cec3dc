package main

// intents are faults of what is to be done in a calendar: finalising, and the
// deletions that follow from commands.
var intents = []mutant{
	{
		name: "no-intent",
		breaks: "The event is inserted without an intent stored before, and transaction 2 does not ask for one: " +
			"an answer that is lost, or a death, leaves an orphan (invariant 5).",
		changes: []change{
			{
				file: "scheduler/finalise.go",
				old: `
		if err := tx.Create(intent.Path(), poll.EncodeIntent(intent)); err != nil {
			return err
		}`,
			},
			{
				file: "scheduler/complete.go",
				old:  `if stands == nil { // somebody else finished it, or undid it`,
				new: `if stands == nil {
			stands = &intent
		}
		if p.GoogleEventID == intent.EventID {`,
			},
		},
	},
	{
		name:   "lost-answer-taken-for-refusal",
		breaks: "An insert whose answer was lost counts as one that had no effect: its intent goes, the event stays (invariant 5).",
		changes: []change{{
			file: "scheduler/insert.go",
			old:  `case !refused(err):`,
			new:  `case !refused(err) && intent.Attempts > 0:`,
		}},
	},
	{
		name:   "deleted-event-left-behind",
		breaks: "The app's own deletion of an event takes its index entry away and writes no intent: the event stays, and nobody follows it (invariant 5).",
		changes: []change{{
			file: "scheduler/delete_event.go",
			old:  `st.unlink(tx, true, account, s.Now(), cause.Trace)`,
			new:  `st.unlink(tx, false, account, s.Now(), cause.Trace)`,
		}},
	},
	{
		name:   "superseded-insert-forgotten",
		breaks: "A command that supersedes an insert removes its intent and does not turn it into a deletion, though the event may be there (invariant 5).",
		changes: []change{{
			file: "scheduler/state.go",
			old:  `if err := tx.Set(intent.Path(), poll.EncodeIntent(asDelete(intent, now))); err != nil {`,
			new:  `if err := tx.Delete(intent.Path()); err != nil {`,
		}},
	},
	{
		name: "generation-not-demanded",
		breaks: "Transaction 2 of a finalisation does not look whether something newer was commanded meanwhile, " +
			"nor whether its intent was turned into a deletion: a poll that was cancelled is finalised (invariant 1).",
		changes: []change{
			{
				file: "scheduler/complete.go",
				old:  `if stands.Kind == poll.IntentDelete {`,
				new:  `if p.ID == "" && stands.Kind == poll.IntentDelete {`,
			},
			{
				file: "scheduler/complete.go",
				old:  `if p.ID == "" || p.Sync.Generation != intent.Generation {`,
				new:  `if p.ID == "" {`,
			},
			{
				file: "scheduler/complete.go",
				old:  `s.linkEvent(ctx, tx, st, *stands, event, cause)`,
				new:  `s.linkEvent(ctx, tx, st, intent, event, cause)`,
			},
		},
	},
	{
		name:   "deletion-not-stored",
		breaks: "The deletion of an event is handed over and not stored, so that its task finds nothing to do (invariant 5).",
		changes: []change{{
			file: "scheduler/state.go",
			old:  `return &intent, tx.Set(intent.Path(), poll.EncodeIntent(intent))`,
			new:  `return &intent, nil`,
		}},
	},
	{
		name:   "failed-deletion-counts-as-done",
		breaks: "A deletion that Google did not carry out is not tried again (invariant 5).",
		changes: []change{{
			file: "scheduler/intents.go",
			old: `
	if err != nil {
		return pollError(intent.PollID, "delete event", err)`,
			new: `
	if fault.Is(err, fault.Revoked) {
		return pollError(intent.PollID, "delete event", err)`,
		}},
	},
	{
		name:   "index-entry-left-by-reopen",
		breaks: "Reopening with the event kept leaves its index entry (invariant 5).",
		changes: []change{{
			file: "scheduler/lifecycle.go",
			old:  `if done.deletion, err = st.unlink(tx, deleteEvent, account, now, cause.Trace); err != nil {`,
			new: `if deleteEvent {
			done.deletion, err = st.unlink(tx, deleteEvent, account, now, cause.Trace)
		}
		if err != nil {`,
		}},
	},
	{
		name:   "patched-without-if-match",
		breaks: "Restoring the original time patches the event whatever it has become since it was read, and overwrites a move that nobody saw (invariant 2).",
		changes: []change{{
			file: "internal/gcal/events.go",
			old:  `if etag != "" {`,
			new:  `if etag != "" && id == "" {`,
		}},
	},
	{
		name:   "no-look-after-unarchive",
		breaks: "What the calendar said while a poll was archived is never asked for again (invariant 8).",
		changes: []change{{
			file: "scheduler/lifecycle.go",
			old:  `if st.entry != nil && (after.Linked() || st.awaiting() && after.Status != rules.Archived) {`,
			new:  `if st.entry != nil && after.Linked() && command == rules.CommandArchive {`,
		}},
	},
}
