package main

// pressed are faults of what people do on Discord: presses come late, twice, and their answers are lost.
var pressed = []mutant{
	{
		name:   "press-recorded-after-its-effect",
		breaks: "That an interaction took effect is recorded by another transaction, so one that comes again meanwhile takes effect twice.",
		changes: []change{
			{
				file: "scheduler/transact.go",
				old: `
	if cause.Interaction != "" {
		step.Writes.Create(`,
				new: `
	if cause.Interaction == "none" {
		step.Writes.Create(`,
			},
			{
				file: "scheduler/transact.go",
				old: `
	if err == nil {
		s.handOver(ctx, out)
	}`,
				new: `
	if err == nil && cause.Interaction != "" {
		err = s.Store.Run(ctx, func(_ context.Context, tx store.Tx) error {
			return tx.Set(discord.InteractionPath(cause.Interaction), discord.EncodeInteraction(s.Now()))
		})
	}
	if err == nil {
		s.handOver(ctx, out)
	}`,
			},
		},
	},
	{
		name:   "press-recorded-before-its-effect",
		breaks: "That an interaction took effect is recorded before it does, so one that the program died of counts as done.",
		changes: []change{
			{
				file: "scheduler/transact.go",
				old: `
	if cause.Interaction != "" {
		step.Writes.Create(`,
				new: `
	if cause.Interaction == "none" {
		step.Writes.Create(`,
			},
			{
				file: "scheduler/transact.go",
				old: `
	var out transition.Outcome
	err := run(ctx, `,
				new: `
	var out transition.Outcome
	if cause.Interaction != "" {
		err := s.Store.Run(ctx, func(_ context.Context, tx store.Tx) error {
			return tx.Create(discord.InteractionPath(cause.Interaction), discord.EncodeInteraction(s.Now()))
		})
		if err != nil {
			return s.unlessDone(ctx, cause, err)
		}
	}
	err := run(ctx, `,
			},
		},
	},
	{
		name:   "press-of-any-age",
		breaks: "An interaction takes effect however late it comes, also once it is not recorded any more that it did before.",
		changes: []change{{
			file: "web-hooks/interactions/route.go",
			old:  `case !valid || h.Now().Sub(at) > maxAge:`,
			new:  `case !valid || h.Now().Sub(at) > 100*maxAge:`,
		}},
	},
	{
		name:   "press-forgotten-within-its-age",
		breaks: "The record of an interaction is removed while it may still come again.",
		changes: []change{{
			file: "internal/discord/interaction.go",
			old:  `interactionKept = time.Hour`,
			new:  `interactionKept = time.Minute`,
		}},
	},
	{
		name:   "vote-checked-before-its-transaction",
		breaks: "Whether a poll takes votes is read before the transaction of a vote, so one lands after a finalisation.",
		changes: []change{{
			file: "scheduler/membership.go",
			old: `
	err := s.transact(ctx, s.Store.Run, r.cause, func(ctx context.Context, tx store.Tx) (*transition.Step, error) {
		p, group, err := readableTo(ctx, tx, r.pollID, sees)
		if err == nil {
			err = check(p, group)
		}
		if err != nil {
			return nil, err
		}
`,
			new: `
	p, group, err := readableTo(ctx, s.Store, r.pollID, sees)
	if err == nil {
		err = check(p, group)
	}
	if err != nil {
		return r.failed(err)
	}
	err = s.transact(ctx, s.Store.Run, r.cause, func(ctx context.Context, tx store.Tx) (*transition.Step, error) {
`,
		}},
	},
	{
		name:   "form-of-other-slots",
		breaks: "A form that was opened before the times changed votes for the new ones.",
		changes: []change{{
			file: "scheduler/vote.go",
			old:  `if poll.ShownSlots(slots) != f.Shown {`,
			new:  `if f.Shown == "" {`,
		}},
	},
	{
		name:   "lost-vote-confirmed",
		breaks: "Somebody whose vote could not be stored is told that it counts.",
		changes: []change{{
			file: "web-hooks/interactions/vote.go",
			old: `	if err != nil {
		return answer{}, err
	}
	return say(said(ballot`,
			new: `	if err != nil && !fault.Is(err, fault.Unavailable) {
		return answer{}, err
	}
	return say(said(ballot`,
		}},
	},
	{
		name:   "vote-added-to-the-earlier-one",
		breaks: "A form adds its choices to the earlier vote, so nobody can take a choice back.",
		changes: []change{{
			file: "scheduler/vote.go",
			old: `
	vote.Source, vote.LastVotedFrom, vote.Avatar =`,
			new: `
	for _, earlier := range before {
		for slot, choice := range earlier.Choices {
			if earlier.UserID == vote.UserID && vote.Choices[slot] == "" {
				vote.Choices[slot] = choice
			}
		}
	}
	vote.Source, vote.LastVotedFrom, vote.Avatar =`,
		}},
	},
	{
		name:   "finalisation-by-press-not-recorded",
		breaks: "A press that finalised a poll finalises it again after it was reopened.",
		changes: []change{{
			file: "scheduler/finalise.go",
			old: `
		intent = step.BeginInsert(session, at)
		once(step, r.cause)`,
			new: `
		intent = step.BeginInsert(session, at)`,
		}},
	},
	{
		name:   "restore-by-press-not-recorded",
		breaks: "A press that restored the time of a session restores it again after the session was moved once more.",
		changes: []change{{
			file: "scheduler/apply.go",
			old:  `if observed.Own && decision.Action == rules.Restore {`,
			new:  `if observed.Own && decision.Action == rules.Restore && observed.Cause.Interaction == "" {`,
		}},
	},
	{
		name:   "poll-by-press-not-recorded",
		breaks: "A press that made a poll makes it again after it was deleted.",
		changes: []change{{
			file: "scheduler/create.go",
			old:  `if cause.Interaction != "" {`,
			new:  `if cause.Interaction != "" && made != nil {`,
		}},
	},
}
