//go:build !demo

package main

import (
	"context"
	"time"

	"questscheduler/internal/signin/revocation"
)

// newRevocations asks Firebase which sign-ins were ended.
func newRevocations(ctx context.Context, project string, now func() time.Time) (firebaseAccounts, error) {
	return revocation.New(ctx, project, now)
}
