package discord

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// allowedMentions says which mentions of a content ping. Without one, all do.
type allowedMentions struct {
	Parse []string `json:"parse"`
	Roles []string `json:"roles"`
	Users []string `json:"users"`
}

// maxAllowed is how many ids a list of allowed mentions may hold.
const maxAllowed = 100

var parseTypes = []string{"everyone", "roles", "users"}

// readAllowedMentions checks and reads the field; nil where it was not sent or
// is null, which is the same.
func readAllowedMentions(raw json.RawMessage, wrong formErrors) *allowedMentions {
	const field = "allowed_mentions"
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	var a allowedMentions
	if json.Unmarshal(raw, &a) != nil {
		wrong.add("MODEL_TYPE_CONVERT", "parse, roles and users must be lists of strings.", field)
		return &a
	}
	for i, kind := range a.Parse {
		if !slices.Contains(parseTypes, kind) {
			wrong.add("BASE_TYPE_CHOICES", fmt.Sprintf("Value must be one of {%s}.", strings.Join(parseTypes, ", ")), field, "parse", index(i))
		}
	}
	for _, list := range []struct {
		name string
		ids  []string
	}{{"roles", a.Roles}, {"users", a.Users}} {
		if len(list.ids) > maxAllowed {
			wrong.tooLong(maxAllowed, field, list.name)
		}
		if len(list.ids) > 0 && slices.Contains(a.Parse, list.name) {
			wrong.add("MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE",
				fmt.Sprintf("parse:[%q] and %s: [ids...] are mutually exclusive.", list.name, list.name), field)
		}
		for i, id := range list.ids {
			if _, ok := parseSnowflake(id); !ok {
				wrong.notSnowflake(id, field, list.name, index(i))
			}
		}
	}
	return &a
}

// allows says whether a mention of that kind and id may ping. A nil receiver
// allows everything.
func (a *allowedMentions) allows(kind, id string) bool {
	switch {
	case a == nil || slices.Contains(a.Parse, kind):
		return true
	case kind == "roles":
		return slices.Contains(a.Roles, id)
	case kind == "users":
		return slices.Contains(a.Users, id)
	}
	return false
}

// mentionText finds what is written as a mention: group 1 @everyone or @here,
// group 2 a role, group 3 a person. Backslashes and code spans are ignored: only
// allowed_mentions makes typed text safe.
var mentionText = regexp.MustCompile(`@(everyone|here)|<@&(\d{1,20})>|<@!?(\d{1,20})>`)

// mention sets whom m's content mentions, and adds whom that pings to m.Pinged.
// Embeds never ping.
func (m *Message) mention(allowed *allowedMentions, in Channel, g Guild) {
	m.MentionEveryone, m.Mentions, m.MentionRoles = false, []User{}, []string{}
	pinged := slices.Clone(m.Pinged)
	ping := func(whom string) {
		if !slices.Contains(pinged, whom) {
			pinged = append(pinged, whom)
		}
	}
	for _, found := range mentionText.FindAllStringSubmatch(m.Content, -1) {
		everyone, role, user := found[1], found[2], found[3]
		switch {
		case everyone != "" && allowed.allows("everyone", "") && in.allows(MentionEveryone):
			m.MentionEveryone = true
			ping(everyone)
		case role != "" && allowed.allows("roles", role) && g.pingable(role, in):
			if !slices.Contains(m.MentionRoles, role) {
				m.MentionRoles = append(m.MentionRoles, role)
			}
			ping("role:" + role)
		case user != "" && allowed.allows("users", user):
			if !slices.ContainsFunc(m.Mentions, func(u User) bool { return u.ID == user }) {
				m.Mentions = append(m.Mentions, person(user))
			}
			ping("user:" + user)
		}
	}
	m.Pinged = pinged
}

// pingable says whether the bot can ping a role in a channel of the guild.
func (g Guild) pingable(role string, in Channel) bool {
	if len(g.Roles) == 0 {
		return true
	}
	i := slices.IndexFunc(g.Roles, func(r Role) bool { return r.ID == role })
	return i >= 0 && (g.Roles[i].Mentionable || in.allows(MentionEveryone))
}
