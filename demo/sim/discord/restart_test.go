package discord_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"questscheduler/demo/sim/discord"
)

func in(dir string) func(*discord.Options) { return func(o *discord.Options) { o.Dir = dir } }

func TestRestart_AnsweredMessages_AreKept(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := start(t, in(dir))
	const gone = "700000000000000009"
	if err := s.AddChannel(discord.Channel{ID: gone, GuildID: guildID, Gone: true}); err != nil {
		t.Fatal(err)
	}
	kept := s.post(`{"content":"<@` + userID + `>","embeds":[{"title":"<a> & b"}],"components":[` + voteRow + `],"nonce":"kept","flags":4}`)
	s.clock.add(time.Second)
	s.call(http.MethodPatch, messages+"/"+kept.ID, `{"content":"@here"}`)
	deleted := s.post(`{"content":"deleted","nonce":"deleted"}`)
	s.call(http.MethodDelete, messages+"/"+deleted.ID, nil)
	before := s.Messages(channel)

	again := open(t, in(dir))
	after := again.Messages(channel)
	if len(after) != 1 || asJSON(t, after) != asJSON(t, before) {
		t.Errorf("before\n%s\nafter\n%s", asJSON(t, before), asJSON(t, after))
	}
	if m := again.post(`{"content":"x","nonce":"kept","enforce_nonce":true}`); m.ID != kept.ID {
		t.Errorf("the nonce was forgotten: %+v", m)
	}
	wantRefusal(t, again.call(http.MethodPost, messages, `{"content":"x","nonce":"deleted","enforce_nonce":true}`), 404, 10008,
		"Unknown Message")
	wantRefusal(t, again.call(http.MethodGet, "/api/v9/channels/"+gone, nil), 404, 10003, "Unknown Channel")
	if m := again.post(`{"content":"new"}`); m.ID <= deleted.ID {
		t.Errorf("the id %s follows %s", m.ID, deleted.ID)
	}
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestRestart_SameSetupAgain_WritesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	start(t, in(dir)).post(`{"content":"x"}`)
	size := journalSize(t, dir)
	s := start(t, in(dir))
	if got := journalSize(t, dir); got != size || len(s.Messages(channel)) != 1 {
		t.Errorf("the journal grew from %d to %d bytes; messages %+v", size, got, s.Messages(channel))
	}
}

func journalSize(t *testing.T, dir string) int64 {
	t.Helper()
	info, err := os.Stat(filepath.Join(dir, "discord.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

func TestRestart_OwnClock_Continues(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := start(t, in(dir))
	s.call(http.MethodPost, "/_sim/clock", `{"advance":"1h"}`)
	s.call(http.MethodPost, "/_sim/clock", `{"advance":"30m"}`)
	again := open(t, in(dir))
	if m := again.post(`{"content":"x"}`); !m.Timestamp.Equal(newClock().Now().Add(90 * time.Minute)) {
		t.Errorf("posted at %v", m.Timestamp)
	}
}

func TestRestart_HalfALine_IsCutOff(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	m := start(t, in(dir)).post(`{"content":"x"}`)
	addToJournal(t, dir, `{"message":{"id":"99`)
	s := open(t, in(dir))
	second := s.post(`{"content":"y"}`)
	got := open(t, in(dir)).Messages(channel)
	if len(got) != 2 || got[0].ID != m.ID || got[1].ID != second.ID {
		t.Errorf("messages %+v", got)
	}
}

func TestRestart_DamagedLine_IsReportedWithItsPlace(t *testing.T) {
	t.Parallel()
	for name, line := range map[string]string{
		"no JSON":                      "{x}\n",
		"a message of no channel":      `{"message":{"id":"5","channel_id":"6"}}` + "\n",
		"a deletion of what never was": `{"deleted":{"id":"5","channel_id":"` + channel + `"}}` + "\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			start(t, in(dir)) // three lines: application, guild and channel
			addToJournal(t, dir, line)
			if _, err := discord.New(discord.Options{Token: token, Dir: dir}); err == nil || !strings.Contains(err.Error(), "line 4") {
				t.Errorf("error %v", err)
			}
		})
	}
}

func addToJournal(t *testing.T, dir, text string) {
	t.Helper()
	file, err := os.OpenFile(filepath.Join(dir, "discord.jsonl"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := file.WriteString(text); err != nil {
		t.Fatal(err)
	}
}

func TestJournal_Unwritable_FailsTheCallAndChangesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	start(t, in(dir))
	server, err := discord.New(discord.Options{Token: token, Dir: dir, Now: newClock().Now})
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(server.Handler())
	defer web.Close()
	if err := server.Close(); err != nil {
		t.Fatal(err)
	}
	if err := server.AddGuild("5", "Other"); err == nil {
		t.Error("the guild was added")
	}
	if err := server.AddChannel(discord.Channel{ID: "6", GuildID: guildID}); err == nil {
		t.Error("the channel was added")
	}
	for _, c := range []struct{ verb, path, body string }{
		{http.MethodPost, messages, `{"content":"x"}`},
		{http.MethodPut, "/_sim/channels/6", `{"guild_id":"` + guildID + `"}`},
	} {
		a, err := send(web.URL, c.verb, c.path, c.body)
		if err != nil {
			t.Fatal(err)
		}
		if a.status != http.StatusInternalServerError {
			t.Errorf("%s %s is answered %d %s", c.verb, c.path, a.status, a.body)
		}
	}
	if got := server.Messages(channel); len(got) != 0 {
		t.Errorf("messages %+v", got)
	}
}

// childDir, in the environment, makes the test binary run a simulator over
// that folder until it is killed, or its standard input ends.
const childDir = "DISCORD_SIMULATOR_CHILD_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childDir); dir != "" {
		fmt.Fprintln(os.Stderr, runChild(dir))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func runChild(dir string) error {
	s, err := discord.New(discord.Options{Token: token, Dir: dir})
	if err != nil {
		return err
	}
	if err := s.AddGuild(guildID, "Party"); err != nil {
		return err
	}
	if err := s.AddChannel(discord.Channel{ID: channel, GuildID: guildID}); err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println("http://" + l.Addr().String())
	go func() {
		// However reading ends, the test that started this is gone.
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(1)
	}()
	return http.Serve(l, s.Handler())
}

// startChild runs runChild in a process of its own and gives its address.
func startChild(t *testing.T, dir string) (*exec.Cmd, string) {
	t.Helper()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), childDir+"="+dir)
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := child.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	base, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return child, strings.TrimSpace(base)
}

func TestKilled_AnsweredMessages_AreKept(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	child, base := startChild(t, dir)

	answered := make(chan string)
	var posters sync.WaitGroup
	for range 4 {
		posters.Go(func() {
			for {
				a, err := send(base, http.MethodPost, messages, `{"content":"x"}`)
				if err != nil {
					return // killed
				}
				_, rest, _ := strings.Cut(string(a.body), `"id":"`)
				id, _, _ := strings.Cut(rest, `"`)
				answered <- id
			}
		})
	}
	go func() {
		posters.Wait()
		close(answered)
	}()
	var ids []string
	for id := range answered {
		ids = append(ids, id)
		if len(ids) == 50 {
			if err := child.Process.Kill(); err != nil {
				t.Error(err)
			}
		}
	}
	if err := child.Wait(); err == nil || len(ids) < 50 {
		t.Fatalf("the child ended before it was killed (%v), after %d answers", err, len(ids))
	}

	var kept []string
	for _, m := range open(t, in(dir)).Messages(channel) {
		kept = append(kept, m.ID)
	}
	for _, id := range ids {
		if !slices.Contains(kept, id) {
			t.Errorf("the message %s was answered and is lost", id)
		}
	}
}
