package rules_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// mayImport is all that the decisions are made of.
var mayImport = []string{"errors", "slices", "strconv", "strings", "time", "unicode", "questscheduler/fault"}

// impureTime names what of package time asks a clock, waits, or depends on
// where the program runs.
var impureTime = []string{
	"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker", "Local", "LoadLocation",
}

// impurities lists what in a file is not pure, each with its place. Maps count,
// since ranging over one gives another order each time.
func impurities(name string, source any) ([]string, error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, name, source, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var found []string
	say := func(at token.Pos, what string) { found = append(found, files.Position(at).String()+": "+what) }
	clock := ""
	for _, spec := range file.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(mayImport, path) {
			say(spec.Pos(), "imports "+path)
		}
		if path == "time" {
			clock = "time"
			if spec.Name != nil {
				clock = spec.Name.Name
			}
		}
		if spec.Name != nil && (spec.Name.Name == "." || spec.Name.Name == "_") {
			say(spec.Pos(), "imports "+path+" as "+spec.Name.Name)
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			say(n.Pos(), "starts a goroutine")
		case *ast.MapType:
			say(n.Pos(), "has a map, whose order is not the same twice")
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && clock != "" && x.Name == clock && slices.Contains(impureTime, n.Sel.Name) {
				say(n.Pos(), "uses time."+n.Sel.Name)
			}
		}
		return true
	})
	return found, nil
}

func TestRules_AllFiles_ArePure(t *testing.T) {
	t.Parallel()
	sources, err := fs.Glob(os.DirFS("."), "*.go")
	if err != nil {
		t.Fatal(err)
	}
	read := 0
	for _, name := range sources {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		found, err := impurities(name, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, what := range found {
			t.Error(what)
		}
		read++
	}
	if read == 0 {
		t.Fatal("no source of the package was read")
	}
}

func TestPurityCheck_ImpureSource_IsFound(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, source, want string }{
		{"nothing", `import "time"; func f(now time.Time) time.Time { return now.UTC() }`, ""},
		{"a clock", `import "time"; func f() time.Time { return time.Now() }`, "uses time.Now"},
		{"a clock under another name", `import clock "time"; func f() clock.Time { return clock.Now() }`, "uses time.Now"},
		{"a clock that is passed on", `import "time"; var now = time.Now`, "uses time.Now"},
		{"the zone of the machine", `import "time"; var zone = time.Local`, "uses time.Local"},
		{"time without its name", `import . "time"; var now = Now()`, "imports time as ."},
		{"the context", `import "context"; var c context.Context`, "imports context"},
		{"a log", `import "log/slog"; func f() { slog.Info("x") }`, "imports log/slog"},
		{"randomness", `import "math/rand/v2"; var n = rand.Int()`, "imports math/rand/v2"},
		{"the store", `import "questscheduler/internal/store"; var p store.Path`, "imports questscheduler/internal/store"},
		{"a goroutine", `func f() { go f() }`, "starts a goroutine"},
		{"a map", `var m = map[string]int{}`, "has a map"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			found, err := impurities("made_up.go", "package rules; "+c.source)
			if err != nil {
				t.Fatal(err)
			}
			if c.want == "" {
				if len(found) > 0 {
					t.Errorf("found %q, want nothing", found)
				}
				return
			}
			if len(found) != 1 || !strings.Contains(found[0], c.want) {
				t.Errorf("found %q, want one that says %q", found, c.want)
			}
		})
	}
}
