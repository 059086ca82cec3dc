//go:build demo

package main

import (
	"context"
	"errors"
	"time"
)

// newRevocations refuses. The demo never asks Firebase, whose Admin SDK brings Cloud
// Storage along: a quarter of the time that a build from an empty cache takes.
func newRevocations(context.Context, string, func() time.Time) (firebaseAccounts, error) {
	return nil, errors.New("this program was built for the demo alone; build it without -tags demo")
}
