package worldtest

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"questscheduler/fault"
	"questscheduler/internal/discord"
	"questscheduler/internal/ids"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/scheduler"
	"questscheduler/web-hooks/interactions"
)

// Kinds of presses, by Discord's numbers.
const (
	PressButton = 3
	PressSubmit = 5
)

const (
	application = "1200000000000000001"
	// pressTrace begins the trace of what a press causes.
	pressTrace = "press-"
	// discordEpoch is where the time in Discord's ids begins, in milliseconds since 1970.
	discordEpoch = 1420070400000
	// oldest is how long after a press the program may take it.
	oldest = 15 * time.Minute
	// discordWaits is how long the program gives an answer, of Discord's three seconds.
	discordWaits = 2 * time.Second
)

// Press is an interaction of Discord. It may be delivered several times, or never.
type Press struct {
	ID string
	// By is who pressed, one of People, and At when.
	By string
	At time.Time
	// Poll is the poll that it is about; "" for one that makes a poll.
	Poll string
	// Vote is what it votes, by slot; Voting tells such a one that withdraws a vote from others.
	Vote   map[string]string
	Voting bool
	// Shown are the slots that its form showed.
	Shown []poll.Slot
	// Slots is how many slots the poll has that it makes; 0: it makes none.
	Slots int
	// Keeps: it asks that an event stay in the calendar.
	Keeps bool

	body []byte
	// voted, commanded and made count its effects.
	voted, commanded, made int
}

// Told is what the one who pressed hears.
type Told struct {
	Status int
	// Kind is 4 for a text and 9 for a form.
	Kind int
	Text string
	// Form is the id of a form.
	Form string
	// Buttons are the ids of a message's buttons, Options the values of a form's first select.
	Buttons, Options []string
}

// pressed is what the world knows of presses.
type pressed struct {
	key    ed25519.PrivateKey
	public ed25519.PublicKey
	made   int
	byID   map[string]*Press
	// votes are the votes that were given last by a press, by their path.
	votes map[store.Path]*Press
}

// openPresses gives the application a key.
func (w *World) openPresses() {
	w.presses.byID, w.presses.votes = map[string]*Press{}, map[store.Path]*Press{}
	w.presses.key = ed25519.NewKeyFromSeed(bytes.Repeat([]byte{3}, ed25519.SeedSize))
	w.presses.public = w.presses.key.Public().(ed25519.PublicKey)
}

// UserOf is a person's user on Discord.
func UserOf(person string) string {
	i := slices.IndexFunc(People, func(p scheduler.Person) bool { return p.ID == person })
	return "220000000000000000" + strconv.Itoa(i)
}

// openPressed links everybody's user on Discord, as the web app does.
func (w *World) openPressed() {
	w.t.Helper()
	if !w.options.Pressed {
		return
	}
	for _, person := range People {
		user := UserOf(person.ID)
		w.Write(store.Doc("discordUserLinks", user), store.Set("qsUserId", person.ID), store.Set("linkedAt", w.Clock.Now()))
		w.Write(store.Doc("users", person.ID), store.Set("discord", map[string]any{"userId": user, "username": person.ID}))
	}
}

// NewPress is a press of now, with the data of Discord's interaction.
func (w *World) NewPress(kind int, by string, data map[string]any) *Press {
	w.t.Helper()
	w.presses.made++
	now := w.Clock.Now()
	p := &Press{ID: strconv.FormatInt((now.UnixMilli()-discordEpoch)<<22+int64(w.presses.made), 10), By: by, At: now}
	body, err := json.Marshal(map[string]any{
		"id": p.ID, "application_id": application, "type": kind, "token": "secret", "version": 1, "guild_id": Guild,
		"channel_id": Channel, "data": data,
		"member": map[string]any{"user": map[string]any{"id": UserOf(by), "username": by}, "permissions": "0"},
	})
	w.must(err)
	p.body = body
	w.presses.byID[p.ID] = p
	return p
}

// Press delivers a press to the program, which Discord may do at any time and more than once, and
// returns what the one who pressed is told. Commits and answers that a press must not have are
// problems.
func (w *World) Press(p *Press) Told {
	w.t.Helper()
	request := httptest.NewRequest(http.MethodPost, interactions.Path, bytes.NewReader(p.body))
	at := strconv.FormatInt(w.Clock.Now().Unix(), 10)
	request.Header.Set("X-Signature-Timestamp", at)
	request.Header.Set("X-Signature-Ed25519", hex.EncodeToString(ed25519.Sign(w.presses.key, append([]byte(at), p.body...))))
	ctx := w.within(discordWaits)
	answer := httptest.NewRecorder()
	answer.Header().Set(echo.HeaderXRequestID, pressTrace+p.ID)
	before, age := *p, w.Clock.Now().Add(w.skew).Sub(p.At)
	w.carryPress(p, func() { w.desk.ServeHTTP(answer, request.WithContext(ctx)) })
	told := Told{Status: answer.Code}
	if answer.Code == http.StatusOK {
		told.read(answer.Body.Bytes())
	}
	w.judgeTold(before, *p, told, age)
	return told
}

// carryPress does what is part of a press.
func (w *World) carryPress(p *Press, do func()) {
	w.pressing, w.keeping = p, p.Keeps
	defer func() { w.pressing, w.keeping = nil, false }()
	do()
}

// Makes is the id of the poll that a press makes.
func (p Press) Makes() string { return ids.UUIDOf("discord:" + p.ID) }

// read reads an answer as Discord does.
func (t *Told) read(body []byte) {
	var answer struct {
		Kind int `json:"type"`
		Data struct {
			Content    string `json:"content"`
			CustomID   string `json:"custom_id"`
			Components []struct {
				Component struct {
					Options []struct{ Value string } `json:"options"`
				} `json:"component"`
				Components []struct {
					CustomID string `json:"custom_id"`
				} `json:"components"`
			} `json:"components"`
		} `json:"data"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		t.Text = err.Error()
		return
	}
	t.Kind, t.Text, t.Form = answer.Kind, answer.Data.Content, answer.Data.CustomID
	for i, part := range answer.Data.Components {
		for _, option := range part.Component.Options {
			if i == 0 || len(t.Options) == 0 {
				t.Options = append(t.Options, option.Value)
			}
		}
		for _, button := range part.Components {
			t.Buttons = append(t.Buttons, button.CustomID)
		}
	}
}

// ForgetPresses removes the records of interactions that expired, as a job of the timer does.
func (w *World) ForgetPresses() error {
	_, _, err := discord.RemoveExpired(w.ctx, w.Scheduler.Store, w.Scheduler.Now(), 100)
	return err
}

// newDesk is the route that Discord sends interactions to, of an instance of the program.
func (w *World) newDesk(p *Program, documents store.Store, now func() time.Time, log *slog.Logger) http.Handler {
	desk := echo.New()
	desk.HTTPErrorHandler = func(err error, c echo.Context) {
		status := http.StatusInternalServerError
		if fault.Is(err, fault.Invalid) {
			status = http.StatusBadRequest
		}
		w.must(c.NoContent(status))
	}
	interactions.Register(desk, interactions.Options{
		Polls: p.Scheduler, Groups: p.Scheduler, Store: documents, Links: discord.Links{Store: documents, Now: now},
		HasCalendar:   func(_ context.Context, uid string) (bool, error) { return w.accountOf(uid) != "", nil },
		EmailOf:       func(_ context.Context, uid string) (string, error) { return Person(uid).Email, nil },
		Count:         func(string, string) (func(), error) { return func() {}, nil },
		ApplicationID: application, Key: w.presses.public, HTTP: http.DefaultClient,
		Refuse:    func(echo.Context) error { return nil },
		LimitUser: func(echo.Context, string) error { return nil },
		Now:       now, Log: log, Refused: log,
	})
	return desk
}
