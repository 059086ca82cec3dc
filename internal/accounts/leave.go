package accounts

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"questscheduler/internal/accounts/seal"
	"questscheduler/internal/fault"
	"questscheduler/internal/store"
)

// leavingHolds is for how long nobody's consent for the same Google account is
// linked after a grant began to be given back: while that is written, while
// Google is called, and while a call may be on its way that was given up.
const leavingHolds = 3 * refreshTimeout

// Leaving gives a client for the last calls of an account that is unlinked and
// Due: those that stop what still runs at Google in its name. Otherwise it is
// as Client.
func (g *Grants) Leaving(ctx context.Context, accountID string) (*http.Client, error) {
	return g.authorised(ctx, accountID, true)
}

// Revoke gives the grant of an unlinked account back to Google and forgets its
// refresh token; what has to be stopped in its name is stopped before. A grant
// that Google does not know any more counts as given back. Nothing is done for
// an account that is linked again; and where the same Google account is linked
// by somebody else by now, the token is only forgotten: Google would end theirs
// as well. So that none is ended that was given meanwhile, the giving back is
// recorded before, and whoever consents until it is over is asked to do so again.
// Unavailable or RateLimited: try again.
func (g *Grants) Revoke(ctx context.Context, accountID string) error {
	account, err := g.accounts.Get(ctx, accountID)
	if err != nil || account.Status != Unlinked {
		return err
	}
	token, err := g.accounts.last(ctx, account)
	if err != nil {
		return err
	}
	if token != "" {
		if err := g.leave(ctx, account, token); err != nil {
			return err
		}
	}
	g.remember(accountID, accessToken{grant: account.Grant, dead: true})
	return g.accounts.forget(ctx, accountID, account.Grant)
}

// leave gives a grant back unless it is to live on.
func (g *Grants) leave(ctx context.Context, account Account, token string) error {
	begun, err := g.accounts.beginLeaving(ctx, account)
	if err != nil || begun.until.IsZero() {
		return err
	}
	if g.now().After(begun.until.Add(-2 * refreshTimeout)) { // the store took so long that the call might outlast what it recorded
		return fault.New(fault.Unavailable, sayLater)
	}
	answered, err := g.giveBack(ctx, token)
	if answered { // it is on its way no more
		err = errors.Join(err, g.accounts.endLeaving(ctx, account.ID, begun))
	}
	return err
}

// giveBack posts a token to the revocation endpoint (RFC 7009; Google answers
// 400 to one that is not good any more). answered tells that Google said
// something to it; otherwise the call may still reach it.
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
		return false, fault.Wrap(fault.Unavailable, fmt.Errorf("revoke a grant: %w", err), sayLater) // the token is in the body alone
	}
	_, _ = io.CopyN(io.Discard, response.Body, drainLimit) // what it says does not matter
	if err := response.Body.Close(); err != nil {
		return true, fault.Wrap(fault.Unavailable, err, sayLater)
	}
	switch status := response.StatusCode; {
	case status == http.StatusOK, status == http.StatusBadRequest:
		return true, nil
	case status == http.StatusTooManyRequests:
		return true, &fault.Error{Kind: fault.RateLimited, Message: sayLater, RetryAfter: retryAfter(response.Header, g.now())}
	default:
		return true, fault.Wrap(fault.Unavailable, fmt.Errorf("revoke a grant: %d", status), sayLater)
	}
}

// last is the refresh token of an unlinked account; "" where it is forgotten,
// or cannot be opened any more and so cannot be given back either.
func (r *Repository) last(ctx context.Context, account Account) (string, error) {
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

// leaving is one attempt to give a grant back: until when it may reach Google,
// and until when another one may that was under way when it began.
type leaving struct{ until, other time.Time }

// beginLeaving records that the grant of an unlinked account is about to be
// given back; zero where it is to live on: the account is linked again, or the
// same identity is by somebody else.
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
		return tx.Update(Path(account.ID), store.Update{Path: store.Field("leavingUntil"), Value: until})
	})
	return begun, err
}

// endLeaving records that an attempt to give a grant back is over, taken or not.
// What another one may still do, before it or since, stays on record.
func (r *Repository) endLeaving(ctx context.Context, id string, begun leaving) error {
	over := r.now()
	if begun.other.After(over) {
		over = begun.other
	}
	return r.store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		account, err := Load(ctx, tx, id)
		if err != nil || !account.LeavingUntil.Equal(begun.until) {
			return err
		}
		return tx.Update(Path(id), store.Update{Path: store.Field("leavingUntil"), Value: over})
	})
}

// errLeaving is for a grant that may have ended with an older one; nil where
// Google was asked for it after that was over, or it is known to live (zero).
func (a Account) errLeaving(asked time.Time) error {
	if asked.IsZero() || !asked.Before(a.LeavingUntil) {
		return nil
	}
	return &fault.Error{
		Kind: fault.Unavailable, Code: CodeExchangeFailed, RetryAfter: a.LeavingUntil.Sub(asked),
		Message: "This Google account is still being unlinked. Please link it again in a minute.",
	}
}

// linkedElsewhere tells whether another account of the same identity is linked.
func linkedElsewhere(ctx context.Context, tx store.Tx, account Account) (bool, error) {
	if account.Sub == "" {
		return false, nil
	}
	all, err := list(ctx, tx, ofIdentity.With(account.Provider, account.Sub))
	for _, other := range all {
		if other.ID != account.ID && other.Status != Unlinked {
			return true, err
		}
	}
	return false, err
}
