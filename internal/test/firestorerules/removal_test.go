package firestorerules_test

import "slices"

// removal is a poll of gm's with three participants, out of which fay is
// removed. The app has deleted fay's vote before, and sends arrayRemove, which
// arrives as the list that is left.
func removal() attempt {
	return update(fields{"participantIds": []any{"gm", "ana"}, "updatedAt": serverTime}, fields{
		"status": "FINALIZED", "winningSlotId": "one", "googleEventId": "abc", "participantIds": []any{"gm", "fay", "ana"},
	})
}

// removing has the creator remove participants, at every status of the poll.
func removing() []scenario {
	repeated := both(writing("participantIds", []any{"gm", "fay", "ana"}), writing("updatedAt", serverTime))
	return []scenario{{
		name: "removing a participant", attempt: removal(),
		likewise: []variation{
			{"from an open poll", where(pollPath, "status", "OPEN")},
			{"from a cancelled poll", where(pollPath, "status", "CANCELLED")},
			{"from an archived poll", where(pollPath, "status", "ARCHIVED")},
			{"from a poll of a status that nobody knows", where(pollPath, "status", "DRAFT")},
			{"from an open poll that an edit would have to correct", both(where(pollPath, "title", ""), where(pollPath, "status", "OPEN"))},
			{"and everybody else", writing("participantIds", []any{})},
			{"and oneself", writing("participantIds", []any{"ana"})},
			{"without the time", leavingOut("updatedAt")},
			{"at a time of its own", writing("updatedAt", noon)},
			{"who was removed before", repeated},
			{"from a list that is null", both(where(pollPath, "participantIds", nil), writing("participantIds", []any{}))},
			{"from a list that is not there", both(leavingOutThere(pollPath, "participantIds"), writing("participantIds", []any{}))},
		},
		but: slices.Concat(others(), serverFields(), []variation{
			{"from another's poll", where(pollPath, "creatorId", "eve")},
			{"and adding another", writing("participantIds", []any{"gm", "ana", "dan"})},
			{"by putting another in the place", writing("participantIds", []any{"gm", "dan", "ana"})},
			{"and adding one twice", writing("participantIds", []any{"gm", "ana", "ana"})},
			{"and reordering the others", writing("participantIds", []any{"ana", "gm"})},
			{"and adding nobody's id", writing("participantIds", []any{"gm", "ana", 7})},
			{"by deleting the list", writing("participantIds", gone)},
			{"by writing null", writing("participantIds", nil)},
			{"by writing a map", writing("participantIds", fields{"gm": true})},
			{"by writing a text", writing("participantIds", "gm")},
			{"at a time that is none", writing("updatedAt", "now")},
			{"and the time deleted", both(writing("updatedAt", gone), where(pollPath, "updatedAt", noon))},
			{"with another title", writing("title", "Another")},
			{"with another description", writing("description", "With stairs")},
			{"with link sharing", writing("allowLinkSharing", true)},
			{"with another time zone", writing("timezone", "Europe/Paris")},
			{"with another group", writing("questingGroupId", nil)},
			{"with another group's name", writing("questingGroupName", "Another")},
			{"with another visibility of votes", writing("voteVisibility", "hidden")},
			{"with hidden voters", writing("hideVoterIdentities", true)},
			{"with all votes in", writing("votesAllSubmitted", true)},
			{"and inviting", writing("pendingInvites", []any{"fay@example.org"})},
			{"and removing an invitation", writing("pendingInvites", []any{})},
			{"and naming an inviter", writing("pendingInviteMeta", fields{"fay@example.org": fields{"by": "gm"}})},
			{"and cancelling", writing("status", "CANCELLED")},
			{"and reopening", both(writing("status", "OPEN"), writing("winningSlotId", nil))},
			{"and forgetting the winning slot", writing("winningSlotId", nil)},
			{"and writing older participants", writing("participants", []any{})},
			{"and deleting older participants", both(writing("participants", gone), where(pollPath, "participants", []any{ana.email}))},
		}),
	}}
}
