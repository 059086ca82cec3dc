package poll

import (
	"context"

	"questscheduler/internal/store"
)

// groupPart is how many groups WalkGroups reads at once of each of its queries.
const groupPart = 10

// WalkGroups gives the groups that a person created, belongs to or is invited to, to take,
// each once and by id, from behind after, until take took limit of them or refuses one. It
// reads them in small parts, as store.Walk does. next is the place behind the last one taken;
// nil at the end.
func WalkGroups(
	ctx context.Context, reader store.Reader, userID string, part store.Paging, take func(Group) (taken bool, err error),
) (next *store.Cursor, err error) {
	lists := []*groupList{}
	for _, query := range []*store.Query{groupsOfCreator, groupsOfMember, groupsInviting} {
		lists = append(lists, &groupList{asked: query.With(userID).First(min(groupPart, part.Limit)).From(part.After)})
	}
	next = part.After
	for range part.Limit {
		first, err := firstOf(ctx, reader, lists, next)
		if err != nil || first == nil {
			return nil, err
		}
		if taken, err := take(DecodeGroup(*first)); err != nil || !taken {
			return next, err
		}
		next = groupsOfMember.CursorAt(*first)
	}
	return next, nil
}

// groupList is one of the lists that WalkGroups merges: what was read and not passed yet.
type groupList struct {
	asked store.Bound
	read  []store.Document
	ended bool
}

// firstOf gives the first document of all lists behind a place; nil at their end.
func firstOf(ctx context.Context, reader store.Reader, lists []*groupList, behind *store.Cursor) (first *store.Document, err error) {
	for _, list := range lists {
		head, err := list.head(ctx, reader, behind)
		if err != nil {
			return nil, err
		}
		if head != nil && (first == nil || head.Path < first.Path) {
			first = head
		}
	}
	return first, nil
}

func (l *groupList) head(ctx context.Context, reader store.Reader, behind *store.Cursor) (*store.Document, error) {
	for {
		for len(l.read) > 0 && behind != nil && l.read[0].Path <= behind.Path {
			l.read = l.read[1:]
		}
		if len(l.read) > 0 {
			return &l.read[0], nil
		}
		if l.ended {
			return nil, nil
		}
		docs, err := reader.Query(ctx, l.asked)
		if err != nil {
			return nil, err
		}
		l.read, l.ended = docs, len(docs) < l.asked.Limit
		if !l.ended {
			l.asked = l.asked.From(l.asked.Query.CursorAt(docs[len(docs)-1]))
		}
	}
}

// mostCreatedGroups is above what one person may create.
const mostCreatedGroups = 100

// CreatedBy reads the groups that a person created.
func CreatedBy(ctx context.Context, reader store.Reader, userID string) (groups []Group, err error) {
	docs, err := reader.Query(ctx, groupsOfCreator.With(userID).First(mostCreatedGroups))
	for _, doc := range docs {
		groups = append(groups, DecodeGroup(doc))
	}
	return groups, err
}
