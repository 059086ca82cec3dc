package layout_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"regexp"
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

// Packages that the Makefile tests without the race detector start no goroutine,
// and neither do their tests.
func TestPackagesWithoutRaceDetector_StartNoGoroutine(t *testing.T) {
	t.Parallel()
	makefile, err := fs.ReadFile(module, "Makefile")
	if err != nil {
		t.Fatal(err)
	}
	list := regexp.MustCompile(`(?m)^SEQUENTIAL := questscheduler/(\(.+\))$`).FindSubmatch(makefile)
	if list == nil {
		t.Fatal("the Makefile has no list SEQUENTIAL")
	}
	sequential, found := regexp.MustCompile("^"+string(list[1])+"$"), map[string]bool{}
	for _, source := range sources(t) {
		if !sequential.MatchString(source.pkg) {
			continue
		}
		found[source.pkg] = true
		text, err := fs.ReadFile(module, source.path)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range concurrency(t, source.path, text) {
			t.Errorf("%s:%d: a goroutine starts here; take the package out of SEQUENTIAL in the Makefile", source.path, line)
		}
	}
	if len(found) == 0 {
		t.Error("SEQUENTIAL in the Makefile names no package")
	}
}

func TestGoroutines_AreFound(t *testing.T) {
	t.Parallel()
	const text = "package p\nfunc f() {\n\tgo f()\n\tvar group sync.WaitGroup\n\tgroup.Go(f)\n\thttptest.NewServer(nil)\n\tgroup.Wait()\n}\n"
	if lines := concurrency(t, "p.go", []byte(text)); len(lines) != 3 || lines[0] != 3 || lines[1] != 5 || lines[2] != 6 {
		t.Errorf("goroutines start in the lines %v, want 3, 5 and 6", lines)
	}
}
