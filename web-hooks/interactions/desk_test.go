package interactions_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"
	"time"

	"github.com/labstack/echo/v4"

	"questscheduler/fault"
	"questscheduler/internal/discord"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/internal/test/worldtest"
	"questscheduler/scheduler"
	"questscheduler/web-hooks/interactions"
)

const (
	application = "1200000000000000001"
	anaUser     = "2200000000000000001" // ana's on Discord
	gmUser      = "2200000000000000009" // the creator's
)

// desk is the route over a world, and the key that Discord signs with.
type desk struct {
	t       *testing.T
	world   *worldtest.World
	options interactions.Options
	echo    *echo.Echo
	key     ed25519.PrivateKey
	// poll is a poll of the party, whose slots are Ten and Three, in Discord's guild.
	poll  string
	slots []string
	ids   uint64
	// counted is how many commands were counted.
	counted int
}

// newDesk makes a world with a party whose member ana is linked to her Discord user.
func newDesk(t *testing.T, set func(o *interactions.Options)) *desk {
	t.Helper()
	return newDeskOver(t, worldtest.Options{}, set)
}

func newDeskOver(t *testing.T, world worldtest.Options, set func(o *interactions.Options)) *desk {
	t.Helper()
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	d := &desk{t: t, world: worldtest.New(t, world), key: private, echo: echo.New()}
	group := d.world.Party()
	d.poll, d.slots = d.world.PollOf("gm", scheduler.Create{GroupID: group})
	d.echo.HTTPErrorHandler = func(err error, c echo.Context) {
		status := map[fault.Kind]int{
			fault.Unauthenticated: 401, fault.Invalid: 400, fault.TooLarge: 413, fault.RateLimited: 429,
		}[fault.KindOf(err)]
		if err := c.NoContent(status); err != nil {
			t.Error(err)
		}
	}
	d.options = interactions.Options{
		Polls: d.world.Scheduler, Groups: d.world.Scheduler, Store: d.world.Documents,
		Links:         discord.Links{Store: d.world.Documents, Now: d.world.Clock.Now, Moves: true},
		HasCalendar:   func(_ context.Context, uid string) (bool, error) { return uid == "gm", nil },
		Count:         func(string, string) (func(), error) { d.counted++; return func() { d.counted-- }, nil },
		ApplicationID: application, Key: public, HTTP: http.DefaultClient,
		Refuse:    func(echo.Context) error { return nil },
		LimitUser: func(echo.Context, string) error { return nil },
		Now:       d.world.Clock.Now, Log: slog.New(slog.DiscardHandler), Refused: slog.New(slog.DiscardHandler),
	}
	if set != nil {
		set(&d.options)
	}
	interactions.Register(d.echo, d.options)
	d.link(anaUser, "ana")
	d.link(gmUser, "gm")
	return d
}

// link links a Discord user to a person, as the web app's functions do.
func (d *desk) link(user, uid string) {
	d.t.Helper()
	d.write(store.Doc("discordUserLinks", user), store.Set("qsUserId", uid), store.Set("linkedAt", d.world.Clock.Now()))
	d.write(store.Doc("users", uid), store.Set("photoURL", "https://pictures.example/"+uid), store.Set("displayName", uid+" the brave"),
		store.Set("discord", map[string]any{"userId": user, "username": uid}))
}

func (d *desk) write(path store.Path, updates ...store.Update) {
	d.t.Helper()
	err := d.world.Documents.Run(d.t.Context(), func(_ context.Context, tx store.Tx) error { return tx.Merge(path, updates...) })
	if err != nil {
		d.t.Fatal(err)
	}
}

// press is an interaction as Discord sends it; set changes it.
func (d *desk) press(kind int, data map[string]any, set ...func(map[string]any)) map[string]any {
	d.ids++
	id := uint64(d.world.Clock.Now().UnixMilli()-1420070400000)<<22 + d.ids
	in := map[string]any{
		"id": strconv.FormatUint(id, 10), "application_id": application, "type": kind, "token": "secret", "version": 1,
		"guild_id": worldtest.Guild, "channel_id": worldtest.Channel, "data": data,
		"member": map[string]any{"user": map[string]any{"id": anaUser, "username": "ana"}, "permissions": "0"},
	}
	for _, change := range set {
		change(in)
	}
	return in
}

func (d *desk) button(id string, set ...func(map[string]any)) map[string]any {
	return d.press(3, map[string]any{"custom_id": id, "component_type": 2}, set...)
}

// submit fills in a form as Discord sends it: values of selects, and whether "none" is checked.
func (d *desk) submit(id string, best, possible []string, none bool) map[string]any {
	label := func(component map[string]any) map[string]any {
		return map[string]any{"type": 18, "component": component}
	}
	return d.press(5, map[string]any{"custom_id": id, "components": []any{
		label(map[string]any{"type": 3, "custom_id": "pref0", "values": best}),
		label(map[string]any{"type": 3, "custom_id": "feas0", "values": possible}),
		label(map[string]any{"type": 23, "custom_id": "none", "value": none}),
	}})
}

func asUser(id string) func(map[string]any) {
	return func(in map[string]any) {
		in["member"] = map[string]any{"user": map[string]any{"id": id, "username": "user-" + id}}
	}
}

// send sends an interaction, signed.
func (d *desk) send(in map[string]any) (status int, answer reply) {
	d.t.Helper()
	body, err := json.Marshal(in)
	if err != nil {
		d.t.Fatal(err)
	}
	got := d.serve(d.signed(body))
	if got.Code == http.StatusOK {
		if err := json.Unmarshal(got.Body.Bytes(), &answer); err != nil {
			d.t.Fatal(err)
		}
	}
	return got.Code, answer
}

func (d *desk) signed(body []byte) *http.Request {
	at := strconv.FormatInt(d.world.Clock.Now().Unix(), 10)
	request := httptest.NewRequest(http.MethodPost, interactions.Path, bytes.NewReader(body))
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("X-Signature-Timestamp", at)
	request.Header.Set("X-Signature-Ed25519", hex.EncodeToString(ed25519.Sign(d.key, append([]byte(at), body...))))
	return request
}

func (d *desk) serve(request *http.Request) *httptest.ResponseRecorder {
	recorder := httptest.NewRecorder()
	d.echo.ServeHTTP(recorder, request)
	return recorder
}

// says sends an interaction and returns what its answer says to the one who caused it.
func (d *desk) says(in map[string]any) string {
	d.t.Helper()
	status, answer := d.send(in)
	if status != http.StatusOK || answer.Kind != 4 || answer.Data.Flags != 64 || string(answer.Data.Mentions) != `{"parse":[]}` {
		d.t.Errorf("answered %d %+v, want a message for one person that pings nobody", status, answer)
	}
	return answer.Data.Content
}

// form opens the voting form.
func (d *desk) form() reply {
	d.t.Helper()
	_, answer := d.send(d.button("vote_btn:" + d.poll))
	if answer.Kind != 9 {
		d.t.Fatalf("answered %+v, want a form", answer)
	}
	return answer
}

// vote is ana's vote.
func (d *desk) vote() map[string]any {
	d.t.Helper()
	doc, err := d.world.Documents.Get(d.t.Context(), poll.VotePath(d.poll, "ana"))
	if err != nil {
		d.t.Fatal(err)
	}
	return doc.Data
}

// reply is an answer.
type reply struct {
	Kind int `json:"type"`
	Data struct {
		Content    string          `json:"content"`
		Flags      int             `json:"flags"`
		Mentions   json.RawMessage `json:"allowed_mentions"`
		CustomID   string          `json:"custom_id"`
		Title      string          `json:"title"`
		Components []part          `json:"components"`
		Embeds     []any           `json:"embeds"`
		// Choices are of an autocompletion; nil where none are answered.
		Choices *[]struct{ Name, Value string } `json:"choices"`
	} `json:"data"`
}

type part struct {
	Kind        int    `json:"type"`
	CustomID    string `json:"custom_id"`
	Label       string `json:"label"`
	Description string `json:"description"`
	Component   *part  `json:"component"`
	Components  []part `json:"components"`
	URL         string `json:"url"`
	Value       string `json:"value"`
	Default     bool   `json:"default"`
	MinValues   *int   `json:"min_values"`
	MaxValues   int    `json:"max_values"`
	Required    *bool  `json:"required"`
	Options     []struct {
		Label   string `json:"label"`
		Value   string `json:"value"`
		Default bool   `json:"default"`
	} `json:"options"`
}

// after moves the clock.
func (d *desk) after(passed time.Duration) { d.world.Run(passed) }
