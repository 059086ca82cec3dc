package docs_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"questscheduler/internal/test/docs"
)

// texts are the constants of one of the program's files whose type or name fits.
func texts(t *testing.T, file string, fits func(name, kind string) bool) []string {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(docs.Root(t), file), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	ast.Inspect(parsed, func(node ast.Node) bool {
		spec, is := node.(*ast.ValueSpec)
		if !is {
			return true
		}
		kind := ""
		if named, is := spec.Type.(*ast.Ident); is {
			kind = named.Name
		}
		for i, name := range spec.Names {
			if i >= len(spec.Values) || !fits(name.Name, kind) {
				continue
			}
			if literal, is := spec.Values[i].(*ast.BasicLit); is {
				text, err := strconv.Unquote(literal.Value)
				if err != nil {
					t.Fatal(err)
				}
				found = append(found, text)
			}
		}
		return true
	})
	return found
}

// Authors of the web app know codes and types of notices from docs/frontend.md
// alone.
func TestEveryWordThatTheWebAppReads_IsDocumented(t *testing.T) {
	t.Parallel()
	page := docs.Read(t, "docs/frontend.md")
	words := texts(t, "rules/rules.go", func(_, kind string) bool { return kind == "ErrorCode" || kind == "State" })
	words = append(words, texts(t, "rules/announce.go", func(_, kind string) bool { return kind == "Notice" })...)
	words = append(words, texts(t, "notify/owners.go", func(name, _ string) bool { return strings.HasPrefix(name, "Notice") })...)
	if len(words) < 15 {
		t.Fatalf("only these were found: %v", words)
	}
	for _, word := range words {
		if word != "" && !strings.Contains(page, word) {
			t.Errorf("docs/frontend.md does not tell of %s", word)
		}
	}
	const banner = "Calendar sync paused. Re-link your calendar in Settings to resume."
	if !strings.Contains(page, banner) || !strings.Contains(docs.Read(t, "notify/english.go"), banner) {
		t.Error("the banner and the notice of the same thing do not say the same")
	}
}

func TestEveryRoute_DocumentedForTheWebApp_Exists(t *testing.T) {
	t.Parallel()
	document := docs.Read(t, "docs/openapi.json")
	documented := 0
	for _, piece := range strings.Split(docs.Read(t, "docs/frontend.md"), "`POST ")[1:] {
		path, _, _ := strings.Cut(piece, "`")
		documented++
		if !strings.Contains(document, strconv.Quote(path)+": {") {
			t.Errorf("docs/frontend.md names %s, which is no route", path)
		}
	}
	if documented < 3 {
		t.Errorf("docs/frontend.md names %d routes", documented)
	}
}
