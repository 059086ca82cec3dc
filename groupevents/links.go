package groupevents

import (
	"context"

	"questscheduler/internal/accounts"
	"questscheduler/scheduler"
)

// AccountMirrors carries a change of an account to its mirrors: mirrors.Writer.
type AccountMirrors interface {
	AccountLeaving(ctx context.Context, account accounts.Account, cause scheduler.Cause) error
	AccountBack(ctx context.Context, account accounts.Account, cause scheduler.Cause) error
}

// Links are AccountMirrors of which an account that leaves is first disconnected from its
// groups, by any way of unlinking: a calendarsync.LinkMirrors.
type Links struct {
	AccountMirrors
	Groups *Service
}

// AccountLeaving implements AccountMirrors. While it fails the account keeps its grant.
func (l Links) AccountLeaving(ctx context.Context, account accounts.Account, cause scheduler.Cause) error {
	if err := l.Groups.Unlinked(ctx, account.ID, cause); err != nil {
		return err
	}
	return l.AccountMirrors.AccountLeaving(ctx, account, cause)
}
