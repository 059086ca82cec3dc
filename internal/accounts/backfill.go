package accounts

import (
	"context"
	"slices"
	"strings"

	"questscheduler/internal/accounts/seal"
	"questscheduler/internal/fault"
	"questscheduler/internal/store"
)

// Backfill says how BackfillTokens goes about it.
type Backfill struct {
	// DryRun looks and counts, and writes nothing.
	DryRun bool
	// RemoveOld removes the tokens of the web app's own functions once ours are
	// sealed; those functions can use them no more then.
	RemoveOld bool
	// Progress, where set, is told after each page how far it is.
	Progress func(Backfilled)
	// Problem, where set, is told of each token that could not be brought in,
	// by where it stands. The error says what to do and holds no secret.
	Problem func(where string, err error)
}

// Backfilled counts what BackfillTokens found and did; with DryRun, what it
// would do.
type Backfilled struct {
	Seen     int // tokens looked at
	Linked   int // of the web app's, that became accounts of ours
	Resealed int // of ours, that were sealed under an older key or in an older shape
	Already  int // in order
	Removed  int // of the web app's, removed
	Problems int // left as they are
}

// progressEvery is after how many documents Backfill.Progress is told.
const progressEvery = 100

// BackfillTokens brings the refresh tokens of before into sealed ones: each of the web app's
// becomes an account of its person's, whose identity is learnt when it is
// linked again, and each of ours is sealed under the first key. Every token is
// a transaction of its own; what is in order is left as it is, so a run that
// was cut off is gone on with by another one, and a second run changes nothing.
// A token that cannot be read is a problem, and holds up no other. No event and
// no notice follows from it.
func (r *Repository) BackfillTokens(ctx context.Context, how Backfill) (Backfilled, error) {
	var done Backfilled
	for _, of := range []struct {
		query  *store.Query
		handle func(ctx context.Context, id string, how Backfill, done *Backfilled) error
	}{{accountSecrets, r.reseal}, {userSecrets, r.adopt}} {
		if err := r.backfillAll(ctx, of.query, how, &done, of.handle); err != nil {
			return done, err
		}
	}
	return done, nil
}

func (r *Repository) backfillAll(
	ctx context.Context, query *store.Query, how Backfill, done *Backfilled,
	handle func(ctx context.Context, id string, how Backfill, done *Backfilled) error,
) error {
	progress := func() {
		if how.Progress != nil {
			how.Progress(*done)
		}
	}
	count := 0
	for path, err := range store.All(ctx, r.store, query.With(), func(doc store.Document) store.Path { return doc.Path }) {
		if err == nil {
			err = handle(ctx, path.ID(), how, done)
		}
		switch {
		case fault.CodeOf(err) == seal.CodeUnreadable:
			done.Problems++
			if how.Problem != nil {
				how.Problem(string(path), err)
			}
		case err != nil:
			return err
		}
		if count++; count%progressEvery == 0 {
			progress()
		}
	}
	progress()
	return nil
}

// adopt makes an account of a person's token of the web app's, unless there is
// one, and removes the token where that is asked for.
func (r *Repository) adopt(ctx context.Context, personID string, how Backfill, done *Backfilled) error {
	fresh := "acc_" + r.newID()
	var outcome Backfilled
	err := r.store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		outcome = Backfilled{}
		docs, err := tx.GetAll(ctx, []store.Path{store.Doc("userSecrets", personID), store.Doc("users", personID)})
		if err != nil {
			return err
		}
		old := store.Fields(docs[0].Data).Map("googleCalendar")
		if !old.Has("refreshToken") {
			return nil
		}
		outcome.Seen = 1
		account := r.before(fresh, personID, old, store.Fields(docs[1].Data))
		there, err := r.adopted(ctx, tx, account)
		if err != nil {
			return err
		}
		outcome.Already = 1
		if !there {
			outcome.Linked, outcome.Already = 1, 0
			token, err := r.keys.OpenOlder(old["refreshToken"])
			if err != nil {
				return err
			}
			if !how.DryRun {
				err = r.write(tx, account, false, token)
			}
			if err != nil {
				return err
			}
		}
		if !how.RemoveOld {
			return nil
		}
		outcome.Removed = 1
		if how.DryRun {
			return nil
		}
		return tx.Update(store.Doc("userSecrets", personID), // and nothing else that stands there
			store.Update{Path: store.Field("googleCalendar", "refreshToken"), Value: store.Delete})
	})
	if err != nil {
		outcome = Backfilled{Seen: 1}
	}
	done.add(outcome)
	return err
}

// before is the account of a token of the web app's.
func (r *Repository) before(id, personID string, old, person store.Fields) Account {
	settings := person.Map("settings")
	now := r.now()
	linkedAt := old.Time("updatedAt")
	if linkedAt.IsZero() {
		linkedAt = now
	}
	calendars := settings.Strings("googleCalendarIds")
	slices.Sort(calendars)
	return Account{
		ID: id, OwnerID: personID, Provider: Google, Kind: KindOAuth, Status: Active, Grant: 1,
		Email:  strings.ToLower(strings.TrimSpace(settings.String("linkedCalendarEmail"))),
		Scopes: []string{ScopeEvents}, CalendarIDs: slices.Compact(calendars), CreatedAt: linkedAt, UpdatedAt: now, CheckedAt: linkedAt,
	}
}

// adopted tells whether the person has an account by now that may be the one of
// the token: adopted before, or linked anew since.
func (r *Repository) adopted(ctx context.Context, tx store.Tx, account Account) (bool, error) {
	all, err := list(ctx, tx, ofOwner.With(account.OwnerID))
	return slices.ContainsFunc(all, func(other Account) bool {
		return account.Email == "" || other.Email == "" || strings.EqualFold(other.Email, account.Email)
	}), err
}

// reseal seals a token of ours under the first key.
func (r *Repository) reseal(ctx context.Context, accountID string, how Backfill, done *Backfilled) error {
	now := r.now()
	var outcome Backfilled
	err := r.store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		outcome = Backfilled{Seen: 1}
		docs, err := tx.GetAll(ctx, []store.Path{Path(accountID), secretPath(accountID)})
		if err != nil || !docs[0].Exists() || !docs[1].Exists() {
			outcome = Backfilled{} // gone meanwhile, or a secret of nothing: the clean-up's
			return err
		}
		account := decode(docs[0])
		token, current, err := r.unseal(docs[1].Data["refreshToken"], account)
		if err != nil {
			return err
		}
		if current {
			outcome.Already = 1
			return nil
		}
		outcome.Resealed = 1
		if how.DryRun {
			return nil
		}
		sealed, err := r.keys.Seal(token, place(account))
		if err != nil {
			return err
		}
		return tx.Set(secretPath(accountID), encodeSecret(account, sealed, now))
	})
	if err != nil {
		outcome = Backfilled{Seen: 1}
	}
	done.add(outcome)
	return err
}

func (b *Backfilled) add(more Backfilled) {
	b.Seen += more.Seen
	b.Linked += more.Linked
	b.Resealed += more.Resealed
	b.Already += more.Already
	b.Removed += more.Removed
}
