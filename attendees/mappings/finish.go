package mappings

import (
	"context"
	"time"

	"questscheduler/internal/accounts"
	"questscheduler/internal/calendars"
	"questscheduler/internal/store"
	"questscheduler/scheduler"
)

// accountPage is how many accounts are read at once.
const accountPage = 100

// undelegate unlinks the delegated account of an address that is no longer mapped, unless a
// record that is due needs it: additions are withdrawn first. Without a service account
// it can do nothing, and is unlinked at once.
func (m *Service) undelegate(ctx context.Context, cause scheduler.Cause, primary string) (unlinked bool, err error) {
	has, err := m.delegated(ctx, []string{primary})
	if err != nil || len(has) == 0 {
		return false, err
	}
	if m.Delegated {
		if needed, err := m.Guests.Needed(ctx); err != nil || needed[accounts.DelegatedID(primary)] {
			return false, err
		}
	}
	return true, m.unlink(ctx, cause, primary)
}

// undelegateSome is undelegate for the delegated accounts of several addresses, as far as
// time allows. It returns those that stay.
func (m *Service) undelegateSome(ctx context.Context, cause scheduler.Cause, primaries []string) (stay []string, err error) {
	if !m.Delegated || len(primaries) == 0 {
		return primaries, nil
	}
	needed, err := m.Guests.Needed(ctx)
	if err != nil {
		return primaries, err
	}
	until := m.Now().Add(stepTime)
	for _, primary := range primaries {
		account, err := accounts.Load(ctx, m.Store, accounts.DelegatedID(primary))
		if err != nil {
			return primaries, err
		}
		useful := needed[account.ID] && account.Usable() == nil // nothing revives a refused one now
		if useful || m.Now().After(until) {
			stay = append(stay, primary)
		} else if err := m.unlink(ctx, cause, primary); err != nil {
			return primaries, err
		}
	}
	return stay, nil
}

// unlink unlinks the delegated account of an address that is no longer mapped.
func (m *Service) unlink(ctx context.Context, cause scheduler.Cause, primary string) error {
	if err := m.Accounts.Undelegate(ctx, primary); err != nil {
		return err
	}
	table, _, err := m.Current(ctx, m.Store)
	if err == nil && m.Delegated && table.Maps(primary) { // again since; who carried that out may have passed it
		_, err = m.settle(ctx, settling{primary: primary, delegate: true}, cause)
	}
	return err
}

// delegated lists those of some addresses that have a delegated account.
func (m *Service) delegated(ctx context.Context, primaries []string) (have []string, err error) {
	for len(primaries) > 0 {
		page := primaries[:min(len(primaries), accountPage)]
		primaries = primaries[len(page):]
		paths := make([]store.Path, len(page))
		for i, primary := range page {
			paths[i] = accounts.Path(accounts.DelegatedID(primary))
		}
		docs, err := m.Store.GetAll(ctx, paths)
		if err != nil {
			return nil, err
		}
		for i, doc := range docs {
			if doc.Exists() && accounts.Decode(doc).Status != accounts.Unlinked {
				have = append(have, page[i])
			}
		}
	}
	return have, nil
}

// finish unlinks the delegated accounts of addresses that are no longer mapped, now that all
// records are due that the version changes, and records that the version is carried out but
// for accounts that are still needed. errReplaced: another version took effect.
func (m *Service) finish(ctx context.Context, cause scheduler.Cause, t tables, changed []string) (did Refreshed, err error) {
	var removed []string
	for _, primary := range changed {
		if !t.to.Maps(primary) {
			removed = append(removed, primary)
		}
	}
	had, err := m.delegated(ctx, removed)
	if err != nil {
		return did, err
	}
	stay, err := m.undelegateSome(ctx, cause, had)
	did.Unlinked = len(had) - len(stay)
	if err != nil {
		return did, err
	}
	followed, chunks, encoded := t.state.Version, t.state.Chunks, map[string][]byte(nil)
	if len(stay) > 0 {
		table := inState(t.to, stay, Leaving)
		bytes, err := table.Encode()
		if err != nil {
			return did, err
		}
		followed, chunks = table.Version(), chunksOf(table.Version(), bytes)
		encoded = map[string][]byte{followed: bytes}
	}
	reached, err := m.reached(ctx)
	if err != nil {
		return did, err
	}
	err = m.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		now, err := LoadRecord(ctx, tx)
		if err != nil {
			return err
		}
		if !t.same(now) {
			return errReplaced
		}
		after := now
		after.Followed, after.FollowedChunks, after.Delegated, after.Released = followed, chunks, m.Delegated, false
		after.WithoutAccess, after.PendingSince = max(0, now.Count-reached), time.Time{}
		if now.PendingSince.IsZero() && !now.Released && after.Followed == now.Followed && after.Delegated == now.Delegated &&
			after.WithoutAccess == now.WithoutAccess {
			return nil
		}
		return write(tx, now, after, encoded)
	})
	if err == nil && followed == t.state.Version {
		m.followed.Store(nil)
	}
	return did, err
}

// reached counts the calendars that are followed by a working account.
func (m *Service) reached(ctx context.Context) (reached int64, err error) {
	for calendar, err := range CalendarsFollowed(ctx, m.Store, calendars.Decode) {
		if err != nil {
			return 0, err
		}
		if !calendar.Revoked() {
			reached++
		}
	}
	return reached, nil
}

// recount counts the mappings without access again.
func (m *Service) recount(ctx context.Context) error {
	reached, err := m.reached(ctx)
	if err != nil {
		return err
	}
	return m.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		now, err := LoadRecord(ctx, tx)
		without := max(0, now.Count-reached)
		if err != nil || now.Version == "" || now.WithoutAccess == without {
			return err
		}
		return tx.Update(RecordPath(), store.Set("withoutAccess", without))
	})
}
