package accounts

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/store"
)

// Identity identifies an account at its provider.
type Identity struct {
	Provider string // Google
	Sub      string
	Email    string
}

// Link links an account to a person, or gives a linked one its new grant; it becomes
// active and Due. An account of unknown identity, from before this backend, adopts the
// identity if its e-mail address fits. refreshToken may be "" if an active account
// already has one, as providers omit it from later answers.
//
// Conflict with CodeLinkedElsewhere: another person has linked the identity. Invalid with
// CodeScopesInsufficient: the calendar was not granted. Neither writes anything. Link is
// idempotent.
func (r *Repository) Link(ctx context.Context, ownerID string, who Identity, refreshToken string, scopes []string) (Account, error) {
	return r.link(ctx, ownerID, consented{who, refreshToken, scopes}, time.Time{})
}

// link is Link for a grant requested at a time; zero means that it is known to work.
// Unavailable: a revocation under way at that time may have ended it (Grants.Revoke).
func (r *Repository) link(ctx context.Context, ownerID string, granted consented, asked time.Time) (Account, error) {
	who, scopes := granted.who, granted.scopes
	if ownerID == "" || who.Provider == "" || who.Sub == "" {
		return Account{}, fault.New(fault.Invalid, "A link needs a person and an identity.")
	}
	if !slices.Contains(scopes, ScopeEvents) && !slices.Contains(scopes, ScopeCalendar) {
		return Account{}, errScopes()
	}
	scopes = slices.Clone(scopes)
	slices.Sort(scopes)
	scopes = slices.Compact(scopes)
	fresh, now := "acc_"+r.newID(), r.now()
	var linked Account
	err := r.store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		account, known, err := findOwn(ctx, tx, ownerID, who, asked)
		if err != nil {
			return err
		}
		if granted.refreshToken == "" && (!known || account.Status != Active) {
			return fault.New(fault.Invalid, "Google gave no lasting grant. Please link again and confirm the access.")
		}
		if !known {
			account = Account{ID: fresh, OwnerID: ownerID, Provider: who.Provider, Sub: who.Sub, Kind: KindOAuth, CreatedAt: now}
		}
		account.Email, account.Scopes = strings.ToLower(who.Email), scopes
		account.Provider, account.Sub = who.Provider, who.Sub
		account.Status, account.UpdatedAt = Active, now
		account.Due, account.UnlinkedAt, account.CheckedAt = now, time.Time{}, now
		if granted.refreshToken != "" {
			account.Grant++
		}
		linked = account
		return r.write(tx, account, granted.refreshToken)
	})
	if err != nil {
		return Account{}, err
	}
	return linked, nil
}

// findOwn finds a person's account of an identity, and refuses one that somebody else has
// linked. An account that somebody else unlinked blocks nothing once its grant was given
// back.
func findOwn(ctx context.Context, tx store.Tx, ownerID string, who Identity, asked time.Time) (account Account, known bool, err error) {
	leaving, err := maybeOf(ctx, tx, who, Unlinked)
	for _, candidate := range leaving {
		err = cmp.Or(err, candidate.errLeaving(asked))
	}
	if err != nil {
		return Account{}, false, err
	}
	all, err := list(ctx, tx, ofIdentity.With(who.Provider, who.Sub))
	if err != nil {
		return Account{}, false, err
	}
	for _, candidate := range all {
		if err := candidate.errLeaving(asked); err != nil {
			return Account{}, false, err
		}
		switch {
		case candidate.OwnerID == ownerID && !known:
			account, known = candidate, true
		case candidate.OwnerID != ownerID && candidate.Status != Unlinked:
			return Account{}, false, &fault.Error{
				Kind: fault.Conflict, Code: CodeLinkedElsewhere,
				Message: "This Google account is already linked to a different Quest Scheduler account. Unlink it there first, or " +
					"choose another Google account.",
			}
		}
	}
	if known {
		return account, true, nil
	}
	return findUnidentified(ctx, tx, ownerID, who, asked)
}

// findUnidentified finds a person's account without a recorded identity that may be this one.
func findUnidentified(
	ctx context.Context, tx store.Tx, ownerID string, who Identity, asked time.Time,
) (account Account, known bool, err error) {
	all, err := list(ctx, tx, ofOwner.With(ownerID))
	if err != nil {
		return Account{}, false, err
	}
	for _, candidate := range all {
		if candidate.Sub == "" && candidate.mayBe(who) {
			return candidate, true, candidate.errLeaving(asked)
		}
	}
	return Account{}, false, nil
}

// mayBe reports whether an account has an identity, or could have it, judging by its
// e-mail address.
func (a Account) mayBe(who Identity) bool {
	if a.Sub != "" {
		return a.Provider == who.Provider && a.Sub == who.Sub
	}
	return a.Email == "" || strings.EqualFold(a.Email, who.Email)
}

// write stores an account, and seals its refresh token unless that is "".
func (r *Repository) write(tx store.Tx, account Account, refreshToken string) error {
	if refreshToken != "" {
		if err := r.writeSecret(tx, account, refreshToken, account.UpdatedAt); err != nil {
			return err
		}
	}
	fields := encode(account)
	var updates []store.Update
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		updates = append(updates, store.Set(name, fields[name]))
	}
	return tx.Merge(Path(account.ID), updates...)
}
