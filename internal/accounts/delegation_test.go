package accounts_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"questscheduler/demo/sim/google"
	"questscheduler/fault"
	"questscheduler/internal/accounts"
)

// robot is the service account of the tests; its domain-wide delegation covers example.test.
var robot = google.ServiceAccount{
	Email: "robot@project.iam.gserviceaccount.test", ClientID: "4711", Domains: []string{"example.test"},
	Scopes: []string{accounts.ScopeEvents},
}

// serviceKey makes the service account and gives its key.
func (w *world) serviceKey(t *testing.T) []byte {
	t.Helper()
	key, err := w.google.AddServiceAccount(robot)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// changed is a key with another value of a field.
func changed(t *testing.T, key []byte, field string, value any) []byte {
	t.Helper()
	var fields map[string]any
	if err := json.Unmarshal(key, &fields); err != nil {
		t.Fatal(err)
	}
	fields[field] = value
	text, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestParseDelegation_BadKey_SaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	key := newWorld(t).serviceKey(t)
	curve, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(curve)
	if err != nil {
		t.Fatal(err)
	}
	block := func(bytes []byte) string {
		return string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: bytes}))
	}
	for name, row := range map[string]struct {
		key  []byte
		want string
	}{
		"empty":            {nil, "it is not JSON"},
		"a path":           {[]byte("/run/secrets/key.json"), "it is not JSON"},
		"of a person":      {changed(t, key, "type", "authorized_user"), `its "type" is not "service_account"`},
		"without address":  {changed(t, key, "client_email", ""), `it has no "client_email"`},
		"over plain HTTP":  {changed(t, key, "token_uri", "http://elsewhere.test/token"), `its "token_uri" is not an HTTPS address`},
		"without a key":    {changed(t, key, "private_key", ""), `its "private_key" cannot be read (it is no PEM block)`},
		"with half a key":  {changed(t, key, "private_key", block([]byte("half"))), `its "private_key" cannot be read (it is no PKCS #8 key)`},
		"with another key": {changed(t, key, "private_key", block(der)), `its "private_key" cannot be read (it is no RSA key)`},
	} {
		got, err := accounts.ParseDelegation(row.key)
		said, ok := errors.AsType[*fault.Error](err)
		if !fault.Is(err, fault.Invalid) || got != nil || !ok || !strings.Contains(said.Message, row.want) ||
			!strings.HasSuffix(said.Message, ".") {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	for name, good := range map[string][]byte{
		"as it is": key, "without an endpoint": changed(t, key, "token_uri", ""),
		"for a simulator": changed(t, key, "token_uri", "http://127.0.0.1:8080/token"),
	} {
		if d, err := accounts.ParseDelegation(good); err != nil || d.Email() != robot.Email || d.ClientID() != "4711" {
			t.Errorf("%s: %v, %v", name, d, err)
		}
	}
}

func TestDelegation_PrintedAnyhow_ShowsNoSecret(t *testing.T) {
	t.Parallel()
	key := newWorld(t).serviceKey(t)
	delegation, err := accounts.ParseDelegation(key)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(map[string]any{"key": delegation})
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	slog.New(slog.NewTextHandler(&log, nil)).Info("started", "key", delegation)
	slog.New(slog.NewJSONHandler(&log, nil)).Info("started", "key", delegation)
	const shown = "service account robot@project.iam.gserviceaccount.test"
	for _, printed := range []string{
		fmt.Sprint(delegation), fmt.Sprintf("%+v", delegation), fmt.Sprintf("%#v", delegation),
		fmt.Sprintf("key: %s", delegation), string(text), log.String(),
	} {
		// A printed key has its parts as numbers or text; what is shown is the address alone.
		if left := strings.ReplaceAll(printed, shown, ""); !strings.Contains(printed, shown) || len(left) > 200 || strings.Contains(left, "0x") {
			t.Errorf("shown: %s", printed)
		}
	}
}
