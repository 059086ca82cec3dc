package config

import (
	"net"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"questscheduler/internal/accounts/seal"
	"questscheduler/internal/discord"
)

// maxPerHour is as good as no bound.
const maxPerHour = 1_000_000

// check notes everything that is wrong with settings that could be read.
func (c Config) check(p *Problems) {
	c.checkChoices(p)
	c.checkNeeded(p)
	c.checkAddresses(p)
	c.checkDurations(p)
	c.checkLists(p)
	c.checkProduction(p)
	c.checkAttendees(p)
	p.require(c.MassCancelShare > 0 && c.MassCancelShare <= 1, "MASS_CANCEL_SHARE", "has to be above 0 and at most 1")
	p.require(c.MassCancelMin >= 1, "MASS_CANCEL_MIN", "has to be at least 1")
	p.require(c.NoticesPerHour >= 1 && c.NoticesPerHour <= maxPerHour, "NOTICES_PER_HOUR", "has to be at least 1 and at most %d", maxPerHour)
	p.require(c.PollCommands >= 1 && c.PollCommands <= maxPerHour, "POLL_COMMANDS", "has to be at least 1 and at most %d", maxPerHour)
	p.require(c.DocumentChanges != ChangesListen || c.Store == StoreFirestore, "DOCUMENT_HINTS",
		"is listen, and what can be listened to is firestore alone; set it to off, or QS_STORE to firestore")
	if c.EncKeys.IsSet() {
		if _, err := seal.ParseKeys(c.EncKeys.Reveal()); err != nil {
			p.add("ENC_KEYS", "cannot be used: %s", err)
		}
	}
}

func (c Config) checkChoices(p *Problems) {
	choose := func(setting, value string, of ...string) {
		p.require(slices.Contains(of, value), setting, "has to be one of %s", strings.Join(of, ", "))
	}
	choose("STORE", c.Store, StoreSQLite, StoreFirestore)
	choose("QUEUE", c.Queue, QueueEmbedded, QueueCloudTasks)
	choose("AUTH", c.Auth, AuthLocal, AuthFirebase)
	choose("FIREBASE_REVOCATION", c.FirebaseRevocation, Off, On)
	choose("SYNC", c.Sync, SyncOn, SyncObserve, SyncOff)
	choose("DOCUMENT_HINTS", c.DocumentChanges, ChangesOff, ChangesListen)
	choose("DISCORD_OWN", c.DiscordOwn, DiscordTransitions, DiscordAll)
	choose("GROUP_MEMBERS", c.GroupMembers, MembersAccepted, MembersListed)
	choose("ATTENDEES_SEND_UPDATES", c.AttendeesSendUpdates, SendNone, SendExternalOnly, SendAll)
	choose("LOG_LEVEL", c.LogLevel, "debug", "info", "warn", "error")
	choose("LOG_FORMAT", c.LogFormat, LogText, LogJSON)
}

// checkNeeded notes missing settings that the chosen parts need.
func (c Config) checkNeeded(p *Problems) {
	tasks := c.Queue == QueueCloudTasks
	p.require(c.Store != StoreSQLite || c.SQLitePath != "", "SQLITE_PATH", "has to name the file of the embedded store")
	p.require(c.Store != StoreFirestore || c.FirestoreProject != "", "FIRESTORE_PROJECT",
		"has to name the project, since QS_STORE is firestore")
	p.require(!tasks || c.CloudTasksQueue != "", "CLOUDTASKS_QUEUE", "has to name the queue, since QS_QUEUE is cloudtasks")
	p.require(!tasks || c.TasksServiceAccount != "", "TASKS_SERVICE_ACCOUNT",
		"has to name the service account that delivers tasks, since QS_QUEUE is cloudtasks")
	p.require(c.Auth != AuthFirebase || c.FirebaseProject != "", "FIREBASE_PROJECT", "has to name the project, since QS_AUTH is firebase")
	p.require(c.Sync == SyncOff && !tasks || c.PublicURL != "", "PUBLIC_URL",
		"has to be the HTTPS address at which Google reaches this server; or set QS_SYNC=off")
	p.require(c.GoogleClientID != "", "GOOGLE_CLIENT_ID", "has to be the OAuth client's id, from the Google Cloud console")
	p.require(c.GoogleClientSecret.IsSet(), "GOOGLE_CLIENT_SECRET",
		"has to be the OAuth client's secret; QS_GOOGLE_CLIENT_SECRET_FILE reads it from a file")
	application, key := c.DiscordApplicationID, c.DiscordPublicKey
	p.require(application == "" || discord.IsSnowflake(application), "DISCORD_APPLICATION_ID",
		"has to be the application's number, from Discord's developer portal")
	p.require(application == "" && key == "" || application != "" && c.InteractionKey() != nil, "DISCORD_PUBLIC_KEY",
		"and QS_DISCORD_APPLICATION_ID have to be both set or both unset; the key is 64 hexadecimal digits, from Discord's developer portal")
	for _, guild := range c.DiscordGuilds {
		p.require(guild == discord.AllGuilds || discord.IsSnowflake(guild), "DISCORD_GUILDS",
			"has to list the numbers of Discord servers, as \"Copy Server ID\" gives them, with commas between; or *")
	}
	p.require(len(c.DiscordGuilds) == 0 || c.Auth == AuthLocal, "DISCORD_GUILDS",
		"cannot be set while QS_AUTH is firebase, where people link Discord in the app's settings or by /quest me-code; unset it")
	p.require(len(c.DiscordGuilds) == 0 || c.InteractionKey() != nil || key != "", "DISCORD_GUILDS",
		"needs QS_DISCORD_PUBLIC_KEY and QS_DISCORD_APPLICATION_ID: their signature proves who people are")
	p.require(c.EncKeys.IsSet(), "ENC_KEYS", "has to hold a key as id:base64; make one with: openssl rand -base64 32")
}

// EveryGuild reports whether DiscordGuilds names every server.
func (c Config) EveryGuild() bool { return slices.Contains(c.DiscordGuilds, discord.AllGuilds) }

var cloudTasksQueue = regexp.MustCompile(`^projects/[^/]+/locations/[^/]+/queues/[^/]+$`)

func (c Config) checkAddresses(p *Problems) {
	_, port, err := net.SplitHostPort(c.Addr)
	p.require(err == nil && isPort(port), "ADDR", "has to be host:port or :port, such as 127.0.0.1:8080")
	for _, emulator := range []struct{ name, value, of string }{
		{"FIRESTORE_ENDPOINT", c.FirestoreEndpoint, "Firestore"}, {"CLOUDTASKS_ENDPOINT", c.CloudTasksEndpoint, "Cloud Tasks"},
	} {
		host, port, err := net.SplitHostPort(emulator.value)
		p.require(emulator.value == "" || err == nil && host != "" && isPort(port), emulator.name,
			"has to be host:port of an emulator, such as 127.0.0.1:8085; unset it for %s itself", emulator.of)
	}
	p.require(c.CloudTasksQueue == "" || cloudTasksQueue.MatchString(c.CloudTasksQueue), "CLOUDTASKS_QUEUE",
		"has to be of the form projects/P/locations/L/queues/Q")
	for _, address := range []struct{ name, value string }{
		{"PUBLIC_URL", c.PublicURL}, {"APP_URL", c.AppURL}, {"GOOGLE_ENDPOINT", c.GoogleEndpoint},
		{"DISCORD_ENDPOINT", c.DiscordEndpoint}, {"DISCORD_UPSTREAM", c.DiscordUpstream},
		{"CALLABLES_UPSTREAM", c.CallablesUpstream}, {"MACHINE_ISSUER", c.MachineIssuer},
	} {
		inherited := address.name == "APP_URL" && address.value == c.PublicURL // reported once
		p.require(address.value == "" || inherited || isAddress(address.value), address.name,
			"has to be an http or https address without query, fragment and password")
	}
	// Google itself pushes to HTTPS alone; a simulator does not mind.
	if c.PublicURL != "" && c.GoogleEndpoint == "" && c.Sync != SyncOff {
		p.require(strings.HasPrefix(c.PublicURL, "https://"), "PUBLIC_URL", "has to begin with https://, since Google pushes to nothing else")
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
	atLeast := func(least time.Duration, setting string, value time.Duration) {
		p.require(value >= least, setting, "has to be at least %s", least)
	}
	atLeast(0, "NOTIFY_SETTLE", c.NotifySettle)
	atLeast(0, "SYNC_MIN_GAP", c.SyncMinGap)
	atLeast(time.Second, "WATCH_TTL", c.WatchTTL)
	atLeast(time.Second, "RENEW_BEFORE", c.RenewBefore)
	atLeast(time.Second, "FALLBACK_EVERY", c.FallbackEvery)
	atLeast(time.Hour, "SNAPSHOT_KEEP", c.SnapshotKeep)
	atLeast(time.Hour, "JOURNAL_KEEP", c.JournalKeep)
	p.require(c.RenewBefore < c.WatchTTL, "RENEW_BEFORE", "has to be shorter than QS_WATCH_TTL")
}

// minMetricsToken is a length that nobody guesses, though no rate limits the tries.
const minMetricsToken = 32

func (c Config) checkLists(p *Problems) {
	token := c.MetricsToken.Reveal()
	p.require(token == "" || len(token) >= minMetricsToken && !strings.ContainsAny(token, " \t\r\n"), "METRICS_TOKEN",
		"has to have %d characters at least and no space; make one with: openssl rand -hex 32", minMetricsToken)
	for _, origin := range c.AllowedOrigins {
		u, err := url.Parse(origin)
		p.require(origin == "*" || err == nil && isAddress(origin) && u.Path == "", "ALLOWED_ORIGINS",
			"has to list origins such as https://app.example.org, with commas between")
	}
	for _, account := range c.MachineAccounts {
		p.require(isAccount(account), "MACHINE_ACCOUNTS", "has to hold e-mail addresses of service accounts")
	}
	p.require(c.TasksServiceAccount == "" || isAccount(c.TasksServiceAccount), "TASKS_SERVICE_ACCOUNT",
		"has to hold e-mail addresses of service accounts")
}

func isAccount(text string) bool {
	name, host, _ := strings.Cut(text, "@")
	return name != "" && strings.Contains(host, ".")
}
