package signin_test

import (
	"strings"
	"testing"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/signin"
)

// FuzzVerify: only our tokens are accepted, each for the person it was issued for; a
// refusal does not repeat the token.
func FuzzVerify(f *testing.F) {
	key, err := signin.NewKey()
	if err != nil {
		f.Fatal(err)
	}
	local, err := signin.NewLocal(signin.LocalOptions{Key: key, Now: func() time.Time { return noon }})
	if err != nil {
		f.Fatal(err)
	}
	ana := signin.Person{UID: "ana", Email: "ana@example.org", Name: "Ana", EmailVerified: true, VouchedFor: true}
	token, err := local.Issue(ana, time.Hour)
	if err != nil {
		f.Fatal(err)
	}
	header, rest, _ := strings.Cut(token, ".")
	claims, signature, _ := strings.Cut(rest, ".")
	for _, seed := range []string{
		"", token, token + "x", header + "." + claims + ".", header + "." + signature + "." + claims, "a.b.c", "..", strings.Repeat("x", 9000),
		"eyJhbGciOiJub25lIn0." + claims + ".", "eyJhbGciOiJIUzI1NiJ9." + claims + "." + signature, " " + token, token + "\n",
		`{"payload":"","signatures":[]}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, bearer string) {
		person, err := local.Verify(t.Context(), bearer)
		if err == nil {
			if person != ana || !strings.Contains(bearer, claims) {
				t.Fatalf("%q speaks for %+v", bearer, person)
			}
			return
		}
		if person != (signin.Person{}) || !fault.Is(err, fault.Unauthenticated) || fault.CodeOf(err) == "" {
			t.Fatalf("refused with %+v, %v", person, err)
		}
		if len(bearer) > 16 && strings.Contains(err.Error(), bearer) {
			t.Fatalf("the refusal repeats the token: %v", err)
		}
	})
}

// FuzzBearer: the token is a part of the header without blanks.
func FuzzBearer(f *testing.F) {
	for _, seed := range []string{
		"", " ", "Bearer", "Bearer x", "bearer  x ", "BEARER\tx", "Basic x", "Bearer x y", "Bearer\u00a0x", "Bearer Bearer",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, header string) {
		token, err := signin.Bearer(header)
		if err != nil {
			if token != "" || !fault.Is(err, fault.Unauthenticated) || len(header) > 40 && strings.Contains(err.Error(), header) {
				t.Fatalf("%q is refused with %q, %v", header, token, err)
			}
			return
		}
		if token == "" || strings.ContainsAny(token, " \t") || !strings.HasSuffix(strings.TrimSpace(header), token) {
			t.Fatalf("%q holds %q", header, token)
		}
	})
}
