package google_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
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

type description struct {
	Schemas map[string]*schema `json:"schemas"`
}

// loadDescription reads calendar-api.json, which the client's module carries.
var loadDescription = sync.OnceValues(func() (*description, error) {
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "google.golang.org/api").Output()
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), "calendar", "v3", "calendar-api.json"))
	if err != nil {
		return nil, err
	}
	d := &description{}
	return d, json.Unmarshal(text, d)
})

// kinds are the schemas that answers name in their kind.
var kinds = map[string]string{
	"calendar#event": "Event", "calendar#events": "Events", "api#channel": "Channel",
	"calendar#calendarList": "CalendarList", "calendar#calendarListEntry": "CalendarListEntry",
}

// described is a transport that holds every answer with a kind against the
// API's description: no unknown field, no wrong type.
type described struct{ t *testing.T }

// RoundTrip implements http.RoundTripper.
func (d described) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	if err != nil {
		return nil, err
	}
	resp.Body = io.NopCloser(bytes.NewReader(text))
	var answer map[string]any
	if resp.StatusCode >= 300 || json.Unmarshal(text, &answer) != nil {
		return resp, nil //nolint:nilerr // an answer that is no JSON object is not described
	}
	kind, _ := answer["kind"].(string)
	if name, ok := kinds[kind]; ok {
		desc, err := loadDescription()
		if err != nil {
			return nil, err
		}
		if wrong := desc.check(name, desc.Schemas[name], answer); wrong != "" {
			d.t.Errorf("%s %s: the answer breaks the API's description: %s", req.Method, req.URL.Path, wrong)
		}
	}
	return resp, nil
}

// formats are those of strings; others are not looked at.
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

func TestDescription_KnowsEveryFieldThatAMaskMayName(t *testing.T) {
	t.Parallel()
	desc, err := loadDescription()
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, testOptions())
	for name := range desc.Schemas["Event"].Properties {
		if status, _, text := w.curl("gm", "GET", "/calendar/v3/calendars/primary/events?fields=items/"+name, ""); status != http.StatusOK {
			t.Errorf("fields=items/%s: %d %s", name, status, text)
		}
	}
}
