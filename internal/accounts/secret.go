package accounts

import (
	"context"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/accounts/seal"
	"questscheduler/internal/store"
)

// purpose is bound to every sealed refresh token.
const purpose = "google refresh token"

func secretPath(id string) store.Path { return store.Doc("accountSecrets", id) }

func place(a Account) seal.Binding {
	return seal.Binding{Person: a.OwnerID, Account: a.ID, Purpose: purpose}
}

// grant is an account with its refresh token.
type grant struct {
	account      Account
	refreshToken string
	// current reports whether the token is sealed with the first key.
	current bool
}

// open reads an account that may be used, or is leaving, with its refresh token, which one of
// KindServiceAccount has not.
func (r *Repository) open(ctx context.Context, id string, leaving bool) (grant, error) {
	docs, err := r.store.GetAll(ctx, []store.Path{Path(id), secretPath(id)})
	if err != nil {
		return grant{}, err
	}
	if !docs[0].Exists() {
		return grant{}, errRemoved()
	}
	account := Decode(docs[0])
	if err := account.usableFor(leaving); err != nil {
		return grant{}, err
	}
	secret := store.Fields(docs[1].Data)
	switch {
	case account.Kind == KindServiceAccount:
		return grant{account: account, current: true}, nil
	case !secret.Has("refreshToken"):
		return grant{}, errRevoked() // the secret is lost; only a new grant helps
	case secret.Has("grant") && secret.Int("grant") != account.Grant: // read while the account was being relinked
		return grant{}, fault.New(fault.Unavailable, "The account is being linked again; try again.")
	}
	token, current, err := r.unseal(secret["refreshToken"], account)
	return grant{account: account, refreshToken: token, current: current}, err
}

// unseal opens a stored refresh token of any format. current reports that it has the
// newest one.
func (r *Repository) unseal(stored any, account Account) (token string, current bool, err error) {
	if text, ok := stored.(string); ok && seal.IsSealed(stored) {
		return r.keys.Open(text, place(account))
	}
	token, err = r.keys.OpenOlder(stored)
	return token, false, err
}

// saveToken stores a refresh token of a grant: a new one, or the same under the first key. A
// newer grant stays, and a secret forgotten in the meantime stays forgotten.
func (r *Repository) saveToken(ctx context.Context, id string, grant int64, refreshToken string) error {
	now := r.now()
	return r.store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		account, err := Load(ctx, tx, id)
		if err != nil || account.Grant != grant {
			return err
		}
		if secret, err := tx.Get(ctx, secretPath(id)); err != nil || !secret.Exists() {
			return err
		}
		return r.writeSecret(tx, account, refreshToken, now)
	})
}

// forget removes the refresh token of an ended grant; a newer one stays.
func (r *Repository) forget(ctx context.Context, id string, grant int64) error {
	return r.store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		account, err := Load(ctx, tx, id)
		if err != nil || account.Grant != grant || account.Status != Unlinked {
			return err
		}
		return tx.Delete(secretPath(id))
	})
}

// writeSecret seals the refresh token of an account's grant.
func (r *Repository) writeSecret(tx store.Tx, a Account, refreshToken string, now time.Time) error {
	sealed, err := r.keys.Seal(refreshToken, place(a))
	if err != nil {
		return err
	}
	return tx.Set(secretPath(a.ID), map[string]any{"ownerId": a.OwnerID, "refreshToken": sealed, "grant": a.Grant, "updatedAt": now})
}
