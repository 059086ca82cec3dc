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

// beginnings are the words that the comment of an exported field may begin with,
// other than the field's name.
var beginnings = []string{"A", "Below", "Of", "Who"}

// misnamed are the lines of exported fields whose comments begin with a name that
// is none of theirs, as one that was renamed leaves it. Linters check the rest.
func misnamed(t *testing.T, name string, text []byte) (lines []int) {
	t.Helper()
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(node ast.Node) bool {
		fields, ok := node.(*ast.StructType)
		if !ok {
			return true
		}
		for _, field := range fields.Fields.List {
			words := strings.FieldsFunc(field.Doc.Text(), func(r rune) bool { return strings.ContainsRune(" \n,.:;'", r) })
			if len(words) == 0 || len(field.Names) == 0 || !ast.IsExported(words[0]) || slices.Contains(beginnings, words[0]) {
				continue
			}
			isNamed := func(of *ast.Ident) bool { return !of.IsExported() || of.Name == words[0] }
			if !slices.ContainsFunc(field.Names, isNamed) {
				lines = append(lines, files.Position(field.Pos()).Line)
			}
		}
		return true
	})
	return lines
}

func TestCommentsOfFields_BeginWithTheirNames(t *testing.T) {
	t.Parallel()
	for _, source := range sources(t) {
		text, err := fs.ReadFile(module, source.path)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range misnamed(t, source.path, text) {
			t.Errorf("%s:%d: the comment of this field begins with another name", source.path, line)
		}
	}
}

func TestMisnamedFields_AreFound(t *testing.T) {
	t.Parallel()
	for field, want := range map[string]bool{
		"// Name is what it is called.\nName string":   false,
		"// Name's use is said here.\nName string":     false,
		"// From and To are times.\nFrom, To string":   false,
		"// Of the poll alone.\nName string":           false,
		"// what it is called\nName string":            false,
		"Name string":                                  false,
		"// Whatever it is.\nname string":              false,
		"// Title is what it is called.\nName string":  true,
		"// Title, where set, is called.\nName string": true,
	} {
		text := "package p\ntype t struct {\n" + field + "\n}"
		if found := len(misnamed(t, "p.go", []byte(text))) > 0; found != want {
			t.Errorf("%s: found %t, want %t", field, found, want)
		}
	}
}
