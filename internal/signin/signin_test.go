package signin_test

import (
	"crypto/x509"
	"encoding/pem"
	"os"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"questscheduler/internal/signin"
)

// signWithFile signs claims with the key of a key file, as somebody could who
// has it.
func signWithFile(t *testing.T, path string, claims any) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(text)
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.EdDSA, Key: key}, nil)
	if err != nil {
		t.Fatal(err)
	}
	token, err := jwt.Signed(signer).Claims(claims).Serialize()
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func TestBearer_Header_ReturnsItsToken(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]struct{ token, code string }{
		"Bearer abc.def.ghi": {"abc.def.ghi", ""},
		"bearer abc":         {"abc", ""},
		"  Bearer   abc ":    {"abc", ""},
		"":                   {"", signin.CodeMissing},
		"   ":                {"", signin.CodeMissing},
		"Bearer":             {"", signin.CodeMalformed},
		"Bearer ":            {"", signin.CodeMalformed},
		"Basic abc":          {"", signin.CodeMalformed},
		"abc":                {"", signin.CodeMalformed},
		"Bearer abc def":     {"", signin.CodeMalformed},
	} {
		token, err := signin.Bearer(header)
		if token != want.token || (err == nil) != (want.code == "") {
			t.Errorf("%q: got %q, %v", header, token, err)
		}
		if want.code != "" {
			wantRefused(t, err, want.code)
		}
	}
}

func TestWithAdmins_NamedPeople_AreAdmins(t *testing.T) {
	t.Parallel()
	local := newLocal(t, signin.LocalOptions{Key: newKey(t)})
	verifier := signin.WithAdmins(local, []string{"root"})
	for person, admin := range map[signin.Person]bool{
		{UID: "root"}: true, {UID: "u"}: false, {UID: "u", Admin: true}: true,
	} {
		got, err := verifier.Verify(t.Context(), issue(t, local, person, time.Hour))
		if err != nil || got.Admin != admin {
			t.Errorf("%+v: admin %v, %v", person, got.Admin, err)
		}
	}
	_, err := verifier.Verify(t.Context(), "hello")
	wantRefused(t, err, signin.CodeMalformed)
}
