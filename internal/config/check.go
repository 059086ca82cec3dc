package config

import (
	"math"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"questscheduler/internal/accounts/seal"
)

// check notes everything that is wrong with settings that could be read.
func (c Config) check(p *Problems) {
	c.checkChoices(p)
	c.checkNeeded(p)
	c.checkAddresses(p)
	c.checkDurations(p)
	c.checkLists(p)
	c.checkProduction(p)
	if !(c.MassCancelShare > 0 && c.MassCancelShare <= 1) || math.IsNaN(c.MassCancelShare) {
		p.add("MASS_CANCEL_SHARE", "has to be above 0 and at most 1")
	}
	if c.DocumentHints == HintsListen && c.Store != StoreFirestore {
		p.add("DOCUMENT_HINTS", "is listen, and what can be listened to is firestore alone; set it to off, or QS_STORE to firestore")
	}
	for name, perHour := range map[string]int{"NOTICES_PER_HOUR": c.NoticesPerHour, "POLL_COMMANDS": c.PollCommands} {
		if perHour < 1 || perHour > maxPerHour {
			p.add(name, "has to be at least 1 and at most %d", maxPerHour)
		}
	}
	if c.MassCancelMin < 1 {
		p.add("MASS_CANCEL_MIN", "has to be at least 1")
	}
	if c.GroupsPerPerson < 1 || c.GroupsPerPerson > 1000 {
		p.add("GROUPS_PER_PERSON", "has to be from 1 to 1000")
	}
	if c.EncKeys.IsSet() {
		if _, err := seal.ParseKeys(c.EncKeys.Reveal()); err != nil {
			p.add("ENC_KEYS", "cannot be used: %s", err)
		}
	}
}

// maxPerHour is the most that may be allowed in an hour, which is as good as no
// bound.
const maxPerHour = 1_000_000

func (c Config) checkChoices(p *Problems) {
	for _, choice := range []struct {
		name, value string
		of          []string
	}{
		{"STORE", c.Store, []string{StoreSQLite, StoreFirestore}},
		{"QUEUE", c.Queue, []string{QueueRiver, QueueCloudTasks}},
		{"AUTH", c.Auth, []string{AuthLocal, AuthFirebase}},
		{"FIREBASE_REVOCATION", c.FirebaseRevocation, []string{Off, On}},
		{"SYNC", c.Sync, []string{SyncOn, SyncObserve, SyncOff}},
		{"DOCUMENT_HINTS", c.DocumentHints, []string{HintsOff, HintsListen}},
		{"DISCORD_OWN", c.DiscordOwn, []string{DiscordTransitions, DiscordAll}},
		{"LOG_LEVEL", c.LogLevel, []string{"debug", "info", "warn", "error"}},
		{"LOG_FORMAT", c.LogFormat, []string{LogText, LogJSON}},
	} {
		if !slices.Contains(choice.of, choice.value) {
			p.add(choice.name, "has to be one of %s", strings.Join(choice.of, ", "))
		}
	}
}

// checkNeeded notes what the chosen parts cannot do without.
func (c Config) checkNeeded(p *Problems) {
	tasks := c.Queue == QueueCloudTasks
	for _, need := range []struct {
		name string
		when bool
		set  bool
		mend string
	}{
		{"SQLITE_PATH", c.UsesFile(), c.SQLitePath != "", "has to name the file of the embedded store"},
		{"FIRESTORE_PROJECT", c.Store == StoreFirestore, c.FirestoreProject != "", "has to name the project, since QS_STORE is firestore"},
		{"CLOUDTASKS_QUEUE", tasks, c.CloudTasksQueue != "", "has to name the queue, since QS_QUEUE is cloudtasks"},
		{"TASKS_SERVICE_ACCOUNT", tasks, c.TasksServiceAccount != "", "has to name the service account that delivers tasks, since QS_QUEUE is cloudtasks"},
		{"FIREBASE_PROJECT", c.Auth == AuthFirebase, c.FirebaseProject != "", "has to name the project, since QS_AUTH is firebase"},
		{"PUBLIC_URL", c.Sync != SyncOff || tasks, c.PublicURL != "", "has to be the HTTPS address at which Google reaches this server; or set QS_SYNC=off"},
		{"GOOGLE_CLIENT_ID", true, c.GoogleClientID != "", "has to be the OAuth client's id, from the Google Cloud console"},
		{"GOOGLE_CLIENT_SECRET", true, c.GoogleClientSecret.IsSet(), "has to be the OAuth client's secret; QS_GOOGLE_CLIENT_SECRET_FILE reads it from a file"},
		{"ENC_KEYS", true, c.EncKeys.IsSet(), "has to hold a key as id:base64; make one with: openssl rand -base64 32"},
	} {
		if need.when && !need.set {
			p.add(need.name, "%s", need.mend)
		}
	}
}

var cloudTasksQueue = regexp.MustCompile(`^projects/[^/]+/locations/[^/]+/queues/[^/]+$`)

func (c Config) checkAddresses(p *Problems) {
	if _, port, err := net.SplitHostPort(c.Addr); err != nil || !isPort(port) {
		p.add("ADDR", "has to be host:port or :port, such as 127.0.0.1:8080")
	}
	for _, emulator := range []struct{ name, value, instead string }{
		{"FIRESTORE_ENDPOINT", c.FirestoreEndpoint, "Firestore"}, {"CLOUDTASKS_ENDPOINT", c.CloudTasksEndpoint, "Cloud Tasks"},
	} {
		if host, port, err := net.SplitHostPort(emulator.value); emulator.value != "" && (err != nil || host == "" || !isPort(port)) {
			p.add(emulator.name, "has to be host:port of an emulator, such as 127.0.0.1:8085; unset it for %s itself", emulator.instead)
		}
	}
	if c.CloudTasksQueue != "" && !cloudTasksQueue.MatchString(c.CloudTasksQueue) {
		p.add("CLOUDTASKS_QUEUE", "has to be of the form projects/P/locations/L/queues/Q")
	}
	for _, address := range []struct{ name, value string }{
		{"PUBLIC_URL", c.PublicURL}, {"APP_URL", c.AppURL}, {"GOOGLE_ENDPOINT", c.GoogleEndpoint},
		{"DISCORD_ENDPOINT", c.DiscordEndpoint}, {"CALLABLES_UPSTREAM", c.CallablesUpstream},
		{"MACHINE_ISSUER", c.MachineIssuer},
	} {
		inherited := address.name == "APP_URL" && address.value == c.PublicURL // told once
		if address.value != "" && !inherited && !isAddress(address.value) {
			p.add(address.name, "has to be an http or https address without query, fragment and password")
		}
	}
	// Google itself pushes to HTTPS alone; a simulator does not mind.
	if c.PublicURL != "" && c.GoogleEndpoint == "" && c.Sync != SyncOff && !strings.HasPrefix(c.PublicURL, "https://") {
		p.add("PUBLIC_URL", "has to begin with https://, since Google pushes to nothing else")
	}
}

func isPort(text string) bool {
	port, err := strconv.ParseUint(text, 10, 16)
	return err == nil && strconv.FormatUint(port, 10) == text
}

func isAddress(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != "" &&
		u.User == nil && u.RawQuery == "" && !u.ForceQuery && !strings.Contains(text, "#")
}

func (c Config) checkDurations(p *Problems) {
	for _, duration := range []struct {
		name        string
		value, from time.Duration
	}{
		{"NOTIFY_SETTLE", c.NotifySettle, 0}, {"SYNC_MIN_GAP", c.SyncMinGap, 0},
		{"WATCH_TTL", c.WatchTTL, time.Second}, {"RENEW_BEFORE", c.RenewBefore, time.Second},
		{"FALLBACK_EVERY", c.FallbackEvery, time.Second},
		{"SNAPSHOT_KEEP", c.SnapshotKeep, time.Hour}, {"JOURNAL_KEEP", c.JournalKeep, time.Hour},
	} {
		if duration.value < duration.from {
			p.add(duration.name, "has to be at least %s", duration.from)
		}
	}
	if c.RenewBefore >= c.WatchTTL {
		p.add("RENEW_BEFORE", "has to be shorter than QS_WATCH_TTL")
	}
}

// minMetricsToken is how long a token of the figures is at least, which nobody is
// kept from guessing at by a rate.
const minMetricsToken = 32

func (c Config) checkLists(p *Problems) {
	if token := c.MetricsToken.Reveal(); c.MetricsToken.IsSet() && (len(token) < minMetricsToken || strings.ContainsAny(token, " \t\r\n")) {
		p.add("METRICS_TOKEN", "has to have %d characters at least and no space; make one with: openssl rand -hex 32", minMetricsToken)
	}
	for _, origin := range c.AllowedOrigins {
		if u, err := url.Parse(origin); origin != "*" && (err != nil || !isAddress(origin) || u.Path != "") {
			p.add("ALLOWED_ORIGINS", "has to list origins such as https://app.example.org, with commas between")
		}
	}
	for _, account := range append(slices.Clone(c.MachineAccounts), c.TasksServiceAccount) {
		if name, host, ok := strings.Cut(account, "@"); account != "" && (!ok || name == "" || !strings.Contains(host, ".")) {
			setting := "MACHINE_ACCOUNTS"
			if account == c.TasksServiceAccount {
				setting = "TASKS_SERVICE_ACCOUNT"
			}
			p.add(setting, "has to hold e-mail addresses of service accounts")
		}
	}
}
