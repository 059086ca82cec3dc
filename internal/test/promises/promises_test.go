package promises

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
)

// TestPromises_CanBeBroken: the checker finds each way to break a schema.
func TestPromises_CanBeBroken(t *testing.T) {
	t.Parallel()
	var d Document
	err := json.Unmarshal([]byte(`{"components": {"schemas": {
		"Slot": {"type": "object", "additionalProperties": false, "required": ["start"], "properties": {"start": {"type": "string", "format": "date-time"}}},
		"Poll": {"type": "object", "additionalProperties": false, "required": ["status", "slots"], "properties": {
			"status": {"type": "string", "enum": ["OPEN"]}, "group": {"type": ["string", "null"]}, "count": {"type": "integer"},
			"slots": {"type": "array", "items": {"$ref": "#/components/schemas/Slot"}},
			"votes": {"type": "object", "additionalProperties": {"type": "string"}},
			"winning": {"oneOf": [{"$ref": "#/components/schemas/Slot"}, {"type": "null"}]}}}}}}`), &d)
	if err != nil {
		t.Fatal(err)
	}
	whole := schema{Ref: "#/components/schemas/Poll"}
	for text, fits := range map[string]bool{
		`{"status": "OPEN", "slots": []}`: true,
		`{"status": "OPEN", "slots": [{"start": "2026-02-01T12:00:00Z"}], "group": null, "winning": null, "votes": {"a": "b"}, "count": 3}`: true,
		`null`:                                        false,
		`[]`:                                          false,
		`{"status": "OPEN"}`:                          false,
		`{"status": "SHUT", "slots": []}`:             false,
		`{"status": "OPEN", "slots": null}`:           false,
		`{"status": "OPEN", "slots": {}}`:             false,
		`{"status": "OPEN", "slots": [{}]}`:           false,
		`{"status": "OPEN", "slots": [{"start": 5}]}`: false,
		`{"status": "OPEN", "slots": [{"start": "tomorrow"}]}`:                  false,
		`{"status": "OPEN", "slots": [{"start": "2026-02-01T12:00:00+01:00"}]}`: false,
		`{"status": "OPEN", "slots": [], "more": 1}`:                            false,
		`{"status": "OPEN", "slots": [], "group": 5}`:                           false,
		`{"status": "OPEN", "slots": [], "count": 1.5}`:                         false,
		`{"status": "OPEN", "slots": [], "votes": {"a": 5}}`:                    false,
		`{"status": "OPEN", "slots": [], "winning": {}}`:                        false,
	} {
		var value any
		if err := json.Unmarshal([]byte(text), &value); err != nil {
			t.Fatal(err)
		}
		if wrong := d.wrong(whole, value, "answer"); (wrong == "") != fits {
			t.Errorf("%s: %q", text, wrong)
		}
	}
}

func TestPromises_OfARoute(t *testing.T) {
	t.Parallel()
	d, err := Read([]byte(`{"paths": {
		"/v1/polls/{id}": {"get": {"responses": {
			"200": {"content": {"application/json": {"schema": {"type": "object", "required": ["ok"], "properties": {"ok": {"type": "boolean"}}}}}},
			"304": {"description": "as it was"}}}},
		"/v1/polls/mine": {"get": {"responses": {"default": {"content": {"application/json": {"schema": {"type": "null"}}}}}}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		path   string
		status int
		body   string
		broken bool
	}{
		{"/v1/polls/7", 200, `{"ok": true}`, false},
		{"/v1/polls/7", 200, `{}`, true},
		{"/v1/polls/7", 200, ``, true},
		{"/v1/polls/7", 304, ``, false},
		{"/v1/polls/7", 304, `{"ok": true}`, true},
		{"/v1/polls/7", 404, `{"ok": false}`, true},
		{"/v1/polls/mine", 404, `null`, false},
		{"/v1/polls/mine", 404, `{"ok": true}`, true},
		{"/v1/others", 404, `rubbish`, false},
	} {
		said := d.Broken(httptest.NewRequest(http.MethodGet, row.path, nil), row.status, []byte(row.body))
		if (said != "") != row.broken {
			t.Errorf("%s %d %q: %q", row.path, row.status, row.body, said)
		}
	}
	if _, err := Read([]byte(`{}`)); err == nil {
		t.Error("a document without routes is taken")
	}
}
