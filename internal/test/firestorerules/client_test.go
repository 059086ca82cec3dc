package firestorerules_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// client speaks Firestore's REST with the emulator, for one project.
type client struct{ host, project string }

// tables is how many tables ask at once; each keeps its connection.
const tables = 16

var connections = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: tables}}

// person is who asks; the zero person has no token.
type person struct {
	uid, email string
	unverified bool
	provider   string
}

// token is what Firebase would have signed: the emulator takes it unsigned.
func (p person) token(project string) string {
	now := time.Now().Unix()
	claims := map[string]any{
		"sub": p.uid, "user_id": p.uid, "aud": project, "iss": "https://securetoken.google.com/" + project,
		"iat": now, "exp": now + 3600, "email_verified": !p.unverified,
		"firebase": map[string]any{"sign_in_provider": p.provider},
	}
	if p.email != "" {
		claims["email"] = p.email
	}
	encode := func(value any) string {
		text, err := json.Marshal(value)
		if err != nil {
			panic(err) // of texts and numbers
		}
		return base64.RawURLEncoding.EncodeToString(text)
	}
	return encode(map[string]string{"alg": "none", "typ": "JWT"}) + "." + encode(claims) + "."
}

// owner is the emulator's bearer token for clients that no rule binds, as the server is.
const owner = "owner"

// bearer is the token that identifies a person to the emulator; "" sends none.
func (c client) bearer(p person) string {
	if p.uid == "" {
		return ""
	}
	return p.token(c.project)
}

func (c client) documents() string {
	return "projects/" + c.project + "/databases/(default)/documents"
}

// do sends a request, and returns the status and the body of its answer.
func (c client) do(t testing.TB, method, address, bearer string, body any) (status int, answer []byte) {
	t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(t.Context(), method, "http://"+c.host+address, bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	if bearer != "" {
		request.Header.Set("Authorization", "Bearer "+bearer)
	}
	response, err := connections.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	answer, err = io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, answer
}

// allowed reports whether an answer is yes. An answer that is neither yes nor no
// fails the test.
func allowed(t testing.TB, status int, answer []byte) bool {
	t.Helper()
	switch {
	case status == http.StatusOK:
		return true
	case bytes.Contains(answer, []byte("maximum of 1000 expressions")):
		t.Errorf("denied for being too much to work out alone: %s", answer)
		return false
	case status == http.StatusForbidden && bytes.Contains(answer, []byte("PERMISSION_DENIED")):
		return false
	}
	t.Fatalf("neither allowed nor denied: %d %s", status, answer)
	return false
}

// commit sends writes in one commit, and reports whether they were allowed.
func (c client) commit(t testing.TB, bearer string, writes ...write) bool {
	t.Helper()
	encoded := make([]any, len(writes))
	for i, w := range writes {
		encoded[i] = w.encode(c.documents())
	}
	status, answer := c.do(t, http.MethodPost, "/v1/"+c.documents()+":commit", bearer, map[string]any{"writes": encoded})
	return allowed(t, status, answer)
}

// get reads one document.
func (c client) get(t testing.TB, bearer, path string) bool {
	t.Helper()
	status, answer := c.do(
		t, http.MethodPost, "/v1/"+c.documents()+":batchGet", bearer,
		map[string]any{"documents": []string{c.documents() + "/" + path}},
	)
	return allowed(t, status, answer)
}

// query lists a collection by its path, filtered.
func (c client) query(t testing.TB, bearer, path string, filter ...any) bool {
	t.Helper()
	parent, collection := "", path
	if at := strings.LastIndex(path, "/"); at >= 0 {
		parent, collection = "/"+path[:at], path[at+1:]
	}
	query := map[string]any{"from": []any{map[string]any{"collectionId": collection}}}
	if len(filter) == 3 {
		query["where"] = map[string]any{"fieldFilter": map[string]any{
			"field": map[string]any{"fieldPath": filter[0]}, "op": filter[1], "value": c.operand(filter),
		}}
	}
	status, answer := c.do(t, http.MethodPost, "/v1/"+c.documents()+parent+":runQuery", bearer, map[string]any{"structuredQuery": query})
	return allowed(t, status, answer)
}

// operand is what a filter compares with. Documents are named by their paths.
func (c client) operand(filter []any) map[string]any {
	if filter[0] != "__name__" {
		return encode(filter[2])
	}
	var named []any
	for _, path := range filter[2].([]any) {
		named = append(named, map[string]any{"referenceValue": c.documents() + "/" + path.(string)})
	}
	return map[string]any{"arrayValue": map[string]any{"values": named}}
}

// fields are a document's, with plain values of Go and these two.
type fields = map[string]any

type mark string

const (
	serverTime mark = "the time at which the server writes"
	gone       mark = "the field is deleted"
)

// write is one of a request: a whole document, an update of named fields where
// named is set, or a deletion where there are no fields.
type write struct {
	path  string
	named bool
	data  fields
}

func (w write) encode(root string) map[string]any {
	name := root + "/" + w.path
	if w.data == nil {
		return map[string]any{"delete": name}
	}
	values, mask, transforms := fields{}, []string{}, []any{}
	for _, field := range slices.Sorted(maps.Keys(w.data)) {
		switch w.data[field] {
		case serverTime:
			transforms = append(transforms, map[string]any{"fieldPath": field, "setToServerValue": "REQUEST_TIME"})
		case gone:
			mask = append(mask, field)
		default:
			values[field] = encode(w.data[field])
			mask = append(mask, field)
		}
	}
	encoded := map[string]any{"update": map[string]any{"name": name, "fields": values}, "updateTransforms": transforms}
	if w.named {
		encoded["updateMask"] = map[string]any{"fieldPaths": mask}
		encoded["currentDocument"] = map[string]any{"exists": true}
	}
	return encoded
}

// encode gives a value as Firestore's REST writes it.
func encode(value any) map[string]any {
	switch v := value.(type) {
	case nil:
		return map[string]any{"nullValue": nil}
	case bool:
		return map[string]any{"booleanValue": v}
	case int:
		return map[string]any{"integerValue": strconv.Itoa(v)}
	case float64:
		return map[string]any{"doubleValue": v}
	case string:
		return map[string]any{"stringValue": v}
	case time.Time:
		return map[string]any{"timestampValue": v.UTC().Format(time.RFC3339Nano)}
	case []any:
		values := make([]any, len(v))
		for i, item := range v {
			values[i] = encode(item)
		}
		return map[string]any{"arrayValue": map[string]any{"values": values}}
	case fields:
		values := fields{}
		for name, item := range v {
			values[name] = encode(item)
		}
		return map[string]any{"mapValue": map[string]any{"fields": values}}
	}
	panic(fmt.Sprintf("no value of Firestore's: %T", value))
}
