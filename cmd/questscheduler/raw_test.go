package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"questscheduler/internal/test/emulator"
)

// raw reads and writes documents of the emulator by Firestore's REST API, as a foreign
// client does: values have their types ({"stringValue": "x"}).
type raw struct {
	t             *testing.T
	host, project string
}

// rawDemo is a demo on a project of the emulator. It listens for document changes
// unless the environment says otherwise.
func rawDemo(t *testing.T, environ ...string) (*outside, *raw) {
	t.Helper()
	host, project := emulator.Project(t)
	environ = append([]string{
		"QS_STORE=firestore", "QS_FIRESTORE_ENDPOINT=" + host, "QS_FIRESTORE_PROJECT=" + project, "QS_DOCUMENT_HINTS=listen",
	}, environ...)
	return &outside{t, startDemo(t, t.TempDir(), environ...)}, &raw{t, host, project}
}

// send makes a call, and repeats it while the emulator reports a conflicting
// transaction, as Firestore's own clients do.
func (r *raw) send(method, document, query string, body any) (status int, answer map[string]any) {
	r.t.Helper()
	eventually(r.t, method+" "+document, func() error {
		status, answer = r.sendOnce(method, document, query, body)
		if status >= 300 && status != http.StatusNotFound {
			return fmt.Errorf("%d %v", status, answer)
		}
		return nil
	})
	return status, answer
}

func (r *raw) sendOnce(method, document, query string, body any) (int, map[string]any) {
	r.t.Helper()
	var content io.Reader = http.NoBody
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			r.t.Fatal(err)
		}
		content = bytes.NewReader(text)
	}
	address := "http://" + r.host + "/v1/projects/" + r.project + "/databases/(default)/documents/" + document + query
	request, err := http.NewRequestWithContext(r.t.Context(), method, address, content)
	if err != nil {
		r.t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer owner")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		r.t.Fatal(err)
	}
	defer response.Body.Close()
	var answer map[string]any
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		r.t.Fatal(err)
	}
	if response.StatusCode >= 300 && response.StatusCode != http.StatusNotFound && response.StatusCode != http.StatusConflict {
		r.t.Fatalf("%s %s: %d %v", method, document, response.StatusCode, answer)
	}
	return response.StatusCode, answer
}

// get returns the fields of a document; nil if there is none.
func (r *raw) get(document string) map[string]any {
	r.t.Helper()
	status, answer := r.send(http.MethodGet, document, "", nil)
	if status == http.StatusNotFound {
		return nil
	}
	fields, _ := answer["fields"].(map[string]any)
	return fields
}

// below returns the documents of a collection, by their paths.
func (r *raw) below(collection string) map[string]map[string]any {
	r.t.Helper()
	found := map[string]map[string]any{}
	_, answer := r.send(http.MethodGet, collection, "?pageSize=300", nil)
	for _, document := range list(answer["documents"]) {
		name, _ := document["name"].(string)
		fields, _ := document["fields"].(map[string]any)
		found[collection+"/"+path.Base(name)] = fields
	}
	return found
}

// set writes single fields of a document. A dot in a name separates map keys; nil
// removes the field.
func (r *raw) set(document string, fields map[string]any) {
	r.t.Helper()
	query, body := url.Values{}, map[string]any{}
	for name, value := range fields {
		query.Add("updateMask.fieldPaths", name)
		if value == nil {
			continue
		}
		into := body
		names := strings.Split(name, ".")
		for _, above := range names[:len(names)-1] {
			if into[above] == nil {
				into[above] = map[string]any{"mapValue": map[string]any{"fields": map[string]any{}}}
			}
			into, _ = at(into[above], "mapValue", "fields").(map[string]any)
		}
		into[names[len(names)-1]] = value
	}
	r.send(http.MethodPatch, document, "?"+query.Encode(), map[string]any{"fields": body})
}

func (r *raw) remove(document string) { r.t.Helper(); r.send(http.MethodDelete, document, "", nil) }

// text is a string value, and moment a timestamp of now.
func text(value string) map[string]any { return map[string]any{"stringValue": value} }

func moment() map[string]any {
	return map[string]any{"timestampValue": time.Now().UTC().Format(time.RFC3339Nano)}
}

var null = map[string]any{"nullValue": nil}

// plain is a value without its types: strings, booleans, lists and maps; times and
// numbers as strings.
func plain(value any) any {
	typed, _ := value.(map[string]any)
	for kind, of := range typed {
		switch kind {
		case "mapValue":
			fields, _ := at(of, "fields").(map[string]any)
			return plainFields(fields)
		case "arrayValue":
			items := []any{}
			for _, item := range list(at(of, "values")) {
				items = append(items, plain(item))
			}
			return items
		case "stringValue", "booleanValue", "nullValue":
			return of
		default:
			return fmt.Sprint(of)
		}
	}
	return nil
}

func plainFields(fields map[string]any) map[string]any {
	out := map[string]any{}
	for name, value := range fields {
		out[name] = plain(value)
	}
	return out
}

// poll is a poll's document without types; nil if there is none.
func (r *raw) poll(id string) map[string]any {
	r.t.Helper()
	fields := r.get("schedulers/" + id)
	if fields == nil {
		return nil
	}
	return plainFields(fields)
}

// field is a field of the poll's document, by its dotted path.
func field(document map[string]any, name string) any {
	return at(document, strings.Split(name, ".")...)
}

// mustHave reports the fields of a document that differ from the wanted ones; absent
// stands for a missing field.
func mustHave(document, want map[string]any) error {
	var wrong []string
	for name, value := range want {
		got := field(document, name)
		if value == present && got != nil || value == got {
			continue
		}
		wrong = append(wrong, fmt.Sprintf("%s is %v, want %v", name, got, value))
	}
	if len(wrong) == 0 {
		return nil
	}
	slices.Sort(wrong)
	return fmt.Errorf("%s", strings.Join(wrong, "; "))
}

// present stands for any value.
const present = "something"
