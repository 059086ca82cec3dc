package discord

import (
	"fmt"
	"net/http"
	"slices"
)

// Permission is something a bot may be denied in a channel, by Discord's name.
type Permission string

// The permissions that the simulator checks.
const (
	// ViewChannel: without it every call on the channel is 50001.
	ViewChannel Permission = "VIEW_CHANNEL"
	// SendMessages: without it posting is 50013.
	SendMessages Permission = "SEND_MESSAGES"
	// EmbedLinks: without it posting embeds is 50013.
	EmbedLinks Permission = "EMBED_LINKS"
	// ReadMessageHistory: without it a listing is empty and one message 50013.
	ReadMessageHistory Permission = "READ_MESSAGE_HISTORY"
	// MentionEveryone: without it @everyone, @here and roles that are not
	// mentionable are plain text.
	MentionEveryone Permission = "MENTION_EVERYONE"
	// ManageMessages: without it deleting a person's message is 50013.
	ManageMessages Permission = "MANAGE_MESSAGES"
)

var permissions = []Permission{ViewChannel, SendMessages, EmbedLinks, ReadMessageHistory, MentionEveryone, ManageMessages}

// Role is a role of a guild.
type Role struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	// Mentionable: a bot without MentionEveryone can ping it too.
	Mentionable bool `json:"mentionable"`
}

// Guild is a Discord server. One without roles knows every role id there is,
// mentionable, so that a test need not declare those it uses.
type Guild struct {
	ID    string `json:"id"`
	Name  string `json:"name"`
	Roles []Role `json:"roles"`
}

// Channel is a text channel of a guild and what the bot is denied there.
type Channel struct {
	ID      string `json:"id"`
	GuildID string `json:"guild_id"`
	Name    string `json:"name"`
	// Denied are the permissions that the bot lacks; none: it may do all.
	Denied []Permission `json:"denied"`
	// Gone: the channel was deleted, every call on it is 10003. Its messages
	// stay readable through Messages.
	Gone bool `json:"gone"`
	// Archived: it is a thread that was archived and locked. Posting, editing
	// and deleting are 50083, reading goes on.
	Archived bool `json:"archived"`
}

func (c Channel) allows(p Permission) bool { return !slices.Contains(c.Denied, p) }

// AddGuild adds a guild, or replaces name and roles of the one with that id. An
// error changes nothing.
func (s *Server) AddGuild(id, name string, roles ...Role) error {
	if _, ok := parseSnowflake(id); !ok {
		return fmt.Errorf("guild %q: the id must be a number such as 700000000000000001", id)
	}
	for _, role := range roles {
		if _, ok := parseSnowflake(role.ID); !ok {
			return fmt.Errorf("guild %s: role %q: the id must be a number such as 700000000000000003", id, role.ID)
		}
	}
	g := Guild{ID: id, Name: name, Roles: slices.Clone(roles)}
	s.mu.Lock()
	defer s.mu.Unlock()
	if old, ok := s.world.guilds[id]; ok && old.Name == name && slices.Equal(old.Roles, g.Roles) {
		return nil
	}
	if err := s.commit(record{Guild: &g}); err != nil {
		return fmt.Errorf("guild %s: %w", id, err)
	}
	return nil
}

// AddChannel adds a channel to a guild, or replaces the settings of the one with
// that id; its messages stay. An error changes nothing.
func (s *Server) AddChannel(c Channel) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.checkChannel(c); err != nil {
		return err
	}
	return s.putChannel(c)
}

// checkChannel validates a channel. The caller holds the lock.
func (s *Server) checkChannel(c Channel) error {
	if _, ok := parseSnowflake(c.ID); !ok {
		return fmt.Errorf("channel %q: the id must be a number such as 700000000000000002", c.ID)
	}
	if _, ok := s.world.guilds[c.GuildID]; !ok {
		return fmt.Errorf("channel %s: add its guild %q first", c.ID, c.GuildID)
	}
	for _, p := range c.Denied {
		if !slices.Contains(permissions, p) {
			return fmt.Errorf("channel %s: no permission %q; there are %v", c.ID, p, permissions)
		}
	}
	return nil
}

// putChannel writes a valid channel. The caller holds the lock.
func (s *Server) putChannel(c Channel) error {
	c.Denied = slices.Clone(c.Denied)
	if old, ok := s.world.channels[c.ID]; ok && sameChannel(old.Channel, c) {
		return nil
	}
	if err := s.commit(record{Channel: &c}); err != nil {
		return fmt.Errorf("channel %s: %w", c.ID, err)
	}
	return nil
}

func sameChannel(a, b Channel) bool {
	return a.ID == b.ID && a.GuildID == b.GuildID && a.Name == b.Name && a.Gone == b.Gone && a.Archived == b.Archived &&
		slices.Equal(a.Denied, b.Denied)
}

// getGuild is guilds.get. Its roles include @everyone, whose id is the guild's, as at Discord.
func (s *Server) getGuild(r *http.Request) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	guild, ok := s.world.guilds[r.PathValue("guild")]
	if !ok {
		return nil, coded(codeUnknownGuild)
	}
	roles := append([]Role{{ID: guild.ID, Name: "@everyone"}}, guild.Roles...)
	return Guild{ID: guild.ID, Name: guild.Name, Roles: roles}, nil
}
