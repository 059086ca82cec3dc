package main

// announcements are faults of announcements and their delivery.
var announcements = []mutant{
	{
		name: "announced-outside-the-transaction",
		breaks: "The pending announcement is written after the transition was committed, so that after a death in between nobody " +
			"is notified (invariant 4).",
		changes: []change{
			{
				file: "transition/transition.go",
				old: `
		s.Writes.Merge(poll.AnnouncementPath(after.ID), poll.PendingUpdates(after.ID, state, s.Due.At)...)`,
				new: `
		s.Due.State = state`,
			},
			{
				file: "transition/transition.go",
				old: `
type Announcement struct {`,
				new: `
type Announcement struct {
	State  poll.Message`,
			},
			{
				file: "scheduler/transact.go",
				old: `
		s.Outbox.Soon(ctx, poll.AnnounceKind, due.PollID,`,
				new: `
		err := s.Store.Run(ctx, func(_ context.Context, tx store.Tx) error {
			return tx.Merge(poll.AnnouncementPath(due.PollID), poll.PendingUpdates(due.PollID, due.State, due.At)...)
		})
		if err != nil {
			s.Log.ErrorContext(ctx, "an announcement could not be written", "poll", due.PollID, "error", err)
		}
		s.Outbox.Soon(ctx, poll.AnnounceKind, due.PollID,`,
			},
		},
	},
	{
		name: "cards-not-swept",
		breaks: "The cards of what the web app wrote are not checked by the sweep, so that a title that no document change " +
			"reported never reaches its card.",
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
		breaks: "A notice has another id at each run, so that a run which is repeated notifies people twice (invariant 4).",
		changes: []change{{
			file: "notify/inapp.go",
			old:  `return m.State.Ref, n.document(m.State.Ref, m, actor), err`,
			new: `key = m.State.Ref + ":" + n.Now().Format("150405.000")
	return key, n.document(key, m, actor), err`,
		}},
	},
	{
		name:   "announced-before-it-settled",
		breaks: "A transition is announced as soon as a task runs, and not after the time in which it may be taken back (invariant 4).",
		changes: []change{{
			file: "notify/pending.go",
			old:  `case message.After(now):`,
			new:  `case r.retried() && message.After(now):`,
		}},
	},
	{
		name: "message-posted-again",
		breaks: "A run that goes on after a death posts the message on Discord without checking whether it is there, " +
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
		name:   "notice-dropped-beyond-the-bound",
		breaks: "An announcement that must wait since a poll had too many notices is recorded as announced and never delivered (invariant 4).",
		changes: []change{{
			file: "notify/pending.go",
			old:  `return []store.Update{poll.DeferUpdate(r.due)}`,
			new:  `return poll.AnnouncedUpdates(announcement.Wanted, true)`,
		}},
	},
	{
		name:   "notices-not-counted",
		breaks: "The notices of a poll are not counted, so that each change made by direct writes notifies everybody.",
		changes: []change{{
			file: "notify/pending.go",
			old:  `return append(updates, poll.NextNoticeUpdate(store.Instant(next)))`,
			new: `_ = next
	return updates`,
		}},
	},
	{
		name:   "named-people-notified",
		breaks: "People whom somebody else put into a poll are notified of its changes, though they neither joined nor voted.",
		changes: []change{{
			file: "notify/inapp.go",
			old:  `waiting[id] ||`,
			new:  `false && waiting[id] ||`,
		}},
	},
	{
		name: "preferences-swapped",
		breaks: "A restored session goes by the settings of a poll that is on again, so that people are notified of what they " +
			"muted (invariant 4).",
		changes: []change{{
			file: "notify/preferences.go",
			old:  `rules.NoticeRestored:    {"SLOT_CHANGED", "slotChanges"},`,
			new:  `rules.NoticeRestored:    {"POLL_RESTORED", "finalizationEvents"},`,
		}},
	},
}
