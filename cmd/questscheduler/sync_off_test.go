package main

import (
	"bytes"
	"encoding/base64"
	"errors"
	"testing"

	"questscheduler/calendarsync"
	"questscheduler/internal/accounts/seal"
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
