package poll

import (
	"context"
	"slices"

	"questscheduler/internal/store"
)

// A client of the web app can make a group and, by the app's own rules, list anybody in its
// memberIds, and nothing that the app writes when a person accepts could not be written by the
// group's creator. So being listed proves that a person accepted only where
//   - they accepted over the API, which is recorded (AcceptedPath),
//   - no other program writes to the store (Group.Listed), or
//   - the operator says that the rules keep clients from listing others (Group.Listed).

// AcceptedPath is where it is recorded who accepted a group's invitation over the API. Clients
// neither read nor write it, by any rules.
func AcceptedPath(groupID string) store.Path { return store.Doc("groupMembers", groupID) }

// AcceptedUpdates gives the fields of a group's record of who accepted (Group.AcceptedIDs). A group
// of another creator under the same id does not inherit it.
func AcceptedUpdates(g Group) []store.Update {
	return []store.Update{Set("creatorId", g.CreatorID), Set("acceptedIds", listOf(g.AcceptedIDs))}
}

// LoadAccepted reads who accepted the invitations of groups, at one read for each.
func LoadAccepted(ctx context.Context, reader store.Reader, groups ...*Group) error {
	paths := make([]store.Path, len(groups))
	for i, group := range groups {
		paths[i] = AcceptedPath(group.ID)
	}
	at := 0
	return inParts(ctx, reader, paths, func(doc store.Document) {
		f, group := store.Fields(doc.Data), groups[at]
		at++
		group.known = true
		if f.String("creatorId") == group.CreatorID {
			group.AcceptedIDs = f.Strings("acceptedIds")
		}
	})
}

// Prove reads who accepted the invitations of those groups (nil: none) where it decides whether one
// of people belongs by choice.
func Prove(ctx context.Context, reader store.Reader, people []string, groups ...*Group) error {
	return LoadAccepted(ctx, reader, slices.DeleteFunc(slices.Clone(groups), func(g *Group) bool {
		return g == nil || g.known || !slices.ContainsFunc(people, func(id string) bool { return g.Has(id) && !g.ByChoice(id) })
	})...)
}

// TrustLists marks groups (nil: none) as those in which being listed proves acceptance, if the operator
// says so (Group.Listed).
func TrustLists(listed bool, groups ...*Group) {
	for _, group := range groups {
		if group != nil && listed {
			group.Listed = true
		}
	}
}

// Pointers are the groups of a list, for Prove and TrustLists.
func Pointers(groups []Group) []*Group {
	all := make([]*Group, len(groups))
	for i := range groups {
		all[i] = &groups[i]
	}
	return all
}

// ByChoice reports whether a person belongs to the group and it is proven that they accepted, as
// far as it was read (Prove).
func (g *Group) ByChoice(userID string) bool {
	return g.Has(userID) && (g.CreatorID == userID || g.Listed || slices.Contains(g.AcceptedIDs, userID))
}

// Accepted is the group once a member accepted.
func (g Group) Accepted(userID string) Group {
	if g.CreatorID != userID && !slices.Contains(g.AcceptedIDs, userID) {
		g.AcceptedIDs = append(slices.Clone(g.AcceptedIDs), userID)
	}
	return g
}

// WithoutParted is the group without the record that people accepted who are not members any more.
func (g Group) WithoutParted() Group {
	g.AcceptedIDs = slices.DeleteFunc(slices.Clone(g.AcceptedIDs), func(id string) bool { return !slices.Contains(g.MemberIDs, id) })
	return g
}
