package discord

import (
	"cmp"
	"errors"
	"net/http"
	"strconv"

	"questscheduler/demo/sim/control"
)

// member is what a person is in a guild, or in every guild where it names none.
type member struct {
	User        string `json:"user"`
	GuildID     string `json:"guild_id,omitempty"`
	Permissions string `json:"permissions,omitempty"` // a decimal number; "" is the usual ones
	Nick        string `json:"nick,omitempty"`
}

type memberKey struct{ user, guildID string }

// bits are the permissions as Discord numbers them.
var bits = map[Permission]uint64{
	ViewChannel: 1 << 10, SendMessages: 1 << 11, ManageMessages: 1 << 13, EmbedLinks: 1 << 14, ReadMessageHistory: 1 << 16,
	MentionEveryone: 1 << 17,
}

// createEvents is a permission that the bot has and no channel denies.
const createEvents = 1 << 44

// usualPermissions are those of a person without others.
var usualPermissions = strconv.FormatUint(bits[ViewChannel]|bits[SendMessages]|bits[EmbedLinks]|bits[ReadMessageHistory], 10)

// appPermissions are the bot's in a channel.
func (c Channel) appPermissions() string {
	var all uint64 = createEvents
	for _, p := range permissions {
		if c.allows(p) {
			all |= bits[p]
		}
	}
	return strconv.FormatUint(all, 10)
}

// member is what a person is in a guild: what was set for it, else for all.
func (w *world) member(user, guildID string) member {
	here, everywhere := w.members[memberKey{user, guildID}], w.members[memberKey{user, ""}]
	return member{
		User: user, GuildID: guildID, Nick: cmp.Or(here.Nick, everywhere.Nick),
		Permissions: cmp.Or(here.Permissions, everywhere.Permissions, usualPermissions),
	}
}

// simMember is PUT /_sim/members/{user} {"permissions": "16", "nick": "…", "guild_id": "…"}.
// What the body does not name stays; without a guild it counts in all.
func (s *Server) simMember(w http.ResponseWriter, r *http.Request) {
	var change struct {
		GuildID     string  `json:"guild_id"`
		Permissions *string `json:"permissions"`
		Nick        *string `json:"nick"`
	}
	if !control.Decode(w, r, &change) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.world.members[memberKey{r.PathValue("user"), change.GuildID}]
	m.User, m.GuildID = r.PathValue("user"), change.GuildID
	set(&m.Permissions, change.Permissions)
	set(&m.Nick, change.Nick)
	_, isID := parseSnowflake(m.User)
	_, known := s.world.guilds[m.GuildID]
	switch {
	case !isID:
		control.Refuse(w, http.StatusBadRequest, errors.New("user: give a person's id, such as 700000000000000004"))
		return
	case m.GuildID != "" && !known:
		control.Refuse(w, http.StatusBadRequest, errors.New("guild_id: no such guild"))
		return
	case m.Permissions != "" && !arePermissions(m.Permissions):
		control.Refuse(w, http.StatusBadRequest, errPermissions)
		return
	}
	if err := s.commit(record{Member: &m}); err != nil {
		control.Refuse(w, http.StatusInternalServerError, err)
		return
	}
	writeJSON(w, http.StatusOK, m)
}

var errPermissions = errors.New("permissions: give a decimal number as text, such as \"16\"")

func arePermissions(text string) bool {
	_, err := strconv.ParseUint(text, 10, 64)
	return err == nil
}
