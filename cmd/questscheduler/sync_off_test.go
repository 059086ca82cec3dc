package main

import (
	"bytes"
	"encoding/base64"
	"errors"
	"testing"

	"questscheduler/calendarsync"
	"questscheduler/internal/accounts/seal"
	"questscheduler/internal/config"
	"questscheduler/internal/outbox"
)

// With QS_SYNC=off pushes are acknowledged without a read, and unproven ones are
// limited by their address.
func TestPushSink_AdmitsProvenPushesAlone(t *testing.T) {
	t.Parallel()
	keys, err := seal.ParseKeys(base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{1}, 32)))
	if err != nil {
		t.Fatal(err)
	}
	genuine, err := keys.ChannelToken("channel")
	if err != nil {
		t.Fatal(err)
	}
	errTooMany := errors.New("too many")
	admit := func(proven bool) error {
		if proven {
			return nil
		}
		return errTooMany
	}
	for token, want := range map[string]error{genuine: nil, "guessed": errTooMany, genuine + "x": errTooMany} {
		err := pushSink{keys}.Push(t.Context(), calendarsync.Push{ChannelID: "channel", Token: token, Admit: admit})
		if !errors.Is(err, want) {
			t.Errorf("token %q: %v, want %v", token, err, want)
		}
	}
}

// What needs the calendars stays due with QS_SYNC=off; with observe and on it is done.
func TestWithSync_Off_LetsWorkRest(t *testing.T) {
	t.Parallel()
	for mode, want := range map[string]outbox.Mode{
		config.SyncOff: outbox.Rests, config.SyncObserve: outbox.Works, config.SyncOn: outbox.Works,
	} {
		kind := (&server{config: config.Config{Sync: mode}}).withSync(outbox.Kind{})
		if got := outbox.Works; kind.Mode != nil {
			got = kind.Mode()
			if got != want {
				t.Errorf("%s: mode %v, want %v", mode, got, want)
			}
		} else if want != got {
			t.Errorf("%s: it works", mode)
		}
	}
}
