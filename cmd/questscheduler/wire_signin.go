package main

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"questscheduler/internal/config"
	"questscheduler/internal/signin"
	"questscheduler/internal/signin/revocation"
)

// issuer makes people's tokens: the embedded sign-in, or what stands in for the
// Firebase Auth emulator.
type issuer interface {
	Issue(person signin.Person, ttl time.Duration) (string, error)
}

// keysPatience is how long those who publish keys may take to answer.
const keysPatience = 10 * time.Second

func (s *server) keysClient() *http.Client {
	return &http.Client{Transport: s.outbound, Timeout: keysPatience}
}

// wireSignIn makes what knows people by their tokens. With Firebase there is no
// key of the embedded issuer, so that none of its tokens is good; what the
// settings allow in production is theirs to say (config.checkProduction).
func (s *server) wireSignIn(ctx context.Context) error {
	switch {
	case s.config.Auth == config.AuthLocal:
		key, err := signin.LoadOrCreateKey(s.config.SignInKeyPath())
		if err != nil {
			return fmt.Errorf("sign-in key: %w", err)
		}
		local, err := signin.NewLocal(signin.LocalOptions{Key: key, Now: s.now})
		s.signin, s.issuer = local, local
		return err
	case s.config.UnsignedTokens():
		unsigned, err := signin.NewUnsigned(s.config.FirebaseProject, s.config.DocumentsEmulated(), s.now)
		s.signin, s.issuer = unsigned, unsigned
		return err
	default:
		return s.wireFirebase(ctx)
	}
}

func (s *server) wireFirebase(ctx context.Context) error {
	options := signin.FirebaseOptions{
		Project: s.config.FirebaseProject, Now: s.now,
		Keys: signin.NewHTTPKeys(signin.FirebaseKeysURL, s.keysClient(), s.now),
	}
	if s.config.FirebaseRevocation == config.On {
		checker, err := revocation.New(ctx, s.config.FirebaseProject, s.now)
		if err != nil {
			return fmt.Errorf("QS_FIREBASE_REVOCATION: %w", err)
		}
		options.Revoked = checker
	}
	firebase, err := signin.NewFirebase(options)
	s.signin = firebase
	return err
}
