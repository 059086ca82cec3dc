package notify

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestDiscordTitle_Markdown_IsShownAsTyped(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ title, want string }{
		{"Curse of Strahd", "Curse of Strahd"},
		{"@everyone", "@" + zeroWidthSpace + "everyone"},
		{"<@&12> <@34>", `\<@` + zeroWidthSpace + `&12\> \<@` + zeroWidthSpace + `34\>`},
		{"**bold** _it_ ~~no~~ `x` ||y||", `\*\*bold\*\* \_it\_ \~\~no\~\~ ` + "\\`x\\`" + ` \|\|y\|\|`},
		{"[a](b)", `\[a\]\(b\)`},
		{"[a](https://evil.example)", `\[a\]\(https:/` + zeroWidthSpace + `/` + zeroWidthSpace + `evil.example\)`},
		{"http://evil.example?x=1", "http:/" + zeroWidthSpace + "/" + zeroWidthSpace + "evil.example?x=1"},
		{"<https://evil.example>", `\<https:/` + zeroWidthSpace + `/` + zeroWidthSpace + `evil.example\>`},
		{"discord.gg/abc", "discord.gg/" + zeroWidthSpace + "abc"},
		{"discord.com/invite/abc", "discord.com/" + zeroWidthSpace + "invite/" + zeroWidthSpace + "abc"},
		{"<#12> </roll:34> <t:1:R> <id:home>", `\<\#12\> \</` + zeroWidthSpace + `roll:34\> \<t:1:R\> \<id:home\>`},
		{`\@here`, `\\@` + zeroWidthSpace + "here"},
		{" one\n\ttwo\x00three ", "one two three"},
		{"safe\u202eexe.cod", "safe exe.cod"},
		{"👩‍🚀 Öl", "👩‍🚀 Öl"},
		{"", "Untitled session"},
		{" \n ", "Untitled session"},
	} {
		if got := discordTitle(row.title, 100); got != row.want {
			t.Errorf("%q: got %q, want %q", row.title, got, row.want)
		}
	}
}

func TestTitles_TooLong_AreCutBetweenCharacters(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		title string
		limit int
		want  string
	}{
		{"abcde", 5, "abcde"},
		{"abcdef", 5, "abcd…"},
		{"abc*", 5, `abc\*`},
		{"abcd*", 5, "abcd…"},
		{"abc*d", 5, "abc…"},
		{"öäüöäü", 5, "öäüö…"},
		{"abc@", 4, "abc…"},
	} {
		if got := discordTitle(row.title, row.limit); got != row.want {
			t.Errorf("%q: got %q, want %q", row.title, got, row.want)
		}
	}
	long := strings.Repeat("*", 5000)
	if n := utf8.RuneCountInString(titleMark + discordTitle(long, maxEmbedTitle)); n > 256 {
		t.Errorf("an embed's title has %d characters", n)
	}
	if n := utf8.RuneCountInString(plainTitle(long, maxInAppTitle)); n != maxInAppTitle {
		t.Errorf("a plain title has %d characters", n)
	}
}
