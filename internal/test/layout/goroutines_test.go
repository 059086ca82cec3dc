package layout_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"regexp"
	"strings"
	"testing"
)

// concurrency gives the lines that start a goroutine, by themselves or in a server
// of package httptest.
func concurrency(t *testing.T, name string, text []byte) (lines []int) {
	t.Helper()
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, name, text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	starts := map[string]bool{"Go": true, "AfterFunc": true, "NewServer": true, "NewTLSServer": true, "NewUnstartedServer": true}
	ast.Inspect(file, func(node ast.Node) bool {
		_, starting := node.(*ast.GoStmt)
		if selector, ok := node.(*ast.SelectorExpr); ok {
			starting = starts[selector.Sel.Name]
		}
		if starting {
			lines = append(lines, files.Position(node.Pos()).Line)
		}
		return true
	})
	return lines
}

// unwatched are programs: the whole one, which a second build would take minutes for, and
// those of tests.
var unwatched = regexp.MustCompile(`^(cmd/.+|demo/sim/google|tools/.+|internal/test/.+)$`)

// Packages that start a goroutine are among those that the Makefile tests under the race
// detector.
func TestPackagesThatStartGoroutines_AreTestedForRaces(t *testing.T) {
	t.Parallel()
	makefile, err := fs.ReadFile(module, "Makefile")
	if err != nil {
		t.Fatal(err)
	}
	list := regexp.MustCompile(`(?m)^CONCURRENT := questscheduler/(\(.+\))$`).FindSubmatch(makefile)
	if list == nil {
		t.Fatal("the Makefile has no list CONCURRENT")
	}
	concurrent := regexp.MustCompile("^" + string(list[1]) + "$")
	for _, source := range sources(t) {
		if strings.HasSuffix(source.path, "_test.go") || unwatched.MatchString(source.pkg) || concurrent.MatchString(source.pkg) {
			continue
		}
		text, err := fs.ReadFile(module, source.path)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range concurrency(t, source.path, text) {
			t.Errorf("%s:%d: a goroutine starts here; add the package to CONCURRENT in the Makefile", source.path, line)
		}
	}
}

func TestGoroutines_AreFound(t *testing.T) {
	t.Parallel()
	const text = "package p\nfunc f() {\n\tgo f()\n\tvar group sync.WaitGroup\n\tgroup.Go(f)\n\thttptest.NewServer(nil)\n\tgroup.Wait()\n}\n"
	if lines := concurrency(t, "p.go", []byte(text)); len(lines) != 3 || lines[0] != 3 || lines[1] != 5 || lines[2] != 6 {
		t.Errorf("goroutines start in the lines %v, want 3, 5 and 6", lines)
	}
}
