package webhooks_test

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"questscheduler/api"
	"questscheduler/calendarsync"
	"questscheduler/internal/store"
	webhooks "questscheduler/web-hooks"
)

// counted counts what is read of a store outside transactions, as all that a push
// reads is.
type counted struct {
	store.Store
	reads   atomic.Int64
	refused refusals
}

// Get implements store.Store.
func (s *counted) Get(ctx context.Context, path store.Path) (store.Document, error) {
	s.reads.Add(1)
	return s.Store.Get(ctx, path)
}

// Run implements store.Store: a push reads at most the calendar in it.
func (s *counted) Run(ctx context.Context, do func(ctx context.Context, tx store.Tx) error) error {
	s.reads.Add(1)
	return s.Store.Run(ctx, do)
}

// refusals counts the pushes that a watcher refuses.
type refusals struct{ count int }

func (r *refusals) meter(event any) {
	if _, refused := event.(calendarsync.PushRefused); refused {
		r.count++
	}
}

// lines keeps the lines of a log.
type lines struct{ text strings.Builder }

func (l *lines) log() *slog.Logger { return slog.New(slog.NewTextHandler(&l.text, nil)) }

func (l *lines) count(part string) int { return strings.Count(l.text.String(), part) }

// few is a rate that two requests use up.
var few = api.Rate{PerSecond: 0.001, Burst: 2}

// exhaust uses up the rate of the address that the tests' pushes come from.
func (g *gate) exhaust() {
	g.t.Helper()
	for _, want := range []int{401, 401, 429} {
		if got := g.push(address, map[string][]string{"X-Goog-Channel-Token": {"guessed"}}, ""); got.Code != want {
			g.t.Fatalf("answered %d, want %d", got.Code, want)
		}
	}
}

func as(channel, token string) map[string][]string {
	return map[string][]string{"X-Goog-Channel-ID": {channel}, "X-Goog-Channel-Token": {token}}
}

func TestPush_ForgedOverTheRate_CostsNothing(t *testing.T) {
	t.Parallel()
	const unknown = "5f0c7b8e-6d0e-4a53-9d43-0d9f6d3f8c12"
	for name, forged := range map[string]map[string][]string{
		"an unknown channel":         as(unknown, "guessed"),
		"a guessed token":            as(channel, "guessed"),
		"the MAC of another channel": as(unknown, genuine),
		"an unknown key":             as(channel, token(key("k1", 9), channel)),
		"a token of before":          as(oldChannel, oldToken),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out lines
			g := newGateWith(t, gateOptions{rate: few, log: out.log()})
			g.exhaust()
			reads, refused, before := g.reads.reads.Load(), g.reads.refused.count, out.count("\n")
			for range 1000 {
				got := g.push(address, forged, "")
				if got.Code != http.StatusTooManyRequests || got.Header().Get("Retry-After") == "" ||
					!strings.Contains(got.Body.String(), "RATE_LIMITED") {
					t.Fatalf("answered %d with %v: %s", got.Code, got.Header(), got.Body)
				}
			}
			if reads := g.reads.reads.Load() - reads; reads != 0 {
				t.Errorf("1000 pushes over the rate read %d documents", reads)
			}
			if written := out.count("\n") - before; written > 10 {
				t.Errorf("1000 pushes over the rate wrote %d lines", written)
			}
			if refused := g.reads.refused.count - refused; refused != 1000 {
				t.Errorf("%d of 1000 refused pushes were counted", refused)
			}
			if strings.Contains(out.text.String(), genuine) || strings.Contains(out.text.String(), oldToken) {
				t.Error("the log holds a token")
			}
		})
	}
}

// TestPush_ForgedWithinTheRate_ReadsNothing: what a key of ours did not make for
// the channel is refused by the MAC alone.
func TestPush_ForgedWithinTheRate_ReadsNothing(t *testing.T) {
	t.Parallel()
	var out lines
	g := newGateWith(t, gateOptions{rate: api.Rate{PerSecond: 1, Burst: 1 << 20}, log: out.log()})
	for name, forged := range map[string]string{
		"another channel's": token(keysNow, oldChannel), "an unknown key's": token(key("k1", 9), channel),
		"cut short": genuine[:len(genuine)-1], "longer": genuine + "A", "without a key": "v1.", "of no key": "v1..",
		"of four parts": genuine + ".x",
	} {
		for range 100 {
			if got := g.push(address, as(channel, forged), ""); got.Code != http.StatusUnauthorized {
				t.Fatalf("a token %s is answered %d", name, got.Code)
			}
		}
	}
	if reads := g.reads.reads.Load(); reads != 0 || g.syncs() != 0 {
		t.Errorf("%d documents were read, %d syncs handed over", reads, g.syncs())
	}
	if refused, requests := out.count("push refused"),
		out.count("msg=request"); refused != 10 || requests != 10 || g.reads.refused.count != 700 {
		t.Errorf("700 refused pushes made %d lines push refused and %d lines request, and %d were counted", refused, requests,
			g.reads.refused.count)
	}
}

// pushesAtOnce is how many pushes of a channel are taken at once, and
// pushesASecond in the long run.
const (
	pushesAtOnce  = 100
	pushesASecond = 10
)

func TestPush_ProvenFromAnAddressOverItsRate_IsTaken(t *testing.T) {
	t.Parallel()
	var out lines
	g := newGateWith(t, gateOptions{rate: few, log: out.log()})
	g.exhaust()
	for range pushesAtOnce {
		if got := g.push(address, nil, ""); got.Code != http.StatusOK {
			t.Fatalf("answered %d %s", got.Code, got.Body)
		}
	}
	if g.syncs() != 1 || out.count("status=200") != pushesAtOnce {
		t.Errorf("%d syncs were handed over, and %d log lines show accepted pushes", g.syncs(), out.count("status=200"))
	}
}

// TestPush_ReplayedWithoutEnd_IsBoundedByItsChannel: a token never expires, so
// anybody who has one could replay it. Each row is what became of its channel.
func TestPush_ReplayedWithoutEnd_IsBoundedByItsChannel(t *testing.T) {
	t.Parallel()
	for status, row := range map[string]struct {
		answer int
		once   int // documents read once, beside one for each push that its rate admits
		syncs  int
	}{"active": {200, 1, 1}, "stopped": {401, 0, 0}} {
		t.Run(status, func(t *testing.T) {
			t.Parallel()
			var out lines
			var passed atomic.Int64
			g := newGateWith(t, gateOptions{
				rate: few, log: out.log(), status: status, now: func() time.Time { return now().Add(time.Duration(passed.Load())) },
			})
			replay := func(taken int) {
				t.Helper()
				answers, before := map[int]int{}, g.reads.reads.Load()
				for range 1000 {
					got := g.push(address, nil, "")
					answers[got.Code]++
					if got.Code == http.StatusTooManyRequests &&
						(got.Header().Get("Retry-After") == "" || !strings.Contains(got.Body.String(), "RATE_LIMITED")) {
						t.Fatalf("answered with %v: %s", got.Header(), got.Body)
					}
				}
				if answers[row.answer] != taken || answers[http.StatusTooManyRequests] != 1000-taken {
					t.Errorf("1000 replays are answered %v, want %d with %d", answers, taken, row.answer)
				}
				if reads := int(g.reads.reads.Load() - before); reads > taken+row.once {
					t.Errorf("1000 replays read %d documents", reads)
				}
			}
			replay(pushesAtOnce)
			if written := out.count("\n"); written > pushesAtOnce+20 {
				t.Errorf("1000 replays wrote %d lines", written)
			}
			if g.syncs() != row.syncs {
				t.Errorf("%d syncs were handed over, want %d", g.syncs(), row.syncs)
			}
			passed.Store(int64(time.Second))
			replay(pushesASecond)
			if got := g.push(address, as(oldChannel, token(keysNow, oldChannel)), ""); got.Code != http.StatusUnauthorized {
				t.Errorf("the push of another channel is answered %d", got.Code)
			}
			g.exhaust() // of the address, whose rate was not touched
		})
	}
}

// TestPush_OfAChannelThatEnded_CountsForNoAddress: what Google still sends on
// channels that were stopped spends nothing of the rate of Google's address.
func TestPush_OfAChannelThatEnded_CountsForNoAddress(t *testing.T) {
	t.Parallel()
	for _, status := range []string{"expired", "stopped", "failed"} {
		t.Run(status, func(t *testing.T) {
			t.Parallel()
			var out lines
			g := newGateWith(t, gateOptions{rate: few, log: out.log(), status: status})
			for range 50 {
				if got := g.push(address, nil, ""); got.Code != http.StatusUnauthorized {
					t.Fatalf("answered %d", got.Code)
				}
			}
			if g.syncs() != 0 || g.reads.reads.Load() != 50 {
				t.Errorf("%d syncs were handed over, %d documents read", g.syncs(), g.reads.reads.Load())
			}
			if refused, requests := out.count("push refused"), out.count("msg=request"); refused != 10 || requests != 10 {
				t.Errorf("%d lines push refused, %d lines request", refused, requests)
			}
			g.exhaust() // of old form: the rate was not touched
		})
	}
}

// TestPush_OfAnOldToken_IsTakenWithinTheRate: a channel from before tokens were
// signed pushes until it ends, as often as its address may ask.
func TestPush_OfAnOldToken_IsTakenWithinTheRate(t *testing.T) {
	t.Parallel()
	g := newGateWith(t, gateOptions{rate: few})
	for _, want := range []int{200, 200, 429} {
		if got := g.push(address, as(oldChannel, oldToken), ""); got.Code != want {
			t.Errorf("answered %d %s, want %d", got.Code, got.Body, want)
		}
	}
	if g.syncs() != 1 {
		t.Errorf("%d syncs were handed over", g.syncs())
	}
	ended := newGateWith(t, gateOptions{status: "expired"})
	if got := ended.push(address, as(oldChannel, oldToken), ""); got.Code != http.StatusUnauthorized {
		t.Errorf("of an expired channel: %d", got.Code)
	}
}

// TestPush_AfterKeyRotation_IsKnownByKeyOrDocument: the first key signs, and every
// present key verifies. A token of an absent key, as on an instance without the newest
// key yet, is verified by its channel's document.
func TestPush_AfterKeyRotation_IsKnownByKeyOrDocument(t *testing.T) {
	t.Parallel()
	k1, k2 := key("k1", 1), key("k2", 2)
	for name, row := range map[string]struct {
		now, made string
		status    int
		reads     int64
	}{
		"a newer key stands first":  {k2 + "," + k1, k1, 200, 2},
		"made by the newer key":     {k2 + "," + k1, k2, 200, 2},
		"the key has another name":  {k2 + "," + key("old", 1), k1, 200, 2},
		"the key is not there":      {k2, k1, 200, 2},
		"another key took its name": {key("k1", 2), k1, 401, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGateWith(t, gateOptions{keys: row.now, old: row.made})
			got := g.push(address, as(channel, token(row.made, channel)), "")
			if got.Code != row.status || g.reads.reads.Load() != row.reads {
				t.Errorf("answered %d with %d reads, want %d with %d", got.Code, g.reads.reads.Load(), row.status, row.reads)
			}
		})
	}
}

// TestPush_OfAnUnknownKey_CountsForItsAddress: nothing is read for it beyond that.
func TestPush_OfAnUnknownKey_CountsForItsAddress(t *testing.T) {
	t.Parallel()
	k1, k2 := key("k1", 1), key("k2", 2)
	g := newGateWith(t, gateOptions{rate: few, keys: k1, old: k2})
	for _, row := range []struct {
		made   string
		status int
		reads  int64
	}{{k2, 200, 2}, {key("k2", 3), 401, 1}, {k2, 429, 0}} {
		before := g.reads.reads.Load()
		got := g.push(address, as(channel, token(row.made, channel)), "")
		if reads := g.reads.reads.Load() - before; got.Code != row.status || reads != row.reads {
			t.Errorf("answered %d with %d reads, want %d with %d", got.Code, reads, row.status, row.reads)
		}
	}
}

func TestMachineRoutes_ForgedOverTheRate_CostNoLine(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/tasks/intent", "/jobs/drain", webhooks.PathDocuments} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			var out lines
			g := newMachineGateWith(t, few, out.log())
			webhooks.RegisterDocuments(g.echo, g.machines(account), &recordedDocuments{})
			for range 2 {
				g.post(path, "Bearer forged")
			}
			before := out.count("\n")
			for range 1000 {
				if got := g.post(path, "Bearer forged"); got.Code != http.StatusTooManyRequests || got.Header().Get("Retry-After") == "" {
					t.Fatalf("answered %d with %v", got.Code, got.Header())
				}
			}
			if written := out.count("\n") - before; written > 10 {
				t.Errorf("1000 requests over the rate wrote %d lines", written)
			}
		})
	}
}

// TestMachineRoutes_OfAMachine_CountForNoAddress: a machine from an address over its
// rate is answered, refusals included, and each of its requests stands in the log.
func TestMachineRoutes_OfAMachine_CountForNoAddress(t *testing.T) {
	t.Parallel()
	var out lines
	g := newMachineGateWith(t, few, out.log())
	webhooks.RegisterDocuments(g.echo, g.machines(account), &recordedDocuments{})
	good := "Bearer " + g.issuer.Sign(g.good())
	for range 5 {
		g.post("/jobs/drain", "Bearer forged")
	}
	before := out.count("msg=request")
	for range 50 {
		if got := g.post("/jobs/drain", good); got.Code != http.StatusAccepted {
			t.Fatalf("a job is answered %d", got.Code)
		}
		if got := g.post(webhooks.PathDocuments, good); got.Code != http.StatusBadRequest { // it is no event
			t.Fatalf("what is no event is answered %d", got.Code)
		}
	}
	if written := out.count("msg=request") - before; written != 100 {
		t.Errorf("100 requests wrote %d lines", written)
	}
}
