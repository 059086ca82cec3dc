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

// Memberships yields groups that a person created, and then those that list them as a member and
// to which they belong by choice. It reads at most 1,000 of each; some may be yielded twice.
// listed is that of TrustLists. Clients choose the ids of groups, and so which ones are beyond:
// what a poll's group proves is asked by its id (GroupsOfPolls). An error is yielded once and
// ends it.
func Memberships(ctx context.Context, reader store.Reader, listed bool, userID string) iter.Seq2[Group, error] {
	return func(yield func(Group, error) bool) {
		var doubtful []Group
		for _, query := range []*store.Query{groupsOfCreator, groupsOfMember} {
			for group, err := range store.All(ctx, reader, query.With(userID).First(mostMemberships), DecodeGroup) {
				TrustLists(listed, &group)
				if err == nil && !group.ByChoice(userID) {
					doubtful = append(doubtful, group.Brief(userID))
				} else if !yield(group, err) || err != nil {
					return
				}
			}
		}
		for group, err := range provenOf(ctx, reader, userID, doubtful) {
			if !yield(group, err) || err != nil {
				return
			}
		}
	}
}

// provenOf yields those of some groups to which it is recorded that a person belongs by choice, each
// read again, since a list of whole groups may be large.
func provenOf(ctx context.Context, reader store.Reader, userID string, doubtful []Group) iter.Seq2[Group, error] {
	return func(yield func(Group, error) bool) {
		if err := LoadAccepted(ctx, reader, Pointers(doubtful)...); err != nil {
			yield(Group{}, err)
			return
		}
		for _, brief := range doubtful {
			if !brief.ByChoice(userID) {
				continue
			}
			group, err := LoadGroup(ctx, reader, brief.ID)
			if err == nil && (group == nil || group.CreatorID != brief.CreatorID) {
				continue
			}
			if err != nil {
				yield(Group{}, err)
				return
			}
			group.AcceptedIDs, group.known = brief.AcceptedIDs, true
			if !yield(*group, nil) {
				return
			}
		}
	}
}

// Fellows returns those of people who belong by choice to one of a person's groups (Memberships).
func Fellows(ctx context.Context, reader store.Reader, listed bool, userID string, people []string) (map[string]bool, error) {
	fellows := map[string]bool{}
	for group, err := range Memberships(ctx, reader, listed, userID) {
		if err == nil {
			err = Prove(ctx, reader, people, &group)
		}
		if err != nil {
			return nil, err
		}
		for _, id := range people {
			if group.ByChoice(id) {
				fellows[id] = true
			}
		}
		if len(fellows) == len(people) {
			break
		}
	}
	return fellows, nil
}

// GroupsOfPolls yields those groups of polls that a person belongs to by choice, each once.
// listed is that of TrustLists. An error is yielded once and ends it.
func GroupsOfPolls(ctx context.Context, reader store.Reader, listed bool, userID string, polls []Poll) iter.Seq2[Group, error] {
	return func(yield func(Group, error) bool) {
		var doubtful []Group
		for group, err := range eachGroup(ctx, reader, polls) {
			TrustLists(listed, &group)
			if err == nil && !group.ByChoice(userID) {
				if group.Has(userID) {
					doubtful = append(doubtful, group.Brief(userID))
				}
			} else if !yield(group, err) || err != nil {
				return
			}
		}
		for group, err := range provenOf(ctx, reader, userID, doubtful) {
			if !yield(group, err) || err != nil {
				return
			}
		}
	}
}

// eachGroup yields the groups of polls, each once. An error is yielded once and ends it.
func eachGroup(ctx context.Context, reader store.Reader, polls []Poll) iter.Seq2[Group, error] {
	var paths []store.Path
	for _, p := range polls {
		if path, ok := groupPath(p.GroupID); ok {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return func(yield func(Group, error) bool) {
		for part := range slices.Chunk(slices.Compact(paths), atOnce) {
			docs, err := reader.GetAll(ctx, part)
			if err != nil {
				yield(Group{}, err)
				return
			}
			for _, doc := range docs {
				if doc.Exists() && !yield(DecodeGroup(doc), nil) {
					return
				}
			}
		}
	}
}

// WithAlso is a brief group with those of people, too, who belong to the whole one.
func (g Group) WithAlso(whole Group, people ...string) Group {
	g.MemberIDs = whole.Brief(append(slices.Clone(people), g.MemberIDs...)...).MemberIDs
	return g
}

// Creators are those who created polls, each once.
func Creators(polls []Poll) (people []string) {
	for _, p := range polls {
		people = append(people, p.CreatorID)
	}
	slices.Sort(people)
	return slices.Compact(people)
}

// Brief is the group with no others than some people, for lists of groups: a group may have 1 MiB.
// It proves consent to polls of those people alone (Poll.ByGroup).
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
		found = append(found, some...)
		if len(found) >= most {
			break
		}
	}
	return found, nil
}
