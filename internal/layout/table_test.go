package layout_test

import "slices"

// row says what one package may import of this module. Patterns are paths below
// the module: "store" is that package alone, "sim/..." it and all below it,
// "..." everything.
type row struct {
	packages string
	may      []string
	// standardOnly forbids third-party modules.
	standardOnly bool
}

// above lists the packages that the edges (web-hooks, api, cmd) stand on.
var above = []string{
	"fault", "bodylimit", "rules", "store", "queue", "poll", "cursor", "accounts", "accounts/seal", "signin", "gcal", "config",
	"scheduler", "calendarsync", "health", "backfill", "notify", "hints", "timers",
}

// table is design.md, "Packages": a package may import what stands in rows
// above its own, so that imports point downwards only. The first row that fits
// a package counts. Every package may import what its own row's "/..." covers.
var table = []row{
	{packages: "fault", standardOnly: true},
	{packages: "bodylimit", standardOnly: true},
	{packages: "rules", may: []string{"fault"}, standardOnly: true},

	{packages: "store", may: []string{"fault"}},
	{packages: "store/internal/...", may: []string{"store", "fault"}},
	{packages: "store/memory/...", may: []string{"store", "store/internal/...", "fault"}},
	{packages: "store/sqlite/...", may: []string{"store", "store/internal/...", "fault"}},
	{packages: "store/firestore/...", may: []string{"store", "store/internal/...", "fault"}},
	{packages: "store/storetest", may: []string{"store", "fault"}},
	{packages: "changes", may: []string{"store", "fault"}},

	{packages: "queue", may: []string{"fault"}},
	{packages: "queue/memory/...", may: []string{"queue", "fault"}},
	{packages: "queue/river/...", may: []string{"queue", "fault"}},
	{packages: "queue/cloudtasks/...", may: []string{"queue", "store", "fault"}},
	{packages: "queue/queuetest", may: []string{"queue", "fault"}},

	{packages: "poll", may: []string{"rules", "store", "fault"}},
	{packages: "explain", may: []string{"rules", "poll", "store", "fault"}},
	{packages: "cursor", may: []string{"poll", "store", "queue", "fault"}},
	{packages: "accounts/seal", may: []string{"fault"}},
	{packages: "accounts", may: []string{"accounts/seal", "rules", "store", "fault"}},
	{packages: "config/keyfile", may: []string{"fault"}},
	{packages: "signin", may: []string{"config/keyfile", "fault"}},
	{packages: "signin/revocation", may: []string{"signin", "fault"}},
	{packages: "gcal", may: []string{"rules", "fault"}},
	{packages: "config", may: []string{"accounts/seal", "fault"}},
	{packages: "scheduler", may: []string{"rules", "poll", "cursor", "store", "queue", "fault"}},
	{packages: "calendarsync", may: []string{"rules", "poll", "cursor", "store", "queue", "gcal", "accounts", "scheduler", "fault"}},
	{packages: "health", may: []string{"rules", "poll", "cursor", "store", "accounts", "calendarsync", "fault"}},
	{packages: "backfill", may: []string{"rules", "poll", "cursor", "store", "scheduler", "fault"}},
	{packages: "notify", may: []string{"rules", "poll", "store", "queue", "fault"}},

	{packages: "hints", may: []string{"rules", "poll", "store", "queue", "scheduler", "fault"}},
	{packages: "timers", may: []string{"poll", "store", "queue", "scheduler", "calendarsync", "notify", "fault"}},

	{packages: "metrics", may: []string{"rules", "poll", "cursor", "queue", "scheduler", "calendarsync", "health", "notify", "timers", "hints", "fault"}},
	{packages: "dashboard", may: []string{
		"rules", "poll", "cursor", "store", "queue", "accounts", "scheduler", "calendarsync", "health", "timers", "fault",
	}},

	{packages: "web-hooks", may: above},
	{packages: "api", may: slices.Concat(above, []string{"changes", "dashboard", "web-hooks"})},
	{packages: "callables", may: above},

	// Simulators know nothing of the program: the real clients talk to them.
	// Only tests and the command that runs the demo know of them.
	{packages: "sim/...", may: []string{"fault"}},
	{packages: "cmd/questscheduler/...", may: []string{"..."}},
	{packages: "cmd/...", may: slices.Concat(above, []string{"web-hooks", "api", "callables", "store/...", "queue/..."})},

	{packages: "internal/layout"},
	// The pages of docs/ are held against the program by tests, which may import
	// anything.
	{packages: "internal/docs"},
	// Google's emulators, as processes of their own, for tests alone.
	{packages: "internal/emulator"},
	// Tokens as Google signs them, and as others forge them, for tests.
	{packages: "internal/tokentest"},
	// firestore.rules, held to the contract on an emulator, for tests alone.
	{packages: "internal/firestorerules"},
	// The official Firebase client in the web app's place, for tests alone.
	{packages: "internal/webapp"},
	// A browser, for tests alone.
	{packages: "internal/chromium"},
	// Codecs of stored documents, held to their types, for tests.
	{packages: "internal/roundtrip", may: []string{"rules", "store", "store/memory"}},
	// What the API's document says of answers, for tests.
	{packages: "internal/promises"},
	// What `make bench` runs: real parts, measured.
	{packages: "internal/bench", may: []string{"..."}},
	// A module of its own: JSON decoders that `make bench` compares.
	{packages: "tools/decoders"},
	// A world of real parts on memory drivers and simulators, for tests alone.
	{packages: "internal/worldtest", may: []string{"..."}},
	// What Firestore bills for each flow, counted in such worlds: for the bench, a
	// page and tests.
	{packages: "internal/cost", may: slices.Concat(above, []string{"internal/worldtest", "store/storetest", "api"})},
	// What `make sim` runs: random histories of such worlds.
	{packages: "internal/simulate", may: slices.Concat(above, []string{"internal/worldtest"})},
	// What `make mutants` runs: it knows the program as text, and builds it.
	{packages: "internal/mutants"},
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
	{imports: "google.golang.org/api/calendar", only: []string{"gcal", "sim/google"}, why: "gcal alone knows the Google client; the simulator speaks its types"},
	{imports: "github.com/riverqueue", only: []string{"queue/river/..."}, why: "River is one driver of the queue port"},
	{imports: "modernc.org/sqlite", only: []string{"store/sqlite/..."}, why: "SQLite is one driver of the store port"},
	{imports: "cloud.google.com/go/firestore", only: []string{"store/firestore/..."}, why: "Firestore is one driver of the store port"},
	{imports: "firebase.google.com/go", only: []string{"signin/revocation"}, why: "the Admin SDK brings all of Firebase along"},
	{imports: "cloud.google.com/go/cloudtasks", only: []string{"queue/cloudtasks/...", "internal/emulator"}, why: "Cloud Tasks is one driver of the queue port"},
	{imports: "github.com/bwmarrin/discordgo", only: []string{"notify"}, why: "notify alone knows Discord"},
	{imports: "github.com/labstack/echo", only: []string{"api", "callables", "web-hooks", "cmd/...", "internal/bench"}, why: "HTTP is made at the edge alone"},
	{imports: "github.com/danielgtaylor/huma", only: []string{"api", "web-hooks", "cmd/..."}, why: "HTTP is made at the edge alone"},
	{imports: "github.com/prometheus", only: []string{"metrics"}, why: "metrics alone knows Prometheus; the others tell what they do through interfaces of theirs"},
	{imports: "github.com/chromedp", only: []string{"internal/chromium", "cmd/..."}, why: "tests alone drive a browser"},
	{imports: "log/slog", never: []string{"rules"}, why: "decisions are pure"},
}
