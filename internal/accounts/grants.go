package accounts

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strconv"
	"sync"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/sync/singleflight"

	"questscheduler/fault"
	"questscheduler/internal/refusal"
)

// Google's OAuth endpoints.
const (
	// GoogleTokenURL is where Google issues access tokens.
	GoogleTokenURL = "https://oauth2.googleapis.com/token"
	// GoogleRevokeURL is where Google takes grants back.
	GoogleRevokeURL = "https://oauth2.googleapis.com/revoke"
)

const (
	// refreshTimeout bounds the call for an access token.
	refreshTimeout = 10 * time.Second
	// expiryMargin is how long before its end an access token is no longer used.
	expiryMargin = time.Minute
	// unknownExpiry is how long to use an access token whose answer names no lifetime.
	unknownExpiry = 5 * time.Minute
)

// GrantOptions configure Grants. Accounts and Now are required.
type GrantOptions struct {
	Accounts *Repository
	// ClientID and ClientSecret identify our OAuth client.
	ClientID, ClientSecret string
	// TokenURL and RevokeURL default to GoogleTokenURL and GoogleRevokeURL.
	TokenURL, RevokeURL string
	// Delegation is the service account that accounts of kind KindServiceAccount are used
	// with, and Service; nil for none. Without TokenURL its key names the token endpoint.
	Delegation *Delegation
	// Transport makes all calls; nil means http.DefaultTransport.
	Transport http.RoundTripper
	Now       func() time.Time
}

// Grants turns the grants of linked accounts into authorised HTTP clients. It keeps
// access tokens in memory only, and holds no lock across a store call. Safe for
// concurrent use.
type Grants struct {
	accounts   *Repository
	oauth      *oauth2.Config
	delegation *Delegation // nil: none
	signedURL  string      // the token endpoint for requests that delegation signs
	client     *http.Client
	transport  http.RoundTripper
	revokeURL  string
	now        func() time.Time
	// flights makes concurrent refreshes of one grant a single call.
	flights singleflight.Group

	mu     sync.Mutex
	tokens map[string]accessToken // by account; the service account's own by scope
}

// accessToken is what memory holds of an account's newest grant.
type accessToken struct {
	grant   int64
	value   string
	expires time.Time
	// dead marks a grant that Google refused, whether or not the store knows yet.
	dead bool
	// unsaved is a refresh token still to be stored: a new one, or the same for the first
	// key.
	unsaved string
}

// NewGrants returns Grants without access tokens.
func NewGrants(options GrantOptions) *Grants {
	if options.Transport == nil {
		options.Transport = http.DefaultTransport
	}
	signedURL := options.TokenURL
	if options.Delegation != nil {
		signedURL = cmp.Or(signedURL, options.Delegation.tokenURL)
	}
	return &Grants{
		accounts: options.Accounts,
		oauth: &oauth2.Config{
			ClientID: options.ClientID, ClientSecret: options.ClientSecret,
			// Google takes the client's credentials in the body only; trying the header first
			// would double every failing call.
			Endpoint: oauth2.Endpoint{TokenURL: cmp.Or(options.TokenURL, GoogleTokenURL), AuthStyle: oauth2.AuthStyleInParams},
		},
		delegation: options.Delegation,
		signedURL:  cmp.Or(signedURL, GoogleTokenURL),
		client:     &http.Client{Transport: options.Transport, CheckRedirect: noRedirect},
		transport:  options.Transport,
		revokeURL:  cmp.Or(options.RevokeURL, GoogleRevokeURL),
		now:        options.Now,
		tokens:     map[string]accessToken{},
	}
}

// Client returns an HTTP client authorised as an account. It refreshes its access token
// when needed, and once more on a 401; it follows no redirects. Errors: NotFound with
// CodeNotLinked, if it was unlinked for so long that it was removed;
// Revoked, without asking Google, if the account is revoked or unlinked or its grant was
// refused before; Unavailable or RateLimited if the token endpoint does not answer;
// Provider if Google refuses this server (CodeClientRefused), its service account
// (CodeServiceAccountRefused), or that it acts as the account (CodeDelegationRefused).
//
// The account is checked only when the client is made, so a caller must not keep the
// client for later calls.
func (g *Grants) Client(ctx context.Context, accountID string) (*http.Client, error) {
	return g.authorised(ctx, accountID, false)
}

func (g *Grants) authorised(ctx context.Context, accountID string, leaving bool) (*http.Client, error) {
	return g.clientOf(ctx, accountID, func(ctx context.Context, refused string) (accessToken, error) {
		return g.token(ctx, accountID, refused, leaving)
	})
}

func (g *Grants) clientOf(ctx context.Context, accountID string, source tokenSource) (*http.Client, error) {
	token, err := source(ctx, "")
	if err != nil {
		return nil, err
	}
	authorised := &transport{grants: g, account: accountID, source: source}
	authorised.token.Store(&token)
	return &http.Client{Transport: authorised, CheckRedirect: noRedirect}, nil
}

// noRedirect keeps access tokens from following a redirect.
func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// Refused records that Google refused the grant behind a client from Client despite a
// fresh access token: the account becomes revoked unless it was linked again since.
func (g *Grants) Refused(ctx context.Context, accountID string, client *http.Client) error {
	authorised, ok := client.Transport.(*transport)
	if !ok || authorised.account != accountID {
		return fault.New(fault.Invalid, "the client is not one that was given for this account")
	}
	return g.markDead(ctx, accountID, authorised.token.Load().grant)
}

// markDead ends a grant, in memory first: if the store does not answer, the next call writes
// it.
func (g *Grants) markDead(ctx context.Context, accountID string, grant int64) error {
	g.remember(accountID, accessToken{grant: grant, dead: true})
	_, err := g.accounts.MarkRevoked(ctx, accountID, grant)
	return err
}

// token returns an access token other than refused, from memory or Google.
func (g *Grants) token(ctx context.Context, accountID, refused string, leaving bool) (accessToken, error) {
	account, err := g.accounts.Get(ctx, accountID)
	switch {
	case fault.Is(err, fault.NotFound):
		err = errRemoved()
	case err == nil:
		err = account.usableFor(leaving)
	}
	if err != nil {
		return accessToken{}, err
	}
	if token, ok := g.remembered(accountID, account.Grant, refused); ok {
		return g.settle(ctx, account, token)
	}
	opened, err := g.accounts.open(ctx, accountID, leaving)
	if err != nil {
		return accessToken{}, err
	}
	return g.refresh(ctx, opened, refused)
}

// refresh requests a new access token, once for all concurrent callers. The store is
// called before and after, never during the call.
func (g *Grants) refresh(ctx context.Context, opened grant, refused string) (accessToken, error) {
	account := opened.account
	flight := account.ID + "/" + strconv.FormatInt(account.Grant, 10) + "/" + refused
	result, err, _ := g.flights.Do(flight, func() (any, error) {
		if token, ok := g.remembered(account.ID, account.Grant, refused); ok {
			return token, nil // fetched by a flight that has just ended
		}
		token, err := g.exchange(ctx, opened)
		if err == nil {
			g.remember(account.ID, token)
		}
		return token, err
	})
	if err != nil {
		return accessToken{}, err
	}
	return g.settle(ctx, account, result.(accessToken))
}

// exchange requests an access token for an account. A refused grant is no error but a dead
// token.
func (g *Grants) exchange(ctx context.Context, opened grant) (accessToken, error) {
	account := opened.account
	if account.Kind == KindServiceAccount {
		answer, err := g.assert(ctx, account.Email, ScopeEvents)
		return g.accessToken(account.Grant, answer, err)
	}
	answer, err := g.request(ctx, refusals, func(ctx context.Context) (*oauth2.Token, error) {
		return g.oauth.TokenSource(ctx, &oauth2.Token{RefreshToken: opened.refreshToken}).Token()
	})
	token, err := g.accessToken(account.Grant, answer, err)
	if err == nil && !token.dead && (answer.RefreshToken != opened.refreshToken || !opened.current) {
		token.unsaved = answer.RefreshToken
	}
	return token, err
}

// request makes a call of the token endpoint, and gives its refusal a kind. It ignores the
// caller's cancellation, since others wait for the same answer.
func (g *Grants) request(
	ctx context.Context, table refusal.Table, call func(context.Context) (*oauth2.Token, error),
) (*oauth2.Token, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), refreshTimeout)
	defer cancel()
	answer, err := call(context.WithValue(ctx, oauth2.HTTPClient, g.client))
	if err != nil {
		return nil, refusalOf(err, table, g.now())
	}
	return answer, nil
}

// accessToken is what memory holds of an answer of the token endpoint.
func (g *Grants) accessToken(grant int64, answer *oauth2.Token, err error) (accessToken, error) {
	switch {
	case fault.Is(err, fault.Revoked):
		return accessToken{grant: grant, dead: true}, nil
	case err != nil:
		return accessToken{}, err
	}
	lasts := time.Duration(answer.ExpiresIn) * time.Second
	if lasts <= 0 {
		lasts = unknownExpiry + expiryMargin
	}
	return accessToken{grant: grant, value: answer.AccessToken, expires: g.now().Add(lasts)}, nil
}

// settle stores what a refresh brought beside the access token: a dead grant, or a
// refresh token to keep. If that fails it stays in memory and the next call stores it.
func (g *Grants) settle(ctx context.Context, account Account, token accessToken) (accessToken, error) {
	accountID := account.ID
	if token.dead {
		if err := g.markDead(ctx, accountID, token.grant); err != nil {
			return accessToken{}, errors.Join(account.errRevoked(), err)
		}
		return accessToken{}, account.errRevoked()
	}
	if token.unsaved == "" {
		return token, nil
	}
	if err := g.accounts.saveToken(ctx, accountID, token.grant, token.unsaved); err != nil {
		return accessToken{}, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if known := g.tokens[accountID]; known.unsaved == token.unsaved {
		known.unsaved = ""
		g.tokens[accountID] = known
	}
	token.unsaved = ""
	return token, nil
}

// remembered returns what memory holds of a grant: a valid access token other than the
// refused one, or that the grant is dead.
func (g *Grants) remembered(accountID string, grant int64, refused string) (accessToken, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	token, ok := g.tokens[accountID]
	usable := token.value != refused && g.now().Before(token.expires.Add(-expiryMargin))
	return token, ok && token.grant == grant && (token.dead || usable)
}

// remember keeps an access token unless memory has a newer grant, or knows this one is
// dead: a late answer does not revive it.
func (g *Grants) remember(accountID string, token accessToken) {
	g.mu.Lock()
	defer g.mu.Unlock()
	known, ok := g.tokens[accountID]
	if !ok || known.grant < token.grant || known.grant == token.grant && !known.dead {
		g.tokens[accountID] = token
	}
}
