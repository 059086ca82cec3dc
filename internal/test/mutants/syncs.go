package main

// syncs are faults of sync runs, their sync token, and their triggers.
var syncs = []mutant{
	{
		name: "token-stored-before-apply",
		breaks: "The sync token is stored before the changes that it covers are applied, so a change that fails or dies in " +
			"between is never read again (invariant 9).",
		changes: []change{{
			file: "calendarsync/sync.go",
			old: `
	return l.eachPage(ctx, token, func(page gcal.Page) error {
		return l.deliver(ctx, page, l.parts, l.inFullListing)`,
			new: `
	return l.eachPage(ctx, token, func(page gcal.Page) error {
		if page.NextSync != "" {
			err := l.commit(ctx, store.Set("syncToken", page.NextSync), store.Set("maskVersion", l.maskVersion()))
			if err != nil {
				return err
			}
		}
		return l.deliver(ctx, page, l.parts, l.inFullListing)`,
		}},
	},
	{
		name: "token-stored-although-one-consumer-failed",
		breaks: "An event that a consumer could not apply is not deferred for it, and the token is stored: the consumer never " +
			"gets that change (invariant 9).",
		changes: []change{{
			file: "calendarsync/part.go",
			old: `
	p.outcome[eventID] = false`,
			new: `
	p.outcome[eventID] = true`,
		}},
	},
	{
		name: "one-consumers-failure-defers-all",
		breaks: "What one consumer could not apply is deferred for the others too, though they applied it: one that fails delays " +
			"everybody (invariant 9).",
		changes: []change{{
			file: "calendarsync/part.go",
			old: `
	p.outcome[eventID] = false`,
			new: `
	for _, other := range p.run.sync.parts[1:] {
		other.outcome[eventID] = false
	}`,
		}},
	},
	{
		name: "listed-for-the-last-consumer",
		breaks: "A calendar is listed with the fields that the last of its consumers reads, so others apply events of which they " +
			"are shown too little.",
		changes: []change{{
			file: "calendarsync/sync.go",
			old:  `widest = max(widest, part.Reads())`,
			new:  `widest = part.Reads()`,
		}},
	},
	{
		name:   "guests-of-single-events-are-cut",
		breaks: "An event that is fetched shows the calendar's own guest alone, as if nobody else were invited.",
		changes: []change{{
			file: "internal/gcal/events.go",
			old:  `query := url.Values{"fields": {string(guestFields)}}`,
			new:  `query := url.Values{"fields": {string(guestFields)}, "maxAttendees": {ownEntryOnly}}`,
		}},
	},
	{
		name:   "lost-calendar-says-nothing",
		breaks: "A calendar that is gone or no longer shared is retried for good, and neither its polls nor its owner's sync status say so.",
		changes: []change{{
			file: "calendarsync/lost.go",
			old:  `	return r.lost()`,
			new:  `	return r.lost() && r.known`,
		}},
	},
	{
		name: "found-calendar-stays-lost",
		breaks: "A calendar that was lost is read again, and its polls say still that it is lost (the second guard is the " +
			"observation of their events).",
		changes: []change{
			{
				file: "calendarsync/failure.go",
				old:  `case rules.TokenExpired, rules.CalendarUnlinked, rules.CalendarLost:`,
				new:  `case rules.TokenExpired, rules.CalendarUnlinked:`,
			},
			{
				file: "rules/transitions.go",
				old:  `case SyncFailed, CalendarLost:`,
				new:  `case SyncFailed:`,
			},
		},
	},
	{
		name: "request-taken-at-the-end",
		breaks: "The request for a sync is taken when the run ends and not before it lists, so a push that comes during the run " +
			"counts as covered by it (invariant 13).",
		changes: []change{
			{
				file: "internal/calendars/request.go",
				old:  `store.Set("syncAt", until), store.Set("syncAsked", store.Delete),`,
				new:  `store.Set("syncAt", until),`,
			},
			{
				file: "internal/calendars/request.go",
				old: `
	switch {
	case c.SyncPending:
		return nil
	case at.IsZero():
		return []store.Update{store.Set("syncAt", store.Delete)}`,
				new: `
	switch {
	case at.IsZero():
		return []store.Update{store.Set("syncAt", store.Delete), store.Set("syncAsked", store.Delete)}`,
			},
		},
	},
	{
		name:   "end-forgets-a-request",
		breaks: "The end of a sync run removes the request of a push that came during the run (invariant 13).",
		changes: []change{{
			file: "internal/calendars/request.go",
			old: `
	case c.SyncPending:
		return nil
	case at.IsZero():`,
			new: `
	case at.IsZero():`,
		}},
	},
	{
		name:   "dead-run-forgotten",
		breaks: "A calendar is not due again when the lease of a run that died ends (invariant 13).",
		changes: []change{{
			file: "internal/calendars/request.go",
			old:  `store.Set("syncAt", until), store.Set("syncAsked", store.Delete),`,
			new:  `store.Set("syncAt", store.Delete), store.Set("syncAsked", store.Delete),`,
		}},
	},
	{
		name:   "acknowledged-before-recorded",
		breaks: "A push is acknowledged though its sync could not be requested, and Google does not send it again (invariant 13).",
		changes: []change{{
			file: "calendarsync/push.go",
			old: `
	return w.requestSync(ctx, watch.CalendarKey, scheduler.Cause{Trigger: calendars.TriggerPush, Trace: push.Trace})`,
			new: `
	if err := w.requestSync(ctx, watch.CalendarKey, scheduler.Cause{Trigger: "push", Trace: push.Trace}); err != nil {
		w.Log.WarnContext(ctx, "the sync of a push was not requested", "trace", push.Trace, "error", err)
	}
	return nil`,
		}},
	},
	{
		name:   "no-fence",
		breaks: "A sync run still commits after another one began (invariant 9).",
		changes: []change{{
			file: "internal/calendars/updates.go",
			old:  `return fence != 0 && c.Fence == fence`,
			new:  `return fence != 0`,
		}},
	},
	{
		name:   "no-check-after-410",
		breaks: "After a full listing nobody asks for the linked events that it did not show, so a deletion in the gap is missed (invariant 8).",
		changes: []change{{
			file: "calendarsync/unlisted.go",
			old: `
	absent, err := l.findAbsent(ctx, run, shown)
	if err != nil {`,
			new: `
	absent, err := absences{}, error(nil)
	if true {`,
		}},
	},
	{
		name: "deletion-while-linking-forgotten",
		breaks: "A full listing does not show what was deleted, and nobody asks for the events whose insert is under way: the " +
			"poll is then linked to one that is gone (invariants 8 and 9).",
		changes: []change{{
			file: "calendarsync/unlisted.go",
			old: `
	if err := l.deferInserts(ctx, shown); err != nil {
		return err
	}`,
		}},
	},
	{
		name:   "later-pages-skipped",
		breaks: "Only the first page of a listing is applied, and the token of the last is stored (invariant 9).",
		changes: []change{{
			file: "calendarsync/sync.go",
			old: `
		if err := do(got); err != nil {`,
			new: `
		if page == "" {
			err = do(got)
		}
		if err != nil {`,
		}},
	},
	{
		name: "matched-by-event-id-alone",
		breaks: "A guest's copy is treated as the linked event, since both have one id: removing the copy cancels the session " +
			"(\"Identity\", invariant 1).",
		changes: []change{{
			file: "internal/poll/index.go",
			old:  `doc.Exists() && entry.AccountID == accountID && entry.CalendarID == calendarID {`,
			new:  `doc.Exists() && entry.EventID == eventID {`,
		}},
	},
	{
		name: "not-found-is-gone",
		breaks: "404 for an event cancels, without asking whether the calendar itself answers, nor whether it lists the event: a " +
			"calendar that we lost cancels its sessions (invariant 7).",
		changes: []change{{
			file: "calendarsync/fetch.go",
			old: `
	writable, err := l.writable(ctx)
	if err == nil && !writable {`,
			new: `
	if len(unfound) > 0 {
		return
	}
	writable, err := l.writable(ctx)
	if err == nil && !writable {`,
		}},
	},
	{
		name: "change-while-linking-forgotten",
		breaks: "A sync run passes over an event whose insert is under way, and the poll that is then linked to it never hears of " +
			"the move (invariants 8 and 9).",
		changes: []change{{
			file: "scheduler/apply.go",
			old: `
	step.Defer(observed.EventID)`,
		}},
	},
	{
		name:   "push-not-authenticated",
		breaks: "A push is believed whatever its token says (\"Push\": else 401 and nothing else).",
		changes: []change{{
			file: "calendarsync/watch.go",
			old:  `subtle.ConstantTimeCompare([]byte(hashToken(token)), []byte(w.TokenHash)) == 1`,
			new:  `subtle.ConstantTimeCompare([]byte(hashToken(token)), []byte(w.TokenHash)) >= 0`,
		}},
	},
	{
		name:   "mass-deletion-not-held",
		breaks: "However many events a full listing lacks at once, their polls are cancelled without a person's word (\"Gone means confirmed\").",
		changes: []change{{
			file: "calendarsync/hold.go",
			old:  `return missing > l.HoldMin && float64(missing) > l.HoldShare*float64(absent.linked)`,
			new:  `return missing > absent.linked`,
		}},
	},
	{
		name: "moved-event-treated-as-deleted",
		breaks: "An event that its owner moved to another calendar is searched for, and counts as deleted where it is found: its " +
			"session is cancelled (invariant 1).",
		changes: []change{{
			file: "calendarsync/apply.go",
			old:  `if err != nil || found == nil {`,
			new:  `if found = nil; err != nil || found == nil {`,
		}},
	},
	{
		name: "moved-link-not-pending-at-destination",
		breaks: "The link follows an event to another calendar, and nobody fetches the event there, though a sync run of that " +
			"calendar may have passed it already: what else changed is never applied (invariants 8 and 9).",
		changes: []change{{
			file: "transition/link.go",
			old:  `append(linked, calendars.Defer(event, calendars.DeferredMoved, s.Now))...)`,
			new:  `linked...)`,
		}},
	},
	{
		name:   "failed-search-treated-as-absence",
		breaks: "A calendar that does not answer counts as one without the event, which then counts as deleted (invariant 7).",
		changes: []change{{
			file: "calendarsync/movefinder.go",
			old: `
	return &fault.Error{
		Kind: fault.Unavailable, Code: CodeSearchFailed,`,
			new: `
	if err != nil {
		return nil
	}
	return &fault.Error{
		Kind: fault.Unavailable, Code: CodeSearchFailed,`,
		}},
	},
	{
		name: "moved-event-left-by-its-deletion",
		breaks: "An event that must be deleted and is gone from its calendar counts as deleted, though it was moved to another, " +
			"where it stays without a poll (invariant 5).",
		changes: []change{{
			file: "scheduler/moved_calendar.go",
			old:  `if deleted || err != nil && !fault.Is(err, fault.NotFound) && !fault.Is(err, fault.Provider) {`,
			new:  `if deleted || err == nil || !fault.Is(err, fault.NotFound) {`,
		}},
	},
}
