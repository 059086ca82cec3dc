package accounts

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"questscheduler/accounts/seal"
	"questscheduler/fault"
)

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
// as well. Unavailable or RateLimited: try again.
func (g *Grants) Revoke(ctx context.Context, accountID string) error {
	account, err := g.accounts.Get(ctx, accountID)
	if err != nil || account.Status != Unlinked {
		return err
	}
	token, err := g.accounts.last(ctx, account)
	if err != nil {
		return err
	}
	shared, err := g.accounts.linkedElsewhere(ctx, account)
	if err != nil {
		return err
	}
	if token != "" && !shared {
		if err := g.giveBack(ctx, token); err != nil {
			return err
		}
	}
	g.remember(accountID, accessToken{grant: account.Grant, dead: true})
	return g.accounts.forget(ctx, accountID, account.Grant)
}

// giveBack posts a token to the revocation endpoint (RFC 7009; Google answers
// 400 to one that is not good any more).
func (g *Grants) giveBack(ctx context.Context, token string) error {
	ctx, cancel := context.WithTimeout(ctx, refreshTimeout)
	defer cancel()
	form := url.Values{"token": {token}}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, g.revokeURL, strings.NewReader(form.Encode()))
	if err != nil {
		return fault.Wrap(fault.Internal, err, "The address that takes grants back cannot be used.")
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	response, err := g.client.Do(request)
	if err != nil {
		return fault.Wrap(fault.Unavailable, fmt.Errorf("revoke a grant: %w", err), sayLater) // the token is in the body alone
	}
	_, _ = io.CopyN(io.Discard, response.Body, drainLimit) // what it says does not matter
	if err := response.Body.Close(); err != nil {
		return fault.Wrap(fault.Unavailable, err, sayLater)
	}
	switch status := response.StatusCode; {
	case status == http.StatusOK, status == http.StatusBadRequest:
		return nil
	case status == http.StatusTooManyRequests:
		return &fault.Error{Kind: fault.RateLimited, Message: sayLater, RetryAfter: retryAfter(response.Header, g.now())}
	default:
		return fault.Wrap(fault.Unavailable, fmt.Errorf("revoke a grant: %d", status), sayLater)
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

// linkedElsewhere tells whether another account of the same identity is linked.
func (r *Repository) linkedElsewhere(ctx context.Context, account Account) (bool, error) {
	if account.Sub == "" {
		return false, nil
	}
	all, err := list(ctx, r.store, ofIdentity.With(account.Provider, account.Sub))
	for _, other := range all {
		if other.ID != account.ID && other.Status != Unlinked {
			return true, err
		}
	}
	return false, err
}
