package api_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// promises is the OpenAPI document as answers are held to it: as much of JSON
// Schema as the document uses, and no more.
type promises struct {
	Paths      map[string]map[string]promisedRoute
	Components struct{ Schemas map[string]schema }
}

type promisedRoute struct {
	Responses map[string]struct {
		Content map[string]struct{ Schema schema }
	}
}

type schema struct {
	Ref                  string `json:"$ref"`
	Type                 any
	Format               string
	Enum                 []any
	Properties           map[string]schema
	Required             []string
	AdditionalProperties json.RawMessage
	Items                *schema
	OneOf                []schema
}

func readPromises(t *testing.T, document string) promises {
	t.Helper()
	var p promises
	must(t, json.Unmarshal([]byte(document), &p))
	return p
}

// check holds an answer to what the document says of its route; a path that
// leads to none is passed over.
func (p promises) check(t *testing.T, request *http.Request, got answer) {
	t.Helper()
	route, found := p.route(request)
	if !found {
		return
	}
	response, said := route.Responses[strconv.Itoa(got.status)]
	if !said {
		response, said = route.Responses["default"]
	}
	if said && len(response.Content) == 0 && got.text == "" {
		return // an answer without a body, and said to be so
	}
	var value any
	if err := json.Unmarshal([]byte(got.text), &value); err != nil || !said {
		t.Errorf("%s %s: status %d is not in the document, or no JSON: %v", request.Method, request.URL.Path, got.status, err)
		return
	}
	if wrong := p.wrong(response.Content["application/json"].Schema, value, "answer"); wrong != "" {
		t.Errorf("%s %s does not answer as its document says: %s: %.1000s", request.Method, request.URL.Path, wrong, got.text)
	}
}

// route finds what is said of a request. A fixed path comes before one with an
// id in it.
func (p promises) route(request *http.Request) (promisedRoute, bool) {
	parts := strings.Split(request.URL.EscapedPath(), "/")
	for _, template := range slices.Sorted(maps.Keys(p.Paths)) { // "{" sorts behind letters
		wanted := strings.Split(template, "/")
		fits := len(wanted) == len(parts)
		for i := 0; fits && i < len(parts); i++ {
			fits = wanted[i] == parts[i] || strings.HasPrefix(wanted[i], "{") && parts[i] != ""
		}
		if route, ok := p.Paths[template][strings.ToLower(request.Method)]; fits && ok {
			return route, true
		}
	}
	return promisedRoute{}, false
}

// wrong says how a value breaks a schema, or "".
func (p promises) wrong(s schema, value any, at string) string {
	if s.Ref != "" {
		return p.wrong(p.Components.Schemas[s.Ref[strings.LastIndexByte(s.Ref, '/')+1:]], value, at)
	}
	if len(s.OneOf) > 0 {
		fitting := 0
		for _, one := range s.OneOf {
			if p.wrong(one, value, at) == "" {
				fitting++
			}
		}
		if fitting != 1 {
			return fmt.Sprintf("%s fits %d of its shapes", at, fitting)
		}
		return ""
	}
	if kind := kindOf(value); s.Type != nil && !allows(s.Type, kind) {
		return fmt.Sprintf("%s is %s, not %v", at, kind, s.Type)
	}
	if len(s.Enum) > 0 && !slices.Contains(s.Enum, value) {
		return fmt.Sprintf("%s is none of %v", at, s.Enum)
	}
	switch v := value.(type) {
	case string:
		if s.Format == "date-time" {
			if moment, err := time.Parse(time.RFC3339Nano, v); err != nil || moment.Location() != time.UTC {
				return at + " is no time in UTC"
			}
		}
	case []any:
		for i, item := range v {
			if wrong := p.wrong(*s.Items, item, fmt.Sprintf("%s[%d]", at, i)); wrong != "" {
				return wrong
			}
		}
	case map[string]any:
		return p.wrongObject(s, v, at)
	}
	return ""
}

func (p promises) wrongObject(s schema, object map[string]any, at string) string {
	for _, name := range s.Required {
		if _, ok := object[name]; !ok {
			return at + " has no " + name
		}
	}
	for name, value := range object {
		property, known := s.Properties[name]
		if !known {
			if string(s.AdditionalProperties) == "false" || json.Unmarshal(s.AdditionalProperties, &property) != nil {
				return at + " has " + name
			}
		}
		if wrong := p.wrong(property, value, at+"."+name); wrong != "" {
			return wrong
		}
	}
	return ""
}

func allows(kinds any, kind string) bool {
	list, ok := kinds.([]any)
	if !ok {
		list = []any{kinds}
	}
	return slices.Contains(list, any(kind)) || kind == "integer" && slices.Contains(list, any("number"))
}

func kindOf(value any) string {
	switch v := value.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case float64:
		if v == float64(int64(v)) {
			return "integer"
		}
		return "number"
	case string:
		return "string"
	case []any:
		return "array"
	default:
		return "object"
	}
}
