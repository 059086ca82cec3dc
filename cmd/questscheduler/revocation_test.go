package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"google.golang.org/api/option"

	"questscheduler/fault"
	"questscheduler/internal/signin"
	"questscheduler/internal/signin/revocation"
	"questscheduler/internal/test/emulator"
	"questscheduler/internal/test/tokentest"
)

// toAuthEmulator redirects calls to Firebase to the Auth emulator, with the rights of
// the project's owner. The program itself cannot be redirected: it either accepts
// unsigned tokens or checks revocation, never both.
type toAuthEmulator struct{ host string }

// RoundTrip implements http.RoundTripper.
func (e toAuthEmulator) RoundTrip(request *http.Request) (*http.Response, error) {
	led := request.Clone(request.Context())
	led.URL.Path = "/" + request.URL.Host + request.URL.Path
	led.URL.Scheme, led.URL.Host, led.Host = "http", e.host, e.host
	led.Header.Set("Authorization", "Bearer owner")
	return http.DefaultTransport.RoundTrip(led)
}

// signedLikeFirebase is an ID token of the emulator with a signature, and the time of
// the sign-in.
func signedLikeFirebase(t *testing.T, issuer *tokentest.Issuer, token string) (signed string, at time.Time) {
	t.Helper()
	text, err := base64.RawURLEncoding.DecodeString(strings.Split(token, ".")[1])
	if err != nil {
		t.Fatal(err)
	}
	var claims tokentest.Claims
	if err := json.Unmarshal(text, &claims); err != nil {
		t.Fatal(err)
	}
	seconds, _ := claims["auth_time"].(float64)
	return issuer.Sign(claims), time.Unix(int64(seconds), 0)
}

// TestRevocation_IsThatOfFirebaseAuth: what revokes sign-ins at the official emulator
// revokes them here, with production's verifier and check.
func TestRevocation_IsThatOfFirebaseAuth(t *testing.T) {
	t.Parallel()
	issuer := tokentest.NewIssuer(t)
	verify := func(t *testing.T, people *emulator.People, token string) (signin.Person, error) {
		t.Helper()
		// A new check has no cached answers.
		revoked, err := revocation.New(t.Context(), people.Project, time.Now,
			option.WithHTTPClient(&http.Client{Transport: toAuthEmulator{people.Host}}))
		if err != nil {
			t.Fatal(err)
		}
		firebase, err := signin.NewFirebase(signin.FirebaseOptions{
			Project: people.Project, Keys: signin.NewHTTPKeys(issuer.URL+"/jwks", http.DefaultClient, time.Now), Revoked: revoked, Now: time.Now,
		})
		if err != nil {
			t.Fatal(err)
		}
		return firebase.Verify(context.WithoutCancel(t.Context()), token)
	}
	for name, row := range map[string]struct {
		ends  func(people *emulator.People, person emulator.Person, signedIn time.Time)
		again func(people *emulator.People, person emulator.Person) // after which a new sign-in counts; nil: none does
	}{
		"an account that is disabled": {
			func(people *emulator.People, person emulator.Person, _ time.Time) {
				people.Change(person, map[string]any{"disableUser": true})
			},
			func(people *emulator.People, person emulator.Person) {
				people.Change(person, map[string]any{"disableUser": false})
			},
		},
		"an account that is deleted": {
			func(people *emulator.People, person emulator.Person, _ time.Time) { people.Remove(person) }, nil,
		},
		"an account that was signed out everywhere": {
			func(people *emulator.People, person emulator.Person, signedIn time.Time) {
				people.Change(person, map[string]any{"validSince": strconv.FormatInt(signedIn.Unix()+1, 10)})
			},
			func(*emulator.People, emulator.Person) {},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			people := emulator.Auth(t)
			person := people.Add("ana")
			token, at := signedLikeFirebase(t, issuer, people.SignIn(person))
			if who, err := verify(t, people, token); err != nil || who.UID != person.UID || who.Email != person.Email || !who.EmailVerified {
				t.Fatalf("before, it is %+v, %v", who, err)
			}
			row.ends(people, person, at)
			if who, err := verify(t, people, token); fault.CodeOf(err) != signin.CodeRefused {
				t.Errorf("after, it is %+v, %v", who, err)
			}
			if row.again == nil {
				return
			}
			row.again(people, person)
			eventually(t, "who signs in again is known", func() error { // in the next second
				token, _ := signedLikeFirebase(t, issuer, people.SignIn(person))
				_, err := verify(t, people, token)
				return err
			})
		})
	}
}
