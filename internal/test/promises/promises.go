// Package promises checks answers of the API against its OpenAPI document, for tests.
// It knows as much of JSON Schema as the document uses.
package promises

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Document is the part of an OpenAPI document about answers.
type Document struct {
	Paths      map[string]map[string]route
	Components struct{ Schemas map[string]schema }
}

type route struct {
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

// Read reads a document, as /openapi.json serves it.
func Read(document []byte) (Document, error) {
	var d Document
	err := json.Unmarshal(document, &d)
	if err == nil && len(d.Paths) == 0 {
		err = fmt.Errorf("the document describes no route: %.200s", document)
	}
	return d, err
}

// Broken describes how an answer breaks the schema of its route, or is "". A path
// without a route is ignored.
func (d Document) Broken(request *http.Request, status int, body []byte) string {
	promised, found := d.route(request)
	if !found {
		return ""
	}
	response, said := promised.Responses[strconv.Itoa(status)]
	if !said {
		response, said = promised.Responses["default"]
	}
	wrong := ""
	var value any
	switch {
	case !said:
		wrong = "the status is not in the document"
	case len(response.Content) == 0:
		if len(body) > 0 {
			wrong = "there is a body where none is described"
		}
	case json.Unmarshal(body, &value) != nil:
		wrong = "the answer is no JSON"
	default:
		wrong = d.wrong(response.Content["application/json"].Schema, value, "answer")
	}
	if wrong == "" {
		return ""
	}
	return fmt.Sprintf("%s %s, status %d, does not answer as its document says: %s: %.1000s", request.Method, request.URL.Path,
		status, wrong, body)
}

// route finds the route of a request. A fixed path takes precedence over one with an
// id.
func (d Document) route(request *http.Request) (route, bool) {
	parts := strings.Split(request.URL.EscapedPath(), "/")
	for _, template := range slices.Sorted(maps.Keys(d.Paths)) { // "{" sorts behind letters
		wanted := strings.Split(template, "/")
		fits := len(wanted) == len(parts)
		for i := 0; fits && i < len(parts); i++ {
			fits = wanted[i] == parts[i] || strings.HasPrefix(wanted[i], "{") && parts[i] != ""
		}
		if found, ok := d.Paths[template][strings.ToLower(request.Method)]; fits && ok {
			return found, true
		}
	}
	return route{}, false
}

// wrong describes how a value breaks a schema, or is "".
func (d Document) wrong(s schema, value any, at string) string {
	if s.Ref != "" {
		return d.wrong(d.Components.Schemas[s.Ref[strings.LastIndexByte(s.Ref, '/')+1:]], value, at)
	}
	if len(s.OneOf) > 0 {
		fitting := 0
		for _, one := range s.OneOf {
			if d.wrong(one, value, at) == "" {
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
			if wrong := d.wrong(*s.Items, item, fmt.Sprintf("%s[%d]", at, i)); wrong != "" {
				return wrong
			}
		}
	case map[string]any:
		return d.wrongObject(s, v, at)
	}
	return ""
}

func (d Document) wrongObject(s schema, object map[string]any, at string) string {
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
		if wrong := d.wrong(property, value, at+"."+name); wrong != "" {
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
