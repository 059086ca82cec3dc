package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"

	"questscheduler/demo/sim/google"
	"questscheduler/internal/test/process"
)

// begin starts the program and makes the party, as people do.
func (w *world) begin(ctx context.Context) error {
	for _, who := range append([]string{admin}, everybody...) {
		token, err := w.server.Token(ctx, who, emailOf(who))
		if err != nil {
			return err
		}
		w.tokens[who] = token
	}
	if err := w.server.Start(ctx); err != nil {
		return err
	}
	for _, who := range everybody {
		if err := w.link(ctx, who, who); err != nil {
			return err
		}
	}
	if err := w.link(ctx, "gm", second); err != nil {
		return err
	}
	if err := w.makeGroup(ctx); err != nil {
		return err
	}
	return w.cast(ctx)
}

// emailOf is the address of a person's account.
func emailOf(name string) string {
	switch name {
	case organizer, "dora", "finn":
		return name + "@" + primaries
	default:
		return name + "@party.example"
	}
}

func (w *world) addUser(name string) error {
	grant, err := w.sims.google.AddUser(google.User{Key: name, Sub: "sub-" + name, Email: emailOf(name), TimeZone: "UTC"})
	w.accounts[name] = account{email: emailOf(name), token: grant.AccessToken}
	return err
}

// link makes a Google account and links it to a person by Google's consent page.
func (w *world) link(ctx context.Context, who, name string) error {
	if err := w.addUser(name); err != nil {
		return err
	}
	asked := w.v1(ctx, who, http.MethodPost, "/v1/accounts/link", object{"features": []string{"mirrors"}}, "")
	if !asked.good() {
		return fmt.Errorf("link an account of %s: %v", who, asked)
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		return err
	}
	browser := &http.Client{Jar: jar, Timeout: process.CallTimeout}
	page, err := visit(ctx, browser, http.MethodGet, text(asked.data, "url"), nil)
	if err != nil {
		return err
	}
	if _, err := visit(ctx, browser, http.MethodPost, page, url.Values{"user": {name}, "decision": {"allow"}}); err != nil {
		return err
	}
	linked := w.v1(ctx, who, http.MethodGet, "/v1/accounts", nil, "")
	for _, found := range list(linked.data["accounts"]) {
		if text(found, "email") == emailOf(name) {
			known := w.accounts[name]
			known.id = text(found, "id")
			w.accounts[name] = known
			return nil
		}
	}
	return fmt.Errorf("the account %s of %s was not linked: %v", name, who, linked)
}

// visit opens an address as a browser does, and returns where it ended.
func visit(ctx context.Context, browser *http.Client, method, address string, form url.Values) (string, error) {
	request, err := http.NewRequestWithContext(ctx, method, address, strings.NewReader(form.Encode()))
	if err != nil {
		return "", err
	}
	request.Header.Set("Sec-Fetch-Mode", "navigate")
	request.Header.Set("Sec-Fetch-Site", "same-origin")
	if form != nil {
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	response, err := browser.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close() //nolint:errcheck // it was read
	_, err = io.Copy(io.Discard, response.Body)
	return response.Request.URL.String(), err
}

// makeGroup makes the party's group with its channel; its sessions are shared with members
// who connect an account.
func (w *world) makeGroup(ctx context.Context) error {
	made := w.v1(ctx, "gm", http.MethodPost, "/v1/groups", object{"name": "The Party", "member_ids": party}, "")
	w.groupID = text(made.data, "id")
	if !made.good() {
		return fmt.Errorf("make the group: %v", made)
	}
	path := "/v1/groups/" + w.groupID
	for _, who := range party[1:] {
		if got := w.v1(ctx, who, http.MethodPost, path+"/accept-invite", nil, ""); !got.good() {
			return fmt.Errorf("%s joins: %v", who, got)
		}
	}
	channel := object{"guild_id": guildID, "channel_id": channelID, "notify_role_id": roleID}
	if got := w.v1(ctx, admin, http.MethodPatch, path, object{"discord": channel}, ""); !got.good() {
		return fmt.Errorf("give the group its channel: %v", got)
	}
	if got := w.v1(ctx, "gm", http.MethodPatch, path, object{"share_sessions": true}, ""); !got.good() {
		return fmt.Errorf("share sessions: %v", got)
	}
	return nil
}
