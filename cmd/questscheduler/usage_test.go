package main

import (
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Each row is a command line, its exit code, and its output.
func TestExitCodes(t *testing.T) {
	t.Parallel()
	empty := t.TempDir()
	good := settings(empty)
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := taken.Close(); err != nil {
			t.Error(err)
		}
	})
	for name, test := range map[string]struct {
		environ []string
		args    []string
		code    int
		says    string
	}{
		"nothing is asked":                  {nil, nil, exitUsage, "Usage: questscheduler <command>"},
		"help":                              {nil, []string{"--help"}, exitOK, "Operate it:"},
		"help of a command":                 {nil, []string{"serve", "--help"}, exitOK, "Examples:"},
		"help of a command that lacks much": {nil, []string{"token", "--help"}, exitOK, "--user=UID"},
		"version":                           {nil, []string{"--version"}, exitOK, "questscheduler " + version},
		"unknown command":                   {nil, []string{"polish"}, exitUsage, "unexpected argument polish"},
		"help as a word":                    {nil, []string{"help"}, exitOK, "Operate it:"},
		"help of a command, as a word":      {nil, []string{"help", "sweep"}, exitOK, "poll-fallback"},
		"version as a word":                 {nil, []string{"version"}, exitOK, "questscheduler dev"},
		"unknown flag":                      {nil, []string{"serve", "--fast"}, exitUsage, "unknown flag --fast"},
		"unknown flag, with its help":       {nil, []string{"sweep", "drain", "--fast"}, exitUsage, `Run "questscheduler sweep drain --help"`},
		"half a command": {
			[]string{"QS_SYNC=on"}, []string{"sweep"}, exitUsage,
			"refresh-mappings   Off, since neither QS_ATTENDEES_SHEET nor QS_ATTENDEES_CSV is set.",
		},
		"unknown job":             {nil, []string{"sweep", "everything"}, exitUsage, "unexpected argument everything"},
		"missing argument":        {nil, []string{"explain"}, exitUsage, "<poll-id>"},
		"missing file":            {nil, []string{"backup"}, exitUsage, "<file>"},
		"one argument too many":   {nil, []string{"serve", "now"}, exitUsage, "unexpected argument now"},
		"a flag's value is wrong": {nil, []string{"token", "--user", "gm", "--ttl", "soon"}, exitUsage, "--ttl"},
		"unknown shell":           {nil, []string{"completion", "tcsh"}, exitUsage, "tcsh"},
		"demo for all the world":  {nil, []string{"demo", "--addr", "0.0.0.0:0"}, exitUsage, "loopback"},

		"serve without settings": {nil, []string{"serve"}, exitUsage, "QS_ENC_KEYS has to hold a key"},
		"sweep without settings": {nil, []string{"sweep", "drain"}, exitUsage, "QS_ENC_KEYS has to hold a key"},
		"a setting that is none": {append(good, "QS_SQLITE_PTH=x"), []string{"explain", "p"}, exitUsage, "is QS_SQLITE_PATH meant?"},
		"a demo with wrong settings": {
			[]string{"QS_WATCH_TTL=long"}, []string{"demo", "--addr", "127.0.0.1:0"}, exitUsage,
			"QS_WATCH_TTL has to be a duration",
		},
		"demo on a taken address": {
			nil, []string{"demo", "--addr", taken.Addr().String()}, exitFailed, "name another address by --addr, or make demo ADDR=",
		},
		"serve on a taken address": {
			settings(t.TempDir(), "QS_ADDR="+taken.Addr().String()), []string{"serve"}, exitFailed,
			"cannot listen on " + taken.Addr().String(),
		},
		"serve without a folder": {
			append(good, "QS_SQLITE_PATH="+filepath.Join(empty, "none", "d.db")), []string{"serve"}, exitFailed,
			"folder of the data file does not exist",
		},
		"explain without a store": {good, []string{"explain", "p"}, exitFailed, "there is no data file yet"},
		"export without a store":  {good, []string{"export", filepath.Join(empty, "b.export")}, exitFailed, "there is no data file yet"},
		"backup without a store":  {good, []string{"backup", filepath.Join(empty, "b.db")}, exitFailed, "there is no data file yet"},
		"token without a folder": {
			[]string{"QS_SQLITE_PATH=" + filepath.Join(empty, "none", "d.db")}, []string{"token", "--user", "gm"}, exitFailed,
			"set QS_SQLITE_PATH as for the server",
		},
		"token for nobody":  {good, []string{"token", "--user", ""}, exitUsage, "--user must be 1 to 128 bytes"},
		"token for a path":  {good, []string{"token", "--user", "a/b"}, exitUsage, "--user must be"},
		"token for no time": {good, []string{"token", "--user", "gm", "--ttl", "0s"}, exitUsage, "--ttl must be at least 1s"},
		"token with no address": {
			good, []string{"token", "--user", "gm", "--email", "gm"}, exitUsage, "--email has to be an e-mail address",
		},
		"token with a name beside it": {
			good, []string{"token", "--user", "gm", "--email", "Gm <gm@example.org>"}, exitUsage,
			"--email has to be an e-mail address",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := run(t, test.environ, test.args...)
			got.want(t, test.code, test.says)
			if test.code != exitOK && got.out != "" {
				t.Errorf("a failure belongs on stderr; stdout has: %s", got.out)
			}
			if strings.Contains(got.errors, "goroutine") {
				t.Error("it panicked")
			}
		})
	}
}

// One message lists every problem and none of the values.
func TestServe_SaysEverythingThatIsWrongAtOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	got := run(t,
		settings(dir, "QS_ADDR=sesame", "QS_WATCH_TTL=sesame", "QS_ENC_KEYS=sesame", "QS_STORE=firestore", "QS_AUTH=firebase"), "serve")
	got.want(t, exitUsage, "QS_ADDR has to be", "QS_WATCH_TTL has to be", "QS_ENC_KEYS cannot be used",
		"QS_FIRESTORE_PROJECT has to name", "QS_FIREBASE_PROJECT has to name")
	if strings.Contains(got.errors, "sesame") || strings.Contains(got.errors, secretOfClient) {
		t.Error("it prints a value")
	}
	if found, err := filepath.Glob(filepath.Join(dir, "*")); err != nil || len(found) > 0 {
		t.Errorf("something was written: %v (%v)", found, err)
	}
}

// Conflicting settings are refused in one place, with the fix.
func TestSettings_Conflicting_AreRefusedWithTheirFix(t *testing.T) {
	t.Parallel()
	for setting, fix := range map[string]string{
		"QS_DOCUMENT_HINTS=listen": "is firestore alone",
	} {
		t.Run(setting, func(t *testing.T) {
			t.Parallel()
			name, _, _ := strings.Cut(setting, "=")
			environ := settings(t.TempDir(), "QS_PUBLIC_URL=https://quests.example.org", setting)
			got := run(t, environ, "serve")
			got.want(t, exitUsage, name+" is ", fix)
			if lines := strings.Count(got.errors, "\n  "); lines != 1 {
				t.Errorf("it lists %d problems, want this one", lines)
			}
			run(t, environ, "doctor").want(t, exitFailed, "wrong    settings        "+name, fix)
		})
	}
}

// Files that cannot be read or parsed are named.
func TestBadFiles_AreNamed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	data, keys, sheet := file("bad.db", "this is no database at all"), file("bad.keys", "sesame"), file("bad.csv", "no,mappings")
	key, none := file("signin.key", "sesame"), filepath.Join(dir, "none")
	world, worldKeys := filepath.Join(dir, "world"), filepath.Join(dir, "keys")
	for _, folder := range []string{world, worldKeys} {
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	file("world/demo.json", "{")
	file("keys/demo.json", `{"seeded": true}`)
	file("keys/keys", "sesame")
	environ := settings(dir)
	with := func(more ...string) []string { return slices.Concat(environ, more) }
	for name, test := range map[string]struct {
		environ []string
		args    []string
		file    string
	}{
		"the data file of a job":       {with("QS_SQLITE_PATH=" + data), []string{"sweep", "drain"}, data},
		"the data file of the journal": {with("QS_SQLITE_PATH=" + data), []string{"explain", "p"}, data},
		"a folder as the data file":    {with("QS_SQLITE_PATH=" + world), []string{"backup", none}, world},
		"a setting's file":             {with("QS_DISCORD_BOT_TOKEN_FILE=" + none), []string{"sweep", "drain"}, none},
		"a setting in a file":          {with("QS_ENC_KEYS=", "QS_ENC_KEYS_FILE="+keys), []string{"sweep", "drain"}, keys},
		"the sign-in key":              {environ, []string{"token", "--user", "gm"}, key},
		"the demo's world":             {nil, []string{"demo", "--data", world, "--addr", "127.0.0.1:0"}, filepath.Join(world, "demo.json")},
		"the demo's key":               {nil, []string{"demo", "--data", worldKeys, "--addr", "127.0.0.1:0"}, filepath.Join(worldKeys, "keys")},
		"a file as the demo's folder":  {nil, []string{"demo", "--data", sheet, "--addr", "127.0.0.1:0"}, sheet},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := run(t, test.environ, test.args...)
			if got.code == exitOK || !strings.Contains(got.errors, test.file) || strings.Contains(got.errors, "sesame") {
				t.Errorf("it ends with %d and says %s", got.code, got.errors)
			}
		})
	}
}
