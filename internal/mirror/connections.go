package mirror

import (
	"context"
	"slices"

	"questscheduler/internal/store"
)

var (
	connectionsOfGroup   = store.Select("connections of a group", connections, "", store.Where("groupId", store.Equal))
	connectionsOfOwner   = store.Select("connections of a person", connections, "", store.Where("ownerId", store.Equal))
	connectionsOfPeople  = store.Select("connections of people", connections, "", store.Where("ownerId", store.In))
	connectionsOfAccount = store.Select("connections of an account", connections, "", store.Where("accountId", store.Equal))

	mirrorsOfConnection = store.Select("mirrors of a group in an account", mirrors, "",
		store.Where("groupId", store.Equal), store.Where("targetAccountId", store.Equal))
	keptOfConnection = store.Select("kept copies of a group in an account", keptCopies, "",
		store.Where("groupId", store.Equal), store.Where("targetAccountId", store.Equal))
)

// ConnectionsOfGroup lists the connections of a group that are not ending.
func ConnectionsOfGroup(ctx context.Context, reader store.Reader, groupID string) ([]Connection, error) {
	return connectionsBy(ctx, reader, connectionsOfGroup.With(groupID), false)
}

// ConnectionsOf lists the connections of a person's accounts that are not ending.
func ConnectionsOf(ctx context.Context, reader store.Reader, ownerID string) ([]Connection, error) {
	return connectionsBy(ctx, reader, connectionsOfOwner.With(ownerID), false)
}

// ConnectionsOfAccount lists the connections of an account that are not ending.
func ConnectionsOfAccount(ctx context.Context, reader store.Reader, accountID string) ([]Connection, error) {
	return connectionsBy(ctx, reader, connectionsOfAccount.With(accountID), false)
}

// ConnectionsOfPeople lists the connections of people's accounts that are not ending, by one
// query for each 30.
func ConnectionsOfPeople(ctx context.Context, reader store.Reader, ownerIDs []string) (all []Connection, err error) {
	for some := range slices.Chunk(ownerIDs, maxIn) {
		found, err := connectionsBy(ctx, reader, connectionsOfPeople.With(some), false)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

// EndingConnectionsOf lists the connections of a person that are ending, by id.
func EndingConnectionsOf(ctx context.Context, reader store.Reader, ownerID string) ([]Connection, error) {
	return connectionsBy(ctx, reader, connectionsOfOwner.With(ownerID), true)
}

func connectionsBy(ctx context.Context, reader store.Reader, query store.Bound, ending bool) ([]Connection, error) {
	found, _, err := store.Page(ctx, reader, query, DecodeConnection)
	return slices.DeleteFunc(found, func(c Connection) bool { return c.Ending != ending }), err
}

// OfConnection lists a page of the mirrors of a group's events in an account, by id, behind an
// id ("": the beginning). next is the id behind which to go on, "" at the end.
func OfConnection(ctx context.Context, reader store.Reader, c Connection, limit int, after string) (page []Mirror, next string, err error) {
	asked := mirrorsOfConnection.With(c.GroupID, c.AccountID).First(limit)
	if after != "" {
		asked = asked.From(&store.Cursor{Path: Path(after)})
	}
	page, behind, err := store.Page(ctx, reader, asked, Decode)
	if behind != nil {
		next = behind.Path.ID()
	}
	return page, next, err
}

// KeptOfConnection lists at most limit of the copies of a group's events that an account keeps
// from an earlier connection, as the mirrors that they were.
func KeptOfConnection(ctx context.Context, reader store.Reader, c Connection, limit int) ([]Mirror, error) {
	found, _, err := store.Page(ctx, reader, keptOfConnection.With(c.GroupID, c.AccountID).First(limit), Decode)
	return found, err
}
