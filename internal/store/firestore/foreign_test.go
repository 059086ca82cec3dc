package firestore_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"reflect"
	"testing"

	"questscheduler/fault"
	"questscheduler/internal/store"
	"questscheduler/internal/store/firestore"
	"questscheduler/internal/test/emulator"
)

// TestUpdate_ForeignValues_AreKept: others write bytes, references
// and places beside our fields.
func TestUpdate_ForeignValues_AreKept(t *testing.T) {
	t.Parallel()
	host, project := emulator.Project(t)
	s := openProject(t, host, project, nil)
	database := "projects/" + project + "/databases/(default)"
	address := "http://" + host + "/v1/" + database + "/documents/books/one"
	theirs := map[string]any{
		"bytes": map[string]any{"bytesValue": "AAEC"},
		"place": map[string]any{"geoPointValue": map[string]any{"latitude": 1.5, "longitude": -2.5}},
		"other": map[string]any{"referenceValue": database + "/documents/books/two"},
		"list":  map[string]any{"arrayValue": map[string]any{"values": []any{map[string]any{"bytesValue": "AA=="}}}},
	}
	rest(t, http.MethodPatch, address, map[string]any{"fields": map[string]any{
		"theirs": map[string]any{"mapValue": map[string]any{"fields": theirs}}, "ours": map[string]any{"integerValue": "1"},
	}})

	var read store.Document
	err := s.Run(t.Context(), func(ctx context.Context, tx store.Tx) (err error) {
		read, err = tx.Get(ctx, "books/one")
		if err != nil {
			return err
		}
		return tx.Update("books/one", store.Update{Path: store.Field("theirs", "ours"), Value: 2})
	})
	if err != nil {
		t.Fatal(err)
	}
	fields := store.Fields(read.Data)
	if _, foreign := fields.Map("theirs")["bytes"].(firestore.Foreign); !foreign ||
		fields.Map("theirs").String("bytes") != "" || fields.Int("ours") != 1 {
		t.Fatalf("read %v", read.Data)
	}
	theirs["ours"] = map[string]any{"integerValue": "2"}
	got := rest(t, http.MethodGet, address, nil)
	now := got["fields"].(map[string]any)["theirs"].(map[string]any)["mapValue"].(map[string]any)["fields"]
	if !reflect.DeepEqual(now, any(theirs)) {
		t.Fatalf("it holds\n%v, want\n%v", now, theirs)
	}

	err = s.Run(t.Context(), func(_ context.Context, tx store.Tx) error { return tx.Set("books/two", read.Data) })
	if !fault.Is(err, fault.Invalid) {
		t.Fatalf("a value that cannot be written as it was: %v", err)
	}
}

// rest calls the emulator as somebody else would.
func rest(t *testing.T, method, address string, body any) map[string]any {
	t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(t.Context(), method, address, bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer owner")
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%d %s %v", response.StatusCode, answer, err)
	}
	var out map[string]any
	if err := json.Unmarshal(answer, &out); err != nil {
		t.Fatal(err)
	}
	return out
}
