package accounts

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/accounts/seal"
	"questscheduler/internal/refusal"
	"questscheduler/internal/store"
)

// leavingHolds is how long a revocation blocks linking the same Google account: while it
// is recorded, while Google is called, and while an abandoned call may still arrive.
const leavingHolds = 3 * refreshTimeout

// Leaving is Client, but also serves an account that is unlinked and Due, for the calls
// that stop what still runs at Google in its name.
func (g *Grants) Leaving(ctx context.Context, accountID string) (*http.Client, error) {
	return g.authorised(ctx, accountID, true)
}

// Revoke gives an unlinked account's grant back to Google and forgets its refresh token;
// stop what runs in its name first. A grant that Google no longer knows counts as given
// back. An account that is linked again is left alone; if somebody else has linked the
// same Google account, or may have (maybeOf), the token is only forgotten, since revoking would
// end their grant too. To protect grants issued during that, the revocation is recorded first,
// and consents fail until it is over. Unavailable or RateLimited: try again.
func (g *Grants) Revoke(ctx context.Context, accountID string) error {
	account, err := g.accounts.Get(ctx, accountID)
	if err != nil || account.Status != Unlinked {
		return err
	}
	token, err := g.accounts.lastToken(ctx, account)
	if err != nil {
		return err
	}
	if token != "" {
		if err := g.giveUp(ctx, account, token); err != nil {
			return err
		}
	}
	g.remember(accountID, accessToken{grant: account.Grant, dead: true})
	return g.accounts.forget(ctx, accountID, account.Grant)
}

// giveUp gives a grant back unless it has to live on.
func (g *Grants) giveUp(ctx context.Context, account Account, token string) error {
	begun, err := g.accounts.beginLeaving(ctx, account)
	if err != nil || begun.until.IsZero() {
		return err
	}
	if g.now().After(begun.until.Add(-2 * refreshTimeout)) { // the store was slow: the call could outlast the record
		return fault.New(fault.Unavailable, sayLater)
	}
	answered, err := g.giveBack(ctx, token)
	if answered {
		err = errors.Join(err, g.accounts.endLeaving(ctx, account.ID, begun))
	}
	return err
}

// giveBack posts a token to the revocation endpoint (RFC 7009; Google answers 400 to one
// that is no longer valid). If not answered, the call may still reach Google.
func (g *Grants) giveBack(ctx context.Context, token string) (answered bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, refreshTimeout)
	defer cancel()
	form := url.Values{"token": {token}}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, g.revokeURL, strings.NewReader(form.Encode()))
	if err != nil {
		return true, fault.Wrap(fault.Internal, err, "The address that takes grants back cannot be used.")
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	response, err := g.client.Do(request)
	if err != nil {
		return false, revocationRefusals.Unanswered(revokeCall, err)
	}
	_, _ = io.CopyN(io.Discard, response.Body, drainLimit) // only the status matters
	if err := response.Body.Close(); err != nil {
		return true, fault.Wrap(fault.Unavailable, err, sayLater)
	}
	switch status := response.StatusCode; {
	case status == http.StatusOK, status == http.StatusBadRequest:
		return true, nil
	default:
		return true, revocationRefusals.Error(refusal.Answer{
			Call: revokeCall, Status: status, RetryAfter: fault.ParseRetryAfter(response.Header, g.now()),
		})
	}
}

// lastToken returns an unlinked account's refresh token; "" if it is forgotten or cannot be
// opened.
func (r *Repository) lastToken(ctx context.Context, account Account) (string, error) {
	doc, err := r.store.Get(ctx, secretPath(account.ID))
	if err != nil || !doc.Exists() {
		return "", err
	}
	token, _, err := r.unseal(doc.Data["refreshToken"], account)
	if fault.CodeOf(err) == seal.CodeUnreadable {
		return "", nil
	}
	return token, err
}

// leaving is one attempt to give a grant back: until when it, and any attempt already
// under way, may reach Google.
type leaving struct{ until, other time.Time }

// beginLeaving records that a grant is about to be given back. It returns zero if the
// grant has to live on: the account is linked again, or somebody else linked the same
// identity, or may have.
func (r *Repository) beginLeaving(ctx context.Context, account Account) (begun leaving, err error) {
	until := store.Instant(r.now().Add(leavingHolds))
	err = r.store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		begun = leaving{}
		now, err := Load(ctx, tx, account.ID)
		if err != nil || now.Status != Unlinked || now.Grant != account.Grant {
			return err
		}
		shared, err := linkedElsewhere(ctx, tx, now)
		if err != nil || shared {
			return err
		}
		begun = leaving{until: until, other: now.LeavingUntil}
		return tx.Update(Path(account.ID), store.Set("leavingUntil", until))
	})
	return begun, err
}

// endLeaving records that an attempt is over, whatever its outcome. Other attempts stay
// on record.
func (r *Repository) endLeaving(ctx context.Context, id string, begun leaving) error {
	over := r.now()
	if begun.other.After(over) {
		over = begun.other
	}
	return r.update(ctx, id, func(account Account) []store.Update {
		if !account.LeavingUntil.Equal(begun.until) {
			return nil
		}
		return []store.Update{store.Set("leavingUntil", over)}
	})
}

// errLeaving refuses a grant that a revocation may have ended: one requested before the
// revocation was over. Zero means that the grant is known to work.
func (a Account) errLeaving(asked time.Time) error {
	if asked.IsZero() || !asked.Before(a.LeavingUntil) {
		return nil
	}
	return &fault.Error{
		Kind: fault.Unavailable, Code: CodeExchangeFailed, RetryAfter: a.LeavingUntil.Sub(asked),
		Message: "This Google account is still being unlinked. Please link it again in a minute.",
	}
}

// linkedElsewhere reports whether another account is linked that is of the same identity, or may be.
func linkedElsewhere(ctx context.Context, tx store.Tx, account Account) (bool, error) {
	who := Identity{account.Provider, account.Sub, account.Email}
	all, err := maybeOf(ctx, tx, who, Active, Revoked)
	if err == nil && who.Sub != "" {
		var known []Account
		known, err = list(ctx, tx, ofIdentity.With(who.Provider, who.Sub))
		all = append(all, known...)
	}
	return slices.ContainsFunc(all, func(other Account) bool { return other.ID != account.ID && other.Status != Unlinked }), err
}
