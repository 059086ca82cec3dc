package main

// watches are faults of watch channels, of the timers, and of work that takes
// longer than a sync run.
var watches = []mutant{
	{
		name:   "old-watch-stopped-first",
		breaks: "A watch channel is renewed by stopping the old one before the new one lives, so that a crash or a refusal leaves a gap.",
		changes: []change{{
			file: "calendarsync/channels.go",
			old: `
		granted, err := w.open(ctx, accountID, calendarID, false)`,
			new: `
		for _, old := range watches {
			w.retire(ctx, old)
		}
		granted, err := w.open(ctx, accountID, calendarID, false)`,
		}},
	},
	{
		name: "watch-unknown-before-its-first-push",
		breaks: "A watch channel is written once Google granted it, so that its first push is refused and a crash leaves one that " +
			"nobody can stop.",
		changes: []change{{
			file: "calendarsync/openchannel.go",
			old: `
	watch, before, err := w.create(ctx, ref, asked, forced)
	if err != nil || watch.ChannelID == "" {
		return Watch{}, err
	}
	channel, err := w.Google.Watch(ctx, ref, asked)
	w.Meter.Count(WatchAsked{slices.ContainsFunc(before, w.isLive), err})
	if err == nil {`,
			new: `
	channel, err := w.Google.Watch(ctx, ref, asked)
	watch, before, writeErr := w.create(ctx, ref, asked, true)
	if writeErr != nil {
		return Watch{}, writeErr
	}
	w.Meter.Count(WatchAsked{slices.ContainsFunc(before, w.isLive), err})
	if err == nil {`,
		}},
	},
	{
		name:   "short-grant-treated-as-dead",
		breaks: "A watch channel that Google granted for less than RENEW_BEFORE counts as dead, so that one is opened beside it again and again.",
		changes: []change{{
			file: "calendarsync/lifetime.go",
			old:  `watch.Address == w.Address && watch.Expiration.After(w.Now())`,
			new:  `watch.Address == w.Address && watch.Expiration.After(w.Now().Add(w.RenewBefore))`,
		}},
	},
	{
		name:   "channel-opened-again-at-once",
		breaks: "A calendar whose watch channel ran out after minutes is given another at each request, many in a quarter of an hour.",
		changes: []change{{
			file: "calendarsync/lifetime.go",
			old:  `return ago < openInterval && ago > -openInterval`,
			new:  `return ago < 0 && ago > -openInterval`,
		}},
	},
	{
		name:   "old-watch-stopped-on-a-refusal",
		breaks: "An old watch channel is stopped for one that was asked for and not granted, so that a refusal leaves none.",
		changes: []change{{
			file: "calendarsync/channels.go",
			old: `
		granted, err := w.open(ctx, accountID, calendarID, false)
		if err != nil {
			return false, stillWatched(kept, err)
		}`,
			new: `
		granted, err := w.open(ctx, accountID, calendarID, false)
		if err != nil {
			for _, old := range watches {
				w.retire(ctx, old)
			}
			return false, stillWatched(kept, err)
		}`,
		}},
	},
	{
		name:   "error-swallows-the-reschedule",
		breaks: "An error that is over leaves a rescheduled poll OK, and people see no more that it was moved.",
		changes: []change{{
			file: "rules/transitions.go",
			old: `
	if poll.Rescheduled {
		return StateRescheduled
	}
	return StateOK`,
			new: `
	return StateOK`,
		}},
	},
	{
		name:   "snapshot-goes-while-needed",
		breaks: "A snapshot is removed at its end, though its poll would be restored from it (invariant 3).",
		changes: []change{{
			file: "internal/poll/snapshot.go",
			old:  `if needed[doc.Path] {`,
			new:  `if needed[doc.Path] && false {`,
		}},
	},
	{
		name:   "superseded-watch-forgotten",
		breaks: "The document of an old watch channel goes without its being stopped, so it pushes on, unknown.",
		changes: []change{{
			file: "calendarsync/channels.go",
			old: `
		if err := w.Google.StopWatch(ctx, watch.AccountID, watch.ChannelID, watch.ResourceID); err != nil {
			return err
		}`,
			new: ``,
		}},
	},
}
