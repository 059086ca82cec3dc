package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// tree is the module: where each package is and what it imports.
type tree struct {
	root     string
	module   string
	packages map[string]listed // by import path
}

// listed is what `go list` says of a package.
type listed struct {
	ImportPath, Dir, Export            string
	GoFiles, TestGoFiles, XTestGoFiles []string
	Imports, TestImports, XTestImports []string
	Standard                           bool
	Module                             *struct{ Path string }
	Deps                               []string
}

// load lists the packages of the module and what they import.
func load(ctx context.Context, root string) (*tree, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	t := &tree{root: root, packages: map[string]listed{}}
	module, err := t.output(ctx, "list", "-m")
	if err != nil {
		return nil, err
	}
	t.module = strings.TrimSpace(string(module))
	list, err := t.list(ctx, "./...")
	for _, p := range list {
		t.packages[p.ImportPath] = p
	}
	return t, err
}

// list returns what `go list` says of packages and all that they import.
func (t *tree) list(ctx context.Context, args ...string) ([]listed, error) {
	const fields = "-json=ImportPath,Dir,Export,GoFiles,TestGoFiles,XTestGoFiles,Imports,TestImports,XTestImports,Module,Deps"
	text, err := t.output(ctx, append([]string{"list", "-deps", fields}, args...)...)
	if err != nil {
		return nil, err
	}
	var all []listed
	for decoder := json.NewDecoder(bytes.NewReader(text)); ; {
		var p listed
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
}

// output runs the go command in the module and returns what it printed.
func (t *tree) output(ctx context.Context, args ...string) ([]byte, error) {
	command := exec.CommandContext(ctx, "go", args...)
	var problems bytes.Buffer
	command.Dir, command.Stderr = t.root, &problems
	text, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("go %s: %w: %s", args[0], err, problems.Bytes())
	}
	return text, nil
}

// dependants lists the packages of the module whose tests execute a package, those that
// import it themselves first.
func (t *tree) dependants(path string) []string {
	var direct, others []string
	for name, p := range t.packages {
		if p.Module == nil || p.Module.Path != t.module || name == path || len(p.TestGoFiles)+len(p.XTestGoFiles) == 0 || t.slow(name) {
			continue
		}
		imports := slices.Concat(p.Imports, p.TestImports, p.XTestImports)
		switch {
		case slices.Contains(imports, path):
			direct = append(direct, name)
		case slices.ContainsFunc(imports, func(i string) bool { return slices.Contains(t.packages[i].Deps, path) }):
			others = append(others, name)
		}
	}
	slices.Sort(direct)
	slices.Sort(others)
	return append(direct, others...)
}

// slow reports packages whose tests start programs, emulators or random worlds: each run
// takes seconds, and the programs that they build have no changes in them.
func (t *tree) slow(name string) bool {
	name = strings.TrimPrefix(name, t.module+"/")
	return strings.HasPrefix(name, "cmd/") || strings.HasPrefix(name, "internal/test/")
}

// source is a package with its types, ready to be changed.
type source struct {
	listed
	set   *token.FileSet
	files []*ast.File
	text  map[string][]byte // by file name
	info  *types.Info
	types *types.Package
	// only is the one file that is changed; "" changes all.
	only string
}

// parse reads the product files of a package, or of that of a file, and works out their types,
// for which it builds what the package imports.
func (t *tree) parse(ctx context.Context, name string) (*source, error) {
	only := ""
	if filepath.Ext(name) == ".go" {
		name, only = filepath.Dir(name), filepath.Base(name)
	}
	p, ok := t.packages[t.module+"/"+name]
	if !ok {
		return nil, errors.New("there is no such package in this module")
	}
	s := &source{listed: p, only: only, set: token.NewFileSet(), text: map[string][]byte{}, info: &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{},
	}}
	for _, name := range p.GoFiles {
		text, err := os.ReadFile(filepath.Join(p.Dir, name))
		if err != nil {
			return nil, err
		}
		file, err := parser.ParseFile(s.set, filepath.Join(p.Dir, name), text, parser.SkipObjectResolution|parser.ParseComments)
		if err != nil {
			return nil, err
		}
		s.files, s.text[name] = append(s.files, file), text
	}
	imported, err := t.list(ctx, "-export", p.ImportPath)
	if err != nil {
		return nil, err
	}
	exports := map[string]string{}
	for _, i := range imported {
		exports[i.ImportPath] = i.Export
	}
	lookup := func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) }
	config := types.Config{Importer: importer.ForCompiler(s.set, "gc", lookup)}
	s.types, err = config.Check(p.ImportPath, s.set, s.files, s.info)
	return s, err
}
