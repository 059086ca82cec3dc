package layout_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
)

// module is the module's top folder as the tests find it: they run in the
// folder of their package.
var module = os.DirFS("../../..")

// source is one Go file: its path and package path below the module, and its
// head up to the imports.
type source struct {
	path, pkg string
	test      bool
	file      *ast.File
}

// paths lists every file and folder of the module but what other tools keep.
func paths(t *testing.T) []string {
	t.Helper()
	var found []string
	err := fs.WalkDir(module, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() &&
			(name != "." && strings.HasPrefix(entry.Name(), ".") || slices.Contains([]string{"vendor", "node_modules", "testdata"}, entry.Name())) {
			return fs.SkipDir
		}
		found = append(found, name)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// sources reads every Go file of the module, whatever its build constraints.
func sources(t *testing.T) []source {
	t.Helper()
	var found []source
	for _, name := range paths(t) {
		if path.Ext(name) != ".go" {
			continue
		}
		text, err := fs.ReadFile(module, name)
		if err != nil {
			t.Fatal(err)
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ImportsOnly|parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, source{path: name, pkg: path.Dir(name), test: strings.HasSuffix(name, "_test.go"), file: file})
	}
	if len(found) == 0 {
		t.Fatal("no Go file was found")
	}
	return found
}
