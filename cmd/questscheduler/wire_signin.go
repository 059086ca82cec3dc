package main

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"

	"questscheduler/internal/config"
	"questscheduler/internal/signin"
	webhooks "questscheduler/web-hooks"
)

// issuer issues users' tokens: the embedded sign-in, or the stand-in for the
// Firebase Auth emulator.
type issuer interface {
	Issue(person signin.Person, ttl time.Duration) (string, error)
}

// keysPatience is how long a key server may take to answer.
const keysPatience = 10 * time.Second

func (s *server) keysClient() *http.Client {
	return &http.Client{Transport: s.outbound, Timeout: keysPatience}
}

// signIn is how users sign in.
type signIn struct {
	people signin.Verifier
	// issuer is nil with Firebase: no key of the embedded sign-in is loaded, so none of its
	// tokens is valid.
	issuer issuer
	// revoked is nil unless Firebase is asked which sign-ins were ended.
	revoked signin.Revocations
	// emailOf is the verified address of a person; nil unless Firebase is asked.
	emailOf func(ctx context.Context, uid string) (string, error)
}

// firebaseAccounts is what Firebase says of people (internal/signin/revocation).
type firebaseAccounts interface {
	signin.Revocations
	VerifiedEmail(ctx context.Context, uid string) (string, error)
}

// newSignIn builds what verifies users' tokens. config.checkProduction decides what
// production may use.
func (s *server) newSignIn(ctx context.Context) (signIn, error) {
	switch {
	case s.config.Auth == config.AuthLocal:
		local, err := openLocal(s.config, s.now)
		return signIn{people: local, issuer: local}, err
	case s.config.UnsignedTokens():
		unsigned, err := signin.NewUnsigned(s.config.FirebaseProject, s.config.DocumentsEmulated(), s.now)
		return signIn{people: unsigned, issuer: unsigned}, err
	}
	var emailOf func(ctx context.Context, uid string) (string, error)
	options := signin.FirebaseOptions{
		Project: s.config.FirebaseProject, Now: s.now,
		Keys: signin.NewHTTPKeys(signin.FirebaseKeysURL, s.keysClient(), s.now),
	}
	if s.config.FirebaseRevocation == config.On {
		checker, err := newRevocations(ctx, s.config.FirebaseProject, s.now)
		if err != nil {
			return signIn{}, fmt.Errorf("QS_FIREBASE_REVOCATION: %w", err)
		}
		options.Revoked, emailOf = checker, checker.VerifiedEmail
	}
	firebase, err := signin.NewFirebase(options)
	return signIn{people: firebase, revoked: options.Revoked, emailOf: emailOf}, err
}

func openLocal(cfg config.Config, now func() time.Time) (*signin.Local, error) {
	key, err := signin.LoadOrCreateKey(cfg.SignInKeyPath())
	if err != nil {
		return nil, fmt.Errorf("sign-in key: %w", err)
	}
	return signin.NewLocal(signin.LocalOptions{Key: key, Now: now})
}

// newMachines builds what verifies OIDC tokens of machines: of operators, and of
// the service account that delivers tasks. Both share the fetched keys.
func (s *server) newMachines() (operators, deliverers *signin.Machines) {
	options := signin.MachineOptions{Issuers: signin.GoogleIssuers, Audiences: s.audiences(), Accounts: s.config.MachineAccounts, Now: s.now}
	if s.config.MachineIssuer == "" {
		options.Keys = signin.NewHTTPKeys(signin.GoogleKeysURL, s.keysClient(), s.now)
	} else {
		options.Keys = signin.NewIssuerKeys(s.config.MachineIssuer, s.keysClient(), s.now)
		options.Issuers = []string{s.config.MachineIssuer}
	}
	operators = signin.NewMachines(options)
	options.Audiences, options.Accounts = []string{s.config.TasksAudience}, []string{s.config.TasksServiceAccount}
	return operators, signin.NewMachines(options)
}

// machinePaths are the routes of machines beside webhooks.JobPaths.
var machinePaths = []string{
	"/webhooks/documents", "/admin/watches/force-register", "/admin/force-register-channels", "/admin/reload-mappings",
}

// audiences are the audiences that machines' tokens may have: the configured one
// and, since Cloud Scheduler and Eventarc default to the address that they call,
// those of the routes.
func (s *server) audiences() []string {
	audiences := []string{s.config.TasksAudience}
	if base := s.config.PublicURL; base != "" {
		audiences = append(audiences, base, base+"/")
		for _, path := range append(slices.Concat(slices.Collect(maps.Values(webhooks.JobPaths))...), machinePaths...) {
			audiences = append(audiences, base+path)
		}
	}
	return slices.DeleteFunc(audiences, func(audience string) bool { return audience == "" })
}
