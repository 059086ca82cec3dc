package metrics_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Every event that a package declares in its meter.go is counted here.
func TestEvents_ThatAPackageDeclares_AreCounted(t *testing.T) {
	t.Parallel()
	counted, err := os.ReadFile("events.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, of := range []string{"scheduler", "calendarsync", "notify", "mirrors", "attendees"} {
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join("..", "..", of, "meter.go"), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		events := 0
		ast.Inspect(file, func(node ast.Node) bool {
			if event, is := node.(*ast.TypeSpec); is {
				events++
				if !strings.Contains(string(counted), "case "+of+"."+event.Name.Name+":") {
					t.Errorf("nothing counts the event %s.%s", of, event.Name.Name)
				}
			}
			return true
		})
		if events == 0 {
			t.Errorf("%s declares no event in its meter.go", of)
		}
	}
}
