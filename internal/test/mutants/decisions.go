package main

// decisions are faults of the rules and of carrying out what they decide.
var decisions = []mutant{
	{
		name:   "older-observation-wins",
		breaks: "An observation that is older than the one last applied is applied (invariant 2).",
		changes: []change{{
			file: "rules/awaited.go",
			old:  `return s.observed.EventState != Gone && Older(s.observed.Updated, s.poll.AppliedUpdated)`,
			new:  `return false`,
		}},
	},
	{
		name: "restored-by-text",
		breaks: "Times are compared as they are written, with their offsets, and not as instants: the same moment written " +
			"otherwise is a move (\"Rules\").",
		changes: []change{
			{
				file: "rules/fingerprint.go",
				old: `
	AllDay     bool
}`,
				new: `
	AllDay     bool
	// Offset is that of the start, in seconds.
	Offset int
}`,
			},
			{
				file: "rules/fingerprint.go",
				old: `
	return Fingerprint{Start: start.UnixMilli(), End: end.UnixMilli()}`,
				new: `
	_, offset := start.Zone()
	return Fingerprint{Start: start.UnixMilli(), End: end.UnixMilli(), Offset: offset}`,
			},
			{
				file: "rules/fingerprint.go",
				old:  `return f.StartTime().Format(layout) + "|" + f.EndTime().Format(layout) + "|" + flag`,
				new: `if !f.AllDay {
		layout = "2006-01-02T15:04:05.000Z07:00"
	}
	zone := time.FixedZone("", f.Offset)
	return f.StartTime().In(zone).Format(layout) + "|" + f.EndTime().In(zone).Format(layout) + "|" + flag`,
			},
		},
	},
	{
		name:   "resize-unnoticed",
		breaks: "Only the start of an event is compared, so that one that was made longer is in step (invariant 1).",
		changes: []change{{
			file: "rules/transitions.go",
			old:  `when: func(s situation) bool { return s.observed.Fingerprint == s.poll.Baseline }, then: Nothing,`,
			new:  `when: func(s situation) bool { return s.observed.Fingerprint.Start == s.poll.Baseline.Start }, then: Nothing,`,
		}},
	},
	{
		name:   "archived-poll-follows",
		breaks: "What the calendar says changes a poll that is archived (\"Rules\": ARCHIVED, anything, nothing).",
		changes: []change{{
			file: "rules/transitions.go",
			old:  `when: func(s situation) bool { return s.poll.Status != Finalized }, then: Nothing, blind: true,`,
			new:  `when: func(s situation) bool { return s.poll.Status != Finalized && s.poll.Status != Archived }, then: Nothing, blind: true,`,
		}},
	},
	{
		name:   "snapshot-overwritten",
		breaks: "The second move writes its own snapshot over the first, so that a restore does not know what was before (invariant 3).",
		changes: []change{
			{
				file: "scheduler/apply.go",
				old:  `case rules.Reschedule:`,
				new:  `case rules.Reschedule, rules.RescheduleAgain:`,
			},
			{
				file: "transition/observe.go",
				old: `
		winning, announced = s.moveCalendarSlot(p, entry.Fingerprint), true`,
				new: `
		winning, announced = s.moveCalendarSlot(p, entry.Fingerprint), true
		s.Writes.Set(poll.SnapshotPath(p.ID, moved.SnapshotID), poll.EncodeSnapshot(p.ID, s.snapshot(moved.SnapshotID)))`,
			},
		},
	},
	{
		name:   "calendar-slot-kept",
		breaks: "A restore leaves the calendar's slot among those that people choose from (invariant 6).",
		changes: []change{{
			file: "transition/observe.go",
			old: `
	s.Writes.Delete(poll.SlotPath(p.ID, moved.ToSlotID))`,
		}},
	},
	{
		name:   "vanished-votes-stay-away",
		breaks: "A restore does not put back the vote that vanished of somebody who still takes part (invariant 3).",
		changes: []change{{
			file: "transition/observe.go",
			old:  `range vanished(s.Snapshot, s.Votes, p.People(s.Group)) {`,
			new:  `range vanished(s.Snapshot, s.Votes, p.People(s.Group)[:0]) {`,
		}},
	},
	{
		name:   "snapshot-without-invitations",
		breaks: "A reschedule takes a snapshot that does not say who was invited (invariant 3).",
		changes: []change{{
			file: "transition/observe.go",
			old:  `Participants: s.Poll.ParticipantIDs, PendingInvites: s.Poll.PendingInvites, Votes: s.Votes,`,
			new:  `Participants: s.Poll.ParticipantIDs, Votes: s.Votes,`,
		}},
	},
	{
		name:   "restored-vote-without-its-origin",
		breaks: "A vote that a restore puts back lacks where it was given (invariant 3).",
		changes: []change{{
			file: "internal/poll/vote.go",
			old: `
		"lastVotedFrom": store.NullIfEmpty(v.LastVotedFrom),`,
		}},
	},
	{
		name:   "restore-overwrites-votes",
		breaks: "A restore writes the votes of the snapshot over those that people changed since (invariant 3).",
		changes: []change{
			{
				file: "transition/observe.go",
				old: `
			slices.ContainsFunc(votes, func(vote poll.Vote) bool { return vote.UserID == old.UserID })`,
				new: `
			len(votes) < 0`,
			},
			{
				file: "transition/observe.go",
				old:  `s.Writes.Create(poll.VotePath(p.ID, vote.UserID), poll.EncodeVote(vote))`,
				new:  `s.Writes.Set(poll.VotePath(p.ID, vote.UserID), poll.EncodeVote(vote))`,
			},
		},
	},
	{
		name:   "unknown-fields-dropped",
		breaks: "A vote is written whole and not by its named fields, so that what only the web app knows of it is lost (invariant 12).",
		changes: []change{
			{
				file: "transition/part.go",
				old:  `s.Writes.Merge(poll.VotePath(s.Poll.ID, vote.UserID), poll.VoteUpdates(vote)...)`,
				new:  `s.Writes.Set(poll.VotePath(s.Poll.ID, vote.UserID), poll.EncodeVote(vote))`,
			},
		},
	},
	{
		name:   "accepted-slot-stays-the-calendars",
		breaks: "Accepting the new time does not make the calendar's slot an ordinary one (invariant 6).",
		changes: []change{{
			file: "transition/command.go",
			old:  `poll.Set("source", poll.SourcePoll), poll.Set("createdBy", nil))`,
			new:  `poll.Set("createdBy", nil))`,
		}},
	},
	{
		name: "hold-ended-by-the-next-sync",
		breaks: "A cancellation that awaits confirmation is carried out by the next sync run that finds the event gone " +
			"(\"Gone means confirmed\"); what is held is asked for with whatever else is paused.",
		changes: []change{
			{
				file: "rules/transitions.go",
				old:  `return s.observed.EventState == Gone && s.poll.Error == MassCancellationHeld && !s.observed.Confirmed`,
				new:  `return false`,
			},
			{
				file: "calendarsync/part.go",
				old:  `return met || deferred[eventID].Why == calendars.DeferredHeld`,
				new:  `return met`,
			},
		},
	},
}
