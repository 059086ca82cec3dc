package discord

import (
	"cmp"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// The kinds of interactions, by Discord's numbers.
const (
	kindPing         = 1
	kindCommand      = 2
	kindComponent    = 3
	kindAutocomplete = 4
	kindSubmit       = 5
)

// usualLocale is that of people and guilds without another.
const usualLocale = "en-US"

// interaction is what the simulator keeps of one.
type interaction struct {
	ID      string    `json:"id"`
	Token   string    `json:"token"`
	Kind    int       `json:"kind"`
	User    string    `json:"user"`
	GuildID string    `json:"guild_id,omitempty"`
	Channel string    `json:"channel"`
	Pressed string    `json:"pressed,omitempty"` // the message of a component
	At      time.Time `json:"at"`
	State   state     `json:"state"`
	// Original is the message that @original names; "" is none.
	Original string `json:"original,omitempty"`
}

// state is how far an interaction has come.
type state string

const (
	stateSent     state = "sent"
	stateAnswered state = "answered"
	stateFailed   state = "failed" // no good answer came in time: its token is void
)

// act is what a person does, as POST /_sim/interactions has it.
type act struct {
	User struct {
		ID         string  `json:"id"`
		Username   string  `json:"username"`
		GlobalName *string `json:"global_name"`
	} `json:"user"`
	GuildID     string                     `json:"guild_id"` // "" in a direct message
	ChannelID   string                     `json:"channel_id"`
	Type        int                        `json:"type"`
	Data        map[string]json.RawMessage `json:"data"`
	MessageID   string                     `json:"message_id"` // that the component, or the modal's component, is on
	Permissions string                     `json:"permissions"`
	Locale      string                     `json:"locale"`
}

// newToken is a token in the shape of Discord's.
func newToken(id string) string {
	return base64.RawURLEncoding.EncodeToString([]byte("interaction:" + id + ":" + rand.Text() + rand.Text()))
}

// begin makes the interaction of an act and its payload. An error says what a person
// cannot do. The caller holds the lock.
func (s *Server) begin(a act) (interaction, []byte, error) {
	if err := s.checkAct(a); err != nil {
		return interaction{}, nil, err
	}
	now := s.clock.Now()
	it := interaction{
		Kind: a.Type, User: a.User.ID, GuildID: a.GuildID, Channel: a.ChannelID, Pressed: a.MessageID, At: now, State: stateSent,
		ID: s.newID(now),
	}
	it.Token = newToken(it.ID)
	payload := map[string]any{
		"id": it.ID, "application_id": BotID, "type": a.Type, "token": it.Token, "version": 1, "data": a.Data,
		"channel_id": a.ChannelID, "locale": cmp.Or(a.Locale, usualLocale), "entitlements": []any{},
	}
	if a.GuildID == "" {
		s.addDirect(payload, a)
	} else {
		s.addGuild(payload, a)
	}
	if a.MessageID != "" {
		m, found := s.world.shownTo(it, a.MessageID)
		if !found {
			return interaction{}, nil, errors.New("message_id: the person sees no such message there")
		}
		payload["message"] = m.public()
		if a.Type == kindComponent {
			if err := press(m, a.Data); err != nil {
				return interaction{}, nil, err
			}
		}
	}
	if a.Type == kindCommand || a.Type == kindAutocomplete {
		s.world.choose(a)
	}
	body, err := json.Marshal(payload)
	return it, body, err
}

func (s *Server) checkAct(a act) error {
	_, isUser := parseSnowflake(a.User.ID)
	_, isChannel := parseSnowflake(a.ChannelID)
	c, known := s.world.channels[a.ChannelID]
	switch {
	case s.world.Endpoint == "":
		return errors.New("the application has no endpoint: set it by PUT /_sim/application")
	case a.Type < kindCommand || a.Type > kindSubmit:
		return errors.New("type: give 2 (command), 3 (component), 4 (autocomplete) or 5 (modal submit)")
	case a.Data == nil:
		return errors.New("data: give an object")
	case !isUser || a.User.ID == BotID:
		return errors.New("user: give a person's id, such as 700000000000000004")
	case !isChannel:
		return errors.New("channel_id: give a number, such as 700000000000000002")
	case a.GuildID != "" && (!known || c.Gone || c.GuildID != a.GuildID):
		return errors.New("channel_id: no such channel in the guild: it was never added, or is gone")
	case a.GuildID == "" && known:
		return errors.New("guild_id: the channel is of guild " + c.GuildID)
	case a.Permissions != "" && !arePermissions(a.Permissions):
		return errPermissions
	case a.Type == kindComponent && a.MessageID == "":
		return errors.New("message_id: name the message that the component is on")
	}
	return nil
}

func (a act) user() User {
	u := person(a.User.ID)
	u.Username, u.GlobalName = cmp.Or(a.User.Username, u.Username), a.User.GlobalName
	return u
}

func (s *Server) addDirect(payload map[string]any, a act) {
	payload["user"], payload["context"] = a.user(), 1
	payload["channel"] = map[string]any{"id": a.ChannelID, "type": 1}
	payload["app_permissions"] = Channel{}.appPermissions()
	payload["authorizing_integration_owners"] = map[string]string{"0": "0"}
}

func (s *Server) addGuild(payload map[string]any, a act) {
	c, m := s.world.channels[a.ChannelID], s.world.member(a.User.ID, a.GuildID)
	var nick any
	if m.Nick != "" {
		nick = m.Nick
	}
	payload["member"] = map[string]any{
		"user": a.user(), "permissions": cmp.Or(a.Permissions, m.Permissions), "roles": []string{}, "nick": nick, "avatar": nil,
		"joined_at": stamp(time.UnixMilli(snowflakeEpoch)), "premium_since": nil, "deaf": false, "mute": false, "pending": false,
		"communication_disabled_until": nil, "flags": 0,
	}
	payload["guild_id"], payload["context"] = a.GuildID, 0
	payload["guild"] = map[string]any{"id": a.GuildID, "locale": usualLocale, "features": []string{}}
	payload["guild_locale"] = usualLocale
	payload["channel"] = c.shown()
	payload["app_permissions"] = c.appPermissions()
	payload["authorizing_integration_owners"] = map[string]string{"0": a.GuildID}
}

// press finds the component of a press on its message and adds its type to the data.
func press(m Message, data map[string]json.RawMessage) error {
	var id string
	_ = json.Unmarshal(data["custom_id"], &id) // what is no text finds no component
	c, found := findComponent(m.Components, id)
	switch {
	case !found:
		return fmt.Errorf("data: the message has no component with the custom_id %q", id)
	case c.Disabled:
		return fmt.Errorf("data: the component %q is disabled", id)
	}
	data["component_type"] = json.RawMessage(index(c.Type))
	return nil
}

func findComponent(list []json.RawMessage, id string) (component, bool) {
	for _, raw := range list {
		var c component
		if json.Unmarshal(raw, &c) != nil || id == "" {
			continue
		}
		if c.CustomID == id {
			return c, true
		}
		if below, found := findComponent(c.Components, id); found {
			return below, true
		}
	}
	return component{}, false
}

// choose adds to the data of a command the id it is registered with. One that is not
// registered has none: the endpoint may serve several programs.
func (w *world) choose(a act) {
	var name string
	_ = json.Unmarshal(a.Data["name"], &name) // what is no text finds no command
	a.Data["type"] = json.RawMessage("1")
	if c, registered := w.command(a.GuildID, name); registered && a.Data["id"] == nil {
		a.Data["id"] = json.RawMessage(`"` + c.ID + `"`)
	}
}
