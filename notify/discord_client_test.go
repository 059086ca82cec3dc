package notify_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"questscheduler/demo/sim/control"
	"questscheduler/demo/sim/discord"
	"questscheduler/fault"
	"questscheduler/notify"
)

// answering is a client of a server with one handler.
func answering(t *testing.T, answer http.HandlerFunc) *notify.DiscordClient {
	t.Helper()
	web := httptest.NewServer(answer)
	t.Cleanup(web.Close)
	client, err := notify.NewDiscordClient(token, web.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func TestDiscordClient_Errors_HaveKindsAndNoToken(t *testing.T) {
	t.Parallel()
	say := func(status int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(status)
			fmt.Fprint(w, strings.ReplaceAll(body, "{token}", r.Header.Get("Authorization")))
		}
	}
	elsewhere := func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/other" {
			t.Error("the call went where the answer sent it")
		}
		http.Redirect(w, r, "/other", http.StatusTemporaryRedirect)
	}
	for _, row := range []struct {
		name   string
		answer http.HandlerFunc
		kind   fault.Kind
		code   string
		after  time.Duration
	}{
		{"unknown channel", say(404, `{"code":10003,"message":"Unknown Channel"}`), fault.NotFound, "unknown_channel", 0},
		{"unknown message", say(404, `{"code":10008}`), fault.NotFound, notify.CodeUnknownMessage, 0},
		{"missing access", say(403, `{"code":50001}`), fault.Forbidden, "missing_access", 0},
		{"missing permission", say(403, `{"code":50013}`), fault.Forbidden, "missing_permission", 0},
		{"archived", say(400, `{"code":50083}`), fault.Provider, "thread_archived", 0},
		{"token refused", say(401, `{"message":"401: Unauthorized","code":0}`), fault.Provider, "bot_token_refused", 0},
		{"another refusal", say(400, `{"code":50035,"message":"{token}"}`), fault.Provider, notify.CodeRefused, 0},
		{"a refusal that is no JSON", say(403, `<html>`), fault.Provider, notify.CodeRefused, 0},
		{"elsewhere", elsewhere, fault.Provider, notify.CodeRefused, 0},
		{"rate limited", say(429, `{"retry_after":1.5}`), fault.RateLimited, "", 1501 * time.Millisecond},
		{"rate limited without JSON", say(429, `<html>`), fault.Unavailable, "", 0},
		{"a server error with a code", say(500, `{"code":50013}`), fault.Unavailable, "", 0},
		{"bad gateway", say(502, `{token}`), fault.Unavailable, "", 0},
		{"a request that took too long", say(408, `{"code":0}`), fault.Unavailable, "", 0},
		{"no JSON", say(200, `<html>`), fault.Unavailable, "", 0},
		{"closed", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, fault.Unavailable, "", 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			client := answering(t, row.answer)
			_, err := client.Post(context.Background(), channel, notify.DiscordMessage{Content: "x"}, "n")
			if !fault.Is(err, row.kind) || fault.CodeOf(err) != row.code || fault.RetryAfter(err) != row.after {
				t.Errorf("kind %v, code %q, after %v: %v", fault.KindOf(err), fault.CodeOf(err), fault.RetryAfter(err), err)
			}
			for ; err != nil; err = errors.Unwrap(err) {
				if strings.Contains(fmt.Sprintf("%+v %#v", err, err), token) {
					t.Errorf("the token is in %T", err)
				}
			}
		})
	}
}

func TestDiscordClient_AfterARateLimit_NoCallSleeps(t *testing.T) {
	t.Parallel()
	for _, reason := range []string{"3600", "global 3600"} {
		synctest.Test(t, func(t *testing.T) { // its clock moves by sleeping alone
			server, err := discord.New(discord.Options{Token: token})
			if err != nil {
				t.Fatal(err)
			}
			if err := server.Control().Plant(control.Rule{Match: "*", Status: 429, Reason: reason}); err != nil {
				t.Fatal(err)
			}
			client, err := notify.NewDiscordClient(token, "http://sim", control.Transport(server.Handler()))
			if err != nil {
				t.Fatal(err)
			}
			start := time.Now()
			for range 3 {
				_, err := client.Recent(context.Background(), channel)
				if !fault.Is(err, fault.RateLimited) || fault.RetryAfter(err) < time.Hour {
					t.Errorf("%v", err)
				}
			}
			if slept := time.Since(start); slept != 0 {
				t.Errorf("slept for %v", slept)
			}
		})
	}
}

func TestDiscordClient_ContextEnds_CallEnds(t *testing.T) {
	t.Parallel()
	arrived, release := make(chan struct{}), make(chan struct{})
	client := answering(t, func(http.ResponseWriter, *http.Request) {
		close(arrived)
		<-release
	})
	t.Cleanup(func() { close(release) })
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- client.Edit(ctx, channel, "1", notify.DiscordMessage{Content: "x"}) }()
	<-arrived
	cancel()
	if err := <-done; !fault.Is(err, fault.Unavailable) || !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestDiscordClient_IdsThatAreNoNumbers_NameNoOtherAddress(t *testing.T) {
	t.Parallel()
	client := answering(t, func(http.ResponseWriter, *http.Request) { t.Error("a call was made") })
	for _, id := range []string{"", "1/../2", "1?x=", "..", "123456789012345678901"} {
		_, post := client.Post(context.Background(), id, notify.DiscordMessage{}, "n")
		_, list := client.Recent(context.Background(), id)
		_, guild := client.GuildOf(context.Background(), id)
		for _, err := range []error{post, list, guild, client.Edit(context.Background(), channel, id, notify.DiscordMessage{})} {
			if !fault.Is(err, fault.NotFound) {
				t.Errorf("%q: %v", id, err)
			}
		}
	}
}

func TestDiscordClient_GuildOf_IsTheChannelsGuild(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	client, err := notify.NewDiscordClient(token, "http://sim", control.Transport(w.discord.Handler()))
	if err != nil {
		t.Fatal(err)
	}
	if guild, err := client.GuildOf(t.Context(), channel); guild != guildID || err != nil {
		t.Errorf("%q, %v", guild, err)
	}
	if guild, err := client.GuildOf(t.Context(), "700000000000000099"); guild != "" || fault.CodeOf(err) != "unknown_channel" {
		t.Errorf("an unknown channel: %q, %v", guild, err)
	}
	if err := w.discord.AddChannel(discord.Channel{
		ID: elsewhere, GuildID: guildID, Denied: []discord.Permission{discord.ViewChannel},
	}); err != nil {
		t.Fatal(err)
	}
	if guild, err := client.GuildOf(t.Context(), elsewhere); guild != "" || fault.CodeOf(err) != "missing_access" {
		t.Errorf("a channel that the bot does not see: %q, %v", guild, err)
	}
	w.plant(control.Rule{Match: "channels.get", Status: 503})
	if _, err := client.GuildOf(t.Context(), channel); !fault.Is(err, fault.Unavailable) {
		t.Errorf("without an answer: %v", err)
	}
}

func TestNewDiscordClient_InvalidOptions_AreRefused(t *testing.T) {
	t.Parallel()
	for name, config := range map[string]struct{ token, endpoint string }{
		"no token":           {token: " "},
		"endpoint is no URL": {token: token, endpoint: "http://[::1"},
		"endpoint is a path": {token: token, endpoint: "/api"},
		"endpoint is a file": {token: token, endpoint: "file:///x"},
	} {
		_, err := notify.NewDiscordClient(config.token, config.endpoint, nil)
		if !fault.Is(err, fault.Invalid) || strings.Contains(err.Error(), token) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestDiscordClient_RecentWithUnknownShapes_ReadsTheOthers(t *testing.T) {
	t.Parallel()
	client := answering(t, func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(
			w,
			`[{"id":"3","embeds":[{"thumbnail":{"width":1.5}}]},{"id":"2","content":"ours"},{"id":"1","components":[{"type":1,"components":[{"type":99}]}]}]`,
		)
	})
	recent, err := client.Recent(context.Background(), channel)
	if err != nil || len(recent) != 2 || recent[0].ID != "2" || recent[1].ID != "1" {
		t.Errorf("read %+v, %v", recent, err)
	}
}

// Each row is a call about the bot's application, and the request that it makes below the address
// of another server than Discord's.
func TestDiscordClient_OfTheApplication_CallsItsAddress(t *testing.T) {
	t.Parallel()
	var asked string
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		asked = strings.TrimSpace(r.Method + " " + r.URL.Path + " " + string(body))
		fmt.Fprint(w, map[bool]string{
			true: `[{"id":"7","name":"quest"}]`, false: `{"id":"1","verify_key":"key","interactions_endpoint_url":"https://here"}`,
		}[strings.HasSuffix(r.URL.Path, "/commands") && r.Method == http.MethodGet])
	}))
	t.Cleanup(web.Close)
	client, err := notify.NewDiscordClient(token, web.URL+"/below/", nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	for want, call := range map[string]func() error{
		"GET /below/api/v9/applications/@me": func() error {
			got, err := client.Application(ctx)
			if got != (notify.Application{ID: "1", VerifyKey: "key", Endpoint: "https://here"}) {
				t.Errorf("the application is %+v", got)
			}
			return err
		},
		`PATCH /below/api/v9/applications/@me {"interactions_endpoint_url":"https://there"}`: func() error {
			return client.SetEndpoint(ctx, "https://there")
		},
		"GET /below/api/v9/applications/1/commands": func() error {
			got, err := client.Commands(ctx, "1", "")
			if len(got) != 1 || got[0] != (notify.RegisteredCommand{ID: "7", Name: "quest"}) {
				t.Errorf("the commands are %+v", got)
			}
			return err
		},
		"GET /below/api/v9/applications/1/guilds/2/commands": func() error { _, err := client.Commands(ctx, "1", "2"); return err },
		`POST /below/api/v9/applications/1/guilds/2/commands {"name":"quest"}`: func() error {
			return client.UpsertCommand(ctx, "1", "2", map[string]string{"name": "quest"})
		},
		"DELETE /below/api/v9/applications/1/commands/7": func() error { return client.DeleteCommand(ctx, "1", "", "7") },
	} {
		if err := call(); err != nil || asked != want {
			t.Errorf("it asks for %s, %v; want %s", asked, err, want)
		}
	}
	asked = ""
	for _, id := range []string{"", "..", "1/2"} {
		_, list := client.Commands(ctx, id, "")
		_, ofGuild := client.Commands(ctx, "1", id+"x")
		for _, err := range []error{list, ofGuild, client.UpsertCommand(ctx, id, "", 1), client.DeleteCommand(ctx, "1", "2", id)} {
			if !fault.Is(err, fault.NotFound) || asked != "" {
				t.Errorf("%q: %v; it asks for %s", id, err, asked)
			}
		}
	}
}
