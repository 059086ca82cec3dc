package poll

import (
	"context"
	"slices"

	"questscheduler/internal/store"
)

var (
	groupsOfMember  = store.Select("groups of a member", "questingGroups", "", store.Where("memberIds", store.ArrayContains))
	groupsOfCreator = store.Select("groups of a creator", "questingGroups", "", store.Where("creatorId", store.Equal))
	groupsInviting  = store.Select("groups that invite a person", "questingGroups", "", store.Where("pendingMemberIds", store.ArrayContains))
	pollsOfGroup    = newestFirst("createdAt",
		store.Select("polls of a group, newest first", "schedulers", "", store.Where("questingGroupId", store.Equal)))
	pollsOfGroupByID = store.Select("polls of a group by id", "schedulers", "", store.Where("questingGroupId", store.Equal))
)

// Concerns reports whether a person made a poll, takes part in it, or belongs to its group (nil:
// none). Invitees, and readers by link, are not concerned yet.
func (p Poll) Concerns(userID string, group *Group) bool {
	return userID != "" && (p.CreatorID == userID || slices.Contains(p.ParticipantIDs, userID) || group.Has(userID))
}

// OfGroup lists the newest polls of a group, at most limit.
func OfGroup(ctx context.Context, reader store.Reader, groupID string, limit int) ([]Poll, error) {
	polls, _, err := store.Page(ctx, reader, pollsOfGroup.With(groupID).First(limit), Decode)
	return polls, err
}

// PageOfGroup lists the polls of a group by id, at most limit behind that of an id ("": from the
// first on). next is where to go on; "" at the end.
func PageOfGroup(ctx context.Context, reader store.Reader, groupID, at string, limit int) (polls []Poll, next string, err error) {
	asked := pollsOfGroupByID.With(groupID).First(limit)
	if at != "" {
		asked = asked.From(&store.Cursor{Path: Path(at)})
	}
	polls, behind, err := store.Page(ctx, reader, asked, Decode)
	if behind != nil {
		next = behind.Path.ID()
	}
	return polls, next, err
}

// Limits of Concerning. A stranger can name a person in any number of polls and groups, so
// each kind leaves room to the next, and groups come last.
const (
	// MostConcerning is the most polls in all.
	MostConcerning = 100
	// mostCreated is how many come first, of those that the person made.
	mostCreated = 50
	// mostOutsideGroups is how many there are before those of groups alone.
	mostOutsideGroups = 80
	// mostGroups is how many groups are asked for their polls, the person's own first.
	mostGroups = 20
)

// Concerning lists a person's own polls, at most MostConcerning, each once: the newest that
// they made, that they take part in, and of each of their groups, which share the remaining
// room.
func Concerning(ctx context.Context, reader store.Reader, userID string) ([]Poll, error) {
	own := &ownPolls{reader: reader, listed: map[string]bool{}}
	if err := own.add(ctx, pollsOfCreator.With(userID).First(mostCreated), mostCreated); err != nil {
		return nil, err
	}
	if err := own.add(ctx, pollsOfParticipant.With(userID).First(mostOutsideGroups), mostOutsideGroups); err != nil {
		return nil, err
	}
	groups, err := groupsOf(ctx, reader, userID)
	if err != nil {
		return nil, err
	}
	for i, group := range groups {
		room := MostConcerning - len(own.polls)
		if room == 0 {
			break
		}
		share := max(1, room/(len(groups)-i))
		given := own.inGroup(group) // and are given again
		if err := own.add(ctx, pollsOfGroup.With(group).First(share+given), len(own.polls)+share); err != nil {
			return nil, err
		}
	}
	return own.polls, nil
}

// ownPolls are those that Concerning has found.
type ownPolls struct {
	reader store.Reader
	polls  []Poll
	listed map[string]bool
}

// add adds the polls of a query that were not listed yet, until there are most.
func (o *ownPolls) add(ctx context.Context, query store.Bound, most int) error {
	docs, err := o.reader.Query(ctx, query)
	for _, doc := range docs {
		if id := doc.Path.ID(); len(o.polls) < most && !o.listed[id] {
			o.listed[id] = true
			o.polls = append(o.polls, Decode(doc))
		}
	}
	return err
}

// inGroup counts the polls of a group that were found before it was asked.
func (o *ownPolls) inGroup(group string) int {
	count := 0
	for _, p := range o.polls {
		if p.GroupID == group {
			count++
		}
	}
	return count
}

// groupsOf lists the ids of a person's groups, at most mostGroups.
func groupsOf(ctx context.Context, reader store.Reader, userID string) ([]string, error) {
	var groups []string
	for _, query := range []*store.Query{groupsOfCreator, groupsOfMember} {
		docs, err := reader.Query(ctx, query.With(userID).First(mostGroups))
		if err != nil {
			return nil, err
		}
		for _, doc := range docs {
			if id := doc.Path.ID(); len(groups) < mostGroups && !slices.Contains(groups, id) {
				groups = append(groups, id)
			}
		}
	}
	return groups, nil
}
