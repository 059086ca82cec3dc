package poll

import (
	"context"
	"slices"

	"questscheduler/internal/store"
)

// A poll's creator, in the web app or over the API, can name anybody in participantIds, and
// those who were named vote without accepting. So being named proves nothing. A person
// consented to a poll if
//   - they created it,
//   - they belong to its group, as its creator does, and it is proven that they accepted its
//     invitation (ByGroup),
//   - they joined, accepted or voted over the API (Poll.JoinedIDs), or
//   - their vote exists, which no other client can create, and was not copied by the web app's
//     functions (ballot.mayBeCopied).
//
// Everything that is shown to a poll's people, or because of them, asks here. Notices ask the
// opposite question (Announcement.Named): they reach people whose consent is uncertain.

// provesConsent reports whether a poll and its group (nil: none), as far as it was read (Prove),
// prove that a person consented. Otherwise a vote may.
func (p Poll) provesConsent(userID string, group *Group) bool {
	joined := slices.Contains(p.JoinedIDs, userID) && slices.Contains(p.ParticipantIDs, userID)
	return userID != "" && (p.CreatorID == userID || joined || p.ByGroup(userID, group))
}

// ByGroup reports whether a poll's group (nil: none), as far as it was read (Prove), proves that a
// person consented. A poll keeps its group when its creator leaves or is removed, and a client may
// write the id of any group: members chose to play with each other, and with nobody else.
func (p Poll) ByGroup(userID string, group *Group) bool {
	return group.Has(p.CreatorID) && group.ByChoice(userID)
}

// HidesMembers reports whether a reader of a poll is not to learn who belongs to its group (nil:
// none): neither they nor the poll's creator do.
func (p Poll) HidesMembers(readerID string, group *Group) bool {
	return group != nil && !group.Has(p.CreatorID) && !group.Has(readerID)
}

// Joined is the poll once a participant joined by choice.
func (p Poll) Joined(userID string) Poll {
	if p.CreatorID != userID && slices.Contains(p.ParticipantIDs, userID) && !slices.Contains(p.JoinedIDs, userID) {
		p.JoinedIDs = append(slices.Clone(p.JoinedIDs), userID)
	}
	return p
}

// WithoutLeft is the poll without the record that people joined who are not participants any more.
func (p Poll) WithoutLeft() Poll { return p.joinedAmong(p.ParticipantIDs) }

// RenamedFrom is the poll after an edit of its participants, without the record that people joined
// who left before the edit, or by it: somebody else may have named them again.
func (p Poll) RenamedFrom(before Poll) Poll {
	return p.WithoutLeft().joinedAmong(before.ParticipantIDs)
}

func (p Poll) joinedAmong(people []string) Poll {
	p.JoinedIDs = slices.DeleteFunc(slices.Clone(p.JoinedIDs), func(id string) bool { return !slices.Contains(people, id) })
	return p
}

// Consented returns those of people who consented to a poll; group is the poll's, or nil. It
// reads one vote for each person without another proof, and who accepted to be in the group.
func Consented(ctx context.Context, reader store.Reader, p Poll, group *Group, people []string) (map[string]bool, error) {
	if err := Prove(ctx, reader, people, group); err != nil {
		return nil, err
	}
	consented := make(map[string]bool, len(people))
	var unproven []ballot
	for _, id := range people {
		if p.provesConsent(id, group) {
			consented[id] = true
		} else {
			unproven = append(unproven, ballot{p, id})
		}
	}
	voted, err := given(ctx, reader, unproven)
	for _, ballot := range voted {
		consented[ballot.userID] = true
	}
	return consented, err
}

// ConsentedTo returns the ids of those polls that a person consented to; groups are the
// person's (Memberships), with the polls' creators among their people. It reads one vote for each
// poll without another proof, and who accepted to be in the groups.
func ConsentedTo(ctx context.Context, reader store.Reader, userID string, polls []Poll, groups []Group) (map[string]bool, error) {
	if err := Prove(ctx, reader, []string{userID}, Pointers(groups)...); err != nil {
		return nil, err
	}
	consented := make(map[string]bool, len(polls))
	var unproven []ballot
	for _, p := range polls {
		if p.provesConsent(userID, groupAmong(groups, p.GroupID)) {
			consented[p.ID] = true
		} else {
			unproven = append(unproven, ballot{p, userID})
		}
	}
	voted, err := given(ctx, reader, unproven)
	for _, ballot := range voted {
		consented[ballot.poll.ID] = true
	}
	return consented, err
}

func groupAmong(groups []Group, id string) *Group {
	if at := slices.IndexFunc(groups, func(group Group) bool { return group.ID == id }); id != "" && at >= 0 {
		return &groups[at]
	}
	return nil
}
