package main

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	randv2 "math/rand/v2"
	"net/http"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"questscheduler/internal/test/process"
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
	server   *process.Server
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
	// lastSettled is what came last then.
	lastSettled string
	atRest      int // kills while everything settled

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
		outside: &http.Client{Timeout: process.CallTimeout, Transport: &http.Transport{MaxIdleConnsPerHost: 32}},
		times:   times{first: time.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, 3)},
		random:  randv2.New(randv2.NewPCG(o.seed, 0)),
	}
	addr, err := process.FreeAddress()
	if err != nil {
		return nil, errors.Join(err, w.writeMappings(true))
	}
	w.server = process.New(o.binary, dir, addr, w.environ(addr))
	if err := errors.Join(w.writeMappings(true), w.begin(ctx)); err != nil {
		w.end()
		return nil, err
	}
	return w, nil
}

// end ends everything.
func (w *world) end() {
	w.server.Kill()
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
		"QS_NOTIFY_SETTLE=100ms", "QS_NOTICES_PER_HOUR=1000000", "QS_POLL_COMMANDS=1000000",
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
