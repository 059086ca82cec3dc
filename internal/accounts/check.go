package accounts

import (
	"context"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/store"
)

// Untouched is how long an account may go unused before CheckUntouched checks it, so that
// a dead grant is found before it is needed.
const Untouched = 24 * time.Hour

// checkFor bounds one CheckUntouched, well below the time limit of its run.
const checkFor = 15 * time.Second

// Checked counts what CheckUntouched found.
type Checked struct {
	Live   int
	Dead   int // grant refused; these are now Due
	Failed int // could not be checked; checked again later
	// More reports that time ran out and that it is worth continuing at once, since some
	// accounts answered.
	More bool
}

// CheckUntouched refreshes the access token of every active account that is not known to
// have been used for Untouched, for a quarter of a minute at most. A failure stops no
// other. It may run concurrently and repeatedly: an account that works is left alone for
// as long again, and one that cannot be checked, though Google answers, for half as long: those
// that stay so would come before all others in every run.
func (g *Grants) CheckUntouched(ctx context.Context) (Checked, error) {
	var checked Checked
	until := g.now().Add(checkFor)
	asked := untouched.With(string(Active), g.now().Add(-Untouched))
	for account, err := range store.All(ctx, g.accounts.store, asked, Decode) {
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
		case fault.Is(err, fault.Unavailable), fault.Is(err, fault.RateLimited):
			checked.Failed++
		default:
			checked.Failed++
			err := g.accounts.touch(ctx, account.ID, g.now().Add(-Untouched/2))
			if err != nil && !fault.Is(err, fault.NotFound) { // it may be gone by now
				return checked, err
			}
		}
	}
	return checked, nil
}

// check requests an access token unless a valid one is known.
func (g *Grants) check(ctx context.Context, account Account) error {
	if _, err := g.token(ctx, account.ID, "", false); err != nil {
		return err
	}
	return g.accounts.touch(ctx, account.ID, g.now())
}

func (r *Repository) touch(ctx context.Context, id string, at time.Time) error {
	return r.store.Run(ctx, func(_ context.Context, tx store.Tx) error {
		return tx.Update(Path(id), store.Set("checkedAt", at))
	})
}
