package layout_test

import (
	"bytes"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"
)

// rooms are the top folders of the program, from the bottom up: each imports only those before it.
// The tests' own support is none of them.
var rooms = []string{
	"fault", "rules", "internal", "transition", "availability", "feed", "notify", "scheduler", "calendarsync", "groupevents",
	"mirrors", "attendees",
	"web-hooks", "operations", "api", "demo", "cmd",
}

// mostOfAll is the largest share of the program's lines that one room may hold, in percent.
const mostOfAll = 35

// roomOf is the top folder of a package of the program, "" for one of tests or tools.
func roomOf(pkg string) string {
	room, _, _ := strings.Cut(pkg, "/")
	if strings.HasPrefix(pkg+"/", "internal/test/") || room == "tools" {
		return ""
	}
	return room
}

func isUpward(from, to string) bool { return slices.Index(rooms, to) > slices.Index(rooms, from) }

func TestRooms_ImportDownwards_AndNoneHoldsMost(t *testing.T) {
	t.Parallel()
	lines, all := map[string]int{}, 0
	for _, source := range sources(t) {
		from := roomOf(source.pkg)
		if source.test || from == "" {
			continue
		}
		if !slices.Contains(rooms, from) {
			t.Errorf("%s is in %s, which is no room: give it a place in rooms", source.path, from)
		}
		for _, imported := range importsOf(t, source.file) {
			pkg, ours := strings.CutPrefix(imported, modulePath+"/")
			if to := roomOf(pkg); ours && isUpward(from, to) {
				t.Errorf("%s imports %s, and %s is above %s", source.path, pkg, to, from)
			}
		}
		text, err := fs.ReadFile(module, source.path)
		if err != nil {
			t.Fatal(err)
		}
		n := bytes.Count(text, []byte("\n"))
		lines[from], all = lines[from]+n, all+n
	}
	for _, room := range slices.Sorted(maps.Keys(lines)) {
		if 100*lines[room] > mostOfAll*all {
			t.Errorf("%s holds %d of %d lines: more than %d%%", room, lines[room], all, mostOfAll)
		}
	}
}

func TestUpwardImports_AreFound(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		from, to string
		upward   bool
	}{
		{"scheduler", "rules", false}, {"rules", "scheduler", true}, {"internal", "operations", true}, {"api", "api", false},
	} {
		if isUpward(c.from, c.to) != c.upward {
			t.Errorf("%s may import %s: %t", c.from, c.to, c.upward)
		}
	}
	for pkg, want := range map[string]string{"mirrors/plan": "mirrors", "internal/test/worldtest": "", "tools/release": "", "api": "api"} {
		if got := roomOf(pkg); got != want {
			t.Errorf("%s is in %q, want %q", pkg, got, want)
		}
	}
}
