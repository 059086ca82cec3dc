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
		name:   "card-shows-the-original-time",
		breaks: "The card of a session that was moved shows the time from before.",
		changes: []change{{
			file: "notify/card.go",
			old:  `" → " + text`,
			new:  `" → " + spoken.sessionTime(original, ends, spoken.discordTime)`,
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
		name:   "accepting-ends-an-error",
		breaks: "Accepting a new time ends the error that its poll shows, though nothing repaired it (invariant 6).",
		changes: []change{{
			file: "transition/after.go",
			old: `		if p.Sync.Error == nil || p.Sync.State != rules.StateError {
			p.Sync.State = rules.StateOK
		}`,
			new: `		p.Sync.State = rules.StateOK`,
		}},
	},
	{
		name:   "another-end-is-the-same-session",
		breaks: "A session that got another end alone still awaits its deleted event, which would undo that.",
		changes: []change{{
			file: "transition/command.go",
			old:  `return edit.ID == s.Winning.ID && edit.At == s.Winning.Fingerprint()`,
			new:  `return edit.ID == s.Winning.ID && edit.At.Start == s.Winning.Fingerprint().Start`,
		}},
	},
	{
		name:   "earlier-run-ends-later-work",
		breaks: "A run for an earlier change removes the work of a later one, of a group's session for example, which is then never done.",
		changes: []change{{
			file: "internal/outbox/take.go",
			old:  `same = state.Ref == item.State.Ref && !state.Due.IsZero()`,
			new:  `same = !state.Due.IsZero()`,
		}},
	},
}
