package groupevents

import (
	"context"
	"slices"

	"questscheduler/fault"
	"questscheduler/internal/accounts"
	"questscheduler/internal/mirror"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/scheduler"
)

// Connected is a connection and the e-mail address of its account.
type Connected struct {
	mirror.Connection
	Email string
}

// Connections is what a person may know of a group's connections.
type Connections struct {
	// Own are the person's, by account id.
	Own []Connected
	// People are the ids of everybody who is connected, for the group's creator; nil for
	// others.
	People []string
}

func errNotConnected() error {
	return fault.New(fault.NotFound, "You have not connected this account to the group.")
}

// Connect has the events of a group shown in an account of a member's. Connecting twice
// changes nothing. NotFound: not a member, or another person's account. Revoked: the account
// cannot be used. RateLimited: MaxSwitches (CodeSwitches). Unavailable: the server only observes
// calendars.
func (s *Service) Connect(
	ctx context.Context, person scheduler.Person, groupID, accountID string, cause scheduler.Cause,
) (Connected, error) {
	if err := s.Writes(); err != nil {
		return Connected{}, err
	}
	var connected Connected
	var begin func(context.Context)
	err := s.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		begin = nil
		if _, err := member(ctx, tx, person.ID, groupID); err != nil {
			return err
		}
		account, err := owned(ctx, tx, person.ID, accountID)
		if err != nil {
			return err
		}
		path := mirror.ConnectionPath(groupID, accountID)
		doc, err := tx.Get(ctx, path)
		if err != nil {
			return err
		}
		if was := mirror.DecodeConnection(doc); doc.Exists() && !was.Ending {
			connected = Connected{was, account.Email}
			return nil
		}
		state, err := loadState(ctx, tx, groupID)
		if err != nil {
			return err
		}
		state, err = state.switching(person.ID, s.Now())
		if err != nil {
			return err
		}
		made := mirror.Connection{GroupID: groupID, AccountID: accountID, OwnerID: person.ID, CreatedAt: store.Instant(s.Now())}
		connected = Connected{made, account.Email}
		begin, err = s.Plans.ChangeConnections(
			ctx, tx, person.ID, cause, func(all []mirror.Connection) []mirror.Connection { return append(all, made) },
		)
		if err != nil {
			return err
		}
		if err := state.write(tx); err != nil {
			return err
		}
		return tx.Set(path, mirror.EncodeConnection(made))
	})
	if err == nil && begin != nil {
		begin(ctx)
	}
	return connected, err
}

func owned(ctx context.Context, reader store.Reader, personID, accountID string) (accounts.Account, error) {
	account, err := accounts.Load(ctx, reader, accountID)
	switch {
	case err != nil:
		return accounts.Account{}, err
	case account.OwnerID != personID:
		return accounts.Account{}, fault.New(fault.NotFound, "There is no such linked account.")
	default:
		return account, account.Usable()
	}
}

// Connections lists what a member may know: their own accounts, and the creator also who is
// connected.
func (s *Service) Connections(ctx context.Context, person scheduler.Person, groupID string) (Connections, error) {
	group, err := member(ctx, s.Store, person.ID, groupID)
	if err != nil {
		return Connections{}, err
	}
	all, err := mirror.ConnectionsOfGroup(ctx, s.Store, groupID)
	if err != nil {
		return Connections{}, err
	}
	var shown Connections
	for _, connection := range all {
		if group.CreatorID == person.ID && group.Has(connection.OwnerID) {
			shown.People = append(shown.People, connection.OwnerID)
		}
		if connection.OwnerID != person.ID {
			continue
		}
		account, err := accounts.Load(ctx, s.Store, connection.AccountID)
		if err != nil && !fault.Is(err, fault.NotFound) {
			return Connections{}, err
		}
		shown.Own = append(shown.Own, Connected{connection, account.Email})
	}
	slices.SortFunc(shown.Own, func(a, b Connected) int { return a.CreatedAt.Compare(b.CreatedAt) })
	slices.Sort(shown.People)
	shown.People = slices.Compact(shown.People)
	return shown, nil
}

// Disconnect ends a connection, which asked names with the person who asks as its owner. The
// group's events that the account shows stay there as they are, or go with deleteEvents, for which
// copies that an earlier disconnection kept are enough. NotFound where the person has neither; one
// who left the group may have them still. Unavailable: events would be deleted, and the server only
// observes calendars.
func (s *Service) Disconnect(
	ctx context.Context, asked mirror.Connection, deleteEvents bool, cause scheduler.Cause,
) error {
	if deleteEvents {
		if err := s.Writes(); err != nil {
			return err
		}
	}
	doc, err := store.Document{}, error(nil)
	if path := mirror.ConnectionPath(asked.GroupID, asked.AccountID); path.Valid() == nil {
		doc, err = s.Store.Get(ctx, path)
	}
	if err != nil {
		return err
	}
	connection := mirror.DecodeConnection(doc)
	if connection.Ending {
		connection = mirror.Connection{}
	}
	if connection.OwnerID == "" && deleteEvents {
		left, err := s.hasCopies(ctx, asked)
		if err != nil {
			return err
		}
		if left {
			connection = asked
		}
	}
	switch {
	case connection.OwnerID != asked.OwnerID:
		if _, err := member(ctx, s.Store, asked.OwnerID, asked.GroupID); err != nil {
			return err
		}
		return errNotConnected()
	case deleteEvents:
		return s.Plans.EndConnection(ctx, connection, cause)
	default:
		return s.disconnectKeeping(ctx, connection, cause)
	}
}

// disconnectKeeping removes the documents of the mirrors and then the connection. The last of
// them go in the transaction that removes the connection: planning before it may make mirrors
// anew, and planning after it deletes the events of those that are left.
func (s *Service) disconnectKeeping(ctx context.Context, c mirror.Connection, cause scheduler.Cause) error {
	var begin func(context.Context)
	for begin == nil {
		err := s.Store.Run(ctx, func(ctx context.Context, tx store.Tx) (err error) {
			begin = nil
			page, more, err := copiesOf(ctx, tx, c)
			if err != nil {
				return err
			}
			if !more {
				begin, err = s.Plans.ChangeConnections(ctx, tx, c.OwnerID, cause, func(all []mirror.Connection) []mirror.Connection {
					return slices.DeleteFunc(all, c.Same)
				})
				if err != nil {
					return err
				}
				if err := tx.Delete(mirror.ConnectionPath(c.GroupID, c.AccountID)); err != nil {
					return err
				}
			}
			for _, m := range page {
				if err := s.release(tx, m, cause); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	begin(ctx)
	return nil
}

// Prune disconnects everybody who does not belong to a group any more, and has the copies in
// their accounts deleted, those that an earlier disconnection kept included. It returns how
// many connections it ended or found ended.
func (s *Service) Prune(ctx context.Context, groupID string, cause scheduler.Cause) (ended int, err error) {
	group, err := poll.LoadGroup(ctx, s.Store, groupID)
	if err != nil {
		return 0, err
	}
	former, err := formerConnections(ctx, s.Store, groupID)
	if err == nil && len(former) > 0 {
		err = s.compareSessions(ctx, groupID, cause)
	}
	if err != nil {
		return 0, err
	}
	for kept, err := range store.All(ctx, s.Store, keptOfGroup.With(groupID), mirror.Decode) {
		if err != nil {
			return 0, err
		}
		if group != nil && !group.Has(kept.OwnerID) {
			former = keptBy(former, kept)
		}
	}
	return s.end(ctx, former, cause)
}

// end has connections and the copies in their accounts removed, and returns how many.
func (s *Service) end(ctx context.Context, connections []mirror.Connection, cause scheduler.Cause) (ended int, err error) {
	for _, connection := range connections {
		if err := s.Plans.EndConnection(ctx, connection, cause); err != nil {
			return ended, err
		}
		ended++
	}
	return ended, nil
}

// AccountLeaving disconnects an account that its owner unlinked from every group, and makes
// mirrors again of the copies that it keeps from earlier connections: what then deletes the
// mirrors in the account finds all of them while its grant lives.
func (s *Service) AccountLeaving(ctx context.Context, account accounts.Account, cause scheduler.Cause) error {
	connections, err := mirror.ConnectionsOfAccount(ctx, s.Store, account.ID)
	if err != nil {
		return err
	}
	for kept, err := range store.All(ctx, s.Store, keptIntoAccount.With(account.ID), mirror.Decode) {
		if err != nil {
			return err
		}
		connections = keptBy(connections, kept)
	}
	if _, err := s.end(ctx, connections, cause); err != nil {
		return err
	}
	for _, connection := range connections {
		for more := true; more; {
			more, err = s.Plans.RestoreKept(ctx, connection)
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// AccountBack does nothing: the owner of an account connects it again themselves.
func (s *Service) AccountBack(context.Context, accounts.Account, scheduler.Cause) error { return nil }
