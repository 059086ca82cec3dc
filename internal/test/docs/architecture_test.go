package docs_test

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"questscheduler/internal/test/docs"
)

const (
	architecture = "docs/architecture.md"
	development  = "docs/development.md"
)

// section is what stands below a heading of the second order, up to the next.
func section(t *testing.T, page, heading string) string {
	t.Helper()
	_, text, found := strings.Cut(docs.Read(t, page), "\n## "+heading+"\n")
	if !found {
		t.Fatalf("%s has no section %q", page, heading)
	}
	text, _, _ = strings.Cut(text, "\n## ")
	return text
}

// rows are the cells of a section's table, without its head.
func rows(text string) [][]string {
	var found [][]string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "|") {
			continue
		}
		cells := strings.Split(strings.Trim(line, "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		found = append(found, cells)
	}
	if len(found) < 3 {
		return nil
	}
	return found[2:]
}

var requirement = regexp.MustCompile(`(?m)^(?:require )?\s*([\w./-]+\.[\w./-]+) v\S+$`)

func TestEveryDirectDependency_HasItsReason(t *testing.T) {
	t.Parallel()
	var needed, documented []string
	for _, match := range requirement.FindAllStringSubmatch(docs.Read(t, "go.mod"), -1) {
		needed = append(needed, match[1]) // a line with // indirect does not end there
	}
	for line := range strings.Lines(section(t, development, "Dependencies")) {
		item, is := strings.CutPrefix(line, "- ")
		if !is {
			continue
		}
		names, reason, _ := strings.Cut(item, ": ")
		for name := range strings.SplitSeq(names, ", ") {
			documented = append(documented, strings.Trim(name, "`"))
		}
		if strings.TrimSpace(reason) == "" {
			t.Errorf("no reason is given for %s", names)
		}
	}
	if len(needed) == 0 {
		t.Fatal("go.mod requires nothing")
	}
	for _, name := range needed {
		if !slices.Contains(documented, name) {
			t.Errorf("go.mod requires %s; say in %s why", name, development)
		}
	}
	for _, name := range documented {
		if !slices.Contains(needed, name) {
			t.Errorf("%s gives a reason for %s, which go.mod does not require directly", development, name)
		}
	}
}

// The page documents all packages that a newcomer meets: those at the top level,
// and those right below internal.
func TestEveryPackage_IsDocumented(t *testing.T) {
	t.Parallel()
	text := section(t, architecture, "Packages")
	for _, pattern := range []string{"*/*.go", "internal/*/*.go"} {
		files, err := filepath.Glob(filepath.Join(docs.Root(t), pattern))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v", pattern, err)
		}
		for _, file := range files {
			name, err := filepath.Rel(docs.Root(t), filepath.Dir(file))
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(text, "`"+filepath.ToSlash(name)+"/`") {
				t.Errorf("%s does not tell of %s/", architecture, name)
			}
		}
	}
}
