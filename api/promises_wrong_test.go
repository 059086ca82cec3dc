package api_test

import (
	"encoding/json"
	"testing"
)

// TestPromises_CanBeBroken: what answers are held to is not held to by
// anything.
func TestPromises_CanBeBroken(t *testing.T) {
	t.Parallel()
	var p promises
	must(t, json.Unmarshal([]byte(`{"components": {"schemas": {
		"Slot": {"type": "object", "additionalProperties": false, "required": ["start"], "properties": {"start": {"type": "string", "format": "date-time"}}},
		"Poll": {"type": "object", "additionalProperties": false, "required": ["status", "slots"], "properties": {
			"status": {"type": "string", "enum": ["OPEN"]}, "group": {"type": ["string", "null"]}, "count": {"type": "integer"},
			"slots": {"type": "array", "items": {"$ref": "#/components/schemas/Slot"}},
			"votes": {"type": "object", "additionalProperties": {"type": "string"}},
			"winning": {"oneOf": [{"$ref": "#/components/schemas/Slot"}, {"type": "null"}]}}}}}}`), &p))
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
		must(t, json.Unmarshal([]byte(text), &value))
		if wrong := p.wrong(whole, value, "answer"); (wrong == "") != fits {
			t.Errorf("%s: %q", text, wrong)
		}
	}
}
