package notify_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"questscheduler/internal/poll"
	"questscheduler/internal/store"
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
			lines := w.messages(channel)
			wantTexts(t, "messages", contents(lines),
				row.prefix+movedMessage[len("@everyone "):], restoredMessage, row.prefix+cancelledMessage[len("@everyone "):])
			for i, pinged := range [][]string{row.pinged, nil, row.pinged} {
				wantTexts(t, "pinged by "+lines[i].Content, lines[i].Pinged, pinged...)
			}
		})
	}
}

// A person who left a group must not reach all of it by an older poll.
func TestHandle_CreatorLeftTheGroup_MentionsNobody(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name     string
		creator  string
		members  []any
		pending  []any
		mentions bool
	}{
		{"a member", "ben", []any{"ben", "gm"}, nil, true},
		{"the group's creator", "gm", []any{"ben"}, nil, true},
		{"one whom it invites", "ben", []any{"ben"}, []any{"gm"}, false},
		{"nobody of it", "ben", []any{"ben"}, nil, false},
	} {
		for _, role := range []string{"everyone", roleID} {
			t.Run(row.name+" with "+role, func(t *testing.T) {
				t.Parallel()
				w := announced(t)
				w.setGroup("notifyRoleId", role)
				w.write(func(tx store.Tx) error {
					return tx.Update(poll.GroupPath(groupID),
						poll.Set("creatorId", row.creator), poll.Set("memberIds", row.members), poll.Set("pendingMemberIds", row.pending))
				})
				w.cancel()
				w.want("gm", 0)
				w.mustEnd()
				lines := w.messages(channel)
				if len(lines) != 1 {
					t.Fatalf("%d messages, want 1", len(lines))
				}
				bare := cancelledMessage[len("@everyone "):]
				if got := len(lines[0].Pinged) > 0; got != row.mentions || row.mentions == (lines[0].Content == bare) {
					t.Errorf("the message %q pings %v", lines[0].Content, lines[0].Pinged)
				}
			})
		}
	}
}

// In the app it reaches those of the group who voted in the poll, and participants.
func TestHandle_CreatorLeftTheGroup_NotifiesWhoVoted(t *testing.T) {
	t.Parallel()
	for name, members := range map[string][]any{"left": {"ben", "cho"}, "is in it": {"ben", "cho", "gm"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := announced(t)
			w.write(func(tx store.Tx) error {
				return first(
					tx.Update(poll.GroupPath(groupID), poll.Set("creatorId", "ben"), poll.Set("memberIds", members)),
					tx.Update(poll.Path(pollID), poll.Set("participantIds", []any{"gm", "ana", "ben"})),
					tx.Update(poll.AnnouncementPath(pollID), poll.NamedUpdates(pollID, []string{"ben"})...),
				)
			})
			w.cancel()
			w.want("gm", 0)
			w.mustEnd()
			wantTexts(t, "ana", w.bell("ana"), cancelledBody)
			for _, uid := range []string{"ben", "cho"} {
				if bell := w.bell(uid); len(bell) != len(members)-2 {
					t.Errorf("%s, who has not voted, has %q", uid, bell)
				}
			}
			wantTexts(t, "named", w.announcement().Named, "ben")
			w.write(func(tx store.Tx) error { return first(voteOf("ben", "s1")(tx), voteOf("cho", "s1")(tx)) })
			w.revive()
			w.want("gm", 0)
			w.mustEnd()
			for _, uid := range []string{"ben", "cho"} {
				if bell := w.bell(uid); len(bell) != len(members)-1 {
					t.Errorf("%s, who voted, has %q", uid, bell)
				}
			}
		})
	}
}

func TestHandle_TitleWithMentions_PingsNobody(t *testing.T) {
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

func TestHandle_Edits_PingNobody(t *testing.T) {
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

// discordLinks is what Discord makes a link of: an address with its scheme, an
// invite with or without one, text in brackets before an address in brackets, and
// the forms in angle brackets.
var discordLinks = []*regexp.Regexp{
	regexp.MustCompile(`(?i)(https?|discord|steam|mailto):/?/?[^\s<\x{200b}/]`),
	regexp.MustCompile(`(?i)(discord\.gg|discord(app)?\.com/invite|discord(app)?\.com/(events|channels|template))/[A-Za-z0-9-]`),
	regexp.MustCompile(`(^|[^\\])\[[^\]]*[^\\]\]\(`),
	regexp.MustCompile(`(^|[^\\])<[^>]*>`),
}

func TestHandle_TitleWithLinks_MakesNone(t *testing.T) {
	t.Parallel()
	for _, title := range []string{
		"https://evil.example/x", "HTTP://evil.example", "[Session](https://evil.example)", "[a](<https://evil.example>)",
		"<https://evil.example>", "discord.gg/abc", "https://discord.gg/abc", "discord.com/invite/abc", "discordapp.com/invite/abc",
		"</roll:12>", "<#12> <id:browse> <:die:12>", "discord://-/channels/1/2",
	} {
		w := announced(t)
		w.setGroup("notifyRoleId", "none")
		w.set(poll.Set("title", title))
		w.cancel()
		w.want("gm", 0)
		w.mustEnd()
		var shown []string
		for _, card := range w.cards(channel) {
			var embed struct{ Title string }
			if err := json.Unmarshal(card.Embeds[0], &embed); err != nil {
				t.Fatal(err)
			}
			shown = append(shown, embed.Title)
		}
		for _, text := range append(shown, contents(w.messages(channel))...) {
			text = strings.ReplaceAll(text, "<t:1801591200:F>", "") // the message's own time
			for _, link := range discordLinks {
				if link.MatchString(text) {
					t.Errorf("the title %q makes a link of %q (%v)", title, text, link)
				}
			}
		}
		if len(shown) != 1 || len(w.messages(channel)) != 1 {
			t.Errorf("%q: %d cards and %d lines", title, len(shown), len(w.messages(channel)))
		}
	}
}
