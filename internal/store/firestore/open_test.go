package firestore_test

import (
	"strings"
	"testing"

	"questscheduler/fault"
	"questscheduler/internal/store"
	"questscheduler/internal/store/firestore"
)

func TestOpen_InvalidOptions_ReturnHelpfulErrors(t *testing.T) {
	t.Parallel()
	const emulator = "127.0.0.1:1"
	for name, row := range map[string]struct {
		options firestore.Options
		says    string
	}{
		"no project":             {firestore.Options{Emulator: emulator}, "project"},
		"a query without a name": {firestore.Options{Project: "demo-x", Emulator: emulator, Queries: []*store.Query{{}}}, "name"},
		"an address with scheme": {firestore.Options{Project: "demo-x", Emulator: "http://127.0.0.1:1"}, "host:port"},
		"an address without port": {
			firestore.Options{Project: "demo-x", Emulator: "127.0.0.1"}, "host:port",
		},
		"credentials that are no JSON": {firestore.Options{Project: "p", Credentials: []byte("secret")}, "service account"},
		"credentials of another kind": {
			firestore.Options{Project: "p", Credentials: []byte(`{"type": "external_account", "secret": 1}`)}, "service account",
		},
		"a key without a key": {firestore.Options{Project: "p", Credentials: []byte(`{"type": "service_account"}`)}, "credentials"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := firestore.Open(t.Context(), row.options)
			if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), row.says) {
				t.Fatalf("got %v, want a word of %s", err, row.says)
			}
			if strings.Contains(err.Error(), "secret") {
				t.Fatalf("it tells what was given: %v", err)
			}
		})
	}
}

func TestOpen_EmulatorByEnvironmentAlone_IsRefused(t *testing.T) {
	t.Setenv(firestore.EmulatorVariable, "127.0.0.1:1")
	_, err := firestore.Open(t.Context(), firestore.Options{Project: "p"})
	if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), firestore.EmulatorVariable) {
		t.Fatalf("got %v", err)
	}
	s, err := firestore.Open(t.Context(), firestore.Options{Project: "demo-x", Database: "other", Emulator: "127.0.0.1:1"})
	if err != nil || s.Database() != "projects/demo-x/databases/other" {
		t.Fatalf("got %v, %v", s, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}
