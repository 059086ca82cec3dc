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

	"questscheduler/internal/fault"
)

// Google's OAuth endpoints.
const (
	// GoogleTokenURL is where Google gives access tokens.
	GoogleTokenURL = "https://oauth2.googleapis.com/token"
	// GoogleRevokeURL is where Google takes grants back.
	GoogleRevokeURL = "https://oauth2.googleapis.com/revoke"
)

const (
	// refreshTimeout bounds the call for an access token.
	refreshTimeout = 10 * time.Second
	// expiryMargin is how long before its end an access token is given up.
	expiryMargin = time.Minute
	// unknownExpiry is how long an access token is used whose answer did not
	// say how long it lasts; being refused earlier, it is refreshed then.
	unknownExpiry = 5 * time.Minute
)

// GrantOptions are what Grants are made of.
type GrantOptions struct {
	Accounts *Repository
	// ClientID and ClientSecret are those of our OAuth client.
	ClientID, ClientSecret string
	// TokenURL is the token endpoint; "": GoogleTokenURL. RevokeURL is where
	// grants are given back; "": GoogleRevokeURL.
	TokenURL, RevokeURL string
	// Transport makes all calls, those for access tokens included; nil:
	// http.DefaultTransport.
	Transport http.RoundTripper
	Now       func() time.Time
}

// Grants turns the grants of linked accounts into authorised HTTP clients. It
// keeps access tokens in memory alone. It is safe for concurrent use, and holds
// no lock across a call of the store.
type Grants struct {
	accounts  *Repository
	oauth     *oauth2.Config
	client    *http.Client // for the token endpoint
	transport http.RoundTripper
	revokeURL string
	now       func() time.Time
	// flights makes concurrent refreshes of one grant one call.
	flights singleflight.Group

	mu     sync.Mutex
	tokens map[string]accessToken // by account
}

// accessToken is what is known in memory of an account's newest grant.
type accessToken struct {
	grant   int64
	value   string
	expires time.Time
	// dead tells that Google refused the grant. It holds whether or not that
	// could be written to the store.
	dead bool
	// unkept is a refresh token that has to be sealed into the store: another
	// one than it holds, or the same to be sealed with the first key.
	unkept string
}

// NewGrants makes grants.
func NewGrants(options GrantOptions) *Grants {
	if options.Transport == nil {
		options.Transport = http.DefaultTransport
	}
	return &Grants{
		accounts: options.Accounts,
		oauth: &oauth2.Config{
			ClientID: options.ClientID, ClientSecret: options.ClientSecret,
			// Google takes the client in the body alone; trying the header
			// first would double every failing call.
			Endpoint: oauth2.Endpoint{TokenURL: cmp.Or(options.TokenURL, GoogleTokenURL), AuthStyle: oauth2.AuthStyleInParams},
		},
		client:    &http.Client{Transport: options.Transport, CheckRedirect: noRedirect},
		transport: options.Transport,
		revokeURL: cmp.Or(options.RevokeURL, GoogleRevokeURL),
		now:       options.Now,
		tokens:    map[string]accessToken{},
	}
}

// Client gives an HTTP client whose requests are authorised as an account,
// refreshing its access token where need be, and once more where a request is
// answered by 401. Errors: NotFound; Revoked without any call of Google where
// the account is revoked or unlinked, or after the first refusal of its grant;
// Unavailable or RateLimited where the token endpoint does not answer.
//
// The client is for the calls at hand: whether the account may still be used
// is looked up when it is made. It follows no redirects.
func (g *Grants) Client(ctx context.Context, accountID string) (*http.Client, error) {
	return g.authorised(ctx, accountID, false)
}

func (g *Grants) authorised(ctx context.Context, accountID string, leaving bool) (*http.Client, error) {
	token, err := g.token(ctx, accountID, "", leaving)
	if err != nil {
		return nil, err
	}
	authorised := &transport{grants: g, account: accountID, leaving: leaving}
	authorised.token.Store(&token)
	return &http.Client{Transport: authorised, CheckRedirect: noRedirect}, nil
}

// noRedirect keeps an access token from going to wherever an answer points.
func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// Refused records that Google refused the grant behind a client that Client
// gave, although its access token was fresh: the account is revoked, unless it
// was linked again meanwhile.
func (g *Grants) Refused(ctx context.Context, accountID string, client *http.Client) error {
	authorised, ok := client.Transport.(*transport)
	if !ok || authorised.account != accountID {
		return fault.New(fault.Invalid, "the client is not one that was given for this account")
	}
	return g.bury(ctx, accountID, authorised.token.Load().grant)
}

// bury ends a grant, in memory first, so that it is refused here even where
// the store does not answer. The next call writes it then.
func (g *Grants) bury(ctx context.Context, accountID string, grant int64) error {
	g.remember(accountID, accessToken{grant: grant, dead: true})
	_, err := g.accounts.MarkRevoked(ctx, accountID, grant)
	return err
}

// token gives an access token other than refused, from memory or Google.
func (g *Grants) token(ctx context.Context, accountID, refused string, leaving bool) (accessToken, error) {
	account, err := g.accounts.Get(ctx, accountID)
	if err == nil {
		err = account.usableFor(leaving)
	}
	if err != nil {
		return accessToken{}, err
	}
	if token, ok := g.remembered(accountID, account.Grant, refused); ok {
		return g.settle(ctx, accountID, token)
	}
	opened, err := g.accounts.open(ctx, accountID, leaving)
	if err != nil {
		return accessToken{}, err
	}
	return g.refresh(ctx, opened, refused)
}

// refresh gets a new access token, one call for all who want the same. The
// store is called before and after it, never within.
func (g *Grants) refresh(ctx context.Context, opened grant, refused string) (accessToken, error) {
	account := opened.account
	flight := account.ID + "/" + strconv.FormatInt(account.Grant, 10) + "/" + refused
	result, err, _ := g.flights.Do(flight, func() (any, error) {
		if token, ok := g.remembered(account.ID, account.Grant, refused); ok {
			return token, nil // a flight that has just ended brought it
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
	return g.settle(ctx, account.ID, result.(accessToken))
}

// exchange asks Google for an access token. A refusal of the grant is no error
// but a dead token. It goes on where the caller gives up, since others wait for
// the same answer.
func (g *Grants) exchange(ctx context.Context, opened grant) (accessToken, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), refreshTimeout)
	defer cancel()
	ctx = context.WithValue(ctx, oauth2.HTTPClient, g.client)
	answer, err := g.oauth.TokenSource(ctx, &oauth2.Token{RefreshToken: opened.refreshToken}).Token()
	if err != nil {
		refusal := refusalOf(err, g.now())
		if refusal.Kind == fault.Revoked {
			return accessToken{grant: opened.account.Grant, dead: true}, nil
		}
		return accessToken{}, refusal
	}
	lasts := time.Duration(answer.ExpiresIn) * time.Second
	if lasts <= 0 {
		lasts = unknownExpiry + expiryMargin
	}
	token := accessToken{grant: opened.account.Grant, value: answer.AccessToken, expires: g.now().Add(lasts)}
	if answer.RefreshToken != opened.refreshToken || !opened.current {
		token.unkept = answer.RefreshToken
	}
	return token, nil
}

// settle writes to the store what a refresh brought beside an access token: that
// the grant is dead, or a refresh token to keep. What could not be written is
// still remembered, and the next call writes it.
func (g *Grants) settle(ctx context.Context, accountID string, token accessToken) (accessToken, error) {
	if token.dead {
		if err := g.bury(ctx, accountID, token.grant); err != nil {
			return accessToken{}, errors.Join(errRevoked(), err)
		}
		return accessToken{}, errRevoked()
	}
	if token.unkept == "" {
		return token, nil
	}
	if err := g.accounts.keep(ctx, accountID, token.grant, token.unkept); err != nil {
		return accessToken{}, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if known := g.tokens[accountID]; known.unkept == token.unkept {
		known.unkept = ""
		g.tokens[accountID] = known
	}
	token.unkept = ""
	return token, nil
}

// remembered gives what is known of a grant: an access token that still lasts
// and is not the refused one, or that the grant is dead.
func (g *Grants) remembered(accountID string, grant int64, refused string) (accessToken, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	token, ok := g.tokens[accountID]
	usable := token.value != refused && g.now().Before(token.expires.Add(-expiryMargin))
	return token, ok && token.grant == grant && (token.dead || usable)
}

// remember keeps what is known of a grant, unless a newer one is known, or that
// the grant is dead: an answer that comes late brings it back no more.
func (g *Grants) remember(accountID string, token accessToken) {
	g.mu.Lock()
	defer g.mu.Unlock()
	known, ok := g.tokens[accountID]
	if !ok || known.grant < token.grant || known.grant == token.grant && !known.dead {
		g.tokens[accountID] = token
	}
}
