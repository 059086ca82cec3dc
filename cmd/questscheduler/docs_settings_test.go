package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"questscheduler/internal/config"
	"questscheduler/internal/test/docs"
)

// The comments of the fields describe the settings, so readers of the code and
// operators have the same text.
func TestPage_Settings_IsCurrent(t *testing.T) {
	t.Parallel()
	comments := fieldComments(t)
	var page strings.Builder
	page.WriteString(`# Settings

The program reads its settings from the environment. It checks all of them at start and reports every problem at once, with its fix and exit code 2. A variable that begins with ` + "`QS_`" + ` and is not in this list is a problem too, since it is most likely mistyped. An empty value counts as not set.

Each can be read from a file: ` + "`QS_ENC_KEYS_FILE=/run/secrets/keys`" + ` in place of ` + "`QS_ENC_KEYS`" + `. Durations are written as 10s, 15m or 168h. Secrets are never printed.
`)
	defaults, demo := reflect.ValueOf(config.Default()), reflect.ValueOf(config.Demo())
	var differ []string
	for _, group := range config.Groups() {
		fmt.Fprintf(&page, "\n## %s\n\n| Setting | Default | What it is |\n|---|---|---|\n", group.Title)
		for _, field := range group.Fields {
			name, is := config.Prefix+field.Tag.Get("env"), shown(defaults.FieldByIndex(field.Index))
			fmt.Fprintf(&page, "| `%s` | %s | %s |\n", name, is, aboutSetting(t, field.Name, comments))
			if there := shown(demo.FieldByIndex(field.Index)); there != is {
				differ = append(differ, fmt.Sprintf("`%s` %s", name, there))
			}
		}
	}
	fmt.Fprintf(
		&page, "\n## The demo\n\nIt has other defaults: %s; and its own addresses, keys and token, which are in its folder.\n",
		strings.Join(differ, ", "),
	)
	docs.Check(t, "settings.md", page.String())
}

// shown is a value as an operator writes it.
func shown(value reflect.Value) string {
	text := fmt.Sprint(value.Interface())
	if d, ok := reflect.TypeAssert[time.Duration](value); ok {
		text = d.String()
		for _, end := range []string{"0s", "0m"} { // 168h0m0s → 168h
			if cut := strings.TrimSuffix(text, end); cut != text && strings.HasSuffix(cut, map[string]string{"0s": "m", "0m": "h"}[end]) {
				text = cut
			}
		}
	}
	if text == "" || text == "[]" {
		return ""
	}
	return "`" + text + "`"
}

// fieldComments are the comments of config.Config by the names of its fields.
func fieldComments(t *testing.T) map[string]string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(docs.Root(t), "internal", "config", "config.go"), nil,
		parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	comments := map[string]string{}
	ast.Inspect(file, func(node ast.Node) bool {
		spec, ok := node.(*ast.TypeSpec)
		if !ok || spec.Name.Name != "Config" {
			return true
		}
		for _, field := range spec.Type.(*ast.StructType).Fields.List {
			for _, name := range field.Names {
				comments[name.Name] = strings.Join(strings.Fields(field.Doc.Text()), " ")
			}
		}
		return false
	})
	return comments
}

// aboutSetting is a field's comment with setting names in place of field names.
func aboutSetting(t *testing.T, field string, comments map[string]string) string {
	t.Helper()
	text := comments[field]
	for _, verb := range []string{" is ", " are "} {
		if rest, ok := strings.CutPrefix(text, field+verb); ok {
			text = strings.ToUpper(rest[:1]) + rest[1:]
		}
	}
	if text == comments[field] {
		t.Errorf("config.Config.%s has a comment of its own that begins with %q", field, field+" is ")
	}
	settings := map[string]string{}
	for _, other := range config.Fields() {
		settings[other.Name] = "`" + config.Prefix + other.Tag.Get("env") + "`"
	}
	return fieldName.ReplaceAllStringFunc(text, func(word string) string {
		if setting, ok := settings[word]; ok {
			return setting
		}
		return word
	})
}

// fieldName matches a word that may be a field's name: it has more than one capital, or
// is the whole setting.
var fieldName = regexp.MustCompile(`\b(Sync|[A-Z][a-z0-9]+[A-Z]\w*)\b`)
