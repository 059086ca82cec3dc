package discord_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/bwmarrin/discordgo"

	"questscheduler/demo/sim/control"
	"questscheduler/demo/sim/discord"
)

// card is the poll card that the program posts.
func card() *discordgo.MessageSend {
	return &discordgo.MessageSend{
		Embeds: []*discordgo.MessageEmbed{{
			Title: "📅 Dragon's den",
			Fields: []*discordgo.MessageEmbedField{
				{Name: "Slots", Value: "3"},
				{Name: "Votes", Value: "1/3 voted (2 pending)", Inline: true},
				{Name: "View on web", Value: "[Open poll](https://app.example/scheduler/p?a=1&b=2)"},
			},
			Footer: &discordgo.MessageEmbedFooter{Text: "quest"},
		}},
		Components: []discordgo.MessageComponent{discordgo.ActionsRow{Components: []discordgo.MessageComponent{
			discordgo.Button{Label: "Vote", Style: discordgo.PrimaryButton, CustomID: "vote_btn:p"},
		}}},
		AllowedMentions: &discordgo.MessageAllowedMentions{Parse: []discordgo.AllowedMentionType{}},
	}
}

func TestClient_PostEditReadDelete_Works(t *testing.T) {
	t.Parallel()
	s := start(t)
	session := s.session()

	m, err := session.ChannelMessageSendComplex(channel, card())
	if err != nil {
		t.Fatal(err)
	}
	if m.Author.ID != discord.BotID || !m.Author.Bot || m.ChannelID != channel || !m.Timestamp.Equal(s.clock.Now()) ||
		m.EditedTimestamp != nil {
		t.Errorf("posted %+v", m)
	}
	embed := card().Embeds[0]
	embed.Type = discordgo.EmbedTypeRich // discordgo sends it
	if !reflect.DeepEqual(m.Embeds[0], embed) {
		t.Errorf("embed %+v", m.Embeds[0])
	}
	row, ok := m.Components[0].(*discordgo.ActionsRow)
	if !ok || row.Components[0].(*discordgo.Button).CustomID != "vote_btn:p" {
		t.Errorf("components %+v", m.Components)
	}

	s.clock.add(time.Minute)
	content := "closed"
	edit := discordgo.NewMessageEdit(channel, m.ID)
	edit.Content = &content
	edit.AllowedMentions = &discordgo.MessageAllowedMentions{}
	edited, err := session.ChannelMessageEditComplex(edit)
	if err != nil {
		t.Fatal(err)
	}
	if edited.Content != "closed" || len(edited.Embeds) != 1 || len(edited.Components) != 1 {
		t.Errorf("an edit must leave what it does not send: %+v", edited)
	}
	if edited.EditedTimestamp == nil || !edited.EditedTimestamp.Equal(s.clock.Now()) || !edited.Timestamp.Equal(m.Timestamp) {
		t.Errorf("stamps after the edit: %v, %v", edited.Timestamp, edited.EditedTimestamp)
	}

	got, err := session.ChannelMessage(channel, m.ID)
	if err != nil || got.Content != "closed" {
		t.Errorf("get: %+v, %v", got, err)
	}
	list, err := session.ChannelMessages(channel, 10, "", "", "")
	if err != nil || len(list) != 1 || list[0].ID != m.ID {
		t.Errorf("list: %+v, %v", list, err)
	}

	if err := session.ChannelMessageDelete(channel, m.ID); err != nil {
		t.Fatal(err)
	}
	_, err = session.ChannelMessage(channel, m.ID)
	wantRESTError(t, err, http.StatusNotFound, 10008)
}

func wantRESTError(t *testing.T, err error, status, code int) {
	t.Helper()
	var rest *discordgo.RESTError
	if !errors.As(err, &rest) || rest.Response.StatusCode != status || rest.Message == nil || rest.Message.Code != code {
		t.Fatalf("error %v; want %d with code %d", err, status, code)
	}
}

func TestClient_ChannelAndItself_AreRead(t *testing.T) {
	t.Parallel()
	s := start(t)
	session := s.session()
	me, err := session.User("@me")
	if err != nil || me.ID != discord.BotID || !me.Bot {
		t.Errorf("me: %+v, %v", me, err)
	}
	m := s.post(map[string]any{"content": "hello"})
	c, err := session.Channel(channel)
	if err != nil || c.GuildID != guildID || c.Name != "quests" || c.Type != discordgo.ChannelTypeGuildText || c.LastMessageID != m.ID {
		t.Errorf("channel: %+v, %v", c, err)
	}
}

func TestClient_InProcess_NeedsNoSocket(t *testing.T) {
	t.Parallel()
	s := start(t)
	session := newSession(t, control.Transport(s.Handler()))
	if _, err := session.ChannelMessageSend(channel, "hello"); err != nil {
		t.Fatal(err)
	}
	if err := s.Control().Plant(lostAnswer("messages.create")); err != nil {
		t.Fatal(err)
	}
	if _, err := session.ChannelMessageSend(channel, "lost"); err == nil {
		t.Error("the answer was not lost")
	}
	if got := s.Messages(channel); len(got) != 2 || got[0].Content != "hello" || got[1].Content != "lost" {
		t.Errorf("messages %+v", got)
	}
}

func TestPost_EmbedsComponentsFlags_AreKeptAsSent(t *testing.T) {
	t.Parallel()
	s := start(t)
	const (
		embed     = `{"title":"<Den> & co","color":123,"x_unknown":[1,2],"type":"rich"}`
		component = `{"type":1,"components":[{"type":2,"style":1,"label":"Vote","custom_id":"vote_btn:p"}]}`
	)
	a := s.call(http.MethodPost, messages, `{"embeds":[`+embed+`],"components":[`+component+`],"flags":4096,"tts":true}`)
	var m discord.Message
	a.into(t, &m)
	for _, m := range []discord.Message{m, s.Messages(channel)[0]} {
		if len(m.Embeds) != 1 || string(m.Embeds[0]) != embed || len(m.Components) != 1 || string(m.Components[0]) != component ||
			m.Flags != 4096 || !m.TTS {
			t.Errorf("kept %+v", m)
		}
	}
	var fields map[string]json.RawMessage
	a.into(t, &fields)
	for name, want := range map[string]string{
		"edited_timestamp": "null", "attachments": "[]", "mentions": "[]", "mention_roles": "[]", "type": "0",
		"timestamp": `"2026-11-21T12:00:00.000000+00:00"`, "pinned": "false", "mention_everyone": "false",
	} {
		if string(fields[name]) != want {
			t.Errorf("%s is %s, want %s", name, fields[name], want)
		}
	}
}

func TestEdit_NullAndEmpty_RemoveTheField(t *testing.T) {
	t.Parallel()
	s := start(t)
	m := s.post(`{"content":"a","embeds":[{"title":"b"}],"components":[` + voteRow + `],"flags":4}`)
	a := s.call(http.MethodPatch, messages+"/"+m.ID, `{"embeds":null,"components":[],"flags":null}`)
	a.into(t, &m)
	if m.Content != "a" || len(m.Embeds) != 0 || len(m.Components) != 0 || m.Flags != 0 {
		t.Errorf("after the edit: %s", a.body)
	}
	wantRefusal(t, s.call(http.MethodPatch, messages+"/"+m.ID, `{"content":null}`), http.StatusBadRequest, 50006,
		"Cannot send an empty message")
	if got := s.Messages(channel)[0]; got.Content != "a" {
		t.Errorf("a refused edit changed the content to %q", got.Content)
	}
}

func TestIDs_WithAndWithoutTheClock_Grow(t *testing.T) {
	t.Parallel()
	s := start(t)
	var last string
	for _, step := range []time.Duration{0, 0, time.Hour, -2 * time.Hour, 0, -20 * 365 * 24 * time.Hour} {
		s.clock.add(step)
		id := s.post(map[string]any{"content": "x"}).ID
		if len(id) < len(last) || (len(id) == len(last) && id <= last) {
			t.Errorf("after %v the id %s follows %s", step, id, last)
		}
		last = id
	}
	stamp, err := discordgo.SnowflakeTimestamp(s.Messages(channel)[0].ID)
	if err != nil || !stamp.Equal(newClock().Now()) {
		t.Errorf("the first id says %v, %v", stamp, err)
	}
}

func TestPost_OfComponentsAlone_NeedsTheFlagThatSaysSo(t *testing.T) {
	t.Parallel()
	s := start(t)
	const components = `"components":[{"type":10,"content":"x"}]`
	wantRefusal(t, s.call(http.MethodPost, messages, `{`+components+`}`), http.StatusBadRequest, 50035, "Invalid Form Body")
	s.post(`{"flags":32768,` + components + `}`)
}

func TestAPI_VersionTen_IsAnswered(t *testing.T) {
	t.Parallel()
	s := start(t)
	path := strings.Replace(messages, "v9", "v10", 1)
	if a := s.call(http.MethodPost, path, `{"content":"x"}`); a.status != http.StatusOK {
		t.Errorf("answer %d %s", a.status, a.body)
	}
}
