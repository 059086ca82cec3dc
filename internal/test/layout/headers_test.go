package layout_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"strings"
	"testing"
)

// hidden are the lines of if and switch whose header does something other than
// declare: what is written there is easily missed.
func hidden(t *testing.T, name string, text []byte) (lines []int) {
	t.Helper()
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, name, text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(node ast.Node) bool {
		var header ast.Stmt
		switch node := node.(type) {
		case *ast.IfStmt:
			header = node.Init
		case *ast.SwitchStmt:
			header = node.Init
		case *ast.TypeSwitchStmt:
			header = node.Init
		}
		declares, ok := header.(*ast.AssignStmt)
		if header != nil && !(ok && declares.Tok == token.DEFINE) {
			lines = append(lines, files.Position(header.Pos()).Line)
		}
		return true
	})
	return lines
}

func TestHeadersOfIfAndSwitch_OnlyDeclare(t *testing.T) {
	t.Parallel()
	for _, source := range sources(t) {
		text, err := fs.ReadFile(module, source.path)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range hidden(t, source.path, text) {
			t.Errorf("%s:%d: what this header does hides there; write it on its own line before", source.path, line)
		}
	}
}

func TestHiddenWrites_AreFound(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]bool{
		"if x := f(); x > 0":               false,
		"if x > 0":                         false,
		"switch x := f(); x":               false,
		"switch x := y.(type)":             false,
		"switch":                           false,
		"if x = f(); x > 0":                true,
		"if x++; x > 0":                    true,
		"if x += 2; x > 0":                 true,
		"if f(); x > 0":                    true,
		"if y {} else if x = f(); x > 0":   true,
		"switch x = f(); x":                true,
		"switch x = f(); y.(type)":         true,
		"if y := func() { x = 1 }; y != x": false,
	} {
		text := strings.Join([]string{"package p", "func _() {", header + " {", "}", "}"}, "\n")
		if found := len(hidden(t, "p.go", []byte(text))) > 0; found != want {
			t.Errorf("%s: found %t, want %t", header, found, want)
		}
	}
}
