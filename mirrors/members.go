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
		if group := poll.DecodeGroup(doc); group.Has(ownerID) {
			groupIDs = append(groupIDs, group.ID)
		}
	}
	return groupIDs, nil
}

// ownersOf lists the people for whom a group's event is planned: its owner, everybody who
// connected an account, and those who have mirrors of it.
func (s *Service) ownersOf(ctx context.Context, event mirror.Event) ([]string, error) {
	connections, err := mirror.ConnectionsOfGroup(ctx, s.Store, event.GroupID)
	if err != nil {
		return nil, err
	}
	shown, err := mirror.OfEvent(ctx, s.Store, event.ID)
	if err != nil {
		return nil, err
	}
	owners := []string{event.OwnerID}
	for _, connection := range connections {
		owners = append(owners, connection.OwnerID)
	}
	for _, m := range shown {
		owners = append(owners, m.OwnerID)
	}
	slices.Sort(owners)
	return slices.Compact(owners), nil
}

// leaveFormerGroups takes out what comes from groups that the person left, or was removed
// from by the web app, and that still have a connection. Its end decides what becomes of the
// mirrors: until then they stay as they are, and show nothing new. PlanUID ends it.
func (of *situation) leaveFormerGroups(ctx context.Context, reader store.Reader) error {
	for _, groupID := range groupsOf(of.Connections) {
		isOfGroup := func(e mirror.Event) bool { return e.GroupID == groupID }
		if !slices.ContainsFunc(of.Events, isOfGroup) {
			continue // so that other events cost no read
		}
		group, err := poll.LoadGroup(ctx, reader, groupID)
		if err != nil {
			return err
		}
		if group.Has(of.Owner) {
			continue
		}
		of.former = append(of.former, groupID)
		for _, event := range of.Events {
			if isOfGroup(event) && !of.follows(event) {
				of.Mirrors = slices.DeleteFunc(of.Mirrors, func(m mirror.Mirror) bool { return m.CanonicalID == event.ID })
			}
		}
		of.Events = slices.DeleteFunc(of.Events, func(e mirror.Event) bool { return isOfGroup(e) && !of.follows(e) })
		of.Connections = slices.DeleteFunc(of.Connections, func(c mirror.Connection) bool { return c.GroupID == groupID })
	}
	return nil
}
