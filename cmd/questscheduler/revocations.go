//go:build !demo

package main

import (
	"context"
	"time"

	"questscheduler/internal/signin"
	"questscheduler/internal/signin/revocation"
)

// newRevocations asks Firebase which sign-ins were ended.
func newRevocations(ctx context.Context, project string, now func() time.Time) (signin.Revocations, error) {
	return revocation.New(ctx, project, now)
}
