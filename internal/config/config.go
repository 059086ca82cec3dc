// Package config is the program's settings: one struct, read from the environment
// and checked whole, so that all problems are reported at once.
//
// docs/settings.md is generated from it. A variable is QS_ and the name in the
// field's tag; QS_X_FILE reads X from a file, for secrets that a platform mounts. An
// unknown QS_ variable is a problem, since it is most likely mistyped.
package config

import (
	"crypto/ed25519"
	"encoding/hex"
	"net/netip"
	"path/filepath"
	"strings"
	"time"
)

// Prefix begins the name of every variable.
const Prefix = "QS_"

// Stores, queues and sign-ins.
const (
	StoreSQLite    = "sqlite"
	StoreFirestore = "firestore"

	QueueEmbedded   = "embedded"
	QueueCloudTasks = "cloudtasks"

	AuthLocal    = "local"
	AuthFirebase = "firebase"
)

// How far calendars are followed.
const (
	SyncOn      = "on"
	SyncObserve = "observe" // decide and journal, change nothing
	SyncOff     = "off"     // acknowledge machines, do nothing
)

// Sources of document changes beside the machine route.
const (
	ChangesOff    = "off"
	ChangesListen = "listen"
)

// Discord messages that this program sends.
const (
	DiscordTransitions = "transitions"
	DiscordAll         = "all"
)

// Values of on/off settings.
const (
	On  = "on"
	Off = "off"
)

// Whom Google sends mail about changed guests (its sendUpdates).
const (
	SendNone         = "none"
	SendExternalOnly = "externalOnly"
	SendAll          = "all"
)

// Which members of a group count as having consented to its polls.
const (
	MembersAccepted = "accepted"
	MembersListed   = "listed"
)

// Forms of the log.
const (
	LogText = "text"
	LogJSON = "json"
)

// Config is all settings. It is safe to print and log. The comment of each field is
// its text in docs/settings.md. The tag group begins a group of settings there and in the help.
type Config struct {
	// Store is where documents are kept: `sqlite`, a file on this machine, or
	// `firestore`.
	Store string `env:"STORE" group:"Documents"`
	// SQLitePath is the data file, unused with `firestore`. The key of the embedded sign-in
	// is beside it. One process uses it at a time.
	SQLitePath string `env:"SQLITE_PATH"`
	// FirestoreProject is the Google Cloud project; needed with `firestore`.
	FirestoreProject string `env:"FIRESTORE_PROJECT"`
	// FirestoreDatabase is the id of the database in that project.
	FirestoreDatabase string `env:"FIRESTORE_DATABASE"`
	// FirestoreCredentials are the JSON key of a service account that reads and writes
	// the documents; without it the credentials of the machine.
	FirestoreCredentials Secret `env:"FIRESTORE_CREDENTIALS"`
	// FirestoreEndpoint is an emulator of Firestore as host:port, for development
	// only: it checks no rights and keeps nothing.
	FirestoreEndpoint string `env:"FIRESTORE_ENDPOINT"`

	// Queue is what wakes work outside the store: `embedded`, a pool in this process (`river`
	// is its old name), or `cloudtasks`.
	Queue string `env:"QUEUE" group:"Work outside the store"`
	// CloudTasksQueue is the prefix of the queues' full names
	// (`projects/P/locations/L/queues/Q`): each kind of work has its own queue, named
	// with a hyphen and the kind after it; needed with `cloudtasks`.
	CloudTasksQueue string `env:"CLOUDTASKS_QUEUE"`
	// CloudTasksEndpoint is an emulator of Cloud Tasks as host:port, for development
	// only.
	CloudTasksEndpoint string `env:"CLOUDTASKS_ENDPOINT"`
	// TasksServiceAccount is the service account that delivers tasks; needed with
	// `cloudtasks`.
	TasksServiceAccount string `env:"TASKS_SERVICE_ACCOUNT"`
	// TasksAudience is the audience of the tokens of tasks; without it PublicURL.
	TasksAudience string `env:"TASKS_AUDIENCE"`

	// Auth is who issues users' tokens: `local`, this program, or `firebase`. In
	// production it must be `firebase`: on Cloud Run, and with Firestore or Cloud Tasks
	// unless they are emulated.
	Auth string `env:"AUTH" group:"Sign-in"`
	// FirebaseProject is the project whose ID tokens are accepted; needed with `firebase`.
	// If FIREBASE_AUTH_EMULATOR_HOST is set outside production, its unsigned tokens are
	// accepted for a project that begins with demo-, or for any if Store is the emulator of
	// Firestore.
	FirebaseProject string `env:"FIREBASE_PROJECT"`
	// FirebaseRevocation is whether Firebase is asked once a minute for each user if their
	// sign-in was revoked or disabled: `on` or `off`. Without it a token is valid until it
	// expires, an hour at most, and a calendar feed until its owner ends it.
	FirebaseRevocation string `env:"FIREBASE_REVOCATION"`

	// Addr is the address to listen on, as host:port.
	Addr string `env:"ADDR" group:"Addresses"`
	// TrustedProxies are the addresses and networks, with commas between, of proxies in
	// front of this server that append the client's address to X-Forwarded-For. Without it
	// all unauthenticated clients of one proxy share one rate limit.
	TrustedProxies []netip.Prefix `env:"TRUSTED_PROXIES"`
	// PublicURL is where Google and Cloud Tasks reach this server. Google pushes to
	// https only. Needed unless Sync is `off`.
	PublicURL string `env:"PUBLIC_URL"`
	// AppURL is the web app, for links in messages; without it PublicURL.
	AppURL string `env:"APP_URL"`

	// GoogleClientID is the id of our OAuth client in the Google Cloud console, where
	// PublicURL with `/oauth/google/callback` must be a redirect URI. Always needed.
	GoogleClientID string `env:"GOOGLE_CLIENT_ID" group:"Google"`
	// GoogleClientSecret is the secret of our OAuth client. Always needed.
	GoogleClientSecret Secret `env:"GOOGLE_CLIENT_SECRET"`
	// GoogleEndpoint is a simulator of Google; without it Google.
	GoogleEndpoint string `env:"GOOGLE_ENDPOINT"`

	// Sync is how far calendars are followed: `on`; `observe`, which journals what it would
	// do and changes nothing (people's commands still work); `off`, which acknowledges
	// machines and does nothing.
	Sync string `env:"SYNC" group:"What is followed"`
	// DocumentChanges is the source of document changes beside the machine route: `off`,
	// or with `firestore` `listen`, by which one instance listens to polls, and if
	// DiscordOwn is `all` to slots and votes.
	DocumentChanges string `env:"DOCUMENT_HINTS"`

	// CallablesUpstream is the address of the callables that are not ours, each at its
	// own path; without it there are none.
	CallablesUpstream string `env:"CALLABLES_UPSTREAM" group:"The web app"`
	// AllowedOrigins are the origins whose pages may call from browsers, with commas
	// between. The web app's own calls need no entry for AppURL.
	AllowedOrigins []string `env:"ALLOWED_ORIGINS"`

	// DiscordOwn is which Discord messages are ours: `transitions`, if the deployment's
	// own functions draw the card, or `all`. Without it `all` with `sqlite`, else
	// `transitions`.
	DiscordOwn string `env:"DISCORD_OWN" group:"Discord"`
	// DiscordBotToken is the token of the bot; without it there is no Discord.
	DiscordBotToken Secret `env:"DISCORD_BOT_TOKEN"`
	// DiscordEndpoint is a simulator of Discord; without it Discord.
	DiscordEndpoint string `env:"DISCORD_ENDPOINT"`
	// DiscordApplicationID is the application's id, as Discord's developer portal shows it: with
	// it and DiscordPublicKey this server answers buttons and commands.
	DiscordApplicationID string `env:"DISCORD_APPLICATION_ID"`
	// DiscordPublicKey is the key that Discord signs with, as the portal shows it, in 64
	// hexadecimal digits.
	DiscordPublicKey string `env:"DISCORD_PUBLIC_KEY"`
	// DiscordUpstream is the address of the web app's function that answers interactions which
	// are not ours; without it they are not answered.
	DiscordUpstream string `env:"DISCORD_UPSTREAM"`
	// DiscordGuilds are the ids of Discord servers, with commas between, whose users need no
	// account: their first vote makes them one. `*` is every server that the bot is in, and
	// anybody can invite a bot. Only with `local`.
	DiscordGuilds []string `env:"DISCORD_GUILDS"`

	// EncKeys are the keys that seal refresh tokens, as `id:base64key` with commas between,
	// 32 bytes each: the first seals, all open. Keep an older key for WatchTTL after a newer
	// one is first. A single bare base64 key is accepted. Always needed.
	EncKeys Secret `env:"ENC_KEYS" group:"Keys"`

	// NotifySettle is how long a transition must last before it is announced, and a change
	// of a group's event before its copies follow it.
	NotifySettle time.Duration `env:"NOTIFY_SETTLE" group:"Times and bounds"`
	// NoticesPerHour is how many notices of one poll each person, and its channel, gets in
	// an hour: half of them at once. Later ones are delayed, and then show the current
	// state.
	NoticesPerHour int `env:"NOTICES_PER_HOUR"`
	// PollCommands is how many commands each person may send on one poll in an hour (to each
	// instance): half of them at once.
	PollCommands int `env:"POLL_COMMANDS"`
	// SyncMinGap is the least time between two syncs of one calendar.
	SyncMinGap time.Duration `env:"SYNC_MIN_GAP"`
	// WatchTTL is the requested lifetime of watch channels. Google may grant less.
	WatchTTL time.Duration `env:"WATCH_TTL"`
	// RenewBefore is how long before its end a watch channel is renewed, or a third of
	// what Google granted if that is less; shorter than WatchTTL.
	RenewBefore time.Duration `env:"RENEW_BEFORE"`
	// FallbackEvery is how often calendars are synced without a push; those in which a
	// session starts within two days are synced every 15 minutes.
	FallbackEvery time.Duration `env:"FALLBACK_EVERY"`
	// SnapshotKeep is how long snapshots of votes are kept, except those that a
	// rescheduled poll needs.
	SnapshotKeep time.Duration `env:"SNAPSHOT_KEEP"`
	// JournalKeep is how long journal entries are kept.
	JournalKeep time.Duration `env:"JOURNAL_KEEP"`
	// MassCancelShare is the share of a calendar's linked polls, above 0 and at most 1,
	// beyond which deletions found at once are held for a person's confirmation, if they
	// are more than MassCancelMin.
	MassCancelShare float64 `env:"MASS_CANCEL_SHARE"`
	// MassCancelMin is the number of deletions up to which none is held.
	MassCancelMin int `env:"MASS_CANCEL_MIN"`
	// GroupMembers is which members of a group count as having consented to its polls:
	// `accepted` those who accepted its invitation over `/v1`, `listed` all. Set `listed`
	// once the rules of docs/frontend-rules.md keep clients from listing others.
	GroupMembers string `env:"GROUP_MEMBERS"`

	// AttendeesSheet is the id of the Google Sheet that names people's second addresses,
	// from its address between /d/ and /edit. Without it and AttendeesCSV no guest list is
	// changed.
	AttendeesSheet string `env:"ATTENDEES_SHEET" group:"Second addresses"`
	// AttendeesCSV is the path of a CSV file with the columns of AttendeesSheet and a
	// header, in its place.
	AttendeesCSV string `env:"ATTENDEES_CSV"`
	// AttendeesDomains are the domains of primary addresses, with commas between;
	// secondary addresses are outside them. Needed with AttendeesSheet or AttendeesCSV.
	AttendeesDomains []string `env:"ATTENDEES_DOMAINS"`
	// AttendeesKey is the JSON key of a service account with domain-wide delegation for the
	// scope calendar.events: it follows the calendars of primary addresses, and reads
	// AttendeesSheet. Without it only calendars of linked accounts are followed.
	AttendeesKey Secret `env:"ATTENDEES_KEY"`
	// AttendeesAccount is the id of a linked account (acc_…) that reads AttendeesSheet in
	// place of the service account.
	AttendeesAccount string `env:"ATTENDEES_ACCOUNT"`
	// AttendeesSendUpdates is whom Google notifies of second addresses: `none`,
	// `externalOnly` or `all` guests.
	AttendeesSendUpdates string `env:"ATTENDEES_SEND_UPDATES"`

	// MachineAccounts are the e-mail addresses of the service accounts that may call
	// /jobs, /webhooks/documents and, as admins do, /admin/watches/force-register and
	// /admin/reload-mappings, with commas between.
	MachineAccounts []string `env:"MACHINE_ACCOUNTS" group:"Machines and operators"`
	// MachineIssuer is the issuer of machines' tokens in Google's place, for development
	// with emulators only.
	MachineIssuer string `env:"MACHINE_ISSUER"`
	// AdminUsers are the uids of operators, with commas between.
	AdminUsers []string `env:"ADMIN_USERS"`
	// MetricsToken is a bearer token for GET /metrics and nothing else. Without it only
	// admins read the metrics, and callers on this machine if QS_PUBLIC_URL names no other.
	MetricsToken Secret `env:"METRICS_TOKEN"`

	// LogLevel is the least level of log lines: `debug`, `info`, `warn` or `error`.
	LogLevel string `env:"LOG_LEVEL" group:"The log"`
	// LogFormat is the form of the log: `text` or `json`.
	LogFormat string `env:"LOG_FORMAT"`

	// Around is what the environment says beside the settings.
	Around Surroundings

	// Disposable says that the data file is removed at the end, so that commits need not
	// wait for the disk. It is no setting: the demo alone has such a file.
	Disposable bool
	// SweepAtOnce says that calendars are not swept one after the other over FallbackEvery, but
	// at once. It is no setting: the demo alone has so few, and a clock that is set ahead.
	SweepAtOnce bool
}

// Default is the embedded server.
func Default() Config {
	return Config{
		Store: StoreSQLite, SQLitePath: "questscheduler.db", FirestoreDatabase: "(default)", Queue: QueueEmbedded,
		Auth: AuthLocal, FirebaseRevocation: Off,
		Addr: ":8080", Sync: SyncOn, DocumentChanges: ChangesOff,
		NotifySettle: 10 * time.Second, NoticesPerHour: 20, PollCommands: 60, SyncMinGap: time.Second,
		WatchTTL: 168 * time.Hour, RenewBefore: 48 * time.Hour, FallbackEvery: 6 * time.Hour,
		SnapshotKeep: 2160 * time.Hour, JournalKeep: 8760 * time.Hour,
		MassCancelShare: 0.5, MassCancelMin: 5, GroupMembers: MembersAccepted, AttendeesSendUpdates: SendNone,
		LogLevel: "info", LogFormat: LogText,
	}
}

// Demo is the default of the demo, without PublicURL, GoogleEndpoint,
// DiscordEndpoint, DiscordBotToken, EncKeys and SQLitePath.
func Demo() Config {
	c := Default()
	c.Addr, c.NotifySettle, c.DiscordOwn, c.LogLevel = "127.0.0.1:8080", 0, DiscordAll, "warn"
	c.GoogleClientID, c.GoogleClientSecret = "demo", NewSecret("demo")
	return c
}

// SignInKeyPath is the file of the embedded sign-in's key, beside the data file.
func (c Config) SignInKeyPath() string {
	return filepath.Join(filepath.Dir(c.SQLitePath), "signin.key")
}

// InteractionKey is the key that Discord signs interactions with; nil: there are none here.
func (c Config) InteractionKey() ed25519.PublicKey {
	key, err := hex.DecodeString(c.DiscordPublicKey)
	if err != nil || len(key) != ed25519.PublicKeySize || c.DiscordApplicationID == "" {
		return nil
	}
	return key
}

// derive fills in what follows from other settings and trims addresses.
func (c *Config) derive() {
	if c.Queue == "river" { // its name before the outbox
		c.Queue = QueueEmbedded
	}
	for _, address := range []*string{
		&c.PublicURL, &c.AppURL, &c.GoogleEndpoint, &c.DiscordEndpoint, &c.CallablesUpstream, &c.DiscordUpstream, &c.MachineIssuer,
	} {
		*address = strings.TrimRight(*address, "/") // paths are appended
	}
	for i, domain := range c.AttendeesDomains {
		c.AttendeesDomains[i] = strings.ToLower(domain)
	}
	if c.AppURL == "" {
		c.AppURL = c.PublicURL
	}
	if c.TasksAudience == "" {
		c.TasksAudience = c.PublicURL
	}
	if c.DiscordOwn == "" {
		c.DiscordOwn = DiscordTransitions
		if c.Store == StoreSQLite { // no other program draws the card
			c.DiscordOwn = DiscordAll
		}
	}
}
