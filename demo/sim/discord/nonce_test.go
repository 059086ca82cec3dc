package discord_test

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"questscheduler/demo/sim/discord"
)

func TestNonce_Enforced(t *testing.T) {
	t.Parallel()
	const first = `{"content":"first","nonce":"n","enforce_nonce":true}`
	for _, row := range []struct {
		name   string
		first  string
		later  time.Duration
		second string
		same   bool
	}{
		{"a retry gives the message that is there", first, 0, first, true},
		{"a retry with another text gives it too", first, time.Minute, `{"content":"second","nonce":"n","enforce_nonce":true}`, true},
		{"just within the minutes", first, 3*time.Minute - time.Millisecond, first, true},
		{"after the minutes it is a new message", first, 3 * time.Minute, first, false},
		{"another nonce is a new message", first, 0, `{"content":"first","nonce":"m","enforce_nonce":true}`, false},
		{"without enforcing it is a new message", first, 0, `{"content":"first","nonce":"n"}`, false},
		{"enforcing without a nonce means nothing", `{"content":"x","enforce_nonce":true}`, 0, `{"content":"x","enforce_nonce":true}`, false},
		{"a nonce that was not enforced counts", `{"content":"x","nonce":"n"}`, 0, first, true},
		{"numbers are nonces", `{"content":"x","nonce":12}`, 0, `{"content":"x","nonce":12,"enforce_nonce":true}`, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := start(t)
			one := s.post(row.first)
			s.clock.add(row.later)
			two := s.post(row.second)
			want := 2
			if row.same {
				want = 1
			}
			if (one.ID == two.ID) != row.same || len(s.Messages(channel)) != want {
				t.Errorf("posted %s, then %s; %d messages", one.ID, two.ID, len(s.Messages(channel)))
			}
			if row.same && (two.Content != one.Content || !two.Timestamp.Equal(one.Timestamp.Time)) {
				t.Errorf("the second call was answered %+v", two)
			}
		})
	}
}

func TestNonce_Repeated_CountsFromTheNewestMessage(t *testing.T) {
	t.Parallel()
	s := start(t)
	body := map[string]any{"content": "x", "nonce": "n", "enforce_nonce": true}
	s.post(body)
	s.clock.add(4 * time.Minute)
	second := s.post(body)
	s.clock.add(2 * time.Minute)
	if third := s.post(body); third.ID != second.ID {
		t.Errorf("the third call made %s, want %s", third.ID, second.ID)
	}
}

func TestNonce_OfADeletedMessage_IsUnknownMessage(t *testing.T) {
	t.Parallel()
	s := start(t)
	body := map[string]any{"content": "x", "nonce": "n", "enforce_nonce": true}
	m := s.post(body)
	if a := s.call(http.MethodDelete, messages+"/"+m.ID, nil); a.status != http.StatusNoContent {
		t.Fatalf("delete: %d %s", a.status, a.body)
	}
	wantRefusal(t, s.call(http.MethodPost, messages, body), http.StatusNotFound, 10008, "Unknown Message")
	s.clock.add(3 * time.Minute)
	s.post(body)
}

func TestNonce_IsTheAuthors_NotTheChannels(t *testing.T) {
	t.Parallel()
	const other = "700000000000000009"
	s := start(t)
	if err := s.AddChannel(discord.Channel{ID: other, GuildID: guildID}); err != nil {
		t.Fatal(err)
	}
	body := map[string]any{"content": "x", "nonce": "n", "enforce_nonce": true}
	m := s.post(body)
	var second discord.Message
	s.call(http.MethodPost, "/api/v9/channels/"+other+"/messages", body).into(t, &second)
	if second.ID != m.ID || len(s.Messages(other)) != 0 {
		t.Errorf("the other channel was answered %+v", second)
	}
}

func TestNonce_InAnswers_IsInThePostsOnly(t *testing.T) {
	t.Parallel()
	s := start(t)
	m := s.post(`{"content":"x","nonce":"n"}`)
	if string(m.Nonce) != `"n"` {
		t.Errorf("the post was answered the nonce %s", m.Nonce)
	}
	var got map[string]json.RawMessage
	s.call(http.MethodGet, messages+"/"+m.ID, nil).into(t, &got)
	if _, shown := got["nonce"]; shown {
		t.Errorf("a later read shows it: %v", got)
	}
}

func TestNonce_ThroughTheClient_AfterALostAnswer(t *testing.T) {
	t.Parallel()
	s := start(t)
	session := s.session()
	s.plant(lostAnswer("messages.create"))
	body := map[string]any{"content": "x", "nonce": "poll-1-generation-2", "enforce_nonce": true}
	url := "https://discord.com/api/v9/channels/" + channel + "/messages"
	if _, err := session.RequestWithBucketID(http.MethodPost, url, body, url); err == nil {
		t.Fatal("the answer was not lost")
	}
	answer, err := session.RequestWithBucketID(http.MethodPost, url, body, url)
	if err != nil {
		t.Fatal(err)
	}
	var m discord.Message
	if err := json.Unmarshal(answer, &m); err != nil {
		t.Fatal(err)
	}
	if got := s.Messages(channel); len(got) != 1 || got[0].ID != m.ID {
		t.Errorf("after the retry there are %+v", got)
	}
}
