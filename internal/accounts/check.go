package accounts

import (
	"context"
	"time"

	"questscheduler/internal/fault"
	"questscheduler/internal/store"
)

// Untouched is after how long without a use an account is asked after, so that
// a dead grant is found before it is needed.
const Untouched = 24 * time.Hour

// checkFor is how long one CheckUntouched goes on: far less than the task that
// asks may take, however many accounts there are.
const checkFor = 15 * time.Second

// Checked counts what CheckUntouched found.
type Checked struct {
	Live   int
	Dead   int // Google refuses the grant: these are Due
	Failed int // Google, or the store, did not answer; they are asked after again
	// More tells that time was over before all were asked after, and that asking
	// for the others at once is of use, since some answered.
	More bool
}

// CheckUntouched refreshes the access token of every active account that was
// not used for Untouched, as far as is known, or of those that a quarter of a
// minute is enough for. One failure does not stop the others. It may be called
// again and again, and by several at once: an account that was found live is left
// alone for as long.
func (g *Grants) CheckUntouched(ctx context.Context) (Checked, error) {
	var checked Checked
	until := g.now().Add(checkFor)
	asked := untouched.With(string(Active), g.now().Add(-Untouched))
	for account, err := range store.All(ctx, g.accounts.store, asked, decode) {
		if err != nil {
			return checked, err
		}
		if g.now().After(until) {
			checked.More = checked.Live+checked.Dead > 0
			return checked, nil
		}
		err = g.check(ctx, account)
		switch {
		case err == nil:
			checked.Live++
		case ctx.Err() != nil:
			return checked, err
		case fault.Is(err, fault.Revoked):
			checked.Dead++
		default:
			checked.Failed++
		}
	}
	return checked, nil
}

// check asks Google for an access token, unless one is known that still lasts.
func (g *Grants) check(ctx context.Context, account Account) error {
	if _, err := g.token(ctx, account.ID, "", false); err != nil {
		return err
	}
	return g.accounts.touch(ctx, account.ID)
}

// touch records that an account was found live.
func (r *Repository) touch(ctx context.Context, id string) error {
	now := r.now()
	return r.store.Run(ctx, func(_ context.Context, tx store.Tx) error {
		return tx.Update(Path(id), store.Update{Path: store.Field("checkedAt"), Value: now})
	})
}
