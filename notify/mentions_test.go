package notify_test

import (
	"testing"

	"questscheduler/poll"
)

func TestHandle_MentionsFollowTheGroupsRole(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		role   any
		prefix string
		pinged []string
	}{
		{"absent is everyone", nil, "@everyone ", []string{"everyone"}},
		{"everyone", "everyone", "@everyone ", []string{"everyone"}},
		{"the guild's own id is everyone", guildID, "@everyone ", []string{"everyone"}},
		{"a role", roleID, "<@&" + roleID + "> ", []string{"role:" + roleID}},
		{"nobody", "none", "", nil},
		{"what is no id is nobody", "12> @everyone", "", nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			w := announced(t)
			w.setGroup("notifyRoleId", row.role)
			w.move(moved)
			w.want("gm", 0)
			w.mustEnd()
			w.restore()
			w.want("gm", 0)
			w.mustEnd()
			w.cancel()
			w.want("gm", 0)
			w.mustEnd()
			lines := w.lines(channel)
			wantTexts(t, "lines", contents(lines),
				row.prefix+movedLine[len("@everyone "):], restoredLine, row.prefix+cancelledLine[len("@everyone "):])
			for i, pinged := range [][]string{row.pinged, nil, row.pinged} {
				wantTexts(t, "pinged by "+lines[i].Content, lines[i].Pinged, pinged...)
			}
		})
	}
}

func TestHandle_ATitleCannotMentionAnybody(t *testing.T) {
	t.Parallel()
	for _, role := range []any{"none", roleID, "everyone"} {
		w := announced(t)
		w.setGroup("notifyRoleId", role)
		w.set(poll.Set("title", "@everyone @here <@&900000000000000001> <@900000000000000002> **x** [a](https://evil.example)"))
		w.move(moved)
		w.want("gm", 0)
		w.mustEnd()
		for _, m := range w.discord.Messages(channel) {
			for _, whom := range m.Pinged {
				if whom != role && whom != "role:"+roleID {
					t.Errorf("with role %v the message %q pings %s", role, m.Content, whom)
				}
			}
			if m.MentionEveryone && role != "everyone" {
				t.Errorf("with role %v the message %q mentions everyone", role, m.Content)
			}
		}
	}
}

func TestHandle_NoEditEverPings(t *testing.T) {
	t.Parallel()
	w := announced(t)
	for _, change := range []func(){func() { w.move(moved) }, w.restore, w.cancel} {
		change()
		w.want("gm", 0)
		w.mustEnd()
	}
	if card := w.cards(channel)[0]; len(card.Pinged) != 0 || card.EditedTimestamp == nil {
		t.Errorf("card %+v", card)
	}
}
