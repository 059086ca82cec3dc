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
	"questscheduler/scheduler"
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

// What others write is compared with QS_SYNC=on alone; a person's command works in every mode, where
// the cards are ours.
func TestCards_AreComparedWhereTheyAreOurs(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		sync, own, token string
		others, commands bool
	}{
		{config.SyncOn, config.DiscordAll, "token", true, true},
		{config.SyncObserve, config.DiscordAll, "token", false, true},
		{config.SyncOff, config.DiscordAll, "token", false, true},
		{config.SyncOn, config.DiscordTransitions, "token", false, false},
		{config.SyncOn, config.DiscordAll, "", false, false},
	} {
		s := &server{config: config.Config{Sync: row.sync, DiscordOwn: row.own, DiscordBotToken: config.NewSecret(row.token)}}
		cards := s.cardsOf(&scheduler.Service{})
		if (cards.check != nil) != row.others || (cards.sweep != nil) != row.others || (cards.checkOf != nil) != row.commands {
			t.Errorf("%s, %s, token %q: compared are others' writes %t, commands %t", row.sync, row.own, row.token, cards.check != nil, cards.checkOf != nil)
		}
		if groups := s.newGroupEvents(nil, cards); (groups.CheckCards != nil) != row.commands {
			t.Errorf("%s, %s, token %q: groups compare cards: %t", row.sync, row.own, row.token, groups.CheckCards != nil)
		}
	}
}
