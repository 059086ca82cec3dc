package poll

import (
	"context"
	"slices"

	"questscheduler/store"
)

var (
	groupsOfMember = &store.Query{
		Name: "groups of a member", Collection: "questingGroups",
		Filters: []store.Filter{{Path: store.Field("memberIds"), Op: store.ArrayContains}},
	}
	groupsOfCreator = &store.Query{
		Name: "groups of a creator", Collection: "questingGroups",
		Filters: []store.Filter{{Path: store.Field("creatorId"), Op: store.Equal}},
	}
	groupsInviting = &store.Query{
		Name: "groups that invite a person", Collection: "questingGroups",
		Filters: []store.Filter{{Path: store.Field("pendingMemberIds"), Op: store.ArrayContains}},
	}
	pollsOfGroup = &store.Query{
		Name: "polls of a group, newest first", Collection: "schedulers",
		Filters: []store.Filter{{Path: store.Field("questingGroupId"), Op: store.Equal}},
		Order:   []store.Order{{Path: store.Field("createdAt"), Descending: true}},
	}
)

// Concerns tells whether a poll is a person's own: they made it, take part in
// it, or belong to its group (nil: it has none). Who is invited, or has the
// link, may read it and is not concerned yet.
func (p Poll) Concerns(userID string, group *Group) bool {
	return userID != "" && (p.CreatorID == userID || slices.Contains(p.ParticipantIDs, userID) || group.Has(userID))
}

// Concerning lists the ids of a person's own polls: of those they made, those
// they take part in and those of each of their groups the newest, most of each
// at most. The ids are sorted, each once.
func Concerning(ctx context.Context, reader store.Reader, userID string, most int) ([]string, error) {
	asked := []store.Bound{pollsOfCreator.With(userID), pollsOfParticipant.With(userID)}
	var groups []string
	for _, query := range []*store.Query{groupsOfMember, groupsOfCreator} {
		docs, err := reader.Query(ctx, query.With(userID))
		if err != nil {
			return nil, err
		}
		for _, doc := range docs {
			groups = append(groups, doc.Path.ID())
		}
	}
	slices.Sort(groups)
	for _, group := range slices.Compact(groups) {
		asked = append(asked, pollsOfGroup.With(group))
	}
	var ids []string
	for _, query := range asked {
		docs, err := reader.Query(ctx, query.First(most))
		if err != nil {
			return nil, err
		}
		for _, doc := range docs {
			ids = append(ids, doc.Path.ID())
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids), nil
}
