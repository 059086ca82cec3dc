package main

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	randv2 "math/rand/v2"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"questscheduler/internal/sim/google"
)

// party are the people of the group; each has an account, the first a second one too.
var party = []string{"gm", "ana", "ben", "cho"}

const (
	admin = "admin"
	// alone has one poll, and nothing else happens in their calendar.
	alone = "dan"
	// organizer invites people who have second addresses.
	organizer = "emil"
	primaries = "north.example"
)

// invited are people who are invited, and have second addresses too. Where they are invited is
// found in their calendars.
var invited = []string{"dora", "finn"}

// everybody are all people who have an account.
var everybody = slices.Concat(party, invited, []string{alone, organizer})

// world is everything: the program, what is outside of it, and what people did.
type world struct {
	options
	dir      string
	server   *server
	sims     *simulators
	outside  *http.Client
	tokens   map[string]string  // by person
	accounts map[string]account // by person; second is the game master's other one
	groupID  string
	times    times
	random   *randv2.Rand
	actors   []actor
	windows  window
	settled  time.Duration // the longest that everything took to settle
	atRest   int           // kills while everything settled

	mu       sync.Mutex
	answered int // commands that were answered with success
	serial   int
	found    []finding
}

const second = "gm-second"

// finding is something that is wrong.
type finding struct{ kind, what string }

// The kinds of findings.
const (
	lost    = "lost"
	doubled = "doubled"
	wrong   = "wrong"
	late    = "late"
)

func newWorld(ctx context.Context, dir string, o options) (*world, error) {
	sims, err := openSimulators()
	if err != nil {
		return nil, err
	}
	w := &world{
		options: o, dir: dir, sims: sims, tokens: map[string]string{}, accounts: map[string]account{},
		outside: &http.Client{Timeout: callTimeout, Transport: &http.Transport{MaxIdleConnsPerHost: 32}},
		times:   times{first: time.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, 3)},
		random:  randv2.New(randv2.NewPCG(o.seed, 0)),
	}
	addr, err := freeAddress()
	if err != nil {
		return nil, errors.Join(err, w.writeMappings(true))
	}
	w.server = newServer(o.binary, dir, addr, w.environ(addr))
	if err := errors.Join(w.writeMappings(true), w.begin(ctx)); err != nil {
		w.end()
		return nil, err
	}
	return w, nil
}

// end ends everything.
func (w *world) end() {
	w.server.kill()
	w.sims.close()
}

// environ are the program's settings. No limit is reached that protects it from people who
// act as often as here.
func (w *world) environ(addr string) []string {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // it never fails
	return []string{
		"QS_SQLITE_PATH=" + filepath.Join(w.dir, dataFile), "QS_ADDR=" + addr, "QS_PUBLIC_URL=http://" + addr,
		"QS_GOOGLE_CLIENT_ID=kills", "QS_GOOGLE_CLIENT_SECRET=of-the-kills", "QS_GOOGLE_ENDPOINT=" + w.sims.googleURL,
		"QS_DISCORD_BOT_TOKEN=" + botToken, "QS_DISCORD_ENDPOINT=" + w.sims.discordURL,
		"QS_ENC_KEYS=k1:" + base64.StdEncoding.EncodeToString(key),
		"QS_NOTIFY_SETTLE=100ms", "QS_SYNC_MIN_GAP=500ms", "QS_NOTICES_PER_HOUR=1000000", "QS_POLL_COMMANDS=1000000",
		"QS_MASS_CANCEL_MIN=1000000", "QS_ADMIN_USERS=" + admin,
		"QS_ATTENDEES_CSV=" + filepath.Join(w.dir, mappingsFile), "QS_ATTENDEES_DOMAINS=" + primaries,
		"QS_LOG_LEVEL=warn",
	}
}

// The files of the program.
const (
	dataFile     = "questscheduler.db"
	mappingsFile = "mappings.csv"
)

// begin starts the program and makes the party, as people do.
func (w *world) begin(ctx context.Context) error {
	for _, who := range append([]string{admin}, everybody...) {
		token, err := w.server.token(ctx, who, emailOf(who))
		if err != nil {
			return err
		}
		w.tokens[who] = token
	}
	if err := w.server.start(ctx); err != nil {
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
	browser := &http.Client{Jar: jar, Timeout: callTimeout}
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

// number gives another number at each call.
func (w *world) number() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.serial++
	return w.serial
}

// key is an idempotency key.
func (w *world) key() string { return fmt.Sprintf("key-%d", w.number()) }

func (w *world) acknowledged() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.answered++
}
