package main

// links are faults of linked accounts, and of what follows from them.
var links = []mutant{
	{
		name:   "revoked-account-still-called",
		breaks: "An account whose grant Google refused, or which was unlinked, is called on and on.",
		changes: []change{
			{
				file: "internal/accounts/grants.go",
				old: `
	case err == nil:
		err = account.usableFor(leaving)
	}
	if err != nil {
		return accessToken{}, err
	}`,
				new: `
	}
	if err != nil {
		return accessToken{}, err
	}`,
			},
			{
				file: "internal/accounts/grants.go",
				old:  `ok && token.grant == grant && (token.dead || usable)`,
				new:  `ok && token.grant == grant && usable`,
			},
			{
				file: "internal/accounts/secret.go",
				old: `
	if err := account.usableFor(leaving); err != nil {
		return grant{}, err
	}`,
				new: ``,
			},
		},
	},
	{
		name:   "unlink-leaving-a-channel",
		breaks: "An account is unlinked and its grant given back, and its channels push on, which nobody can stop any more.",
		changes: []change{{
			file: "calendarsync/links.go",
			old: `
	err = l.eachWatch(ctx, account.ID, func(watch Watch) error { return l.stop(ctx, account, watch) })
	for _, listener := range l.Listeners {`,
			new: `
	for _, listener := range l.Listeners {`,
		}},
	},
	{
		name:   "unlinked-settled-before-it-was-carried-on",
		breaks: "What becomes of an account is settled before it is carried on, so what is cut off is never done.",
		changes: []change{{
			file: "calendarsync/links.go",
			old: `
		if err == nil && (!account.Due.IsZero() || turn > 0) {
			err = l.follow(ctx, account, cause)
		}`,
			new: `
		if err == nil && (!account.Due.IsZero() || turn > 0) {
			_, err = l.Accounts.Settled(ctx, account)
		}
		if err == nil && (!account.Due.IsZero() || turn > 0) {
			err = l.follow(ctx, account, cause)
		}`,
		}},
	},
	{
		name: "relink-leaves-no-sync-pending",
		breaks: "An account that is linked again has its calendars synced by the next push alone, so what changed since is not " +
			"followed and the errors stand (invariant 8).",
		changes: []change{{
			file: "calendarsync/links.go",
			old: `
		err := l.eachCalendar(ctx, account.ID, func(calendar calendars.Calendar) error {
			return l.relinked(ctx, account, calendar, cause)
		})
		if err == nil {
			err = l.retryIntents(ctx, account.ID)
		}`,
			new: `
		err := l.retryIntents(ctx, account.ID)`,
		}},
	},
}
