package layout_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"slices"
	"strings"
	"testing"
)

// undocumented lists the exported names of a file that say nothing about
// themselves, as `line: name`. A comment begins with the name that it is about,
// after an article where one reads better; a group of constants or variables
// may have one comment for all. Fields and the methods of interfaces may share
// the comment of the line above, as long as no empty line parts them.
func undocumented(name, text string) ([]string, error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	c := commented{lineOf: func(p token.Pos) int { return files.Position(p).Line }}
	for _, decl := range file.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			c.function(d)
		case *ast.GenDecl:
			c.group(d)
		}
	}
	return c.missing, nil
}

type commented struct {
	lineOf  func(token.Pos) int
	missing []string
}

func (c *commented) note(name *ast.Ident, owner string) {
	if owner != "" {
		owner += "."
	}
	c.missing = append(c.missing, fmt.Sprintf("%d: %s%s", c.lineOf(name.Pos()), owner, name.Name))
}

func (c *commented) function(d *ast.FuncDecl) {
	if !d.Name.IsExported() {
		return
	}
	receiver := ""
	if d.Recv != nil {
		receiver = receiverName(d.Recv.List[0].Type)
		if !ast.IsExported(receiver) {
			return
		}
	}
	if !isAbout(d.Doc, d.Name.Name) {
		c.note(d.Name, receiver)
	}
}

func receiverName(expression ast.Expr) string {
	switch e := expression.(type) {
	case *ast.StarExpr:
		return receiverName(e.X)
	case *ast.IndexExpr:
		return receiverName(e.X)
	case *ast.IndexListExpr:
		return receiverName(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

func (c *commented) group(d *ast.GenDecl) {
	grouped := d.Lparen.IsValid()
	for _, spec := range d.Specs {
		switch s := spec.(type) {
		case *ast.TypeSpec:
			doc := s.Doc
			if !grouped {
				doc = d.Doc
			}
			if !s.Name.IsExported() {
				continue
			}
			if !isAbout(doc, s.Name.Name) {
				c.note(s.Name, "")
			}
			c.members(s, doc)
		case *ast.ValueSpec:
			for _, name := range s.Names {
				alone := !grouped && isAbout(d.Doc, name.Name)
				if name.IsExported() && !alone && !(grouped && says(d.Doc, s.Doc, s.Comment)) {
					c.note(name, "")
				}
			}
		}
	}
}

// members checks the fields of a struct or the methods of an interface, whose
// comment is doc.
func (c *commented) members(s *ast.TypeSpec, doc *ast.CommentGroup) {
	var list *ast.FieldList
	switch t := s.Type.(type) {
	case *ast.StructType:
		list = t.Fields
	case *ast.InterfaceType:
		list = t.Methods
	default:
		return
	}
	covered, last := says(doc), c.lineOf(list.Opening)
	for _, field := range list.List {
		first := c.lineOf(field.Pos())
		if field.Doc != nil {
			first = c.lineOf(field.Doc.Pos())
		}
		if first > last+1 {
			covered = false // an empty line ends what a comment is about
		}
		covered = covered || says(field.Doc)
		last = c.lineOf(field.End())
		for _, name := range field.Names {
			if name.IsExported() && !covered && !says(field.Comment) {
				c.note(name, s.Name.Name)
			}
		}
	}
}

// says reports whether one of the comments has words.
func says(comments ...*ast.CommentGroup) bool {
	return slices.ContainsFunc(comments, func(c *ast.CommentGroup) bool { return strings.TrimSpace(c.Text()) != "" })
}

// isAbout reports whether a comment begins with a name.
func isAbout(comment *ast.CommentGroup, name string) bool {
	words := strings.Fields(comment.Text())
	if len(words) > 1 && slices.Contains([]string{"A", "An", "The"}, words[0]) {
		words = words[1:]
	}
	return len(words) > 1 && strings.TrimRight(words[0], ",:;") == name
}

func TestEveryExportedNameIsDocumented(t *testing.T) {
	t.Parallel()
	for _, source := range sources(t) {
		if source.test {
			continue
		}
		text, err := fs.ReadFile(module, source.path)
		if err != nil {
			t.Fatal(err)
		}
		missing, err := undocumented(source.path, string(text))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range missing {
			t.Errorf("%s:%s is exported and says nothing: meaning, units, errors", source.path, name)
		}
	}
}

func TestUndocumentedNamesAreFound(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, code, want string }{
		{"a function", "// F does.\nfunc F() {}", ""},
		{"a function without words", "func F() {}", "3: F"},
		{"a comment about another", "// G does.\nfunc F() {}", "4: F"},
		{"a name that only begins alike", "// Fs do.\nfunc F() {}", "4: F"},
		{"nothing but the name", "// F\nfunc F() {}", "4: F"},
		{"an article", "// The F does.\nfunc F() {}", ""},
		{"a name with a comma", "// F, as always, does.\nfunc F() {}", ""},
		{"what is not exported", "func f() {}", ""},
		{"a method", "// T is.\ntype T struct{}\nfunc (t *T) M() {}", "5: T.M"},
		{"a method of a generic type", "// T is.\ntype T[K any] struct{}\nfunc (t T[K]) M() {}", "5: T.M"},
		{"a method of what is not exported", "type t struct{}\nfunc (t) M() {}", ""},
		{"a type", "type T int", "3: T"},
		{"types in a group", "// Both are.\ntype (\n\t// T is.\n\tT int\n\tU int\n)", "7: U"},
		{"a constant", "const C = 1", "3: C"},
		{"a constant beside its comment alone", "const C = 1 // one", "3: C"},
		{"constants of a group", "// The numbers.\nconst (\n\tC = 1\n\tD = 2\n)", ""},
		{"a group without words", "const (\n\tC = 1 // one\n\tD = 2\n)", "5: D"},
		{"several variables", "// V is one.\nvar V, W int", "4: W"},
		{"fields with a comment for all", "// T is.\ntype T struct {\n\tA int\n\tB int\n}", ""},
		{"fields after an empty line", "// T is.\ntype T struct {\n\tA int\n\n\tB int\n}", "7: T.B"},
		{"fields that share a comment", "// T is.\ntype T struct {\n\tA int\n\n\t// B and C are two.\n\tB int\n\tC int\n}", ""},
		{"a field with words beside it", "// T is.\ntype T struct {\n\tA int\n\n\tB int // two\n}", ""},
		{"methods of an interface", "// T is.\ntype T interface {\n\tA()\n\n\tB()\n}", "7: T.B"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := undocumented("x.go", "package p\n\n"+c.code)
			if err != nil {
				t.Fatal(err)
			}
			if text := strings.Join(got, ", "); text != c.want {
				t.Errorf("got %q, want %q", text, c.want)
			}
		})
	}
}
