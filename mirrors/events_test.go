package mirrors_test

import (
	"context"
	"testing"

	"questscheduler/internal/accounts"
	"questscheduler/internal/store"
	"questscheduler/mirrors"
)

// ownAccounts are the linked accounts of the world.
type ownAccounts struct{ store store.Reader }

func (o ownAccounts) Owned(ctx context.Context, _, id string) (accounts.Account, error) {
	return accounts.Load(ctx, o.store, id)
}

func (w *world) routes() *mirrors.Events {
	return &mirrors.Events{Google: w.full, Accounts: ownAccounts{w.memory}, Service: w.service}
}

func TestDelete_AnEventWithoutMirrors_IsNoError(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.mirrorWork()
	w.settle()
	w.insert(home, "Dentist", thursday)
	w.sync(home)
	known := w.canonical(home)
	w.must(w.routes().Delete(w.ctx, gm, known[0].ID, cause))
	w.wantTitles(home)
}
