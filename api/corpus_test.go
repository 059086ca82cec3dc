package api_test

import (
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// marker stands in values of the input; no answer and no log may hold it.
const marker = "s3cretMarker"

// large is a whole JSON object of more than 10 MB.
var large = `{"title":"` + strings.Repeat("a", 10<<20) + `"}`

// badBodies are refused by every route that takes a body.
var badBodies = []struct {
	name, body string
	status     int
}{
	{"a word", marker, 400},
	{"a text", `"` + marker + `"`, 400},
	{"a number", "5", 400},
	{"null", "null", 400},
	{"a list", "[]", 400},
	{"cut off", `{"title": "` + marker, 400},
	{"something behind", "{} " + marker, 400},
	{"two objects", "{}{}", 400},
	{"a comment", "{} // " + marker, 400},
	{"white space", "  ", 400},
	{"an unknown field", `{"zz_unknown": "` + marker + `"}`, 400},
	{"a nameless field", `{"": "` + marker + `"}`, 400},
	{"a field with a very long name", `{"` + strings.Repeat("x", 5000) + `": 1}`, 400},
	{"thousands of unknown fields", `{"a` + strings.Join(make([]string, 3000), `":1,"aa`) + `":1}`, 400},
}

// badTexts are refused by every route that is sent anything.
var badTexts = []struct {
	name, body string
	header     map[string]string
	status     int
}{
	{"10 MB", large, nil, 413},
	{"not UTF-8", "{\"title\": \"" + marker + "\xff\"}", nil, 400},
	{"UTF-16", "\xff\xfe{\x00}\x00", nil, 400},
	{"lists 100,000 deep", strings.Repeat("[", 100_000), nil, 400},
	{"objects 40 deep", strings.Repeat(`{"title":`, 40) + "1" + strings.Repeat("}", 40), nil, 400},
	{"a form", "title=" + marker, map[string]string{"Content-Type": "application/x-www-form-urlencoded"}, 400},
	{"an unreadable type", "{}", map[string]string{"Content-Type": marker + ";;"}, 400},
}

// badKeys are no idempotency keys.
var badKeys = map[string]string{
	"an empty key": "", "a key of 256 characters": strings.Repeat("k", 256), "a key with a space": marker + " x",
	"a key beyond ASCII": marker + "ä",
	"a key with a tab":   marker + "\tx",
}

// badIDs name nothing, wherever they stand.
var badIDs = []string{
	"x", "0", "null", "*", "%20", "..", ".", "%2e%2e", "..%2f..%2fusers%2fgm", "..%5c..", "%00", "%0a", "%ff", "%c0%ae",
	"__x__", "a%2fslots%2fb", "00000000-0000-4000-8000-000000000000%2e",
	"{00000000-0000-4000-8000-000000000000}", "urn:uuid:00000000-0000-4000-8000-000000000000", strings.Repeat("a", 3000),
}

// TestBadInput_OnEveryRoute_IsRefused sends what no route takes to each route of the
// OpenAPI document, so that no route can be forgotten.
func TestBadInput_OnEveryRoute_IsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ids := map[string]string{
		"polls": w.newPoll(nil).ID, "groups": w.newGroup(), "notifications": w.newNotification("gm"),
		"calendars": w.newCalendar("gm"), "accounts": w.newAccount("gm"), "sync": w.newAccount("gm"),
		"tasks": w.newFailingWork(), "policies": w.newPolicy("gm"), "events": w.newEvent("gm"),
	}
	ids["announcements"] = ids["polls"]
	before, waiting := w.store.writes.Load(), w.waiting()
	refused := func(t *testing.T, c call, status int) answer {
		t.Helper()
		c.as = "gm"
		if strings.HasPrefix(c.path, "/admin/") {
			c.as = "admin"
		}
		got := w.do(c)
		code := map[int]string{400: "VALIDATION_ERROR", 404: "NOT_FOUND", 413: "PAYLOAD_TOO_LARGE"}[status]
		if got.status != status || got.Error.Code != code {
			t.Errorf("%d, want %d %s: %.500s", got.status, status, code, got.text)
		}
		if strings.Contains(got.text, marker) || len(got.text) > 8000 {
			t.Errorf("the answer gives the input back: %.500s", got.text)
		}
		return got
	}
	document := w.document()
	document.each(func(method, path string, op operationJSON) {
		if !strings.HasPrefix(path, "/v1/") && !strings.HasPrefix(path, "/admin/") {
			return
		}
		here := fill(path, ids[strings.Split(path, "/")[2]])
		t.Run(op.OperationID, func(t *testing.T) {
			if strings.Contains(path, "{") {
				for _, id := range badIDs {
					t.Run("id "+id[:min(len(id), 40)], func(t *testing.T) {
						refused(t, call{method: method, path: fill(path, id), body: document.filled(op)}, 404)
					})
				}
			}
			if op.RequestBody != nil {
				for _, bad := range badBodies {
					t.Run(bad.name, func(t *testing.T) { refused(t, call{method: method, path: here, body: bad.body}, bad.status) })
				}
				if op.RequestBody.Required {
					t.Run("no body", func(t *testing.T) { refused(t, call{method: method, path: here}, 400) })
				}
			}
			if method != http.MethodGet {
				for _, bad := range badTexts {
					t.Run(bad.name, func(t *testing.T) {
						refused(t, call{method: method, path: here, body: bad.body, header: bad.header}, bad.status)
					})
				}
				t.Run("10 MB without a length", func(t *testing.T) {
					refused(t, call{method: method, path: here, body: large, chunked: true}, 413)
				})
			}
			t.Run("an unknown parameter", func(t *testing.T) {
				got := refused(t, call{method: method, path: here + "?zz_unknown=" + marker, body: op.body()}, 400)
				wantField(t, got, "zz_unknown")
			})
			for _, parameter := range op.Parameters {
				if parameter.In == "header" {
					for name, value := range badKeys {
						t.Run(name, func(t *testing.T) {
							got := refused(t, call{method: method, path: here, body: op.body(), header: map[string]string{parameter.Name: value}}, 400)
							wantField(t, got, parameter.Name)
						})
					}
				}
				if parameter.In != "query" {
					continue
				}
				t.Run("a wrong "+parameter.Name, func(t *testing.T) {
					asked := here + "?" + op.requiredBeside(parameter.Name) + parameter.Name
					wantField(t, refused(t, call{method: method, path: asked + "=" + marker}, 400), parameter.Name)
					wantField(t, refused(t, call{method: method, path: asked + "=%ff"}, 400), parameter.Name)
				})
			}
			for _, field := range document.fields(op) {
				t.Run("a wrong type of "+field.name, func(t *testing.T) {
					wantField(t, refused(t, call{method: method, path: here, body: map[string]any{field.name: field.wrong}}, 400), field.name)
				})
			}
		})
	})
	if w.store.writes.Load() != before || w.waiting() != waiting {
		t.Error("something was written or handed over")
	}
	if log := w.log.String(); strings.Contains(log, marker) || strings.Contains(log, w.tokens["gm"]) || strings.Contains(log, "panic") {
		t.Error("the log holds values of the input, a token or a panic")
	}
}

var placeholder = regexp.MustCompile(`\{[a-z_]+\}`)

// fill is a path of the document with an id in it.
func fill(path, id string) string { return placeholder.ReplaceAllLiteralString(path, id) }

// wantField demands that an error names a field, or the first item of it, and says
// which rule it breaks.
func wantField(t *testing.T, got answer, field string) {
	t.Helper()
	for _, wrong := range got.Error.Detail.Fields {
		if (wrong.Field == field || wrong.Field == field+"[0]") && wrong.Rule != "" {
			return
		}
	}
	t.Errorf("no word about %q: %.500s", field, got.text)
}

// body is one that a route takes in shape, so that it is not what is refused.
func (op operationJSON) body() any {
	if op.RequestBody == nil {
		return nil
	}
	return map[string]any{}
}

// requiredBeside are values of the parameters of the query that an operation demands beside
// one: the start and the end of a day.
func (op operationJSON) requiredBeside(name string) (query string) {
	values := map[string]string{"start": "2026-03-01T00:00:00Z", "end": "2026-03-02T00:00:00Z"}
	for _, parameter := range op.Parameters {
		if parameter.In == "query" && parameter.Required && parameter.Name != name {
			query += parameter.Name + "=" + values[parameter.Name] + "&"
		}
	}
	return query
}

// filled is a body with the texts that an operation demands.
func (d openAPI) filled(op operationJSON) any {
	if op.RequestBody == nil {
		return nil
	}
	body := map[string]any{}
	name := op.RequestBody.Content["application/json"].Schema.Ref
	schema := d.Components.Schemas[name[strings.LastIndexByte(name, '/')+1:]]
	for _, field := range schema.Required {
		if string(schema.Properties[field].Type) == `"string"` {
			body[field] = "x"
		}
	}
	return body
}

type wrongField struct {
	name  string
	wrong any
}

// fields gives for each field of an operation's body a value of another type.
func (d openAPI) fields(op operationJSON) []wrongField {
	if op.RequestBody == nil {
		return nil
	}
	name := op.RequestBody.Content["application/json"].Schema.Ref
	var fields []wrongField
	for property, schema := range d.Components.Schemas[name[strings.LastIndexByte(name, '/')+1:]].Properties {
		var kind any
		if len(schema.Type) > 0 {
			if err := json.Unmarshal(schema.Type, &kind); err != nil {
				panic(err)
			}
		}
		wrong := any(marker)
		if kind == "string" || slices.Equal(asTexts(kind), []string{"string", "null"}) {
			wrong = []string{marker}
		}
		fields = append(fields, wrongField{property, wrong})
	}
	return fields
}

func asTexts(kind any) []string {
	var all []string
	list, _ := kind.([]any)
	for _, item := range list {
		text, _ := item.(string)
		all = append(all, text)
	}
	return all
}
