package layout_test

import (
	"fmt"
	"go/ast"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const (
	modulePath = "questscheduler"
	tableFile  = "internal/test/layout/table_test.go"
)

// covers reports whether a pattern of the table covers a path.
func covers(pattern, path string) bool {
	tree, isTree := strings.CutSuffix(pattern, "/...")
	return pattern == "..." || path == tree || isTree && strings.HasPrefix(path, tree+"/")
}

func coversAny(patterns []string, path string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool { return covers(pattern, path) })
}

func rowOf(pkg string) (row, bool) {
	i := slices.IndexFunc(table, func(r row) bool { return covers(r.packages, pkg) })
	if i < 0 {
		return row{}, false
	}
	return table[i], true
}

// problem says what is wrong with one import of a package, or "". Tests may
// import anything, but those of rules, which stay as narrow as rules itself in
// what they take of the module.
func problem(pkg, imported string, test bool) string {
	r, listed := rowOf(pkg)
	if !listed {
		return fmt.Sprintf("package %s stands in no row: add one to the table in %s that says what it may import", pkg, tableFile)
	}
	if test && pkg != "rules" {
		return ""
	}
	if path, ours := strings.CutPrefix(imported, modulePath+"/"); ours {
		if path == pkg || covers(r.packages, path) || coversAny(r.may, path) {
			return ""
		}
		if len(r.may) == 0 {
			return fmt.Sprintf("%s imports %s; of this module it may import nothing (%s)", pkg, path, tableFile)
		}
		return fmt.Sprintf("%s imports %s; of this module it may import only %s (%s)", pkg, path, strings.Join(r.may, ", "), tableFile)
	}
	if test {
		return ""
	}
	return outsideProblem(r, pkg, imported)
}

// outsideProblem is problem for an import from outside the module.
func outsideProblem(r row, pkg, imported string) string {
	for _, rest := range restrictions {
		if !covers(rest.imports+"/...", imported) {
			continue
		}
		if coversAny(rest.never, pkg) {
			return fmt.Sprintf("%s imports %s, which it never may: %s", pkg, imported, rest.why)
		}
		if len(rest.only) > 0 && !coversAny(rest.only, pkg) {
			return fmt.Sprintf("%s imports %s, which only %s may: %s", pkg, imported, strings.Join(rest.only, ", "), rest.why)
		}
	}
	if first, _, _ := strings.Cut(imported, "/"); r.standardOnly && strings.Contains(first, ".") {
		return fmt.Sprintf("%s imports %s; it is made of the standard library alone", pkg, imported)
	}
	return ""
}

func TestImportsPointDownwardsOnly(t *testing.T) {
	t.Parallel()
	said := map[string][]string{} // problem → files
	for _, source := range sources(t) {
		found := map[string]bool{}
		if _, listed := rowOf(source.pkg); !listed {
			found[problem(source.pkg, "", source.test)] = true
		}
		for _, imported := range importsOf(t, source.file) {
			found[problem(source.pkg, imported, source.test)] = true
		}
		delete(found, "")
		for what := range found {
			said[what] = append(said[what], source.path)
		}
	}
	for _, what := range slices.Sorted(maps.Keys(said)) {
		t.Errorf("%s [%s]", what, strings.Join(said[what], ", "))
	}
}

// pureFiles decide something in packages that do IO as well, and may import nothing else than
// these.
var pureFiles = map[string][]string{
	"attendees/decide.go": {"maps", "slices", "time", "questscheduler/attendees/mappings"},
}

func TestPureFiles_ImportNoIO(t *testing.T) {
	t.Parallel()
	found := 0
	for _, source := range sources(t) {
		may, pure := pureFiles[source.path]
		if !pure {
			continue
		}
		found++
		for _, imported := range importsOf(t, source.file) {
			if !slices.Contains(may, imported) {
				t.Errorf("%s imports %s: decisions are pure", source.path, imported)
			}
		}
	}
	if found != len(pureFiles) {
		t.Errorf("%d of %d files exist", found, len(pureFiles))
	}
}

func importsOf(t *testing.T, file *ast.File) []string {
	t.Helper()
	var paths []string
	for _, spec := range file.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Fatalf("import %s: %v", spec.Path.Value, err)
		}
		paths = append(paths, path)
	}
	return paths
}

// The table itself: each row allows only what stands above it, so no chain of
// imports that it allows leads back.
func TestTableAllowsOnlyWhatStandsAbove(t *testing.T) {
	t.Parallel()
	for i, r := range table {
		same := func(other row) bool { return other.packages == r.packages }
		if slices.IndexFunc(table, same) != i {
			t.Errorf("%s has two rows", r.packages)
		}
		for _, pattern := range r.may {
			if pattern == "..." {
				continue // whatever runs it all stands below it all
			}
			target := strings.TrimSuffix(pattern, "/...")
			at := slices.IndexFunc(table, func(other row) bool { return covers(other.packages, target) })
			if at < 0 || at >= i {
				t.Errorf("%s may import %s, which does not stand above it", r.packages, pattern)
			}
		}
		everything := []string{"cmd/questscheduler/...", "internal/test/worldtest", "internal/test/bench"}
		if slices.Contains(r.may, "...") && !slices.Contains(everything, r.packages) {
			t.Errorf("%s may import everything, which only %s may", r.packages, strings.Join(everything, ", "))
		}
	}
}

func TestProblemsAreFound(t *testing.T) {
	t.Parallel()
	const ours = modulePath + "/"
	for _, c := range []struct {
		name, pkg, imported string
		test                bool
		want                string // part of the sentence; "": none
	}{
		{"down", "scheduler", ours + "internal/poll", false, ""},
		{
			"up", "internal/poll", ours + "scheduler", false,
			"internal/poll imports scheduler; of this module it may import only internal/ids, rules, internal/store, fault",
		},
		{"sideways", "notify", ours + "internal/gcal", false, "notify imports internal/gcal"},
		{"upwards from the bottom", "fault", ours + "rules", false, "fault imports rules; of this module it may import nothing"},
		{"the decisions know no store", "rules", ours + "internal/store", false, "rules imports internal/store"},
		{"nor does their test", "rules", ours + "internal/store", true, "rules imports internal/store"},
		{"a test imports what it tests", "rules", ours + "rules", true, ""},
		{"a test of rules uses a library", "rules", "pgregory.net/rapid", true, ""},
		{"rules does not", "rules", "pgregory.net/rapid", false, "standard library alone"},
		{"rules does not log", "rules", "log/slog", false, "decisions are pure"},
		{"others log", "scheduler", "log/slog", false, ""},
		{"another test imports anything", "internal/poll", ours + "internal/test/memorystore", true, ""},
		{
			"a port's driver is not the port", "internal/poll", ours + "internal/test/memorystore", false,
			"internal/poll imports internal/test/memorystore",
		},
		{"a driver imports its port", "internal/store/sqlite", ours + "internal/store", false, ""},
		{"a driver imports what drivers share", "internal/store/sqlite", ours + "internal/store/entries", false, ""},
		{"a driver imports its own tree", "internal/store/sqlite", ours + "internal/store/sqlite/schema", false, ""},
		{
			"a driver imports no other", "internal/store/sqlite", ours + "internal/store/firestore", false,
			"internal/store/sqlite imports internal/store/firestore",
		},
		{
			"a driver imports no other port", "internal/store/sqlite", ours + "internal/outbox", false,
			"internal/store/sqlite imports internal/outbox",
		},
		{"what drivers share is theirs", "internal/poll", ours + "internal/store/entries", false, "internal/poll imports internal/store/entries"},
		{"the edge imports what it stands on", "api", ours + "calendarsync", false, ""},
		{"the edge imports no simulator", "api", ours + "demo/sim/google", false, "api imports demo/sim/google"},
		{"the edge imports no driver", "web-hooks", ours + "internal/outbox/cloudtasks", false, "web-hooks imports internal/outbox/cloudtasks"},
		{"machines' routes do not know people's", "web-hooks", ours + "api", false, "web-hooks imports api"},
		{"a simulator imports its like", "demo/sim/google", ours + "demo/sim/control", false, ""},
		{"a simulator knows nothing of the program", "demo/sim/google", ours + "internal/gcal", false, "demo/sim/google imports internal/gcal"},
		{"a simulator's test may", "demo/sim/google", ours + "internal/gcal", true, ""},
		{"the program imports everything", "cmd/questscheduler", ours + "demo/sim/google", false, ""},
		{"another command imports no simulator", "cmd/indexes", ours + "demo/sim/google", false, "cmd/indexes imports demo/sim/google"},
		{"another command imports drivers", "cmd/indexes", ours + "internal/store/firestore", false, ""},
		{"the Google client", "calendarsync", "google.golang.org/api/calendar/v3", false, "only internal/gcal, demo/sim/google may"},
		{"the Google client in its place", "internal/gcal", "google.golang.org/api/calendar/v3", false, ""},
		{
			"the Google client in the demo", "cmd/questscheduler", "google.golang.org/api/calendar/v3", false,
			"only internal/gcal, demo/sim/google may",
		},
		{"another part of Google's module", "internal/accounts", "google.golang.org/api/idtoken", false, ""},
		{"a name that only begins alike", "internal/store/firestore", "modernc.org/sqlitelike", false, ""},
		{
			"Cloud Tasks elsewhere", "internal/outbox", "cloud.google.com/go/cloudtasks/apiv2", false,
			"only internal/outbox/cloudtasks, internal/test/emulator may",
		},
		{"Cloud Tasks in its place", "internal/outbox/cloudtasks", "cloud.google.com/go/cloudtasks/apiv2", false, ""},
		{"SQLite elsewhere", "internal/outbox", "modernc.org/sqlite", false, "only internal/store/sqlite/... may"},
		{"SQLite in a test", "internal/outbox", "modernc.org/sqlite", true, ""},
		{"Discord elsewhere", "demo/sim/discord", "github.com/bwmarrin/discordgo", false, "only notify may"},
		{"Discord in the simulator's test", "demo/sim/discord", "github.com/bwmarrin/discordgo", true, ""},
		{"HTTP above the edge", "scheduler", "github.com/labstack/echo/v4", false, "made at the edge alone"},
		{"HTTP at the edge", "api", "github.com/danielgtaylor/huma/v2", false, ""},
		{
			"a package that nobody foresaw", "leftovers", "fmt", false,
			"stands in no row: add one to the table in internal/test/layout/table_test.go",
		},
		{"a package below one of the table", "internal/gcal/quota", "fmt", false, "internal/gcal/quota stands in no row"},
		{"a test that nobody foresaw", "leftovers", "fmt", true, "stands in no row"},
		{"the top of the module", ".", "fmt", false, "package . stands in no row"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := problem(c.pkg, c.imported, c.test)
			if c.want == "" && got != "" || !strings.Contains(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
