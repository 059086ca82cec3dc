package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
)

// change is one fault: its number turns it on in the built tests.
type change struct {
	number   int
	file     string // below the package's folder
	line     int
	function string
	what     string // the kind of change and the text that it is made to, on one line
}

// name identifies the change from one run to the next, as long as its text stays.
func (c change) name() string { return c.file + "\t" + c.function + "\t" + c.what }

// edit surrounds a part of a file's text. Edits nest: they were added outermost first.
type edit struct {
	from, to      int
	before, after string
}

// planter plants the switches of all changes into one file.
type planter struct {
	*source
	file     *ast.File
	name     string
	text     []byte
	imports  map[string]string // local names of imported packages, by path
	edits    []edit
	changes  []change
	first    int // the number of the first change
	known    map[string]int
	function string
	results  *ast.FieldList // of the function that the walk is in
}

// plant returns the changed text of every file of a package and the changes in it.
func plant(s *source) (map[string][]byte, []change) {
	texts, changes, known := map[string][]byte{}, []change(nil), map[string]int{}
	for _, file := range s.files {
		name := filepath.Base(s.set.Position(file.Package).Filename)
		if ast.IsGenerated(file) || s.only != "" && s.only != name {
			continue
		}
		p := &planter{
			source: s, file: file, name: name, text: s.text[name],
			imports: importNames(file), first: len(changes) + 1, known: known,
		}
		for _, declared := range file.Decls {
			p.declaration(declared)
		}
		texts[name], changes = p.apply(), append(changes, p.changes...)
	}
	return texts, changes
}

func (p *planter) declaration(declared ast.Decl) {
	switch d := declared.(type) {
	case *ast.FuncDecl:
		p.function, p.results = d.Name.Name, d.Type.Results
		if d.Recv != nil && len(d.Recv.List) == 1 {
			p.function = strings.TrimPrefix(p.original(d.Recv.List[0].Type), "*") + "." + d.Name.Name
		}
		if d.Body != nil {
			p.block(d.Body.List)
		}
	case *ast.GenDecl:
		if d.Tok != token.VAR {
			return
		}
		for _, spec := range d.Specs {
			v := spec.(*ast.ValueSpec)
			p.function = v.Names[0].Name
			for _, value := range v.Values {
				p.expression(value)
			}
		}
	}
}

// add records a change and returns its number. Equal changes in one function are counted,
// so that each has a name of its own.
func (p *planter) add(at ast.Node, format string, args ...any) int {
	what := strings.Join(strings.Fields(fmt.Sprintf(format, args...)), " ")
	c := change{
		number: p.first + len(p.changes), file: p.name, line: p.set.Position(at.Pos()).Line,
		function: p.function, what: what,
	}
	p.known[c.name()]++
	if n := p.known[c.name()]; n > 1 {
		c.what = fmt.Sprintf("%s (%d)", what, n)
	}
	p.changes = append(p.changes, c)
	return c.number
}

// surround puts text around a node.
func (p *planter) surround(node ast.Node, before, after string) {
	p.edits = append(p.edits, edit{from: p.offset(node.Pos()), to: p.offset(node.End()), before: before, after: after})
}

func (p *planter) offset(at token.Pos) int { return p.set.Position(at).Offset }

// original is the text of a node as it stands in the file.
func (p *planter) original(node ast.Node) string {
	return string(p.text[p.offset(node.Pos()):p.offset(node.End())])
}

// apply writes the edits into the text. Where several end at one place the innermost is
// closed first; where several begin there the outermost is opened first.
func (p *planter) apply() []byte {
	type insertion struct {
		at, order int
		text      string
	}
	var list []insertion
	for i, e := range p.edits {
		list = append(list, insertion{at: e.from, order: i, text: e.before}, insertion{at: e.to, order: -1 - i, text: e.after})
	}
	slices.SortStableFunc(list, func(a, b insertion) int {
		if a.at != b.at {
			return a.at - b.at
		}
		return a.order - b.order
	})
	var out []byte
	last := 0
	for _, i := range list {
		out = append(append(out, p.text[last:i.at]...), i.text...)
		last = i.at
	}
	return append(out, p.text[last:]...)
}

// importNames maps the paths of a file's imports to the names that the file gives them.
func importNames(file *ast.File) map[string]string {
	names := map[string]string{}
	for _, i := range file.Imports {
		path := strings.Trim(i.Path.Value, `"`)
		if i.Name != nil {
			names[path] = i.Name.Name
			continue
		}
		names[path] = ""
	}
	return names
}
