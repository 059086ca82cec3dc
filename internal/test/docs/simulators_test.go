package docs_test

import (
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"questscheduler/demo/sim/control"
	"questscheduler/internal/test/docs"
)

var (
	// simRoute is a control as a simulator registers it.
	simRoute = regexp.MustCompile(`"[A-Z]+ (/_sim/[^"]+)"`)
	simParam = regexp.MustCompile(`\{\w+\}`)
)

func TestSimulatorsPage_NamesEveryControlAndFaultField(t *testing.T) {
	t.Parallel()
	page := docs.Read(t, "docs/development.md")
	files, err := filepath.Glob(filepath.Join(docs.Root(t), "demo/sim", "*", "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	controls := 0
	for _, file := range files {
		name, err := filepath.Rel(docs.Root(t), file)
		if err != nil {
			t.Fatal(err)
		}
		for _, route := range simRoute.FindAllStringSubmatch(docs.Read(t, filepath.ToSlash(name)), -1) {
			controls++
			if path := simParam.ReplaceAllString(route[1], "{id}"); !strings.Contains(page, " "+path+"`") {
				t.Errorf("%s registers %s, which the page does not name", name, path)
			}
		}
	}
	if controls < 10 {
		t.Errorf("only %d controls were found", controls)
	}
	for field := range reflect.TypeFor[control.Rule]().Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if !strings.Contains(page, "`"+name+"`") {
			t.Errorf("the page does not name the field %s of a fault", name)
		}
	}
}
