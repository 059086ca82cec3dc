package main

// consent are faults in who counts as taking part by choice.
var consent = []mutant{
	{
		name:   "named-counts-as-joined",
		breaks: "Whom a poll only names counts as having consented, so a stranger reads when they are free.",
		changes: []change{{
			file: "internal/poll/consent.go",
			old:  `	joined := slices.Contains(p.JoinedIDs, userID) && slices.Contains(p.ParticipantIDs, userID)`,
			new:  `	joined := slices.Contains(p.ParticipantIDs, userID)`,
		}},
	},
	{
		name:   "listed-counts-as-accepted",
		breaks: "Whom a client lists in a group counts as having consented to its polls.",
		changes: []change{{
			file: "internal/poll/members.go",
			old:  `g.CreatorID == userID || g.Listed || slices.Contains(g.AcceptedIDs, userID))`,
			new:  `g.CreatorID == userID || g.Listed || slices.Contains(g.MemberIDs, userID))`,
		}},
	},
	{
		name:   "join-not-recorded",
		breaks: "Somebody who is named already and joins is not recorded, and stays only named.",
		changes: []change{{
			file: "transition/part.go",
			old:  `	after = after.Joined(personID)`,
			new:  `	after = after.WithoutLeft()`,
		}},
	},
	{
		name:   "feed-describes-strangers-sessions",
		breaks: "The feed of somebody who is only named holds a stranger's whole text.",
		changes: []change{{
			file: "feed/feed.go",
			old:  `		if chosen.named[p.ID] {`,
			new:  `		if chosen.named[p.CreatorID] {`,
		}},
	},
}
