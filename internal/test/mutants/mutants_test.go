package main

import (
	"go/format"
	"go/parser"
	"go/token"
	"maps"
	"slices"
	"strings"
	"testing"
)

// The tests run in the folder of their package.
const root = "../../.."

func TestEveryPlantedFault_AppliesToTheCodeOfToday(t *testing.T) {
	t.Parallel()
	for _, m := range all() {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			files, err := m.planted(root)
			if err != nil {
				t.Fatal(err)
			}
			for _, file := range slices.Sorted(maps.Keys(files)) {
				text := files[file]
				if _, err := parser.ParseFile(token.NewFileSet(), file, text, parser.SkipObjectResolution); err != nil {
					t.Errorf("with the fault planted, %v", err)
				}
				if tidy, err := format.Source([]byte(text)); err == nil && string(tidy) != text {
					t.Errorf("%s: gofmt would write the planted fault otherwise", file)
				}
			}
		})
	}
}

func TestEveryPlantedFault_HasANameAndSaysWhatItBreaks(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	for _, m := range all() {
		if m.name == "" || known[m.name] || strings.ContainsAny(m.name, " /") {
			t.Errorf("%q names no mutant, or two", m.name)
		}
		known[m.name] = true
		if !strings.HasSuffix(m.breaks, ".") || len(m.changes) == 0 {
			t.Errorf("%s says in no sentence what it breaks, or changes nothing", m.name)
		}
		for _, c := range m.changes {
			if c.old == c.new || strings.HasSuffix(c.file, "_test.go") || strings.HasPrefix(c.file, "internal/test/") ||
				strings.HasPrefix(c.file, "demo/sim/") {
				t.Errorf("%s: its change of %s plants nothing into the program", m.name, c.file)
			}
		}
	}
}

func TestPlanting_AsksForWhatStandsOnce(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]change{
		"text that is not there":  {file: "rules/rules.go", old: "package rule\n"},
		"text that is there more": {file: "rules/rules.go", old: "State = "},
		"a file that is not":      {file: "rules/nowhere.go", old: "package rules"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := (mutant{changes: []change{c}}).planted(root); err == nil {
				t.Error("it was planted")
			}
		})
	}
	files, err := mutant{changes: []change{
		{file: "rules/rules.go", old: "\npackage rules\n", new: "\npackage first\n"},
		{file: "rules/rules.go", old: "\npackage first\n", new: "\npackage second\n"},
	}}.planted(root)
	if err != nil || len(files) != 1 || !strings.Contains(files["rules/rules.go"], "\npackage second\n") {
		t.Errorf("two changes of one file gave %d files, %v", len(files), err)
	}
}
