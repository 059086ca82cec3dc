package webhooks_test

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"questscheduler/api"
	"questscheduler/calendarsync"
	"questscheduler/fault"
	"questscheduler/internal/accounts/seal"
	"questscheduler/internal/calendars"
	"questscheduler/internal/outbox"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/internal/test/memorystore"
	"questscheduler/internal/test/wakes"
	webhooks "questscheduler/web-hooks"
)

const (
	channel  = "5f0c7b8e-6d0e-4a53-9d43-0d9f6d3f8c11"
	resource = "resource-1"
	// oldChannel is one from before tokens were signed, with a random token.
	oldChannel = "5f0c7b8e-6d0e-4a53-9d43-0d9f6d3f8c22"
	oldToken   = "the secret of the channel"
	address    = "/webhooks/google/calendar"
)

// key is a key of QS_ENC_KEYS.
func key(name string, value byte) string {
	return name + ":" + base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{value}, 32))
}

// token is the token of a channel under the first of some keys.
func token(keys, channel string) string {
	parsed, err := seal.ParseKeys(keys)
	if err != nil {
		panic(err) // the keys are this file's
	}
	made, err := parsed.ChannelToken(channel)
	if err != nil {
		panic(err)
	}
	return made
}

// keysNow are the keys of a gate, and genuine is the token of its channel.
var (
	keysNow = key("k1", 1)
	genuine = token(keysNow, channel)
)

// now is a clock that stands still.
func now() time.Time { return time.Date(2026, 2, 1, 12, 0, 0, 0, time.UTC) }

// gate is the push route before a real watcher, with two live channels.
type gate struct {
	t       *testing.T
	handler http.Handler
	store   *memorystore.Store
	reads   *counted
	wakes   *wakes.Waker
}

// gateOptions are what a gate may have of its own.
type gateOptions struct {
	rate api.Rate
	log  *slog.Logger
	keys string // QS_ENC_KEYS; "": keysNow
	// old are the keys that the tokens of the channel were made with; "": keysNow.
	old    string
	status string           // of the channels; "": active
	now    func() time.Time // nil: a clock that stands still
}

func newGate(t *testing.T) *gate {
	t.Helper()
	return newGateWith(t, gateOptions{})
}

func newGateWith(t *testing.T, options gateOptions) *gate {
	t.Helper()
	log := options.log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	if options.now == nil {
		options.now = now
	}
	var queries []*store.Query
	for _, some := range [][]*store.Query{poll.Queries, calendars.Queries, calendarsync.Queries} {
		queries = append(queries, some...)
	}
	documents, err := memorystore.Open(queries)
	must(t, err)
	woken := wakes.New(wakes.Options{Now: now})
	calendar := poll.CalendarKey("acc", "cal")
	must(t, documents.Run(t.Context(), func(_ context.Context, tx store.Tx) error {
		if err := tx.Create(store.Doc("calendars", calendar), map[string]any{
			"accountId": "acc", "calendarId": "cal", "interests": map[string]any{poll.ConsumerPoll: 1},
		}); err != nil {
			return err
		}
		for id, secret := range map[string]string{channel: token(cmp.Or(options.old, keysNow), channel), oldChannel: oldToken} {
			hash := sha256.Sum256([]byte(secret))
			if err := tx.Create(store.Doc("calendarWatches", id), map[string]any{
				"calendarKey": calendar, "status": cmp.Or(options.status, "active"), "resourceId": resource, "tokenHash": hex.EncodeToString(hash[:]),
			}); err != nil {
				return err
			}
		}
		return nil
	}))
	reads := &counted{Store: documents}
	e := api.New(api.Options{
		Now: options.now, NewID: func(prefix string) string { return prefix + "_1" }, Log: log, AddressRate: options.rate,
	})
	keys, err := seal.ParseKeys(cmp.Or(options.keys, keysNow))
	must(t, err)
	work := &outbox.Outbox{Store: documents, Waker: woken, Now: now, Log: log}
	watcher := &calendarsync.Watcher{Store: reads, Outbox: work, Tokens: keys, Now: now, Log: log, Meter: reads.refused.meter}
	webhooks.Register(e, watcher, webhooks.Guard{Admit: api.AdmitPush, Log: api.Sampled(log, now)})
	return &gate{t: t, handler: e, store: documents, reads: reads, wakes: woken}
}

// push sends a push, with some of its headers changed; nil takes one away.
func (g *gate) push(path string, changed map[string][]string, body string) *httptest.ResponseRecorder {
	g.t.Helper()
	request := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
	for name, values := range map[string][]string{
		"X-Goog-Channel-ID": {channel}, "X-Goog-Channel-Token": {genuine}, "X-Goog-Resource-ID": {resource},
		"X-Goog-Resource-State": {"exists"}, "X-Goog-Message-Number": {"7"}, "X-Goog-Channel-Expiration": nil,
	} {
		if other, ok := changed[name]; ok {
			values = other
		}
		for _, value := range values {
			request.Header.Add(name, value)
		}
	}
	recorder := httptest.NewRecorder()
	g.handler.ServeHTTP(recorder, request)
	return recorder
}

// syncs counts the syncs that were woken.
func (g *gate) syncs() int { return g.wakes.Waiting(calendars.SyncKind) }

func TestPush_Valid_HandsOverASync(t *testing.T) {
	t.Parallel()
	for _, path := range webhooks.PushPaths {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			g := newGate(t)
			for range 3 { // the sync that has not begun covers them all
				if got := g.push(path, nil, ""); got.Code != 200 || got.Body.Len() != 0 {
					t.Errorf("answered %d %q", got.Code, got.Body)
				}
			}
			if syncs := g.syncs(); syncs != 1 {
				t.Errorf("%d syncs, want 1", syncs)
			}
		})
	}
}

func TestPush_Accepted_HasTheRequestIDAsItsTrace(t *testing.T) {
	t.Parallel()
	g := newGate(t)
	g.push(address, nil, "")
	due := g.wakes.Due(now())
	if len(due) != 1 {
		t.Fatalf("%d syncs are due, want 1", len(due))
	}
	calendar, _, err := calendars.Load(t.Context(), g.store, "acc", "cal")
	must(t, err)
	if !calendar.Asked() || calendar.SyncTrace != "req_1" || calendar.SyncCause != "push" || !calendar.SyncAt.Equal(now()) {
		t.Errorf("the calendar is %+v", calendar)
	}
}

func TestPush_ThatOpensTheChannel_IsAcknowledgedOnly(t *testing.T) {
	t.Parallel()
	g := newGate(t)
	if got := g.push(address, map[string][]string{"X-Goog-Resource-State": {"sync"}}, ""); got.Code != 200 || g.syncs() != 0 {
		t.Errorf("answered %d, %d syncs", got.Code, g.syncs())
	}
}

func TestPush_WhateverItsBody_IsTaken(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{"rubbish": "\xff{", "10 MB": strings.Repeat("x", 10<<20)} {
		g := newGate(t)
		if got := g.push(address, nil, body); got.Code != 200 || g.syncs() != 1 {
			t.Errorf("%s: answered %d, %d syncs", name, got.Code, g.syncs())
		}
	}
}

func TestPush_ThatIsForged_Is401AndNothingElse(t *testing.T) {
	t.Parallel()
	for name, changed := range map[string]map[string][]string{
		"no channel":               {"X-Goog-Channel-ID": nil},
		"no token":                 {"X-Goog-Channel-Token": nil},
		"an empty token":           {"X-Goog-Channel-Token": {""}},
		"no resource":              {"X-Goog-Resource-ID": nil},
		"no state":                 {"X-Goog-Resource-State": nil},
		"another token":            {"X-Goog-Channel-Token": {"another"}},
		"two tokens, one right":    {"X-Goog-Channel-Token": {genuine, "another"}},
		"the token and more":       {"X-Goog-Channel-Token": {genuine + "x"}},
		"another resource":         {"X-Goog-Resource-ID": {"resource-2"}},
		"an unknown channel":       {"X-Goog-Channel-ID": {"5f0c7b8e-6d0e-4a53-9d43-0d9f6d3f8c12"}},
		"a channel that is a path": {"X-Goog-Channel-ID": {"x/../" + channel[:20]}},
		"a channel below another":  {"X-Goog-Channel-ID": {"x/calendars/" + channel}},
		"a long channel":           {"X-Goog-Channel-ID": {strings.Repeat("a", 65)}},
		"a very long token":        {"X-Goog-Channel-Token": {strings.Repeat("a", 100_000)}},
		"a very long resource":     {"X-Goog-Resource-ID": {strings.Repeat("a", 100_000)}},
		"a very long state":        {"X-Goog-Resource-State": {strings.Repeat("a", 100_000)}},
		"not UTF-8":                {"X-Goog-Channel-ID": {"\xff\xfe"}},
		"sync with another token":  {"X-Goog-Resource-State": {"sync"}, "X-Goog-Channel-Token": {"another"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGate(t)
			got := g.push(address, changed, "")
			var answer struct {
				OK    bool
				Error struct{ Code, Message string }
				Meta  struct {
					RequestID string `json:"request_id"`
				}
			}
			if err := json.Unmarshal(got.Body.Bytes(), &answer); err != nil {
				t.Fatalf("no envelope: %q", got.Body)
			}
			if got.Code != 401 || answer.OK || answer.Error.Code != "AUTH_REQUIRED" || answer.Error.Message == "" || answer.Meta.RequestID == "" {
				t.Errorf("answered %d %s", got.Code, got.Body)
			}
			if g.syncs() != 0 {
				t.Error("a sync was handed over")
			}
		})
	}
}

// TestPush_ThatIsValid_CountsForNoAddress: Google pushes for everybody from few,
// and forged pushes there hold up none of them.
func TestPush_ThatIsValid_CountsForNoAddress(t *testing.T) {
	t.Parallel()
	g := newGateWith(t, gateOptions{rate: api.Rate{PerSecond: 0.001, Burst: 2}})
	forged := map[string][]string{"X-Goog-Channel-Token": {"another"}}
	for range 5 {
		if got := g.push(address, nil, ""); got.Code != 200 {
			t.Errorf("a push is answered %d", got.Code)
		}
	}
	for _, status := range []int{401, 401, 429, 429} {
		got := g.push(address, forged, "")
		if got.Code != status || (status == 429) != (got.Header().Get("Retry-After") != "") {
			t.Errorf("a forged push is answered %d, want %d", got.Code, status)
		}
	}
	if got := g.push(address, nil, ""); got.Code != 200 {
		t.Errorf("after them a push is answered %d", got.Code)
	}
}

func TestPush_NotHandedOver_Is503(t *testing.T) {
	t.Parallel()
	g := newGate(t)
	must(t, g.store.Close())
	got := g.push(address, nil, "")
	if got.Code != 503 || got.Header().Get("Retry-After") == "" || !strings.Contains(got.Body.String(), "UNAVAILABLE") {
		t.Errorf("answered %d %s", got.Code, got.Body)
	}
}

// hanging are pushes that wait for a store which does not answer.
type hanging struct{}

// Push implements webhooks.Pushes.
func (hanging) Push(ctx context.Context, _ calendarsync.Push) error {
	<-ctx.Done()
	return fault.Wrap(fault.Unavailable, ctx.Err(), "The store was not waited for.")
}

func TestPush_StoreHangs_IsAnsweredInTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := api.New(api.Options{Now: now, NewID: func(prefix string) string { return prefix + "_1" }, Log: slog.New(slog.DiscardHandler)})
		webhooks.Register(e, hanging{}, webhooks.Guard{Admit: api.AdmitPush, Log: slog.New(slog.DiscardHandler)})
		g := &gate{t: t, handler: e}
		if got := g.push(address, nil, ""); got.Code != 503 || got.Header().Get("Retry-After") == "" {
			t.Errorf("answered %d %s", got.Code, got.Body)
		}
	})
}

func TestPush_ByAnotherMethod_IsNotAllowed(t *testing.T) {
	t.Parallel()
	g := newGate(t)
	recorder := httptest.NewRecorder()
	g.handler.ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, address, nil))
	if recorder.Code != 405 || !strings.Contains(recorder.Body.String(), "METHOD_NOT_ALLOWED") {
		t.Errorf("answered %d %s", recorder.Code, recorder.Body)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// A channel whose answer was lost learns from its push how long Google granted it;
// a push without that, or with what is no time, is as good as any other.
func TestPush_Expiration_IsRecordedIfGiven(t *testing.T) {
	t.Parallel()
	asked, end := now().Add(7*24*time.Hour), now().Add(time.Hour)
	for name, c := range map[string]struct {
		header []string
		want   time.Time
	}{
		"it ends sooner than was asked": {[]string{end.Format(http.TimeFormat)}, end},
		"nothing is said":               {nil, asked},
		"it is no time":                 {[]string{"soon"}, asked},
		"it ends later than was asked":  {[]string{asked.Add(time.Hour).Format(http.TimeFormat)}, asked},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGate(t)
			must(t, g.store.Run(t.Context(), func(_ context.Context, tx store.Tx) error {
				return tx.Update(store.Doc("calendarWatches", channel), poll.Set("status", "error"), poll.Set("reason", "unavailable"),
					poll.Set("resourceId", nil), poll.Set("expiration", asked), poll.Set("createdAt", now().Add(-2*time.Minute)))
			}))
			if got := g.push(address, map[string][]string{"X-Goog-Channel-Expiration": c.header}, ""); got.Code != http.StatusOK {
				t.Fatalf("the push is answered %d", got.Code)
			}
			doc, err := g.store.Get(t.Context(), store.Doc("calendarWatches", channel))
			must(t, err)
			if f := store.Fields(doc.Data); f.String("status") != "active" || !f.Time("expiration").Equal(c.want) {
				t.Errorf("the channel is %q until %v, want active until %v", f.String("status"), f.Time("expiration"), c.want)
			}
		})
	}
}
