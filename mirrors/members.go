package mirrors

import (
	"context"
	"slices"

	"questscheduler/internal/mirror"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
)

// belonging lists the groups of a person's connections that the person still belongs to. The
// connections of somebody who left are ended later (groupevents.Service.EndConnections).
func belonging(ctx context.Context, reader store.Reader, ownerID string) (groupIDs []string, err error) {
	connections, err := mirror.ConnectionsOf(ctx, reader, ownerID)
	if err != nil || len(connections) == 0 {
		return nil, err
	}
	var paths []store.Path
	for _, id := range groupsOf(connections) {
		paths = append(paths, poll.GroupPath(id))
	}
	docs, err := reader.GetAll(ctx, paths)
	if err != nil {
		return nil, err
	}
	for _, doc := range docs {
		if group := poll.DecodeGroup(doc); doc.Exists() && group.Has(ownerID) {
			groupIDs = append(groupIDs, group.ID)
		}
	}
	return groupIDs, nil
}

// ownersOf lists the people for whom a group's event is planned: its owner, and the members
// who connected an account or have mirrors of it. What somebody who left the group still
// shows stays as it is until their connection ends.
func (s *Service) ownersOf(ctx context.Context, event mirror.Event) ([]string, error) {
	group, err := poll.LoadGroup(ctx, s.Store, event.GroupID)
	if err != nil {
		return nil, err
	}
	connections, err := mirror.ConnectionsOfGroup(ctx, s.Store, event.GroupID)
	if err != nil {
		return nil, err
	}
	shown, err := mirror.OfEvent(ctx, s.Store, event.ID)
	if err != nil {
		return nil, err
	}
	connected := map[string]bool{}
	for _, connection := range connections {
		connected[connection.OwnerID] = true
	}
	owners := []string{event.OwnerID}
	for id := range connected {
		owners = append(owners, id)
	}
	for _, m := range shown {
		owners = append(owners, m.OwnerID)
	}
	slices.Sort(owners)
	return slices.DeleteFunc(slices.Compact(owners), func(id string) bool {
		return id != event.OwnerID && connected[id] && !group.Has(id)
	}), nil
}
