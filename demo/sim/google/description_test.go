package google_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
)

// schema is a type of Google's API description.
type schema struct {
	Ref                  string             `json:"$ref"`
	Type                 string             `json:"type"`
	Format               string             `json:"format"`
	Properties           map[string]*schema `json:"properties"`
	AdditionalProperties *schema            `json:"additionalProperties"`
	Items                *schema            `json:"items"`
}

// describedMethod is a method of Google's API description.
type describedMethod struct {
	ID         string             `json:"id"`
	Verb       string             `json:"httpMethod"`
	Path       string             `json:"path"`
	Parameters map[string]*schema `json:"parameters"`
	Response   *schema            `json:"response"` // nil: no body
	Scopes     []string           `json:"scopes"`
}

// resource is a node of the description's tree of methods.
type resource struct {
	Methods   map[string]*describedMethod `json:"methods"`
	Resources map[string]*resource        `json:"resources"`
}

type description struct {
	Schemas    map[string]*schema `json:"schemas"`
	Parameters map[string]*schema `json:"parameters"` // of every method
	resource
}

// loadDescription reads the description of the Calendar API, loadSheets that of the Sheets
// API, which the clients' module carries.
var (
	loadDescription = sync.OnceValues(func() (*description, error) { return readDescription("calendar", "v3") })
	loadSheets      = sync.OnceValues(func() (*description, error) { return readDescription("sheets", "v4") })
)

func readDescription(api, version string) (*description, error) {
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "google.golang.org/api").Output()
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), api, version, api+"-api.json"))
	if err != nil {
		return nil, err
	}
	d := &description{}
	return d, json.Unmarshal(text, d)
}

// method finds what a request calls; nil where Google has no such method.
func (d *description) method(verb, path string) *describedMethod {
	var best *describedMethod
	d.each(func(m *describedMethod) {
		// A path with fewer variables is the nearer one: events/watch is no
		// event.
		if m.Verb == verb && matches(m.Path, path) && (best == nil || strings.Count(m.Path, "{") < strings.Count(best.Path, "{")) {
			best = m
		}
	})
	return best
}

func (r *resource) each(visit func(*describedMethod)) {
	for _, m := range r.Methods {
		visit(m)
	}
	for _, below := range r.Resources {
		below.each(visit)
	}
}

// matches says whether a path is one of a template such as a/{b}/c.
func matches(template, path string) bool {
	want, got := strings.Split(template, "/"), strings.Split(path, "/")
	if len(want) != len(got) {
		return false
	}
	for i := range want {
		if want[i] != got[i] && !strings.HasPrefix(want[i], "{") {
			return false
		}
	}
	return true
}

// formats are those of strings; other formats are ignored.
var formats = map[string]*regexp.Regexp{
	"date":      regexp.MustCompile(`^\d{4}-\d\d-\d\d$`),
	"date-time": regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$`),
	"int64":     regexp.MustCompile(`^-?\d+$`),
}

// check says what is wrong with a value, "" where nothing is.
func (d *description) check(path string, s *schema, value any) string {
	if s.Ref != "" {
		s = d.Schemas[s.Ref]
	}
	switch v := value.(type) {
	case map[string]any:
		for name, inside := range v {
			of := s.Properties[name]
			if of == nil {
				of = s.AdditionalProperties
			}
			if of == nil {
				return path + "." + name + " is not in it"
			}
			if wrong := d.check(path+"."+name, of, inside); wrong != "" {
				return wrong
			}
		}
	case []any:
		if s.Type != "array" {
			return path + " is a list"
		}
		for i, inside := range v {
			if wrong := d.check(fmt.Sprintf("%s[%d]", path, i), s.Items, inside); wrong != "" {
				return wrong
			}
		}
	case string:
		if format := formats[s.Format]; s.Type != "string" && s.Type != "any" || format != nil && !format.MatchString(v) {
			return fmt.Sprintf("%s is %q", path, v)
		}
	case bool:
		if s.Type != "boolean" {
			return path + " is a boolean"
		}
	case float64:
		if s.Type != "integer" && s.Type != "number" {
			return path + " is a number"
		}
	default:
		return fmt.Sprintf("%s is %v", path, v)
	}
	return ""
}
