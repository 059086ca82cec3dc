package accounts

import (
	"context"
	"strings"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/ids"
	"questscheduler/internal/store"
)

// DelegatedID is the id of the account of kind KindServiceAccount for an e-mail address, in
// any case.
func DelegatedID(subject string) string {
	return "acc_dwd_" + ids.Of(normalAddress(subject)).Hex(16)
}

// Delegate returns the account as which the service account acts for an e-mail address. It
// creates it, or revives one that was revoked or unlinked, with a new grant, and Due; an
// active one stays as it is. It asks nothing of Google. Invalid: no e-mail address.
func (r *Repository) Delegate(ctx context.Context, subject string) (Account, error) {
	email := normalAddress(subject)
	if name, domain, ok := strings.Cut(email, "@"); !ok || name == "" || domain == "" {
		return Account{}, fault.New(fault.Invalid, "A delegated account needs an e-mail address.")
	}
	id, now := DelegatedID(email), r.now()
	var delegated Account
	err := r.store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		doc, err := tx.Get(ctx, Path(id))
		if err != nil {
			return err
		}
		// One that was removed comes back with the same id: its grants must not be treated as
		// older ones.
		account := Account{ID: id, Provider: Google, Email: email, Kind: KindServiceAccount, Grant: now.Unix(), CreatedAt: now}
		if doc.Exists() {
			account = Decode(doc)
		}
		delegated = account
		if account.Status == Active {
			return nil
		}
		account.Scopes = []string{ScopeEvents}
		account.Status, account.Due, account.UnlinkedAt = Active, now, time.Time{}
		account.CheckedAt, account.UpdatedAt = now, now
		account.Grant++
		delegated = account
		return r.write(tx, account, "")
	})
	if err != nil {
		return Account{}, err
	}
	return delegated, nil
}

// Undelegate unlinks the account for an e-mail address, as Unlink does a person's, and later RemoveUnlinked removes it; nothing
// is given back to Google for it. One that
// is unlinked or was never created stays as it is.
func (r *Repository) Undelegate(ctx context.Context, subject string) error {
	_, err := r.unlink(ctx, "", DelegatedID(subject))
	if fault.Is(err, fault.NotFound) {
		return nil
	}
	return err
}

// normalAddress is an e-mail address as documents have it.
func normalAddress(address string) string { return strings.ToLower(strings.TrimSpace(address)) }
