package main

// audited are faults that only an audit of the documents and calendars finds.
var audited = []mutant{
	{
		name:   "unchanged-session-leaves-the-feed",
		breaks: "A confirmed session that nobody changed for a month is no longer in people's feeds.",
		changes: []change{{
			file: "feed/choice.go",
			old:  `(p.Status != rules.Cancelled || !cancelledAt(p).Before(c.since))`,
			new:  `(p.Status == rules.Archived || !cancelledAt(p).Before(c.since))`,
		}},
	},
	{
		name:   "accepting-ends-an-error",
		breaks: "Accepting the new time during an error makes the poll say that its calendar is in order.",
		changes: []change{{
			file: "internal/transition/after.go",
			old:  `if p.Sync.Error == nil || p.Sync.State != rules.StateError {`,
			new:  `if p.Sync.State != "" {`,
		}},
	},
	{
		name:   "first-zone-kept",
		breaks: "A calendar that gets another time zone is answered with its all-day events in the first one.",
		changes: []change{{
			file: "calendarsync/sync.go",
			old:  `cmp.Or(got.TimeZone, l.calendar.TimeZone)`,
			new:  `cmp.Or(l.calendar.TimeZone, got.TimeZone)`,
		}},
	},
	{
		name:   "unread-calendar-answered-as-free",
		breaks: "A calendar of which mirroring still needs a full listing is answered as if all were known.",
		changes: []change{{
			file: "availability/sources.go",
			old:  `len(backlog.Deferred) == 0 && backlog.Relist.IsZero() &&`,
			new:  `len(backlog.Deferred) == 0 &&`,
		}},
	},
	{
		name:   "confirmation-needs-a-poll",
		breaks: "A held cancellation of an event that no poll follows any more stays held after its confirmation.",
		changes: []change{{
			file: "calendarsync/confirm.go",
			old:  `if entry == nil || slices.Contains(pollIDs, entry.PollID) {`,
			new:  `if entry != nil && slices.Contains(pollIDs, entry.PollID) {`,
		}},
	},
	{
		name:   "card-shows-the-original-time",
		breaks: "The card of a session that was moved shows the time from before.",
		changes: []change{{
			file: "notify/card.go",
			old:  `" → " + text`,
			new:  `" → " + spoken.sessionTime(original, ends, spoken.discordTime)`,
		}},
	},
	{
		name:   "later-group-work-removed",
		breaks: "A run that ends removes the work of a change that came during it.",
		changes: []change{{
			file: "groupevents/work.go",
			old:  `doc.Exists() && decodeWork(doc).Ref == w.Ref; !same {`,
			new:  `doc.Exists(); !same {`,
		}},
	},
	{
		name:   "no-grace-for-inserts",
		breaks: "The document of a copy goes while an insert of its event may still reach Google.",
		changes: []change{{
			file: "mirrors/writer_take.go",
			old:  `const insertGrace = 2 * time.Minute`,
			new:  `const insertGrace = 0 * time.Minute`,
		}},
	},
	{
		name:   "people-who-left-are-listed",
		breaks: "The creator of a group reads the connections of people who left it.",
		changes: []change{{
			file: "groupevents/connections.go",
			old:  `if group.CreatorID == person.ID && group.Has(connection.OwnerID) {`,
			new:  `if group.CreatorID == person.ID {`,
		}},
	},
	{
		name:   "end-of-a-slot-is-no-edit",
		breaks: "Editing only the end of the session's slot leaves its deleted event awaited.",
		changes: []change{{
			file: "internal/transition/command.go",
			old:  `edit.At == s.Winning.Fingerprint()`,
			new:  `edit.At.Start == s.Winning.Fingerprint().Start`,
		}},
	},
}
