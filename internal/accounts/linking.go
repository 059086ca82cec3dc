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

	"questscheduler/fault"
)

// GoogleAuthURL is Google's consent page.
const GoogleAuthURL = "https://accounts.google.com/o/oauth2/v2/auth"

// asked are the scopes that every consent requests.
var asked = []string{"openid", "email", ScopeEvents, ScopeCalendarList}

// LinkingOptions configure a Linking.
type LinkingOptions struct {
	Accounts *Repository
	// ClientID and ClientSecret identify our OAuth client.
	ClientID, ClientSecret string
	// AuthURL is the consent page, TokenURL the token endpoint; "" means Google's.
	AuthURL, TokenURL string
	// CallbackURL is where Google returns the browser, as registered with our OAuth
	// client.
	CallbackURL string
	// Home is the default return address. ReturnOrigins are the origins, such as
	// https://app.example, that other return addresses may have.
	Home          string
	ReturnOrigins []string
	// Transport calls the token endpoint; nil means http.DefaultTransport.
	Transport http.RoundTripper
	// NewVerifier makes a PKCE code verifier; nil means oauth2.GenerateVerifier.
	NewVerifier func() string
}

// Linking leads people through Google's consent (OAuth 2.0 with PKCE, S256). A ticket names
// the person, Start sends their browser to Google, and Finish links the account when it
// returns.
//
//	POST /v1/accounts/link → ticket → Start → Google → Finish → Link
//
// Ticket and state are sealed and valid for StateLife. A state is valid once: its use is
// recorded before its code is exchanged. Safe for concurrent use.
type Linking struct {
	accounts    *Repository
	oauth       *oauth2.Config
	client      *http.Client
	home        string
	origins     []string
	newVerifier func() string
}

// NewLinking returns a Linking.
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

// Home is the default return address.
func (l *Linking) Home() string { return l.home }

// Ask is a request to link an account.
type Ask struct {
	PersonID string `json:"person"`
	// PersonName is a name by which people recognise themselves, such as their e-mail
	// address.
	PersonName string `json:"name,omitempty"`
	// AccountID is the account to relink; "" links whichever they choose.
	AccountID string `json:"account,omitempty"`
	// AnyIdentity accepts another Google account than AccountID's and links it as well.
	AnyIdentity bool `json:"any,omitempty"`
	// Features are those whose scopes are requested too; those of the account to relink
	// stay without being named.
	Features []Feature `json:"features,omitempty"`
	// ReturnTo is where they go afterwards; "" means home.
	ReturnTo string `json:"return,omitempty"`
}

// check validates an ask and resolves its return address. NotFound: the account to relink
// is not the person's. Invalid: there is no such feature, or with CodeUnsafeReturn the
// return address is not one of ours.
func (l *Linking) check(ctx context.Context, ask Ask) (checked Ask, account Account, err error) {
	if ask.AccountID != "" {
		account, err = l.accounts.Owned(ctx, ask.PersonID, ask.AccountID)
		if err != nil {
			return Ask{}, Account{}, err
		}
	}
	if _, err := scopesFor(ask.Features); err != nil {
		return Ask{}, Account{}, err
	}
	ask.ReturnTo, err = l.safeReturn(ask.ReturnTo)
	return ask, account, err
}

// Ticket seals an ask for the browser to bring to Start within StateLife. Its errors are
// NotFound (the account to relink is not the person's) and Invalid: a feature that does not
// exist, or with CodeUnsafeReturn.
func (l *Linking) Ticket(ctx context.Context, ask Ask) (ticket string, until time.Time, err error) {
	ask, _, err = l.check(ctx, ask)
	if err != nil {
		return "", time.Time{}, err
	}
	until = l.accounts.now().Add(StateLife)
	ticket, err = l.accounts.sealNote(ticketPurpose, sealedNote{Until: until.Unix(), Ask: &ask})
	return ticket, until, err
}

// Asked opens a ticket; Invalid with CodeStateMismatch if it is not ours or expired.
func (l *Linking) Asked(ticket string) (Ask, error) {
	opened, err := l.accounts.openNote(ticketPurpose, ticket)
	if err != nil || opened.Ask == nil {
		return Ask{}, cmp.Or(err, errStateMismatch())
	}
	return *opened.Ask, nil
}

// Start begins a consent and returns Google's address for it. browser is a secret that
// the browser keeps until it comes back; "" for a program, which then sends the person's
// token again. Its errors are Ticket's.
func (l *Linking) Start(ctx context.Context, ask Ask, browser string) (address string, err error) {
	ask, account, err := l.check(ctx, ask)
	if err != nil {
		return "", err
	}
	identity := ""
	if !ask.AnyIdentity {
		identity = cmp.Or(account.Sub, account.Email)
	}
	// An account that is linked again keeps its features: Google forgets those of a grant
	// that was revoked.
	ask.Features = append(account.Features(), ask.Features...)
	scopes, err := scopesFor(ask.Features)
	if err != nil {
		return "", err
	}
	begun := state{ID: l.accounts.newID(), Ask: ask, Verifier: l.newVerifier(), Browser: hashBrowser(browser)}
	sealed, err := l.accounts.begin(ctx, begun)
	if err != nil {
		return "", err
	}
	options := []oauth2.AuthCodeOption{
		oauth2.AccessTypeOffline, oauth2.S256ChallengeOption(begun.Verifier), oauth2.SetAuthURLParam("nonce", begun.ID),
		oauth2.SetAuthURLParam("scope", strings.Join(scopes, " ")),
		// What the person granted earlier stays part of the grant.
		oauth2.SetAuthURLParam("include_granted_scopes", "true"),
		// Without "consent" Google returns a refresh token the first time only.
		oauth2.SetAuthURLParam("prompt", "select_account consent"),
	}
	if identity != "" {
		options = append(options, oauth2.SetAuthURLParam("login_hint", identity), oauth2.SetAuthURLParam("prompt", "consent"))
	}
	return l.oauth.AuthCodeURL(sealed, options...), nil
}

// Back is what a browser brings back from Google.
type Back struct {
	State, Code string
	// Error is RFC 6749's, if there is no code.
	Error string
	// Browser is the secret kept since Start; "" if the browser has none.
	Browser string
	// PersonID is the owner of the token sent with the request; "" for none.
	PersonID string
}

// Finish links the account of a returning consent. It returns the ask even with an error,
// once the state has identified it. Errors: Invalid with CodeStateMismatch (unknown,
// expired or used state, or another browser) or CodeScopesInsufficient; Forbidden with
// CodeDeclined; Conflict with CodeLinkedElsewhere or CodeOtherIdentity; Provider or
// Unavailable with CodeExchangeFailed, Unavailable also while the grant of the same
// Google account is being revoked. None of them links anything.
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
	return l.accounts.link(ctx, begun.Ask.PersonID, granted, asked)
}

// consented is what a person granted.
type consented struct {
	who          Identity
	refreshToken string
	scopes       []string
}

// exchange redeems a code with the verifier of its challenge.
func (l *Linking) exchange(ctx context.Context, code string, begun state) (consented, error) {
	ctx, cancel := context.WithTimeout(ctx, refreshTimeout)
	defer cancel()
	ctx = context.WithValue(ctx, oauth2.HTTPClient, l.client)
	token, err := l.oauth.Exchange(ctx, code, oauth2.VerifierOption(begun.Verifier))
	if err != nil {
		refused := refusalOf(err, refusals, l.accounts.now())
		kind := fault.Provider
		if refused.Kind == fault.Unavailable || refused.Kind == fault.RateLimited {
			kind = fault.Unavailable
		}
		return consented{}, errExchange(kind, fmt.Errorf("exchange a code: %w", refused.Err))
	}
	got := consented{refreshToken: token.RefreshToken}
	got.scopes, err = scopesFor(begun.Ask.Features)
	if err != nil {
		return consented{}, err
	}
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
