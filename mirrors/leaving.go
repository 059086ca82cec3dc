package mirrors

import (
	"context"

	"questscheduler/internal/accounts"
	"questscheduler/scheduler"
)

// EndAccount ends what an unlinked account was to mirroring: its calendars are not
// followed any more, its events are forgotten, and the mirrors of them elsewhere are
// deleted. Call it before Writer.Leave, which deletes ours in the account while its grant
// still lives. It is idempotent. Nothing is mirrored for an account without an owner.
func (s *Service) EndAccount(ctx context.Context, account accounts.Account, cause scheduler.Cause) error {
	if account.OwnerID == "" {
		return nil
	}
	return s.Rewrite(ctx, account.OwnerID, cause)
}

// ResumeAccount follows an account's calendars again that was linked again, and plans
// all events of its owner. It is idempotent. Nothing is mirrored for an account without an
// owner.
func (s *Service) ResumeAccount(ctx context.Context, account accounts.Account, cause scheduler.Cause) error {
	if account.OwnerID == "" {
		return nil
	}
	return s.Rewrite(ctx, account.OwnerID, cause)
}
