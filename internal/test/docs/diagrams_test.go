package docs_test

import (
	"regexp"
	"strings"
	"testing"
)

// Mermaid ends a statement at a semicolon, also within a message: what follows is no diagram, and
// nothing is drawn.
func TestDiagrams_HoldNoSemicolon(t *testing.T) {
	t.Parallel()
	diagram := regexp.MustCompile("(?s)```mermaid\n(.*?)```")
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
