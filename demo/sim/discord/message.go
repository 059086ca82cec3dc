package discord

import (
	"encoding/json"
	"strconv"
	"time"
)

// Message is a message as Discord answers it, with who it pinged. Embeds and
// components are kept as they were sent.
type Message struct {
	ID              string            `json:"id"`
	ChannelID       string            `json:"channel_id"`
	Author          User              `json:"author"`
	Content         string            `json:"content"`
	Timestamp       Stamp             `json:"timestamp"`
	EditedTimestamp *Stamp            `json:"edited_timestamp"`
	TTS             bool              `json:"tts"`
	MentionEveryone bool              `json:"mention_everyone"`
	Mentions        []User            `json:"mentions"`
	MentionRoles    []string          `json:"mention_roles"`
	Attachments     []json.RawMessage `json:"attachments"`
	Embeds          []json.RawMessage `json:"embeds"`
	Components      []json.RawMessage `json:"components"`
	Pinned          bool              `json:"pinned"`
	Type            int               `json:"type"`
	Flags           int               `json:"flags"`
	// Nonce is returned only to the call that posted the message, as by Discord.
	Nonce json.RawMessage `json:"nonce,omitempty"`
	// Pinged is everyone who was ever pinged by posting or editing the
	// message, in that order and once each: "everyone", "here", "role:ID",
	// "user:ID". The API does not show it.
	Pinged []string `json:"_sim_pinged,omitempty"`
}

// public is the message as every call but the one that posted it sees it.
func (m Message) public() Message {
	m.Nonce, m.Pinged = nil, nil
	return m
}

// posted is the message as the call that posted it sees it.
func (m Message) posted() Message {
	m.Pinged = nil
	return m
}

// User is an account. Every well-formed id is taken to be somebody's.
type User struct {
	ID            string  `json:"id"`
	Username      string  `json:"username"`
	Discriminator string  `json:"discriminator"`
	GlobalName    *string `json:"global_name"`
	Avatar        *string `json:"avatar"`
	Bot           bool    `json:"bot,omitempty"`
}

func bot() User { return User{ID: BotID, Username: BotName, Discriminator: "0", Bot: true} }

func person(id string) User {
	if id == BotID {
		return bot()
	}
	return User{ID: id, Username: "user" + id, Discriminator: "0"}
}

// Stamp is an instant in milliseconds, written as Discord writes it.
type Stamp struct{ time.Time }

func stamp(t time.Time) Stamp { return Stamp{t.UTC().Truncate(time.Millisecond)} }

// MarshalJSON implements json.Marshaler: microseconds and a numeric offset.
func (s Stamp) MarshalJSON() ([]byte, error) {
	return []byte(s.UTC().Format(`"2006-01-02T15:04:05.000000+00:00"`)), nil
}

// snowflakeEpoch is the first instant of 2015 in Unix milliseconds.
const snowflakeEpoch = 1420070400000

// snowflake is the id of something made at t: above last in any case, whatever
// the clock does.
func snowflake(t time.Time, last uint64) uint64 {
	if ms := t.UnixMilli() - snowflakeEpoch; ms > 0 {
		return max(uint64(ms)<<22, last+1)
	}
	return last + 1
}

func formatSnowflake(id uint64) string { return strconv.FormatUint(id, 10) }

// parseSnowflake reads an id; zero and what is no number are none.
func parseSnowflake(text string) (uint64, bool) {
	id, err := strconv.ParseUint(text, 10, 64)
	return id, err == nil && id > 0
}
