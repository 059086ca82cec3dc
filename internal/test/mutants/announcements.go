package main

// tellings are faults of telling people.
var tellings = []mutant{
	{
		name:   "announced-outside-the-transaction",
		breaks: "What is to be announced is written after the transition was committed, so that a death in between tells nobody (invariant 4).",
		changes: []change{
			{
				file: "internal/transition/transition.go",
				old: `
		s.merge(poll.AnnouncementPath(after.ID), poll.PendingUpdates(after.ID, state, s.Due.At)...)`,
				new: `
		s.Due.Told = state`,
			},
			{
				file: "internal/transition/transition.go",
				old: `
	PollID, Ref string`,
				new: `
	Told        poll.Told
	PollID, Ref string`,
			},
			{
				file: "scheduler/transact.go",
				old: `
		s.enqueue(ctx, poll.AnnounceKind, due.PollID+"/"+due.Ref,`,
				new: `
		err := s.Store.Run(ctx, func(_ context.Context, tx store.Tx) error {
			return tx.Merge(poll.AnnouncementPath(due.PollID), poll.PendingUpdates(due.PollID, due.Told, due.At)...)
		})
		if err != nil {
			s.Log.ErrorContext(ctx, "an announcement could not be written", "poll", due.PollID, "trace", cause.Trace, "error", err)
		}
		s.enqueue(ctx, poll.AnnounceKind, due.PollID+"/"+due.Ref,`,
			},
		},
	},
	{
		name:   "cards-not-swept",
		breaks: "The cards of what the web app wrote are not checked by the sweep, so that a title of which no hint told never reaches its card.",
		changes: []change{{
			file: "scheduler/sweepcards.go",
			old:  `pollIDs, cursor, err := poll.Written(`,
			new:  `_, cursor, err := poll.Written(`,
		}, {
			file: "scheduler/sweepcards.go",
			old:  `for _, id := range pollIDs {`,
			new:  `for _, id := range []string(nil) {`,
		}},
	},
	{
		name:   "notice-id-not-derived",
		breaks: "A notice has another id at each run, so that a run which is repeated tells people twice (invariant 4).",
		changes: []change{{
			file: "notify/inapp.go",
			old:  `key := string(m.Notice) + ":" + m.Poll.ID + ":" + m.State.Ref`,
			new:  `key := string(m.Notice) + ":" + m.Poll.ID + ":" + m.State.Ref + ":" + n.Now().Format("150405.000")`,
		}},
	},
	{
		name:   "told-before-it-settled",
		breaks: "A transition is told as soon as a task runs, and not when it stood for the time that it has to be taken back in (invariant 4).",
		changes: []change{{
			file: "notify/pending.go",
			old:  `case a.Now().Before(announcement.Due):`,
			new:  `case announcement.Due.IsZero():`,
		}},
	},
	{
		name: "message-posted-again",
		breaks: "A run that goes on after a death posts the message on Discord without looking whether it is there, " +
			"and under another nonce than the one before (invariant 4).",
		changes: []change{
			{
				file: "notify/discord.go",
				old:  `if m.Retry {`,
				new:  `if m.Retry && channel == "" {`,
			},
			{
				file: "notify/discord.go",
				old:  `nonceOf("line", m.State.Ref, channel)`,
				new:  `nonceOf("line", m.State.Ref+d.Now().String(), channel)`,
			},
		},
	},
	{
		name:   "told-of-an-older-link",
		breaks: "What is being told while a refused finalisation numbers the link anew is recorded under the old number, and the next change is no news to anybody (invariant 4).",
		changes: []change{{
			file: "notify/delivery.go",
			old:  `poll.AnnouncedUpdates(announcement.Delivering, settled)`,
			new:  `poll.AnnouncedUpdates(r.state, settled)`,
		}},
	},
	{
		name:   "notice-dropped-beyond-the-bound",
		breaks: "What has to wait since a poll had too many notices is recorded as told and never told (invariant 4).",
		changes: []change{{
			file: "notify/pending.go",
			old:  `return poll.DeferUpdates(store.Instant(a.Now().Add(wait)))`,
			new:  `return poll.AnnouncedUpdates(announcement.Wanted, true)`,
		}},
	},
	{
		name:   "notices-not-counted",
		breaks: "The notices of a poll are not counted, so that each change made by direct writes tells everybody.",
		changes: []change{{
			file: "notify/pending.go",
			old:  `return append(updates, poll.NextNoticeUpdate(store.Instant(next)))`,
			new: `_ = next
	return updates`,
		}},
	},
	{
		name:   "named-people-told",
		breaks: "People whom somebody else put into a poll are told what became of it, though they neither joined nor voted.",
		changes: []change{{
			file: "notify/inapp.go",
			old:  `slices.Contains(waiting, id)`,
			new:  `slices.Contains(waiting[:0], id)`,
		}},
	},
}
