package accounts

import (
	"context"
	"slices"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/accounts/seal"
	"questscheduler/internal/store"
)

// Backfill configures BackfillTokens.
type Backfill struct {
	// DryRun counts and writes nothing.
	DryRun bool
	// RemoveOld removes the web app's own tokens once ours are sealed; its functions can no
	// longer use them then.
	RemoveOld bool
	// Progress, if set, is called every hundred documents and at the end.
	Progress func(Backfilled)
	// Problem, if set, is called for each token that could not be migrated, with its document's
	// path. The error says what to do and holds no secret.
	Problem func(where string, err error)
}

// Backfilled counts what BackfillTokens did, or with DryRun would do.
type Backfilled struct {
	Read     int // tokens read
	Linked   int // tokens of the web app that became accounts
	Resealed int // own tokens that had an older key or format
	Already  int // nothing to do
	Removed  int // removed tokens of the web app
	Problems int // left as they are
}

// progressEvery is after how many documents Backfill.Progress is called.
const progressEvery = 100

// BackfillTokens turns each refresh token of the web app into an account, whose identity is
// learnt when its owner links it again, and seals each of ours under the first key. Each token
// has its own transaction, and one in order is left alone, so an interrupted run may be
// repeated. A token that cannot be read is a problem and stops no other. Nothing is announced.
func (r *Repository) BackfillTokens(ctx context.Context, how Backfill) (Backfilled, error) {
	var done Backfilled
	err := r.backfillAll(ctx, accountSecrets, how, &done, r.reseal)
	if err == nil {
		err = r.backfillAll(ctx, userSecrets, how, &done, r.adopt)
	}
	return done, err
}

// migration migrates the token of one document within a transaction.
type migration func(ctx context.Context, tx store.Tx, id string, how Backfill) (Backfilled, error)

func (r *Repository) backfillAll(ctx context.Context, query *store.Query, how Backfill, done *Backfilled, migrate migration) error {
	progress := func() {
		if how.Progress != nil {
			how.Progress(*done)
		}
	}
	count := 0
	for path, err := range store.All(ctx, r.store, query.With(), func(doc store.Document) store.Path { return doc.Path }) {
		var one Backfilled
		if err == nil {
			err = r.store.Run(ctx, func(ctx context.Context, tx store.Tx) (err error) {
				one, err = migrate(ctx, tx, path.ID(), how)
				return err
			})
		}
		switch {
		case fault.CodeOf(err) == seal.CodeUnreadable:
			one = Backfilled{Read: 1, Problems: 1}
			if how.Problem != nil {
				how.Problem(string(path), err)
			}
		case err != nil:
			return err
		}
		done.add(one)
		count++
		if count%progressEvery == 0 {
			progress()
		}
	}
	progress()
	return nil
}

// adopt makes an account of a person's token in the web app unless there is one.
func (r *Repository) adopt(ctx context.Context, tx store.Tx, personID string, how Backfill) (Backfilled, error) {
	old, person, err := webAppToken(ctx, tx, personID)
	if err != nil || !old.Has("refreshToken") {
		return Backfilled{}, err
	}
	account := r.webAppAccount(personID, old, person)
	adopted, err := isAdopted(ctx, tx, account, old.Time("updatedAt"))
	if err != nil {
		return Backfilled{}, err
	}
	done := Backfilled{Read: 1, Already: 1}
	if !adopted {
		done = Backfilled{Read: 1, Linked: 1}
		token, err := r.keys.OpenOlder(old["refreshToken"])
		if err == nil && !how.DryRun {
			err = r.write(tx, account, token)
		}
		if err != nil {
			return done, err
		}
	}
	if !how.RemoveOld {
		return done, nil
	}
	done.Removed = 1
	if how.DryRun {
		return done, nil
	}
	return done, tx.Update(store.Doc("userSecrets", personID), // its other fields stay
		store.Update{Path: store.Field("googleCalendar", "refreshToken"), Value: store.Delete})
}

// webAppAccount is the account of a person's token in the web app.
func (r *Repository) webAppAccount(personID string, old, person store.Fields) Account {
	settings := person.Map("settings")
	now := r.now()
	linkedAt := old.Time("updatedAt")
	if linkedAt.IsZero() {
		linkedAt = now
	}
	calendars := settings.Strings("googleCalendarIds")
	slices.Sort(calendars)
	return Account{
		ID: "acc_" + r.newID(), OwnerID: personID, Provider: Google, Kind: KindOAuth, Status: Active, Grant: 1,
		Email:  webAppEmail(person),
		Scopes: []string{ScopeEvents}, CalendarIDs: slices.Compact(calendars), CreatedAt: linkedAt, UpdatedAt: now, CheckedAt: linkedAt,
	}
}

// isAdopted reports whether the person has an account that may hold the token: adopted
// before, or linked again since; or unlinked one after the token was saved.
func isAdopted(ctx context.Context, tx store.Tx, account Account, saved time.Time) (bool, error) {
	mark, err := tx.Get(ctx, tokenMark(account.OwnerID))
	if err != nil || mark.Exists() && !saved.After(store.Fields(mark.Data).Time("unlinkedAt")) {
		return true, err
	}
	all, err := list(ctx, tx, ofOwner.With(account.OwnerID))
	return slices.ContainsFunc(all, func(other Account) bool { return other.mayHold(account.Email) }), err
}

// reseal seals one of our tokens under the first key.
func (r *Repository) reseal(ctx context.Context, tx store.Tx, accountID string, how Backfill) (Backfilled, error) {
	docs, err := tx.GetAll(ctx, []store.Path{Path(accountID), secretPath(accountID)})
	if err != nil || !docs[0].Exists() || !docs[1].Exists() {
		return Backfilled{}, err // deleted since it was listed, or an orphan for the cleanup
	}
	account := Decode(docs[0])
	token, current, err := r.unseal(docs[1].Data["refreshToken"], account)
	if err != nil || current {
		return Backfilled{Read: 1, Already: 1}, err
	}
	if !how.DryRun {
		err = r.writeSecret(tx, account, token, r.now())
	}
	return Backfilled{Read: 1, Resealed: 1}, err
}

func (b *Backfilled) add(more Backfilled) {
	b.Read += more.Read
	b.Linked += more.Linked
	b.Resealed += more.Resealed
	b.Already += more.Already
	b.Removed += more.Removed
	b.Problems += more.Problems
}
