package mirrors

import (
	"context"
	"slices"
	"time"

	"questscheduler/internal/accounts"
	"questscheduler/internal/calendars"
	"questscheduler/internal/mirror"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/scheduler"
)

// revokedKeep is how long the canonical events of an account with a dead grant are kept:
// linked again within it, nothing is lost.
const revokedKeep = 30 * 24 * time.Hour

// mostRevoked bounds the accounts that one RemoveStale reads.
const mostRevoked = 1000

// AccountLeaving ends what an unlinked account was to mirroring: its calendars are not
// followed any more, its events are forgotten, and the mirrors of them elsewhere are
// deleted. Call it before Writer.Leave, which deletes ours in the account while its grant
// still lives. It is idempotent. Nothing is mirrored for an account without an owner.
func (s *Service) AccountLeaving(ctx context.Context, account accounts.Account, cause scheduler.Cause) error {
	if account.OwnerID == "" {
		return nil
	}
	return s.Rewrite(ctx, account.OwnerID, cause)
}

// AccountBack follows an account's calendars again that was linked again, and plans
// all events of its owner. It is idempotent. Nothing is mirrored for an account without an
// owner.
func (s *Service) AccountBack(ctx context.Context, account accounts.Account, cause scheduler.Cause) error {
	if account.OwnerID == "" {
		return nil
	}
	return s.Rewrite(ctx, account.OwnerID, cause)
}

// RemoveStale removes the canonical events of accounts that have had a dead grant for 30
// days, at most limit, and deletes their mirrors elsewhere. more reports that it has to be
// called again. Linked again, such an account is listed from the beginning.
func (s *Service) RemoveStale(ctx context.Context, limit int, cause scheduler.Cause) (removed int, more bool, err error) {
	revoked, err := accounts.WithStatus(ctx, s.Store, accounts.Revoked, mostRevoked)
	if err != nil {
		return 0, false, err
	}
	for _, account := range revoked {
		if s.Now().Before(account.UpdatedAt.Add(revokedKeep)) {
			continue
		}
		page, err := s.removeStale(ctx, account, limit-removed)
		if err != nil {
			return removed, false, err
		}
		for _, uid := range uidsOf(page) {
			if err := s.PlanUID(ctx, account.OwnerID, uid, cause); err != nil {
				return removed, false, err
			}
		}
		if removed += len(page); removed >= limit {
			return removed, true, nil
		}
	}
	return removed, false, nil
}

// removeStale removes a page of the canonical events of an account, unless it was linked
// again, and has a later run of their calendars list everything.
func (s *Service) removeStale(ctx context.Context, account accounts.Account, limit int) (page []mirror.Event, err error) {
	err = s.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		page = nil
		now, err := accounts.Load(ctx, tx, account.ID)
		if err != nil || !now.SameAs(account) {
			return err
		}
		found, err := mirror.SomeOfAccount(ctx, tx, account.ID, limit)
		if err != nil {
			return err
		}
		var lost []calendars.Calendar
		for _, key := range keysOf(found) {
			calendar, ok, err := calendars.LoadKey(ctx, tx, key)
			if err != nil {
				return err
			}
			if ok && calendar.Interests[mirror.Consumer] > 0 {
				lost = append(lost, calendar)
			}
		}
		for _, calendar := range lost {
			if err := tx.Update(calendars.Path(calendar.Key), calendar.RequestRelist(mirror.Consumer, s.now())...); err != nil {
				return err
			}
		}
		page = found
		return removeEvents(tx, found)
	})
	return page, err
}

// keysOf are the calendars of some events, each once.
func keysOf(events []mirror.Event) (keys []string) {
	for _, event := range events {
		if key := poll.CalendarKey(event.AccountID, event.CalendarID); !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	return keys
}
