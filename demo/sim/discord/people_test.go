package discord_test

import (
	"net/http"
	"testing"
	"time"

	"questscheduler/demo/sim/discord"
)

func TestSay_EditByTheBot_IsRefused(t *testing.T) {
	t.Parallel()
	s := start(t)
	mine := s.post(`{"content":"mine"}`)
	a := s.call(http.MethodPost, "/_sim/channels/"+channel+"/messages", map[string]string{"author": userID, "content": "hey @everyone"})
	var theirs discord.Message
	a.into(t, &theirs)
	if a.status != http.StatusOK || theirs.Author.ID != userID || theirs.Author.Bot || theirs.MentionEveryone {
		t.Fatalf("said: %d %s", a.status, a.body)
	}
	var list []discord.Message
	s.call(http.MethodGet, messages, nil).into(t, &list)
	if len(list) != 2 || list[0].ID != theirs.ID || list[1].ID != mine.ID {
		t.Errorf("list %+v", list)
	}
	path := messages + "/" + theirs.ID
	wantRefusal(t, s.call(http.MethodPatch, path, `{"content":"x"}`), 403, 50005, "Cannot edit a message authored by another user")
	s.call(http.MethodPut, "/_sim/channels/"+channel, `{"denied":["MANAGE_MESSAGES"]}`)
	wantRefusal(t, s.call(http.MethodDelete, path, nil), 403, 50013, "Missing Permissions")
	if a := s.call(http.MethodDelete, messages+"/"+mine.ID, nil); a.status != http.StatusNoContent {
		t.Errorf("the bot's own: %d", a.status)
	}
	s.call(http.MethodPut, "/_sim/channels/"+channel, `{"denied":[]}`)
	if a := s.call(http.MethodDelete, path, nil); a.status != http.StatusNoContent {
		t.Errorf("with the permission: %d", a.status)
	}
}

func TestSay_InvalidMessages_AreRefused(t *testing.T) {
	t.Parallel()
	s := start(t)
	for name, tc := range map[string]struct{ channel, author, content string }{
		"another channel":  {"700000000000000099", userID, "x"},
		"nobody":           {channel, "zoe", "x"},
		"the bot":          {channel, discord.BotID, "x"},
		"nothing":          {channel, userID, ""},
		"too much at once": {channel, userID, text(2001)},
	} {
		if _, err := s.Say(tc.channel, tc.author, tc.content); err == nil {
			t.Errorf("%s: said", name)
		}
	}
	if n := len(s.Messages(channel)); n != 0 {
		t.Errorf("%d messages", n)
	}
}

func TestArchived_Thread_IsReadOnly(t *testing.T) {
	t.Parallel()
	s := start(t)
	m := s.post(`{"content":"x"}`)
	if a := s.call(http.MethodPut, "/_sim/channels/"+channel, `{"archived":true}`); a.status != http.StatusOK {
		t.Fatalf("%d %s", a.status, a.body)
	}
	for verb, path := range map[string]string{
		http.MethodPost: messages, http.MethodPatch: messages + "/" + m.ID, http.MethodDelete: messages + "/" + m.ID,
	} {
		wantRefusal(t, s.call(verb, path, `{"content":"y"}`), 400, 50083, "Thread is archived")
	}
	if a := s.call(http.MethodGet, messages+"/"+m.ID, nil); a.status != http.StatusOK {
		t.Errorf("reading: %d", a.status)
	}
	s.call(http.MethodPut, "/_sim/channels/"+channel, `{"archived":false}`)
	s.post(`{"content":"y"}`)
}

func TestRateLimit_Global_IsSharedByAllRoutes(t *testing.T) {
	t.Parallel()
	s := start(t, func(o *discord.Options) { o.GlobalLimit = 3 })
	for _, path := range []string{messages, "/api/v9/channels/" + channel, "/api/v9/users/@me"} {
		if a := s.call(http.MethodGet, path, nil); a.status != http.StatusOK {
			t.Fatalf("%s: %d", path, a.status)
		}
	}
	s.clock.add(600 * time.Millisecond)
	a := s.call(http.MethodPost, messages, `{"content":"x"}`)
	r := wantRefusal(t, a, http.StatusTooManyRequests, 0, "You are being rate limited.")
	h := a.header
	if r.RetryAfter != 0.4 || !*r.Global || h.Get("X-RateLimit-Global") != "true" || h.Get("X-RateLimit-Scope") != "global" ||
		h.Get("Retry-After") != "1" || h.Get("X-RateLimit-Bucket") != "" {
		t.Errorf("body %s, headers %v", a.body, h)
	}
	if n := len(s.Messages(channel)); n != 0 {
		t.Errorf("the refused call left %d messages", n)
	}
	s.clock.add(400 * time.Millisecond)
	s.post(`{"content":"x"}`)
}
