package layout_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"slices"
	"strings"
	"testing"
)

// unbounded are the lines of loops that only a subtest ends: with -run or
// -failfast it may never run. One that counts to a limit is none of them.
func unbounded(t *testing.T, name string, text []byte) (lines []int) {
	t.Helper()
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, name, text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(node ast.Node) bool {
		loop, ok := node.(*ast.ForStmt)
		if !ok || isCounted(loop.Cond) {
			return true
		}
		set := setBySubtests(loop.Body)
		ends := func(node ast.Node) bool {
			name, ok := node.(*ast.Ident)
			return ok && slices.Contains(set, name.Name)
		}
		if loop.Cond == nil && len(set) > 0 || loop.Cond != nil && contains(loop.Cond, ends) {
			lines = append(lines, files.Position(loop.Pos()).Line)
		}
		return true
	})
	return lines
}

// isCounted reports whether a condition, or a part of it that must hold, compares
// by order.
func isCounted(condition ast.Expr) bool {
	compares, ok := condition.(*ast.BinaryExpr)
	if !ok {
		return false
	}
	switch compares.Op {
	case token.LSS, token.LEQ, token.GTR, token.GEQ:
		return true
	case token.LAND:
		return isCounted(compares.X) || isCounted(compares.Y)
	default:
		return false
	}
}

// setBySubtests are the variables that functions given to Run assign.
func setBySubtests(body ast.Node) (names []string) {
	ast.Inspect(body, func(node ast.Node) bool {
		call, ok := node.(*ast.CallExpr)
		if !ok || len(call.Args) != 2 {
			return true
		}
		run, isMethod := call.Fun.(*ast.SelectorExpr)
		subtest, isLiteral := call.Args[1].(*ast.FuncLit)
		if !isMethod || !isLiteral || run.Sel.Name != "Run" {
			return true
		}
		ast.Inspect(subtest, func(node ast.Node) bool {
			if set, ok := node.(*ast.AssignStmt); ok && set.Tok == token.ASSIGN {
				for _, left := range set.Lhs {
					if name, ok := left.(*ast.Ident); ok && name.Name != "_" {
						names = append(names, name.Name)
					}
				}
			}
			return true
		})
		return true
	})
	return names
}

func contains(tree ast.Node, is func(ast.Node) bool) (found bool) {
	ast.Inspect(tree, func(node ast.Node) bool {
		found = found || node != nil && is(node)
		return !found
	})
	return found
}

func TestLoopsOverSubtests_AreBounded(t *testing.T) {
	t.Parallel()
	for _, source := range sources(t) {
		if !source.test {
			continue
		}
		text, err := fs.ReadFile(module, source.path)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range unbounded(t, source.path, text) {
			t.Errorf(
				"%s:%d: only a subtest ends this loop, which -run or -failfast may leave out; count to worldtest.MostPoints too",
				source.path, line,
			)
		}
	}
}

func TestUnboundedLoops_AreFound(t *testing.T) {
	t.Parallel()
	const body = `{ t.Run("x", func(t *testing.T) { more = again() }) }`
	for loop, want := range map[string]bool{
		"for n, more := 1, true; more; n++ " + body: true,
		"for " + body: true,
		"for n, more := 1, true; more && n <= 1000; n++ " + body: false,
		"for n := 1; n < 10; n++ " + body:                        false,
		"for at != nil " + body:                                  false,
		"for more { more = again() }":                            false,
	} {
		text := strings.Join([]string{"package p", "func f() {", loop, "}"}, "\n")
		if found := len(unbounded(t, "p_test.go", []byte(text))) > 0; found != want {
			t.Errorf("%s: found %t, want %t", loop, found, want)
		}
	}
}
