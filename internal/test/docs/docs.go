// Package docs holds the pages of the folder docs/ against the program: those
// that are generated are made here and checked to be current, and what the
// others name (dependencies, tests, files) is checked to exist.
//
// It is for tests alone. `make generate` writes the generated pages anew.
package docs

import (
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

var update = flag.Bool("update", false, "write the generated pages of docs/ anew")

// Generated begins every page that is made by `make generate`.
const Generated = "<!-- Made by `make generate` from the program itself. Change that, not this page. -->\n\n"

// Root is the module's top folder, found from wherever a test runs.
func Root(t testing.TB) string {
	t.Helper()
	folder, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(folder, "go.mod")); err == nil {
			return folder
		}
		above := filepath.Dir(folder)
		if above == folder {
			t.Fatal("there is no go.mod above this test")
		}
		folder = above
	}
}

// Read gives a file of the module by its path below the top folder.
func Read(t testing.TB, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(Root(t), filepath.FromSlash(path)))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Check compares a generated page of docs/ with what the program is now, given
// without its head. With the flag -update it writes the page instead.
func Check(t testing.TB, page, text string) {
	t.Helper()
	CheckFile(t, "docs/"+page, Generated+text)
}

// CheckFile is Check for another generated file, by its path below the top
// folder: one that a program reads, and that has no head.
func CheckFile(t testing.TB, path, text string) {
	t.Helper()
	file := filepath.Join(Root(t), filepath.FromSlash(path))
	if *update {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil { //nolint:gosec // for everybody
			t.Fatal(err)
		}
		return
	}
	stands, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	if string(stands) != text {
		t.Errorf("%s is not what the program is now; run: make generate", path)
	}
}
