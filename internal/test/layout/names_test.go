package layout_test

import (
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
)

func TestEveryPackageHasADocComment(t *testing.T) {
	t.Parallel()
	documented := map[string]bool{}
	for _, s := range sources(t) {
		if s.test {
			continue
		}
		says := s.file.Doc.Text()
		documented[s.pkg] = documented[s.pkg] || documents(says, s.file.Name.Name)
	}
	for _, pkg := range slices.Sorted(maps.Keys(documented)) {
		if !documented[pkg] {
			t.Errorf("package %s says nowhere what it is for: begin one of its files with a comment (\"Package … …\") above the package clause", pkg)
		}
	}
}

// documents reports whether a text is a doc comment of a package: it begins with
// the package's name, or for a command says anything.
func documents(text, name string) bool {
	if name == "main" {
		return text != ""
	}
	rest, begins := strings.CutPrefix(text, "Package "+name)
	return begins && len(strings.Fields(rest)) > 0 && strings.ContainsAny(rest[:1], " \n,:")
}

func TestDocComments(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text, name string
		want       bool
	}{
		{"Package rules holds the decisions.\n", "rules", true},
		{"Package rules\nholds the decisions.\n", "rules", true},
		{"Package rules\n", "rules", false},
		{"Package rulesets holds others.\n", "rules", false},
		{"Holds the decisions.\n", "rules", false},
		{"", "rules", false},
		{"Questscheduler keeps polls and calendars in step.\n", "main", true},
		{"", "main", false},
	} {
		if got := documents(c.text, c.name); got != c.want {
			t.Errorf("documents(%q, %s) = %t, want %t", c.text, c.name, got, c.want)
		}
	}
}

// empty names fit anything, so they say nothing.
var empty = []string{"util", "utils", "common", "helper", "helpers", "manager", "misc"}

// saysNothing reports whether the last part of a path is such a name; endings and
// the mark of a test do not count.
func saysNothing(name string) bool {
	name = strings.ToLower(path.Base(name))
	name, _, _ = strings.Cut(name, ".")
	return slices.Contains(empty, strings.TrimSuffix(name, "_test"))
}

func TestNamesSaySomething(t *testing.T) {
	t.Parallel()
	for _, name := range paths(t) {
		if saysNothing(name) {
			t.Errorf("%s has a name that fits anything: say what it holds", name)
		}
	}
}

func TestNamesThatSayNothing(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"store/util": true, "api/helpers.go": true, "api/helpers_test.go": true, "misc": true, "Common": true,
		"notify/manager.go": true, "docs/misc.md": true, "utils/path.go": false,
		"internal/store/path.go": false, "api/commonplace.go": false, "cmd/questscheduler": false, ".": false,
	} {
		if got := saysNothing(name); got != want {
			t.Errorf("saysNothing(%q) = %t, want %t", name, got, want)
		}
	}
}
