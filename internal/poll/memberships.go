package poll

import (
	"context"
	"iter"
	"slices"

	"questscheduler/internal/store"
)

const (
	// mostMemberships is how many groups that a person created, and how many that they are a
	// member of, Memberships reads. It is as many as an account may make by default.
	mostMemberships = 1000
	// groupsOfQuery is how many groups one query asks for their polls.
	groupsOfQuery = 30
)

// Memberships yields groups that a person created and then those that list them as a member, at
// most 1,000 of each; some may be yielded twice. Clients choose the ids of groups, and so which
// ones are beyond: what a poll's group proves is asked by its id (GroupsOfPolls). An error is yielded once
// and ends it.
func Memberships(ctx context.Context, reader store.Reader, userID string) iter.Seq2[Group, error] {
	return func(yield func(Group, error) bool) {
		for _, query := range []*store.Query{groupsOfCreator, groupsOfMember} {
			for group, err := range store.All(ctx, reader, query.With(userID).First(mostMemberships), DecodeGroup) {
				if !yield(group, err) || err != nil {
					return
				}
			}
		}
	}
}

// Fellows returns those of people who belong to one of a person's groups (Memberships).
func Fellows(ctx context.Context, reader store.Reader, userID string, people []string) (map[string]bool, error) {
	fellows := map[string]bool{}
	for group, err := range Memberships(ctx, reader, userID) {
		if err != nil {
			return nil, err
		}
		for _, id := range people {
			if group.Has(id) {
				fellows[id] = true
			}
		}
		if len(fellows) == len(people) {
			break
		}
	}
	return fellows, nil
}

// GroupsOfPolls passes those groups of polls that a person belongs to, each once, to take.
func GroupsOfPolls(ctx context.Context, reader store.Reader, userID string, polls []Poll, take func(Group)) error {
	return eachGroup(ctx, reader, polls, func(group Group) {
		if group.Has(userID) {
			take(group)
		}
	})
}

// eachGroup passes the groups of polls, each once, to take.
func eachGroup(ctx context.Context, reader store.Reader, polls []Poll, take func(Group)) error {
	var paths []store.Path
	for _, p := range polls {
		if path, ok := groupPath(p.GroupID); ok {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return inParts(ctx, reader, slices.Compact(paths), func(doc store.Document) {
		if doc.Exists() {
			take(DecodeGroup(doc))
		}
	})
}

// Brief is the group with no others than some people, for lists of groups: a group may have 1 MiB.
func (g Group) Brief(people ...string) Group {
	g.MemberIDs = onlyOf(people)(g.MemberIDs)
	g.PendingMemberIDs, g.Discord = nil, GroupDiscord{}
	return g
}

// GroupPolls lists the newest polls of groups that name a person, of every status and brief: at
// most limit for each thirty groups, and most in all.
func GroupPolls(ctx context.Context, reader store.Reader, userID string, groups []string, limit, most int) (found []Poll, err error) {
	for part := range slices.Chunk(groups, groupsOfQuery) {
		ids := make([]any, len(part))
		for i, id := range part {
			ids[i] = id
		}
		asked := pollsOfGroupsNaming.With(userID, ids).First(min(limit, most-len(found)))
		some, err := briefs(ctx, reader, userID, asked)
		if err != nil {
			return nil, err
		}
		if found = append(found, some...); len(found) >= most {
			break
		}
	}
	return found, nil
}
