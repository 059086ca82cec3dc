package accounts

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"questscheduler/internal/fault"
)

// GoogleAuthURL is where people consent at Google.
const GoogleAuthURL = "https://accounts.google.com/o/oauth2/v2/auth"

// asked are the scopes that a consent is asked for.
var asked = []string{"openid", "email", ScopeEvents, ScopeCalendarList}

// LinkingOptions are what a Linking is made of.
type LinkingOptions struct {
	Accounts *Repository
	// ClientID and ClientSecret are those of our OAuth client.
	ClientID, ClientSecret string
	// AuthURL is the consent page, TokenURL the token endpoint; "": Google's.
	AuthURL, TokenURL string
	// CallbackURL is where Google sends the browser back to, as it is
	// registered with our OAuth client.
	CallbackURL string
	// Home is where people go afterwards where they named no address of their
	// own. ReturnOrigins are the origins, such as
	// https://app.example, whose addresses they may name.
	Home          string
	ReturnOrigins []string
	// Transport makes the calls of the token endpoint; nil:
	// http.DefaultTransport.
	Transport http.RoundTripper
	// NewVerifier makes a PKCE code verifier; nil: oauth2.GenerateVerifier.
	NewVerifier func() string
}

// Linking leads people through Google's consent: a ticket names
// the person, Start sends their browser to Google with a state and the
// challenge of a verifier (PKCE, S256), and Finish takes what comes back and
// links the account.
//
//	POST /v1/accounts/link → ticket → Start → Google → Finish → Link
//
// Ticket and state are sealed, so nobody makes one but us, and last StateLife.
// A state is good once: that it came back is recorded before its code is
// exchanged. Nothing is linked but by Repository.Link. It is safe for
// concurrent use.
type Linking struct {
	accounts    *Repository
	oauth       *oauth2.Config
	client      *http.Client
	home        string
	origins     []string
	newVerifier func() string
}

// NewLinking makes a linking.
func NewLinking(options LinkingOptions) *Linking {
	if options.Transport == nil {
		options.Transport = http.DefaultTransport
	}
	if options.NewVerifier == nil {
		options.NewVerifier = oauth2.GenerateVerifier
	}
	return &Linking{
		accounts: options.Accounts, home: options.Home, origins: options.ReturnOrigins, newVerifier: options.NewVerifier,
		client: &http.Client{Transport: options.Transport, CheckRedirect: noRedirect},
		oauth: &oauth2.Config{
			ClientID: options.ClientID, ClientSecret: options.ClientSecret, RedirectURL: options.CallbackURL, Scopes: asked,
			Endpoint: oauth2.Endpoint{
				AuthURL:  cmp.Or(options.AuthURL, GoogleAuthURL),
				TokenURL: cmp.Or(options.TokenURL, GoogleTokenURL), AuthStyle: oauth2.AuthStyleInParams,
			},
		},
	}
}

// Home is where people go who named no address of their own.
func (l *Linking) Home() string { return l.home }

// Ask is what a person wants linked.
type Ask struct {
	PersonID string `json:"person"`
	// PersonName is how the person is called where they are to recognise
	// themselves, such as their e-mail address.
	PersonName string `json:"name,omitempty"`
	// AccountID is the account to link again; "" links whichever they choose.
	AccountID string `json:"account,omitempty"`
	// AnyIdentity says that another Google account than that of AccountID is
	// meant if it is chosen, and linked beside it.
	AnyIdentity bool `json:"any,omitempty"`
	// ReturnTo is where they go afterwards; "": home.
	ReturnTo string `json:"return,omitempty"`
}

// check refuses what cannot be asked for: NotFound where the account to link
// again is not the person's, Invalid with CodeUnsafeReturn for an address that
// is not one of ours. It gives the ask with the address to return to in full.
func (l *Linking) check(ctx context.Context, ask Ask) (Ask, error) {
	if ask.AccountID != "" {
		if _, err := l.accounts.Owned(ctx, ask.PersonID, ask.AccountID); err != nil {
			return Ask{}, err
		}
	}
	address, err := l.safeReturn(ask.ReturnTo)
	ask.ReturnTo = address
	return ask, err
}

// Ticket seals what a person asks for, so that their browser can bring it to
// Start within StateLife. NotFound where the account to link again is not the
// person's, Invalid with CodeUnsafeReturn for an address to return to that is
// not one of ours.
func (l *Linking) Ticket(ctx context.Context, ask Ask) (ticket string, until time.Time, err error) {
	if ask, err = l.check(ctx, ask); err != nil {
		return "", time.Time{}, err
	}
	until = l.accounts.now().Add(StateLife)
	ticket, err = l.accounts.sealNote(ticketPurpose, note{Until: until.Unix(), Ask: &ask})
	return ticket, until, err
}

// Asked opens a ticket: Invalid with CodeStateMismatch where it is not ours, or
// too old.
func (l *Linking) Asked(ticket string) (Ask, error) {
	opened, err := l.accounts.openNote(ticketPurpose, ticket)
	if err != nil || opened.Ask == nil {
		return Ask{}, cmp.Or(err, errStateMismatch())
	}
	return *opened.Ask, nil
}

// Start begins the consent that was asked for, and gives the address at Google
// where it goes on. browser is a secret that the browser keeps until it comes
// back; "" for a program, which sends the person's token again then. Its errors
// are Ticket's.
func (l *Linking) Start(ctx context.Context, ask Ask, browser string) (address string, err error) {
	if ask, err = l.check(ctx, ask); err != nil {
		return "", err
	}
	hint := ""
	if ask.AccountID != "" && !ask.AnyIdentity {
		account, err := l.accounts.Owned(ctx, ask.PersonID, ask.AccountID)
		if err != nil {
			return "", err
		}
		hint = cmp.Or(account.Sub, account.Email)
	}
	begun := state{ID: l.accounts.newID(), Ask: ask, Verifier: l.newVerifier(), Browser: hashBrowser(browser)}
	sealed, err := l.accounts.begin(ctx, begun)
	if err != nil {
		return "", err
	}
	options := []oauth2.AuthCodeOption{
		oauth2.AccessTypeOffline, oauth2.S256ChallengeOption(begun.Verifier), oauth2.SetAuthURLParam("nonce", begun.ID),
		// Without consent there is no refresh token but the first time.
		oauth2.SetAuthURLParam("prompt", "select_account consent"),
	}
	if hint != "" {
		options = append(options, oauth2.SetAuthURLParam("login_hint", hint), oauth2.SetAuthURLParam("prompt", "consent"))
	}
	return l.oauth.AuthCodeURL(sealed, options...), nil
}

// Back is what a browser brings back from Google.
type Back struct {
	State, Code string
	// Error is RFC 6749's, where there is no code.
	Error string
	// Browser is the secret that a browser kept since Start; "" where it brought
	// none.
	Browser string
	// PersonID is whose token was sent with it; "" for none.
	PersonID string
}

// Finish links the account of a consent that came back. The ask is given with
// an error too, once the state told it: where to go back to, and for whom to
// begin again. Errors, each with its code: Invalid for a state that is not ours,
// came before, or was begun elsewhere (CodeStateMismatch) and for too small a grant
// (CodeScopesInsufficient); Forbidden (CodeDeclined); Conflict
// (CodeLinkedElsewhere, CodeOtherIdentity); Provider or Unavailable
// (CodeExchangeFailed), the latter too while the grant of the same Google
// account is given back (Grants.Revoke). In all of them nothing is linked.
func (l *Linking) Finish(ctx context.Context, back Back) (ask Ask, account Account, err error) {
	begun, err := l.accounts.end(ctx, back)
	if err != nil {
		return Ask{}, Account{}, err
	}
	account, err = l.finish(ctx, begun, back)
	return begun.Ask, account, err
}

func (l *Linking) finish(ctx context.Context, begun state, back Back) (Account, error) {
	switch {
	case back.Error == "access_denied":
		return Account{}, &fault.Error{Kind: fault.Forbidden, Code: CodeDeclined, Message: "You declined access. No account linked."}
	case back.Error != "" || back.Code == "":
		return Account{}, errExchange(fault.Provider, errors.New("google came back without a code"))
	}
	asked := l.accounts.now()
	granted, err := l.exchange(ctx, back.Code, begun)
	if err != nil {
		return Account{}, err
	}
	if begun.Ask.AccountID != "" && !begun.Ask.AnyIdentity {
		expected, err := l.accounts.Owned(ctx, begun.Ask.PersonID, begun.Ask.AccountID)
		if err != nil {
			return Account{}, err
		}
		if !expected.mayBe(granted.who) {
			return Account{}, &fault.Error{
				Kind: fault.Conflict, Code: CodeOtherIdentity,
				Message: "You chose another Google account than the one to link again. Choose that one, or say that you want to link this one as well.",
			}
		}
	}
	return l.accounts.link(ctx, begun.Ask.PersonID, granted.who, granted.refreshToken, granted.scopes, asked)
}

// consented is what Google gives for a code.
type consented struct {
	who          Identity
	refreshToken string
	scopes       []string
}

// exchange gets what a code stands for, with the verifier of its challenge.
func (l *Linking) exchange(ctx context.Context, code string, begun state) (consented, error) {
	ctx, cancel := context.WithTimeout(ctx, refreshTimeout)
	defer cancel()
	ctx = context.WithValue(ctx, oauth2.HTTPClient, l.client)
	token, err := l.oauth.Exchange(ctx, code, oauth2.VerifierOption(begun.Verifier))
	if err != nil {
		refused := refusalOf(err, l.accounts.now())
		kind := fault.Provider
		if refused.Kind == fault.Unavailable || refused.Kind == fault.RateLimited {
			kind = fault.Unavailable
		}
		return consented{}, errExchange(kind, fmt.Errorf("exchange a code: %w", refused.Err))
	}
	got := consented{refreshToken: token.RefreshToken, scopes: slices.Clone(asked)}
	if text, ok := token.Extra("scope").(string); ok { // left out, it is what was asked for
		got.scopes = strings.Fields(text)
	}
	if !slices.Contains(got.scopes, "openid") {
		return consented{}, errScopes()
	}
	identity, _ := token.Extra("id_token").(string)
	got.who, err = l.identify(identity, begun)
	if err != nil {
		return consented{}, errExchange(fault.Provider, err)
	}
	return got, nil
}

func errExchange(kind fault.Kind, cause error) error {
	return &fault.Error{Kind: kind, Code: CodeExchangeFailed, Message: "Something went wrong. Please try again.", Err: cause}
}

func errStateMismatch() error {
	return &fault.Error{Kind: fault.Invalid, Code: CodeStateMismatch, Message: "Link failed. Please try again."}
}

func errScopes() error {
	return &fault.Error{
		Kind: fault.Invalid, Code: CodeScopesInsufficient, Message: "We need calendar access to sync. Please re-authorize.",
	}
}
