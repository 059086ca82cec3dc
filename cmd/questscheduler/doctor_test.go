package main

import (
	"bytes"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"questscheduler/demo"
	"questscheduler/demo/sim/control"
	"questscheduler/demo/sim/discord"
)

// Each row is an environment, the exit code, and lines that doctor prints.
func TestDoctor(t *testing.T) {
	t.Parallel()
	bot, err := discord.New(discord.Options{Clock: control.NewClock(nil), Token: secretOfBot})
	if err != nil {
		t.Fatal(err)
	}
	app, key := bot.Application()
	simulator := httptest.NewServer(bot.Handler())
	t.Cleanup(simulator.Close)
	folder := t.TempDir()
	people := filepath.Join(folder, "people.csv")
	writeFile(
		t, folder, "people.csv",
		"Primary,Secondary,Status\nana@north.example,ana@south.example,\nbo@west.example,bo@south.example,\n", 0o600,
	)
	const follow, gone = "QS_SYNC=on", "http://127.0.0.1:1"
	for name, test := range map[string]struct {
		more    []string
		prepare func(t *testing.T, dir string)
		code    int
		says    []string
	}{
		"an empty folder": {nil, nil, exitOK, []string{
			"ok       settings        all can be used", "ok       store           there is none yet",
			"ok       work            the server itself does what is due", "ok       sign-in key     there is none yet",
			"ok       encryption keys QS_ENC_KEYS can be used", "warning  google          QS_GOOGLE_CLIENT_ID does not end with",
			"ok       public address  not needed", "ok       discord         off", "warning  admins          there are none",
			"ok       sync            QS_SYNC is off",
			"warning  redirect URI    people can link accounts from this machine alone", "ok       proxies         none is believed",
		}},
		"no settings at all": {[]string{"QS_SYNC=", "QS_GOOGLE_CLIENT_ID=", "QS_GOOGLE_CLIENT_SECRET=", "QS_ENC_KEYS="}, nil,
			exitFailed, []string{
				"wrong    settings        QS_ENC_KEYS has to hold a key", "wrong    settings        QS_GOOGLE_CLIENT_ID",
				"wrong    settings        QS_PUBLIC_URL",
				"4 of these lines say what is wrong",
			}},
		"everything is set": {[]string{follow, "QS_PUBLIC_URL=https://quests.example.org", "QS_GOOGLE_CLIENT_ID=1-a.apps.googleusercontent.com",
			"QS_DISCORD_BOT_TOKEN=" + secretOfBot, "QS_ADMIN_USERS=gm,ana"}, nil, exitOK, []string{
			"ok       google          the OAuth client is set", "warning  proxies         QS_PUBLIC_URL is https",
			"ok       public address  Google pushes to https://quests.example.org/webhooks/google/calendar",
			"ok       discord         the token is set; it is not tried", "ok       admins          2",
			"ok       sync            calendars are followed",
			"ok       redirect URI    in the Google Cloud console, under Credentials, the OAuth client has to name " +
				"https://quests.example.org/oauth/google/callback as",
		}},
		"a proxy that is trusted": {[]string{
			"QS_PUBLIC_URL=https://quests.example.org", "QS_TRUSTED_PROXIES=127.0.0.1,10.0.0.0/8",
		}, nil, exitOK, []string{
			"ok       proxies         2 addresses or networks are believed",
		}},
		"a proxy that is none": {[]string{"QS_PUBLIC_URL=https://quests.example.org", "QS_TRUSTED_PROXIES=nginx"}, nil, exitFailed, []string{
			"wrong    settings        QS_TRUSTED_PROXIES has to list addresses",
		}},
		"a deployment that is only observed": {[]string{"QS_SYNC=observe", "QS_PUBLIC_URL=https://quests.example.org"}, nil, exitOK, []string{
			"warning  sync            QS_SYNC is observe",
		}},
		"an address that only we can reach": {[]string{follow, "QS_PUBLIC_URL=https://192.168.1.7"}, nil, exitOK, []string{
			"warning  public address  QS_PUBLIC_URL is an address that Google cannot reach",
		}},
		"an address on this machine": {[]string{follow, "QS_PUBLIC_URL=https://localhost"}, nil, exitOK, []string{
			"warning  public address  QS_PUBLIC_URL is on this machine",
		}},
		"an address without TLS": {[]string{follow, "QS_PUBLIC_URL=http://quests.example.org"}, nil, exitFailed, []string{
			"wrong    settings        QS_PUBLIC_URL has to begin with https://",
		}},
		"a simulator and nobody at our address": {[]string{
			follow, "QS_PUBLIC_URL=" + gone, "QS_GOOGLE_ENDPOINT=http://127.0.0.1:1",
		}, nil, exitOK, []string{
			"warning  google          QS_GOOGLE_ENDPOINT is set", "warning  public address  nothing answers at " + gone,
		}},
		"a bot's token that is good": {[]string{"QS_DISCORD_ENDPOINT=" + simulator.URL, "QS_DISCORD_BOT_TOKEN=" + secretOfBot},
			nil, exitOK, []string{
				"warning  discord         the token is good at QS_DISCORD_ENDPOINT",
			}},
		"buttons without HTTPS": {[]string{
			"QS_DISCORD_APPLICATION_ID=" + app, "QS_DISCORD_PUBLIC_KEY=" + key, "QS_PUBLIC_URL=http://quests.example.org",
		}, nil, exitFailed, []string{"wrong    discord buttons Discord sends them to HTTPS alone"}},
		"buttons of another application": {[]string{
			"QS_DISCORD_ENDPOINT=" + simulator.URL, "QS_DISCORD_BOT_TOKEN=" + secretOfBot,
			"QS_DISCORD_APPLICATION_ID=" + app, "QS_DISCORD_PUBLIC_KEY=" + strings.Repeat("ab", 32),
		}, nil, exitFailed, []string{"wrong    discord buttons the bot belongs to another application"}},
		"buttons that go elsewhere": {[]string{
			"QS_DISCORD_ENDPOINT=" + simulator.URL, "QS_DISCORD_BOT_TOKEN=" + secretOfBot,
			"QS_DISCORD_APPLICATION_ID=" + app, "QS_DISCORD_PUBLIC_KEY=" + key,
		}, nil, exitOK, []string{"warning  discord buttons Discord sends them elsewhere"}},
		"a key without its application": {[]string{"QS_DISCORD_PUBLIC_KEY=" + key}, nil, exitFailed, []string{
			"wrong    settings        QS_DISCORD_PUBLIC_KEY and QS_DISCORD_APPLICATION_ID",
		}},
		"people by their interactions": {[]string{
			"QS_DISCORD_APPLICATION_ID=" + app, "QS_DISCORD_PUBLIC_KEY=" + key, "QS_PUBLIC_URL=https://quests.example.org",
			"QS_DISCORD_GUILDS=700000000000000001,700000000000000009",
		}, nil, exitOK, []string{"ok       discord people  users of 2 servers need no account"}},
		"people of every server": {[]string{
			"QS_DISCORD_APPLICATION_ID=" + app, "QS_DISCORD_PUBLIC_KEY=" + key, "QS_PUBLIC_URL=https://quests.example.org",
			"QS_DISCORD_GUILDS=*",
		}, nil, exitOK, []string{"warning  discord people  users of every server that the bot is in need no account"}},
		"people of a server without its number": {[]string{
			"QS_DISCORD_APPLICATION_ID=" + app, "QS_DISCORD_PUBLIC_KEY=" + key, "QS_PUBLIC_URL=https://quests.example.org",
			"QS_DISCORD_GUILDS=The Party",
		}, nil, exitFailed, []string{"wrong    settings        QS_DISCORD_GUILDS has to list the numbers"}},
		"a bot's token that is refused": {[]string{"QS_DISCORD_ENDPOINT=" + simulator.URL, "QS_DISCORD_BOT_TOKEN=another"}, nil,
			exitFailed, []string{
				"wrong    discord         the token is refused",
			}},
		"no Discord there": {[]string{"QS_DISCORD_ENDPOINT=" + gone, "QS_DISCORD_BOT_TOKEN=" + secretOfBot}, nil, exitFailed, []string{
			"wrong    discord         nothing answers",
		}},
		"something else there": {[]string{
			"QS_DISCORD_ENDPOINT=" + simulator.URL + "/elsewhere", "QS_DISCORD_BOT_TOKEN=" + secretOfBot,
		}, nil, exitFailed, []string{
			"wrong    discord         QS_DISCORD_ENDPOINT answers 404",
		}},
		"a key that others may read": {nil, func(t *testing.T, dir string) { writeFile(t, dir, "signin.key", "key", 0o644) },
			exitFailed, []string{
				"wrong    sign-in key", "run chmod 600",
			}},
		"a key that is none": {nil, func(t *testing.T, dir string) { writeFile(t, dir, "signin.key", "key", 0o600) }, exitFailed, []string{
			"wrong    sign-in key", "holds no Ed25519 key",
		}},
		"a store that is none": {nil, func(t *testing.T, dir string) {
			writeFile(t, dir, demo.StoreFile, strings.Repeat("no database\n", 500), 0o600)
		}, exitFailed, []string{"wrong    store", "not a questscheduler database"}},
		"a store that is damaged": {nil, damageStore, exitFailed, []string{"wrong    store", "restore a backup"}},
		"a file of second addresses": {[]string{"QS_ATTENDEES_CSV=" + people, "QS_ATTENDEES_DOMAINS=north.example"}, nil, exitOK, []string{
			"ok       attendees       file " + people + " has 2 rows, which give 1 addresses second ones",
			"warning  attendees       1 rows are not taken: row 3: The primary address",
		}},
		"a file of second addresses that does not exist": {[]string{
			"QS_ATTENDEES_CSV=none.csv", "QS_ATTENDEES_DOMAINS=north.example",
		}, nil, exitFailed, []string{
			"wrong    attendees       file none.csv cannot be loaded: The file of mappings does not exist",
		}},
		"no folder": {[]string{"QS_SQLITE_PATH=" + filepath.Join(t.TempDir(), "none", "d.db")}, nil, exitFailed, []string{
			"wrong    store", "folder of the data file does not exist",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if test.prepare != nil {
				test.prepare(t, dir)
			}
			before := contents(t, dir)
			got := run(t, settings(dir, test.more...), "doctor")
			got.want(t, test.code, test.says...)
			if strings.Contains(got.out+got.errors, secretOfBot) || strings.Contains(got.out+got.errors, secretOfClient) {
				t.Error("it shows a secret")
			}
			if after := contents(t, dir); after != before {
				t.Errorf("the folder held %s and now holds %s", before, after)
			}
		})
	}
}

func TestDoctor_BesideAServer_SeesItAnswer(t *testing.T) {
	t.Parallel()
	w := newCalendarWorld(t)
	environ := w.settings(freeAddress(t))
	serve(t, environ)
	run(t, environ, "doctor").want(t, exitOK, "ok       public address  http://127.0.0.1:", " answers", "is sound")
}

// What settings contradict is said once: of second addresses nothing is tried then.
func TestDoctor_WithAFileAndASheetOfSecondAddresses_TriesNeither(t *testing.T) {
	t.Parallel()
	got := run(t,
		settings(t.TempDir(), "QS_ATTENDEES_CSV=none.csv", "QS_ATTENDEES_SHEET=s", "QS_ATTENDEES_ACCOUNT=acc_1",
			"QS_ATTENDEES_DOMAINS=north.example"), "doctor")
	got.want(t, exitFailed, "wrong    settings        QS_ATTENDEES_CSV is set, and QS_ATTENDEES_SHEET too")
	if strings.Contains(got.out, " attendees ") {
		t.Errorf("it tries second addresses: %s", got.out)
	}
}

func writeFile(t *testing.T, dir, name, content string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(content), mode); err != nil {
		t.Fatal(err)
	}
}

// damageStore creates a store and overwrites all its pages but the first.
func damageStore(t *testing.T, dir string) {
	t.Helper()
	run(t, settings(dir), "sweep", "drain").want(t, exitOK)
	path := filepath.Join(dir, demo.StoreFile)
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const page = 4096
	copy(content[2*page:], bytes.Repeat([]byte{0xff}, len(content)-2*page))
	writeFile(t, dir, demo.StoreFile, string(content), 0o600)
}

// contents lists the files of a folder, without those that SQLite has beside a store
// that is open or was only read.
func contents(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, entry := range entries {
		if name := entry.Name(); !strings.HasSuffix(name, "-wal") && !strings.HasSuffix(name, "-shm") {
			names = append(names, name)
		}
	}
	return strings.Join(names, " ")
}
