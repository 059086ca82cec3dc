package discord_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bwmarrin/discordgo"

	"questscheduler/demo/sim/control"
	"questscheduler/demo/sim/discord"
)

const (
	token   = "token-of-the-bot"
	guildID = "700000000000000001"
	channel = "700000000000000002"
	roleID  = "700000000000000003"
	userID  = "700000000000000004"
)

// clock is a base clock that moves by hand.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func newClock() *clock { return &clock{now: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)} }

// sim is a running simulator with one guild and one channel.
type sim struct {
	*discord.Server
	t     *testing.T
	url   string
	clock *clock
}

// start runs a simulator; change may alter how it is made.
func start(t *testing.T, change ...func(*discord.Options)) sim {
	t.Helper()
	s := open(t, change...)
	if err := s.AddGuild(guildID, "Party"); err != nil {
		t.Fatal(err)
	}
	if err := s.AddChannel(discord.Channel{ID: channel, GuildID: guildID, Name: "quests"}); err != nil {
		t.Fatal(err)
	}
	return s
}

// open runs a simulator with what its folder holds and nothing more.
func open(t *testing.T, change ...func(*discord.Options)) sim {
	t.Helper()
	c := newClock()
	o := discord.Options{Now: c.Now, Token: token}
	for _, f := range change {
		f(&o)
	}
	server, err := discord.New(o)
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(server.Handler())
	t.Cleanup(func() {
		web.Close()
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	return sim{server, t, web.URL, c}
}

// toSim is the transport that the program uses: it sends what is meant for
// discord.com to the simulator.
type toSim struct {
	to   *url.URL
	base http.RoundTripper
}

func (r toSim) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	req.URL.Scheme, req.URL.Host, req.Host = r.to.Scheme, r.to.Host, ""
	return r.base.RoundTrip(req)
}

// session is discordgo, talking to the simulator over its socket.
func (s sim) session() *discordgo.Session {
	s.t.Helper()
	to, err := url.Parse(s.url)
	if err != nil {
		s.t.Fatal(err)
	}
	return newSession(s.t, toSim{to, http.DefaultTransport})
}

func newSession(t *testing.T, transport http.RoundTripper) *discordgo.Session {
	t.Helper()
	session, err := discordgo.New("Bot " + token)
	if err != nil {
		t.Fatal(err)
	}
	session.Client = &http.Client{Transport: transport}
	session.ShouldRetryOnRateLimit = false
	session.MaxRestRetries = 0
	return session
}

// answer is one raw answer.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// into decodes the body.
func (a answer) into(t *testing.T, v any) {
	t.Helper()
	if err := json.Unmarshal(a.body, v); err != nil {
		t.Fatalf("%v in %s", err, a.body)
	}
}

// call makes one raw call with the bot's token; a body that is no string is
// sent as JSON.
func (s sim) call(verb, path string, body any) answer {
	s.t.Helper()
	a, err := s.try(verb, path, body)
	if err != nil {
		s.t.Fatal(err)
	}
	return a
}

func (s sim) try(verb, path string, body any) (answer, error) {
	return send(s.url, verb, path, body)
}

func send(base, verb, path string, body any) (answer, error) {
	var in io.Reader
	switch b := body.(type) {
	case nil:
	case string:
		in = strings.NewReader(b)
	default:
		text, err := json.Marshal(b)
		if err != nil {
			return answer{}, err
		}
		in = bytes.NewReader(text)
	}
	req, err := http.NewRequest(verb, base+path, in)
	if err != nil {
		return answer{}, err
	}
	req.Header.Set("Authorization", "Bot "+token)
	if in != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	return answer{res.StatusCode, res.Header, text}, err
}

const messages = "/api/v9/channels/" + channel + "/messages"

// voteRow is a row of one button.
const voteRow = `{"type":1,"components":[{"type":2,"style":1,"label":"Vote","custom_id":"vote"}]}`

// post posts a message by a raw call and wants it to work.
func (s sim) post(body any) discord.Message {
	s.t.Helper()
	a := s.call(http.MethodPost, messages, body)
	if a.status != http.StatusOK {
		s.t.Fatalf("post: %d %s", a.status, a.body)
	}
	var m discord.Message
	a.into(s.t, &m)
	return m
}

// plant plants a fault over HTTP.
func (s sim) plant(r control.Rule) {
	s.t.Helper()
	if a := s.call(http.MethodPost, "/_sim/faults", r); a.status != http.StatusOK {
		s.t.Fatalf("plant: %d %s", a.status, a.body)
	}
}

// refusal is Discord's error shape.
type refusal struct {
	Message    string          `json:"message"`
	Code       int             `json:"code"`
	Errors     json.RawMessage `json:"errors"`
	RetryAfter float64         `json:"retry_after"`
	Global     *bool           `json:"global"`
}

// wantRefusal checks status, code and message of an answer.
func wantRefusal(t *testing.T, a answer, status, code int, message string) refusal {
	t.Helper()
	var r refusal
	a.into(t, &r)
	if a.status != status || r.Code != code || r.Message != message {
		t.Fatalf("answer %d %s; want %d, code %d, %q", a.status, a.body, status, code, message)
	}
	return r
}
