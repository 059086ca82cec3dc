package layout_test

import "slices"

// row says what one package may import of this module. Patterns are paths below
// the module: "internal/store" is that package alone, "demo/sim/..." it and all below it,
// "..." everything.
type row struct {
	packages string
	may      []string
	// standardOnly forbids third-party modules.
	standardOnly bool
}

// above lists the packages that the edges (web-hooks, api, cmd) stand on.
var above = []string{
	"fault", "internal/ids", "internal/bodylimit", "internal/meter", "rules", "internal/recurrence", "internal/store",
	"internal/outbox", "internal/poll", "internal/calendars", "internal/accounts", "internal/accounts/seal", "internal/signin",
	"internal/gcal", "internal/mirror", "internal/discord", "availability", "internal/config",
	"scheduler", "calendarsync", "mirrors", "mirrors/plan", "attendees/mappings", "attendees", "groupevents", "feed", "operations/backfill",
	"notify", "web-hooks/documentchanges", "web-hooks/timers", "operations/health",
}

// table is the order of the packages: a package may import what stands in rows
// above its own, so that imports point downwards only. The first row that fits
// a package counts. Every package may import what its own row's "/..." covers.
var table = []row{
	{packages: "fault", standardOnly: true},
	{packages: "internal/ids"},
	{packages: "internal/bodylimit", standardOnly: true},
	{packages: "internal/meter", standardOnly: true},
	{packages: "rules", may: []string{"fault"}, standardOnly: true},

	{packages: "internal/recurrence", may: []string{"rules", "fault"}},

	{packages: "internal/store", may: []string{"fault"}},
	// Below the drivers: keys, indexes and buffered writes, for drivers alone.
	{packages: "internal/store/entries", may: []string{"internal/store", "fault"}},
	{packages: "internal/store/txn", may: []string{"internal/store", "fault"}},
	{packages: "internal/store/typedjson"},
	{packages: "internal/test/memorystore", may: []string{"internal/store", "internal/store/entries", "internal/store/txn", "fault"}},
	{
		packages: "internal/store/sqlite/...",
		may:      []string{"internal/store", "internal/store/entries", "internal/store/txn", "internal/store/typedjson", "fault"},
	},
	{packages: "internal/store/firestore/...", may: []string{"internal/store", "internal/store/entries", "internal/store/txn", "fault"}},
	{packages: "internal/test/storetest", may: []string{"internal/store", "fault"}},
	{packages: "internal/store/changes", may: []string{"internal/store", "fault"}},

	{packages: "internal/outbox", may: []string{"internal/store", "internal/meter", "fault"}},
	{packages: "internal/outbox/cloudtasks", may: []string{"internal/ids", "internal/outbox", "internal/store", "fault"}},
	{packages: "internal/test/wakes", standardOnly: true},
	{packages: "internal/test/points", may: []string{"internal/store", "internal/outbox", "fault"}},

	{packages: "internal/mirror", may: []string{"internal/ids", "internal/recurrence", "internal/store", "fault"}},
	{packages: "internal/discord", may: []string{"internal/ids", "internal/store", "fault"}},
	{packages: "internal/poll", may: []string{"internal/ids", "rules", "internal/store", "fault"}},
	{packages: "internal/calendars", may: []string{"internal/poll", "internal/store", "fault"}},
	{packages: "transition", may: []string{"rules", "internal/poll", "internal/calendars", "internal/store", "fault"}},
	{packages: "internal/refusal", may: []string{"fault"}},
	{packages: "internal/accounts/seal", may: []string{"fault"}},
	{
		packages: "internal/accounts",
		may:      []string{"internal/ids", "internal/accounts/seal", "internal/refusal", "rules", "internal/store", "fault"},
	},
	{packages: "internal/config/keyfile", may: []string{"fault"}},
	{packages: "internal/signin", may: []string{"internal/config/keyfile", "fault"}},
	{packages: "internal/signin/revocation", may: []string{"internal/signin", "fault"}},
	{packages: "internal/gcal", may: []string{"internal/ids", "internal/refusal", "rules", "internal/recurrence", "fault"}},
	{packages: "mirrors/plan", may: []string{"internal/ids", "internal/mirror", "internal/gcal", "internal/recurrence", "rules", "fault"}},
	{packages: "availability", may: []string{
		"internal/ids", "internal/recurrence", "internal/poll", "internal/calendars", "internal/mirror", "internal/accounts", "internal/gcal",
		"internal/store", "fault",
	}},
	{packages: "internal/config", may: []string{"internal/accounts", "internal/accounts/seal", "internal/discord", "fault"}},
	{
		packages: "scheduler",
		may: []string{
			"internal/ids", "rules", "internal/discord", "internal/poll", "internal/calendars", "transition", "internal/store",
			"internal/outbox", "internal/meter", "fault",
		},
	},
	{
		packages: "calendarsync",
		may: []string{
			"internal/ids", "rules", "internal/poll", "internal/calendars", "internal/store", "internal/outbox", "internal/gcal",
			"internal/accounts", "scheduler", "internal/meter", "fault",
		},
	},
	{
		packages: "attendees/mappings",
		may: []string{
			"internal/refusal", "internal/gcal", "internal/accounts", "internal/calendars", "internal/poll", "internal/store",
			"internal/meter", "fault", "scheduler", "calendarsync",
		},
	},
	{
		packages: "attendees",
		may: []string{
			"attendees/mappings", "internal/ids", "internal/gcal", "internal/recurrence", "internal/accounts", "internal/calendars",
			"internal/poll", "internal/outbox", "internal/store", "internal/meter", "fault", "rules", "scheduler", "calendarsync",
		},
	},
	{
		packages: "operations/explain",
		may:      []string{"attendees", "internal/mirror", "rules", "internal/poll", "transition", "internal/store", "fault"},
	},
	{packages: "mirrors", may: []string{
		"internal/ids", "rules", "internal/recurrence", "internal/poll", "internal/calendars", "internal/mirror",
		"internal/accounts", "internal/gcal", "internal/store",
		"internal/outbox", "scheduler", "calendarsync", "mirrors/plan", "internal/meter", "fault",
	}},
	{packages: "operations/transfer", may: []string{"internal/store", "internal/store/typedjson", "fault"}},
	{packages: "operations/backfill", may: []string{"rules", "internal/poll", "internal/calendars", "internal/store", "scheduler", "fault"}},
	{
		packages: "notify",
		may: []string{
			"internal/ids", "internal/refusal", "rules", "internal/discord", "internal/poll", "internal/store", "internal/outbox",
			"internal/meter", "fault",
		},
	},

	{
		packages: "groupevents",
		may: []string{
			"internal/ids", "rules", "internal/recurrence", "internal/mirror", "internal/poll", "internal/calendars",
			"internal/accounts", "internal/store", "internal/outbox", "scheduler", "fault",
		},
	},

	{packages: "feed", may: []string{"internal/ids", "rules", "internal/poll", "internal/store", "fault"}},

	{
		packages: "web-hooks/documentchanges",
		may:      []string{"rules", "internal/poll", "internal/store", "internal/outbox", "scheduler", "fault"},
	},
	{
		packages: "web-hooks/timers",
		may:      []string{"internal/poll", "internal/store", "internal/outbox", "scheduler", "calendarsync", "notify", "fault"},
	},
	{packages: "operations/health", may: []string{
		"rules", "attendees/mappings", "attendees", "internal/mirror", "internal/poll", "internal/calendars",
		"internal/store", "internal/outbox", "internal/accounts", "calendarsync", "web-hooks/timers", "fault",
	}},

	{
		packages: "operations/metrics",
		may: []string{
			"attendees/mappings", "attendees", "internal/mirror", "mirrors/plan", "mirrors", "rules", "internal/poll",
			"internal/calendars", "internal/outbox", "scheduler", "calendarsync", "operations/health", "notify", "web-hooks/timers",
			"web-hooks/documentchanges", "fault",
		},
	},
	{packages: "api/dashboard", may: []string{"operations/health", "attendees/mappings"}},

	{packages: "web-hooks", may: above},
	{packages: "web-hooks/interactions", may: []string{"internal/ids", "rules", "internal/discord", "internal/poll", "internal/store", "scheduler", "notify", "fault"}},
	{
		packages: "operations/doctor",
		may: []string{
			"attendees/mappings", "internal/signin", "internal/config", "internal/store", "internal/store/firestore", "operations/health",
			"operations/transfer", "notify", "web-hooks/documentchanges", "web-hooks/timers", "web-hooks/interactions", "fault",
		},
	},
	{packages: "api/examples", standardOnly: true},
	{packages: "api/streams", may: []string{"internal/poll", "internal/store"}},
	{packages: "api", may: slices.Concat(above, []string{"api/dashboard", "api/examples", "api/streams", "web-hooks"})},
	{packages: "api/callables", may: above},

	// Simulators know nothing of the program: the real clients talk to them.
	// Only tests and the command that runs the demo know of them.
	{packages: "demo/sim/...", may: []string{"fault"}},
	// The program on simulators: cmd builds it, and the demo seeds it and serves its page.
	{packages: "demo", may: slices.Concat(above, []string{"internal/config/keyfile", "api", "demo/sim/..."})},
	{packages: "cmd/questscheduler/...", may: []string{"..."}},
	{
		packages: "cmd/...",
		may: slices.Concat(above, []string{
			"web-hooks", "api", "api/callables", "api/examples", "internal/store/...", "internal/outbox/...",
		}),
	},

	{packages: "internal/test/layout"},
	// The pages of docs/ are held against the program by tests, which may import
	// anything.
	{packages: "internal/test/docs"},
	// Google's emulators, as processes of their own, for tests alone.
	{packages: "internal/test/emulator"},
	// Tokens as Google signs them, and as others forge them, for tests.
	{packages: "internal/test/tokentest"},
	// firestore.rules, held to the contract on an emulator, for tests alone.
	{packages: "internal/test/firestorerules"},
	// The official Firebase client in the web app's place, for tests alone.
	{packages: "internal/test/webapp"},
	// A browser, for tests alone.
	{packages: "internal/test/chromium"},
	// Codecs of stored documents, held to their types, for tests.
	{packages: "internal/test/roundtrip", may: []string{"rules", "internal/store", "internal/test/memorystore"}},
	// What the API's document says of answers, for tests.
	{packages: "internal/test/promises"},
	// What `make bench` runs: real parts, measured.
	{packages: "internal/test/bench", may: []string{"..."}},
	// A module of its own: JSON decoders that `make bench` compares, and what merges rules.
	{packages: "tools/decoders"},
	{packages: "tools/merge-rules"},
	// A module of its own: it packs the files of a release.
	{packages: "tools/release"},
	// What checks such worlds from the outside: it shares no code with the program.
	{packages: "internal/test/audit", may: []string{"internal/store"}, standardOnly: true},
	// A world of real parts on memory drivers and simulators, for tests alone.
	{packages: "internal/test/worldtest", may: []string{"..."}},
	// The same for people whose calendars mirror each other, for tests of scale.
	{
		packages: "internal/test/mirrortest",
		may: slices.Concat(above, []string{
			"demo/sim/...", "internal/test/worldtest", "internal/test/storetest", "internal/test/memorystore",
			"internal/test/wakes",
		}),
	},
	// What Firestore bills for each flow, counted in such worlds: for the bench, a
	// page and tests.
	{packages: "internal/test/cost", may: slices.Concat(above, []string{"internal/test/worldtest", "internal/test/storetest", "api"})},
	// What `make sim` runs: random histories of such worlds.
	{packages: "internal/test/simulate", may: slices.Concat(above, []string{"internal/test/worldtest"})},
	// The real program as a process of its own, for what looks at it from the outside.
	{packages: "internal/test/process", standardOnly: true},
	// What `make kills` runs: the real program from the outside.
	{
		packages:     "internal/test/kills",
		may:          []string{"internal/store", "internal/store/sqlite", "demo/sim/...", "internal/test/audit", "internal/test/process"},
		standardOnly: true,
	},
	// A week of many calendars, for a page.
	{packages: "internal/test/scaling", standardOnly: true},
	// What `make mutants` runs: it knows the program as text, and builds it.
	{packages: "internal/test/mutants"},
	// What `make mutations` runs: the same, of what the tests of a package catch.
	{packages: "internal/test/mutations", standardOnly: true},
}

// restriction keeps an import from outside the module to some packages.
type restriction struct {
	// imports is the path, itself and all below it.
	imports string
	// only lists who may import it; empty: all but never.
	only, never []string
	why         string
}

var restrictions = []restriction{
	{
		imports: "google.golang.org/api/calendar", only: []string{"internal/gcal", "demo/sim/google"},
		why: "gcal alone knows the Google client; the simulator speaks its types",
	},
	{
		imports: "google.golang.org/api/sheets", only: []string{"attendees/mappings", "demo/sim/google"},
		why: "mappings alone reads a Google Sheet",
	},
	{imports: "modernc.org/sqlite", only: []string{"internal/store/sqlite/..."}, why: "SQLite is one driver of the store port"},
	{
		imports: "cloud.google.com/go/firestore", only: []string{"internal/store/firestore/..."},
		why: "Firestore is one driver of the store port",
	},
	{imports: "firebase.google.com/go", only: []string{"internal/signin/revocation"}, why: "the Admin SDK brings all of Firebase along"},
	{
		imports: "cloud.google.com/go/cloudtasks", only: []string{"internal/outbox/cloudtasks", "internal/test/emulator"},
		why: "Cloud Tasks is one waker of the outbox",
	},
	{imports: "github.com/bwmarrin/discordgo", only: []string{"notify"}, why: "notify alone knows Discord"},
	{
		imports: "github.com/labstack/echo",
		only: []string{
			"api", "api/callables", "web-hooks", "web-hooks/interactions", "demo", "cmd/...", "internal/test/bench",
			"internal/test/worldtest",
		},
		why: "HTTP is made at the edge alone",
	},
	{imports: "github.com/danielgtaylor/huma", only: []string{"api", "web-hooks", "cmd/..."}, why: "HTTP is made at the edge alone"},
	{
		imports: "github.com/prometheus", only: []string{"operations/metrics"},
		why: "metrics alone knows Prometheus; the others hand it their events (internal/meter)",
	},
	{imports: "github.com/arran4/golang-ical", only: []string{"feed"}, why: "feed alone writes calendar files"},
	{imports: "github.com/emersion/go-ical", only: []string{"feed"}, why: "tests alone read feeds, by another parser than their writer's"},
	{imports: "github.com/chromedp", only: []string{"internal/test/chromium", "cmd/..."}, why: "tests alone drive a browser"},
	{
		imports: "github.com/teambition/rrule-go", only: []string{"internal/recurrence", "demo/sim/google"},
		why: "internal/recurrence bounds the work that a rule may cause",
	},
	{
		imports: "log/slog", never: []string{"rules", "transition", "internal/recurrence", "mirrors/plan"},
		why: "decisions are pure",
	},
}
