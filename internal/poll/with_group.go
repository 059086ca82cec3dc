package poll

import (
	"context"
	"slices"

	"questscheduler/internal/store"
)

// WithGroup is a poll and its group.
type WithGroup struct {
	ID    string
	Poll  *Poll  // nil: there is none
	Group *Group // nil: the poll has none
}

// Concerns is Poll.Concerns; a poll that is gone concerns nobody.
func (p WithGroup) Concerns(userID string) bool {
	return p.Poll != nil && p.Poll.Concerns(userID, p.Group)
}

// People lists whom the poll concerns, some of them more than once.
func (p WithGroup) People() []string {
	if p.Poll == nil {
		return nil
	}
	people := append([]string{p.Poll.CreatorID}, p.Poll.ParticipantIDs...)
	if p.Group != nil {
		people = append(append(people, p.Group.CreatorID), p.Group.MemberIDs...)
	}
	return people
}

// LoadWithGroups reads several polls, in the order asked for, and each of their groups once.
func LoadWithGroups(ctx context.Context, reader store.Reader, ids []string) ([]WithGroup, error) {
	paths := make([]store.Path, len(ids))
	for i, id := range ids {
		paths[i] = Path(id)
	}
	docs, err := reader.GetAll(ctx, paths)
	if err != nil {
		return nil, err
	}
	loaded := make([]WithGroup, len(ids))
	var groups []store.Path
	for i, doc := range docs {
		loaded[i].ID = ids[i]
		if !doc.Exists() {
			continue
		}
		p := Decode(doc)
		loaded[i].Poll = &p
		if path, ok := groupPath(p.GroupID); ok {
			groups = append(groups, path)
		}
	}
	if len(groups) == 0 {
		return loaded, nil
	}
	slices.Sort(groups)
	docs, err = reader.GetAll(ctx, slices.Compact(groups))
	if err != nil {
		return nil, err
	}
	byID := make(map[string]*Group, len(docs))
	for _, doc := range docs {
		if doc.Exists() {
			group := DecodeGroup(doc)
			byID[group.ID] = &group
		}
	}
	for i, each := range loaded {
		if each.Poll != nil {
			loaded[i].Group = byID[each.Poll.GroupID]
		}
	}
	return loaded, nil
}
