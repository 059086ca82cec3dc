package accounts

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"

	"questscheduler/fault"
)

// bearerGrant is the grant type of RFC 7523.
const bearerGrant = "urn:ietf:params:oauth:grant-type:jwt-bearer"

// Service returns an HTTP client authorised as the service account itself, for a scope; what
// it may read was shared with its address. Like Client's, the client renews its access token
// and follows no redirects. Errors: Provider if there is no service account
// (CodeNoServiceAccount) or Google refuses it (CodeServiceAccountRefused), Unavailable or
// RateLimited if the token endpoint does not answer.
func (g *Grants) Service(ctx context.Context, scope string) (*http.Client, error) {
	return g.clientOf(ctx, "", func(ctx context.Context, refused string) (accessToken, error) {
		return g.serviceToken(ctx, scope, refused)
	})
}

// CheckDelegation asks Google whether the service account may act as a person, without an
// account of theirs. The errors are those of Client.
func (g *Grants) CheckDelegation(ctx context.Context, subject string) error {
	_, err := g.assert(ctx, normalAddress(subject), ScopeEvents)
	return err
}

// serviceToken returns an access token of the service account other than refused, from memory
// or Google, asked for once for all concurrent callers.
func (g *Grants) serviceToken(ctx context.Context, scope, refused string) (accessToken, error) {
	own := "service account/" + scope // no account's id has a slash
	result, err, _ := g.flights.Do(own+"/"+refused, func() (any, error) {
		if token, ok := g.remembered(own, 0, refused); ok {
			return token, nil
		}
		answer, err := g.assert(ctx, "", scope)
		if err != nil {
			return accessToken{}, err
		}
		token, err := g.accessToken(0, answer, nil)
		if err == nil {
			g.remember(own, token)
		}
		return token, err
	})
	if err != nil {
		return accessToken{}, err
	}
	return result.(accessToken), nil
}

// assert requests an access token for the service account, acting as subject unless that is
// "". The request is signed by our clock, for the endpoint it goes to.
func (g *Grants) assert(ctx context.Context, subject, scope string) (*oauth2.Token, error) {
	if g.delegation == nil {
		return nil, errNoServiceAccount()
	}
	signed, err := g.delegation.assertion(g.signedURL, subject, scope, g.now())
	if err != nil {
		return nil, fault.Wrap(fault.Internal, err, "The request to Google could not be signed.")
	}
	form := clientcredentials.Config{
		TokenURL: g.signedURL, AuthStyle: oauth2.AuthStyleInParams,
		EndpointParams: url.Values{"grant_type": {bearerGrant}, "assertion": {signed}},
	}
	answer, err := g.request(ctx, delegationRefusals, form.Token)
	if refused := new(fault.Error); errors.As(err, &refused) && refused.Code == CodeDelegationRefused {
		refused.Message = g.delegation.sayDelegate(scope)
	}
	return answer, err
}

// sayDelegate tells an administrator what to add in the Admin console.
func (d *Delegation) sayDelegate(scope string) string {
	id := ""
	if d.clientID != "" {
		id = " " + d.clientID
	}
	return fmt.Sprintf("%s%s with the scope %s. It can take a day until Google applies it.", sayDelegate, id, scope)
}

func errNoServiceAccount() error {
	return &fault.Error{
		Kind: fault.Provider, Code: CodeNoServiceAccount,
		Message: "This server has no service account to act with. Tell its operator; the log says what to fix.",
		Err:     errors.New("no service account; " + operatorKey),
	}
}
