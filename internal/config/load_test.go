package config_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"questscheduler/internal/config"
)

const key = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="

// enough is the least that has to be set, and more.
func enough(more ...string) []string {
	return append([]string{
		"QS_PUBLIC_URL=https://quest.example.org", "QS_GOOGLE_CLIENT_ID=id",
		"QS_GOOGLE_CLIENT_SECRET=s3cret", "QS_ENC_KEYS=k1:" + key, "PATH=/bin",
	}, more...)
}

func load(t *testing.T, environ []string) config.Config {
	t.Helper()
	c, err := config.Load(environ, config.Default())
	if err != nil {
		t.Fatalf("load: %v", err)
	}
	return c
}

func problems(t *testing.T, environ []string) config.Problems {
	t.Helper()
	_, err := config.Load(environ, config.Default())
	var found config.Problems
	if !errors.As(err, &found) {
		t.Fatalf("got %v, want problems", err)
	}
	return found
}

func TestLoad_WithoutSettings_UsesTheDocumentedDefaults(t *testing.T) {
	t.Parallel()
	c := load(t, enough())
	for name, ok := range map[string]bool{
		"store":           c.Store == config.StoreSQLite,
		"queue":           c.Queue == config.QueueEmbedded,
		"auth":            c.Auth == config.AuthLocal,
		"sync":            c.Sync == config.SyncOn,
		"hints":           c.DocumentChanges == config.ChangesOff,
		"settle":          c.NotifySettle == 10*time.Second,
		"gap":             c.SyncMinGap == time.Second,
		"ttl":             c.WatchTTL == 168*time.Hour,
		"renew":           c.RenewBefore == 48*time.Hour,
		"fallback":        c.FallbackEvery == 6*time.Hour,
		"snapshots":       c.SnapshotKeep == 2160*time.Hour,
		"journal":         c.JournalKeep == 8760*time.Hour,
		"share":           c.MassCancelShare == 0.5,
		"min":             c.MassCancelMin == 5,
		"no attendees":    !c.AttendeesOn(),
		"no mail":         c.AttendeesSendUpdates == config.SendNone,
		"nobody trusted":  len(c.TrustedProxies) == 0,
		"discord is ours": c.DiscordOwn == config.DiscordAll,
		"app":             c.AppURL == "https://quest.example.org",
		"audience":        c.TasksAudience == "https://quest.example.org",
		"secret":          c.GoogleClientSecret.Reveal() == "s3cret",
	} {
		if !ok {
			t.Errorf("%s is not the default: %+v", name, c)
		}
	}
}

func TestLoad_EverySetting_IsRead(t *testing.T) {
	t.Parallel()
	c := load(t, []string{
		"QS_STORE=firestore", "QS_FIRESTORE_PROJECT=p", "QS_FIRESTORE_DATABASE=d", "QS_FIRESTORE_CREDENTIALS={}",
		"QS_FIRESTORE_ENDPOINT=127.0.0.1:3", "QS_SQLITE_PATH=/data/q.db",
		"QS_QUEUE=cloudtasks", "QS_CLOUDTASKS_QUEUE=projects/p/locations/l/queues/q",
		"QS_TASKS_SERVICE_ACCOUNT=tasks@p.iam.gserviceaccount.com", "QS_TASKS_AUDIENCE=aud", "QS_CLOUDTASKS_ENDPOINT=127.0.0.1:4",
		"QS_AUTH=firebase", "QS_FIREBASE_PROJECT=fp", "QS_FIREBASE_REVOCATION=on", "QS_MACHINE_ISSUER=http://127.0.0.1:5/", "QS_ADDR=[::1]:9000",
		"QS_TRUSTED_PROXIES=127.0.0.1, 169.254.0.0/16,,::1,fd00::/8,",
		"QS_PUBLIC_URL=https://a.example", "QS_APP_URL=https://b.example/app",
		"QS_GOOGLE_CLIENT_ID=id", "QS_GOOGLE_CLIENT_SECRET=cs", "QS_GOOGLE_ENDPOINT=http://127.0.0.1:1",
		"QS_SYNC=observe", "QS_DOCUMENT_HINTS=listen", "QS_CALLABLES_UPSTREAM=https://up.example",
		"QS_ALLOWED_ORIGINS=https://x.example, http://localhost:3000,", "QS_DISCORD_OWN=transitions",
		"QS_ENC_KEYS=" + key, "QS_DISCORD_BOT_TOKEN=bot", "QS_DISCORD_ENDPOINT=http://127.0.0.1:2",
		"QS_NOTIFY_SETTLE=0", "QS_NOTICES_PER_HOUR=3", "QS_POLL_COMMANDS=4", "QS_SYNC_MIN_GAP=2s", "QS_WATCH_TTL=3h",
		"QS_RENEW_BEFORE=4m", "QS_FALLBACK_EVERY=5h",
		"QS_SNAPSHOT_KEEP=6h", "QS_MASS_CANCEL_SHARE=0.7", "QS_MASS_CANCEL_MIN=8", "QS_JOURNAL_KEEP=9h",
		"QS_GROUP_MEMBERS=listed",
		"QS_MACHINE_ACCOUNTS=a@b.example,c@d.example", "QS_ADMIN_USERS=u1,u2", "QS_METRICS_TOKEN=" + strings.Repeat("m", 32),
		"QS_LOG_LEVEL=debug", "QS_LOG_FORMAT=json",
		"QS_ATTENDEES_SHEET=sh", "QS_ATTENDEES_DOMAINS=North.example, b.example", "QS_ATTENDEES_KEY=" + serviceKey(t),
		"QS_ATTENDEES_ACCOUNT=acc_1",
		"QS_ATTENDEES_SEND_UPDATES=externalOnly",
	})
	got := []any{
		c.Store, c.FirestoreProject, c.FirestoreDatabase, c.FirestoreCredentials.Reveal(), c.FirestoreEndpoint, c.SQLitePath,
		c.Queue, c.CloudTasksQueue, c.TasksServiceAccount, c.TasksAudience, c.CloudTasksEndpoint,
		c.Auth, c.FirebaseProject, c.FirebaseRevocation, c.MachineIssuer, c.Addr, fmt.Sprint(c.TrustedProxies), c.PublicURL,
		c.AppURL, c.GoogleClientID, c.GoogleClientSecret.Reveal(), c.GoogleEndpoint,
		c.Sync, c.DocumentChanges, c.CallablesUpstream, strings.Join(c.AllowedOrigins, "|"), c.DiscordOwn, c.EncKeys.Reveal(),
		c.DiscordBotToken.Reveal(), c.DiscordEndpoint, c.NotifySettle, c.NoticesPerHour, c.PollCommands, c.SyncMinGap, c.WatchTTL,
		c.RenewBefore, c.FallbackEvery,
		c.SnapshotKeep, c.MassCancelShare, c.MassCancelMin, c.JournalKeep, c.GroupMembers,
		strings.Join(c.MachineAccounts, "|"), strings.Join(c.AdminUsers, "|"), c.MetricsToken.Reveal(), c.LogLevel, c.LogFormat,
		c.AttendeesSheet, c.AttendeesCSV, strings.Join(c.AttendeesDomains, "|"), c.AttendeesKey.IsSet(), c.AttendeesAccount,
		c.AttendeesSendUpdates,
	}
	want := []any{
		"firestore", "p", "d", "{}", "127.0.0.1:3", "/data/q.db", "cloudtasks", "projects/p/locations/l/queues/q",
		"tasks@p.iam.gserviceaccount.com", "aud", "127.0.0.1:4",
		"firebase", "fp", "on", "http://127.0.0.1:5", "[::1]:9000", "[127.0.0.1/32 169.254.0.0/16 ::1/128 fd00::/8]",
		"https://a.example", "https://b.example/app", "id", "cs", "http://127.0.0.1:1",
		"observe", "listen", "https://up.example", "https://x.example|http://localhost:3000", "transitions", key,
		"bot", "http://127.0.0.1:2", time.Duration(0), 3, 4, 2 * time.Second, 3 * time.Hour, 4 * time.Minute, 5 * time.Hour,
		6 * time.Hour, 0.7, 8, 9 * time.Hour, "listed",
		"a@b.example|c@d.example", "u1|u2", strings.Repeat("m", 32), "debug", "json",
		"sh", "", "north.example|b.example", true, "acc_1", "externalOnly",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

// discordSettings are those of an application that is answered.
func discordSettings() []string {
	return []string{"QS_DISCORD_APPLICATION_ID=700000000000000005", "QS_DISCORD_PUBLIC_KEY=" + strings.Repeat("ab", 32)}
}

func TestLoad_GuildsOfDiscord_AreRead(t *testing.T) {
	t.Parallel()
	c := load(t, enough(append(discordSettings(), "QS_DISCORD_GUILDS=1, 22,")...))
	if !slices.Equal(c.DiscordGuilds, []string{"1", "22"}) || c.InteractionKey() == nil {
		t.Errorf("read %q", c.DiscordGuilds)
	}
	if c := load(t, enough(append(discordSettings(), "QS_DISCORD_GUILDS=*")...)); !slices.Equal(c.DiscordGuilds, []string{"*"}) {
		t.Errorf("read %q", c.DiscordGuilds)
	}
}

func TestLoad_WrongSetting_IsNamedWithItsFix(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		environ []string
		setting string
		fix     string
	}{
		"an unknown choice":           {enough("QS_STORE=postgres"), "QS_STORE", "sqlite, firestore"},
		"a duration without a unit":   {enough("QS_NOTIFY_SETTLE=10"), "QS_NOTIFY_SETTLE", "duration such as"},
		"a negative duration":         {enough("QS_SYNC_MIN_GAP=-1s"), "QS_SYNC_MIN_GAP", "at least"},
		"a share above one":           {enough("QS_MASS_CANCEL_SHARE=1.5"), "QS_MASS_CANCEL_SHARE", "at most 1"},
		"a share that is no number":   {enough("QS_MASS_CANCEL_SHARE=NaN"), "QS_MASS_CANCEL_SHARE", "at most 1"},
		"unknown members":             {enough("QS_GROUP_MEMBERS=all"), "QS_GROUP_MEMBERS", "accepted, listed"},
		"no notices at all":           {enough("QS_NOTICES_PER_HOUR=0"), "QS_NOTICES_PER_HOUR", "at least 1"},
		"commands without a bound":    {enough("QS_POLL_COMMANDS=1000001"), "QS_POLL_COMMANDS", "at most 1000000"},
		"a count in words":            {enough("QS_MASS_CANCEL_MIN=five"), "QS_MASS_CANCEL_MIN", "whole number"},
		"renewal before the start":    {enough("QS_WATCH_TTL=1h"), "QS_RENEW_BEFORE", "shorter than QS_WATCH_TTL"},
		"renewal at the start":        {enough("QS_WATCH_TTL=1h", "QS_RENEW_BEFORE=1h"), "QS_RENEW_BEFORE", "shorter than QS_WATCH_TTL"},
		"a mistyped name":             {enough("QS_ADRR=:80"), "QS_ADRR", "QS_ADDR"},
		"a name of another program":   {enough("QS_KUBERNETES_PORT=1"), "QS_KUBERNETES_PORT", "no setting"},
		"a mistyped name of a file":   {enough("QS_ENC_KEY_FILE=/x"), "QS_ENC_KEY_FILE", "no setting"},
		"value and file both":         {enough("QS_ENC_KEYS_FILE=/x"), "QS_ENC_KEYS_FILE", "both set"},
		"a file that is not there":    {enough("QS_APP_URL_FILE=/nowhere/at/all"), "QS_APP_URL_FILE", "no such file"},
		"an emulator by its address":  {enough("QS_FIRESTORE_ENDPOINT=http://127.0.0.1:1"), "QS_FIRESTORE_ENDPOINT", "host:port"},
		"an emulator without a port":  {enough("QS_FIRESTORE_ENDPOINT=localhost"), "QS_FIRESTORE_ENDPOINT", "host:port"},
		"firestore without a project": {enough("QS_STORE=firestore", "QS_FIRESTORE_ENDPOINT=127.0.0.1:1"), "QS_FIRESTORE_PROJECT", "project"},
		"firebase without a project":  {enough("QS_AUTH=firebase"), "QS_FIREBASE_PROJECT", "project"},
		"cloud tasks without a queue": {
			enough("QS_QUEUE=cloudtasks", "QS_CLOUDTASKS_ENDPOINT=127.0.0.1:1", "QS_TASKS_SERVICE_ACCOUNT=a@b.example"),
			"QS_CLOUDTASKS_QUEUE", "queue",
		},
		"cloud tasks, half a queue":    {enough("QS_CLOUDTASKS_QUEUE=q"), "QS_CLOUDTASKS_QUEUE", "projects/P"},
		"a key that is too short":      {enough("QS_ENC_KEYS=k1:c2hvcnQ="), "QS_ENC_KEYS", "32 bytes"},
		"an address without a port":    {enough("QS_ADDR=localhost"), "QS_ADDR", "host:port"},
		"a port beyond all ports":      {enough("QS_ADDR=:70000"), "QS_ADDR", "host:port"},
		"Google cannot push to http":   {enough("QS_PUBLIC_URL=http://quest.example.org"), "QS_PUBLIC_URL", "https://"},
		"an address that is a word":    {enough("QS_PUBLIC_URL=quest"), "QS_PUBLIC_URL", "http"},
		"an address with a question":   {enough("QS_PUBLIC_URL=https://quest.example.org?a=b"), "QS_PUBLIC_URL", "query"},
		"an address with a password":   {enough("QS_APP_URL=https://a:b@c.example"), "QS_APP_URL", "password"},
		"an origin with a path":        {enough("QS_ALLOWED_ORIGINS=https://x.example/app"), "QS_ALLOWED_ORIGINS", "origins"},
		"a machine that is no account": {enough("QS_MACHINE_ACCOUNTS=robot"), "QS_MACHINE_ACCOUNTS", "service accounts"},
		"tasks of no account":          {enough("QS_TASKS_SERVICE_ACCOUNT=robot"), "QS_TASKS_SERVICE_ACCOUNT", "service accounts"},
		"a token that is guessed":      {enough("QS_METRICS_TOKEN=prometheus"), "QS_METRICS_TOKEN", "32 characters"},
		"a token of two words":         {enough("QS_METRICS_TOKEN=" + strings.Repeat("two words", 5)), "QS_METRICS_TOKEN", "no space"},
		"a proxy by its name":          {enough("QS_TRUSTED_PROXIES=127.0.0.1,nginx"), "QS_TRUSTED_PROXIES", "addresses such as"},
		"a proxy with its port":        {enough("QS_TRUSTED_PROXIES=127.0.0.1:80"), "QS_TRUSTED_PROXIES", "addresses such as"},
		"a proxy in brackets":          {enough("QS_TRUSTED_PROXIES=[::1]"), "QS_TRUSTED_PROXIES", "addresses such as"},
		"a network of too many bits":   {enough("QS_TRUSTED_PROXIES=10.0.0.0/33"), "QS_TRUSTED_PROXIES", "addresses such as"},
		"spaces between proxies":       {enough("QS_TRUSTED_PROXIES=10.0.0.1 10.0.0.2"), "QS_TRUSTED_PROXIES", "commas between"},
		"a network by one of it":       {enough("QS_TRUSTED_PROXIES=10.0.0.1/8"), "QS_TRUSTED_PROXIES", "in the place of its first one"},
		"everybody as a proxy":         {enough("QS_TRUSTED_PROXIES=0.0.0.0/0"), "QS_TRUSTED_PROXIES", "everybody"},
		"everybody of IPv6":            {enough("QS_TRUSTED_PROXIES=10.0.0.0/8,::/0"), "QS_TRUSTED_PROXIES", "everybody"},
		"IPv4 written as IPv6":         {enough("QS_TRUSTED_PROXIES=::ffff:10.0.0.1"), "QS_TRUSTED_PROXIES", "written as IPv6"},
		"IPv4 networks as IPv6":        {enough("QS_TRUSTED_PROXIES=::ffff:10.0.0.0/104"), "QS_TRUSTED_PROXIES", "written as IPv6"},
		"a proxy with a zone":          {enough("QS_TRUSTED_PROXIES=fe80::1%eth0"), "QS_TRUSTED_PROXIES", "zone"},
		"a server by its name":         {enough(append(discordSettings(), "QS_DISCORD_GUILDS=1,The Party")...), "QS_DISCORD_GUILDS", "numbers"},
		"servers without signatures":   {enough("QS_DISCORD_GUILDS=1"), "QS_DISCORD_GUILDS", "QS_DISCORD_PUBLIC_KEY"},
		"servers, and the app's sign-in": {
			enough(append(discordSettings(), "QS_AUTH=firebase", "QS_FIREBASE_PROJECT=p", "QS_DISCORD_GUILDS=*")...),
			"QS_DISCORD_GUILDS", "QS_AUTH is firebase",
		},
		"a level that there is not": {enough("QS_LOG_LEVEL=loud"), "QS_LOG_LEVEL", "debug, info"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found := problems(t, tc.environ)
			if len(found) != 1 || found[0].Name != tc.setting || !strings.Contains(found[0].Fix, tc.fix) {
				t.Errorf("got %v, want one problem of %s that says %q", found, tc.setting, tc.fix)
			}
		})
	}
}

// Each row is the last value that is taken, and the next one, which is not.
func TestLoad_Bounds_HoldAtTheirEdge(t *testing.T) {
	t.Parallel()
	for name, row := range map[string][2]string{
		"QS_MASS_CANCEL_SHARE": {"1", "1.001"}, "QS_MASS_CANCEL_MIN": {"1", "0"}, "QS_NOTIFY_SETTLE": {"0s", "-1ns"},
		"QS_SYNC_MIN_GAP": {"0s", "-1ns"},
		"QS_RENEW_BEFORE": {"1s", "999ms"}, "QS_FALLBACK_EVERY": {"1s", "999ms"}, "QS_SNAPSHOT_KEEP": {"1h", "59m59s"},
		"QS_JOURNAL_KEEP":  {"1h", "59m59s"},
		"QS_METRICS_TOKEN": {strings.Repeat("m", 32), strings.Repeat("m", 31)}, "QS_WATCH_TTL": {"48h1s", "999ms"},
		"QS_ADDR": {":65535", ":65536"},
	} {
		load(t, enough(name+"="+row[0]))
		if found := problems(t, enough(name+"="+row[1])); !slices.ContainsFunc(found, func(p config.Problem) bool { return p.Name == name }) {
			t.Errorf("%s=%s is taken: %v", name, row[1], found)
		}
	}
	for _, share := range []string{"0", "-0.5", "NaN"} {
		if found := problems(t, enough("QS_MASS_CANCEL_SHARE="+share)); len(found) != 1 {
			t.Errorf("a share of %s is taken: %v", share, found)
		}
	}
}

func TestLoad_SeveralProblems_AreReportedTogetherWithoutValues(t *testing.T) {
	t.Parallel()
	found := problems(t, []string{
		"QS_STORE=topsecret", "QS_NOTIFY_SETTLE=topsecret", "QS_ENC_KEYS=topsecret", "QS_MASS_CANCEL_MIN=topsecret",
		"QS_ADDR=topsecret", "QS_APP_URL=topsecret", "QS_TRUSTED_PROXIES=topsecret",
	})
	var names []string
	for _, problem := range found {
		names = append(names, problem.Name)
	}
	want := []string{
		"QS_ADDR", "QS_APP_URL", "QS_ENC_KEYS", "QS_GOOGLE_CLIENT_ID", "QS_GOOGLE_CLIENT_SECRET",
		"QS_MASS_CANCEL_MIN", "QS_NOTIFY_SETTLE", "QS_PUBLIC_URL", "QS_STORE", "QS_TRUSTED_PROXIES",
	}
	if !slices.Equal(names, want) {
		t.Errorf("got %v, want %v", names, want)
	}
	if text := found.Error(); strings.Contains(text, "topsecret") || strings.Count(text, "\n") != len(want)-1 {
		t.Errorf("the message holds a value or not a line for each problem:\n%s", text)
	}
}

func TestLoad_SyncOff_NeedsNoPublicURL(t *testing.T) {
	t.Parallel()
	environ := slices.DeleteFunc(enough("QS_SYNC=off"), func(entry string) bool { return strings.HasPrefix(entry, "QS_PUBLIC_URL") })
	if c := load(t, environ); c.PublicURL != "" {
		t.Errorf("public URL = %q", c.PublicURL)
	}
}

func TestLoad_ValueInAFile_IsReadWithoutItsLineEnd(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(path, []byte("bot token\r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := load(t, enough("QS_DISCORD_BOT_TOKEN_FILE="+path)).DiscordBotToken.Reveal(); got != "bot token" {
		t.Errorf("got %q", got)
	}
}

func TestLoad_TooLargeFile_IsRefused(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "big")
	if err := os.WriteFile(path, make([]byte, 70<<10), 0o600); err != nil {
		t.Fatal(err)
	}
	found := problems(t, enough("QS_APP_URL_FILE="+path))
	if len(found) != 1 || !strings.Contains(found.Error(), path) || !strings.Contains(found.Error(), "64 KiB") {
		t.Errorf("got %v", found)
	}
}

// A secret that is given where its file belongs stays secret.
func TestLoad_ASecretInPlaceOfItsFile_IsNotShown(t *testing.T) {
	t.Parallel()
	for _, secret := range []string{"sesame", "/sesame", "k1:se/sa+me="} {
		found := problems(t, enough("QS_APP_URL_FILE="+secret))
		if len(found) != 1 || strings.Contains(found.Error(), secret) {
			t.Errorf("got %v", found)
		}
	}
}

func TestLoad_WrongValueInAFile_NamesTheFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "address")
	if err := os.WriteFile(path, []byte("sesame\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	found := problems(t, enough("QS_APP_URL_FILE="+path))
	if len(found) != 1 || !strings.Contains(found.Error(), "(read from "+path+")") || strings.Contains(found.Error(), "sesame") {
		t.Errorf("got %v", found)
	}
}

func TestLoad_UnreadableFile_IsOneProblem(t *testing.T) {
	t.Parallel()
	environ := slices.DeleteFunc(
		enough("QS_ENC_KEYS_FILE=/nowhere"), func(entry string) bool { return strings.HasPrefix(entry, "QS_ENC_KEYS=") },
	)
	if found := problems(t, environ); len(found) != 1 || found[0].Name != "QS_ENC_KEYS_FILE" {
		t.Errorf("got %v", found)
	}
}

func TestLoad_EmptyValue_CountsAsNotSet(t *testing.T) {
	t.Parallel()
	c := load(t, enough("QS_LOG_LEVEL=", "QS_DISCORD_BOT_TOKEN_FILE=", "QS_ADMIN_USERS="))
	if c.LogLevel != "info" || c.DiscordBotToken.IsSet() || len(c.AdminUsers) != 0 {
		t.Errorf("got %+v", c)
	}
}

func TestLoad_Environment_OverridesTheDemo(t *testing.T) {
	t.Parallel()
	demo := config.Demo()
	demo.PublicURL, demo.GoogleEndpoint, demo.EncKeys = "http://127.0.0.1:1", "http://127.0.0.1:2", config.NewSecret(key)
	c, err := config.Load([]string{"QS_SYNC_MIN_GAP=5s"}, demo)
	if err != nil {
		t.Fatal(err)
	}
	if c.SyncMinGap != 5*time.Second || c.NotifySettle != 0 || c.DiscordOwn != config.DiscordAll || c.Addr != "127.0.0.1:8080" {
		t.Errorf("got %+v", c)
	}
}

func TestLoad_DiscordOwn_DependsOnTheStore(t *testing.T) {
	t.Parallel()
	c := load(t, enough(firebase("p", "QS_STORE=firestore", "QS_FIRESTORE_PROJECT=p")...))
	if c.DiscordOwn != config.DiscordTransitions {
		t.Errorf("got %q, want transitions beside the web app's own functions", c.DiscordOwn)
	}
}

func TestSignInKeyPath_IsBesideTheDataFile(t *testing.T) {
	t.Parallel()
	c := load(t, enough("QS_SQLITE_PATH=/data/quest.db"))
	if got, want := c.SignInKeyPath(), filepath.Join("/data", "signin.key"); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestLoad_TrailingSlashOfAnAddress_IsDropped(t *testing.T) {
	t.Parallel()
	c := load(t, enough("QS_PUBLIC_URL=https://quest.example.org/base/", "QS_ALLOWED_ORIGINS=*"))
	if c.PublicURL != "https://quest.example.org/base" || c.AppURL != c.PublicURL {
		t.Errorf("got %q and %q", c.PublicURL, c.AppURL)
	}
}

func TestRead_WrongSettings_AreReturnedWithTheirProblems(t *testing.T) {
	t.Parallel()
	c, err := config.Read([]string{"QS_SQLITE_PATH=/data/q.db", "QS_ADDR=here", "QS_WATCH_TTL=soon"}, config.Default())
	var found config.Problems
	if !errors.As(err, &found) || len(found) < 4 {
		t.Errorf("got %v, want the problems", err)
	}
	if c.SQLitePath != "/data/q.db" || c.Addr != "here" || c.WatchTTL != config.Default().WatchTTL {
		t.Errorf("got %+v", c)
	}
}

func TestNames_AreTheSettings(t *testing.T) {
	t.Parallel()
	names := config.Names()
	if names[0] != "QS_STORE" || !slices.Contains(names, "QS_ENC_KEYS") || slices.Contains(names, "QS_") {
		t.Errorf("got %v", names)
	}
}

func TestLoad_EmptyValueAndFile_UsesTheFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(path, []byte("from the file"), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 20 { // in whatever order they are read
		c := load(t, enough("QS_GOOGLE_CLIENT_SECRET=", "QS_GOOGLE_CLIENT_SECRET_FILE="+path))
		if got := c.GoogleClientSecret.Reveal(); got != "from the file" {
			t.Fatalf("got %q", got)
		}
	}
}
