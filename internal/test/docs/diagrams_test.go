package docs_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"questscheduler/internal/test/chromium"
	"questscheduler/internal/test/docs"
)

// diagram is one in a page's text.
var diagram = regexp.MustCompile("(?s)```mermaid\n(.*?)```")

// Mermaid ends a statement at a semicolon, also within a message: what follows is no diagram, and
// nothing is drawn.
func TestDiagrams_HoldNoSemicolon(t *testing.T) {
	t.Parallel()
	found := 0
	for page, text := range pages(t) {
		for _, drawn := range diagram.FindAllStringSubmatch(text, -1) {
			found++
			for line := range strings.Lines(drawn[1]) {
				if strings.Contains(line, ";") {
					t.Errorf("%s: a diagram ends within the line %q; write a comma or two lines", page, strings.TrimSpace(line))
				}
			}
		}
	}
	if found == 0 {
		t.Error("no page has a diagram")
	}
}

// The official parser in one version, and a page that loads it if it has this checksum.
const (
	mermaid     = "mermaid-11.17.2.js"
	mermaidPage = `<!doctype html><link rel="icon" href="data:,"><script src="/mermaid.js"
		integrity="sha384-EOXBFmc3gx5mb+vn0vPvvGqACToJD24hhacX5Yx+8NUUQrHIle/Qi5Bg9o3zKwW2"></script>`
)

// TestEveryDiagram_IsReadByMermaid: what Mermaid cannot read, readers see as an error.
func TestEveryDiagram_IsReadByMermaid(t *testing.T) {
	t.Parallel()
	parser := filepath.Join(docs.Root(t), "bin", mermaid)
	switch _, err := os.Stat(parser); {
	case err != nil && os.Getenv("CI") == "":
		t.Skip("skipped: the diagrams of pages, since Mermaid is not there; install npm and run make webapp")
	case err != nil:
		t.Fatal(err)
	}
	files := http.NewServeMux()
	files.HandleFunc("/mermaid.js", func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, parser) })
	files.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, mermaidPage) })
	server := httptest.NewServer(files)
	t.Cleanup(server.Close)
	browser := chromium.Open(t)
	browser.Go(server.URL)
	browser.Want("globalThis.mermaid")
	for page, text := range pages(t) {
		for _, drawn := range diagram.FindAllStringSubmatch(text, -1) {
			browser.Want(fmt.Sprintf(`(said = "", mermaid.parse(%q).then(() => "read", String).then((answer) => { said = answer; }))`, drawn[1]))
			browser.Await(`said`)
			if said := browser.Text(`said`); said != "read" {
				t.Errorf("%s: Mermaid does not read a diagram: %s", page, said)
			}
		}
	}
}
