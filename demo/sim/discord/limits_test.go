package discord_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

func text(n int) string { return strings.Repeat("ä", n) } // one character, two bytes

func fields(n, length int) []map[string]any {
	list := make([]map[string]any, 0, n)
	for range n {
		list = append(list, map[string]any{"name": "n", "value": text(length)})
	}
	return list
}

func embeds(list ...map[string]any) map[string]any { return map[string]any{"embeds": list} }

func TestLimits_OneMoreIsRefused_ExactlyIsNot(t *testing.T) {
	t.Parallel()
	const long = `{"code":"BASE_TYPE_MAX_LENGTH","message":"Must be %N or fewer in length."}`
	for _, row := range []struct {
		name string
		of   func(n int) map[string]any
		max  int
		path []string // in "errors"
		want string
	}{
		{
			"content", func(n int) map[string]any { return map[string]any{"content": text(n)} }, 2000, []string{"content"},
			strings.ReplaceAll(long, "%N", "2000"),
		},
		{
			"nonce", func(n int) map[string]any { return map[string]any{"content": "x", "nonce": text(n)} }, 25, []string{"nonce"},
			strings.ReplaceAll(long, "%N", "25"),
		},
		{
			"title", func(n int) map[string]any { return embeds(map[string]any{"title": text(n)}) }, 256,
			[]string{"embeds", "0", "title"}, strings.ReplaceAll(long, "%N", "256"),
		},
		{
			"description", func(n int) map[string]any { return embeds(map[string]any{"description": text(n)}) }, 4096,
			[]string{"embeds", "0", "description"}, strings.ReplaceAll(long, "%N", "4096"),
		},
		{"footer", func(n int) map[string]any {
			return embeds(map[string]any{"title": "x"}, map[string]any{"footer": map[string]any{"text": text(n)}})
		}, 2048, []string{"embeds", "1", "footer", "text"}, strings.ReplaceAll(long, "%N", "2048")},
		{"author", func(n int) map[string]any {
			return embeds(map[string]any{"author": map[string]any{"name": text(n)}})
		}, 256, []string{"embeds", "0", "author", "name"}, strings.ReplaceAll(long, "%N", "256")},
		{
			"fields", func(n int) map[string]any { return embeds(map[string]any{"fields": fields(n, 1)}) }, 25,
			[]string{"embeds", "0", "fields"}, strings.ReplaceAll(long, "%N", "25"),
		},
		{"field name", func(n int) map[string]any {
			return embeds(map[string]any{"fields": []any{map[string]any{"name": text(n), "value": "v"}}})
		}, 256, []string{"embeds", "0", "fields", "0", "name"}, strings.ReplaceAll(long, "%N", "256")},
		{
			"field value", func(n int) map[string]any { return embeds(map[string]any{"fields": fields(1, n)}) }, 1024,
			[]string{"embeds", "0", "fields", "0", "value"}, strings.ReplaceAll(long, "%N", "1024"),
		},
		{"embeds", func(n int) map[string]any {
			list := make([]map[string]any, n)
			for i := range list {
				list[i] = map[string]any{"title": "x"}
			}
			return embeds(list...)
		}, 10, []string{"embeds"}, strings.ReplaceAll(long, "%N", "10")},
		{"all texts together", func(n int) map[string]any {
			return embeds(map[string]any{"description": text(4000)}, map[string]any{"description": text(n - 4000)})
		}, 6000, []string{"embeds"}, `{"code":"MAX_EMBED_SIZE_EXCEEDED","message":"Embed size exceeds maximum size of 6000"}`},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := start(t)
			m := s.post(row.of(row.max))
			for verb, path := range map[string]string{http.MethodPost: messages, http.MethodPatch: messages + "/" + m.ID} {
				r := wantRefusal(t, s.call(verb, path, row.of(row.max+1)), http.StatusBadRequest, 50035, "Invalid Form Body")
				if got := errorAt(t, r.Errors, row.path...); got != "["+row.want+"]" {
					t.Errorf("%s: errors %s", verb, r.Errors)
				}
			}
			if got := s.Messages(channel); len(got) != 1 || got[0].EditedTimestamp != nil {
				t.Errorf("a refused call left %+v", got)
			}
		})
	}
}

// errorAt is the "_errors" list at a path of the tree.
func errorAt(t *testing.T, tree json.RawMessage, path ...string) string {
	t.Helper()
	for _, name := range append(path, "_errors") {
		var at map[string]json.RawMessage
		if err := json.Unmarshal(tree, &at); err != nil {
			t.Fatalf("%v in %s", err, tree)
		}
		tree = at[name]
	}
	return string(tree)
}

func TestForm_WrongTypes_NameTheirField(t *testing.T) {
	t.Parallel()
	s := start(t)
	for body, path := range map[string][]string{
		`{"content":5}`:                                                                         {"content"},
		`{"content":"x","embeds":{}}`:                                                           {"embeds"},
		`{"content":"x","embeds":["x"]}`:                                                        {"embeds", "0"},
		`{"content":"x","embeds":[{"title":5}]}`:                                                {"embeds", "0"},
		`{"embeds":[{"fields":[{"name":"n"}]}]}`:                                                {"embeds", "0", "fields", "0", "value"},
		`{"embeds":[{"fields":[{"name":" ","value":"v"}]}]}`:                                    {"embeds", "0", "fields", "0", "name"},
		`{"content":"x","components":"x"}`:                                                      {"components"},
		`{"content":"x","components":[null]}`:                                                   {"components", "0"},
		`{"content":"x","flags":"x"}`:                                                           {"flags"},
		`{"content":"x","tts":"x"}`:                                                             {"tts"},
		`{"content":"x","nonce":1.5}`:                                                           {"nonce"},
		`{"content":"x","nonce":"n","enforce_nonce":"x"}`:                                       {"enforce_nonce"},
		`{"content":"x","allowed_mentions":[]}`:                                                 {"allowed_mentions"},
		`{"content":"x","allowed_mentions":{"parse":["here"]}}`:                                 {"allowed_mentions", "parse", "0"},
		`{"content":"x","allowed_mentions":{"parse":["users"],"users":["` + userID + `"]}}`:     {"allowed_mentions"},
		`{"content":"x","allowed_mentions":{"roles":["nope"]}}`:                                 {"allowed_mentions", "roles", "0"},
		`{"content":"x","allowed_mentions":{"users":[` + strings.Repeat(`"1",`, 100) + `"1"]}}`: {"allowed_mentions", "users"},
	} {
		r := wantRefusal(t, s.call(http.MethodPost, messages, body), http.StatusBadRequest, 50035, "Invalid Form Body")
		if errorAt(t, r.Errors, path...) == "" {
			t.Errorf("%s: errors %s name another field than %v", body, r.Errors, path)
		}
	}
	if got := s.Messages(channel); len(got) != 0 {
		t.Errorf("refused posts left %+v", got)
	}
}
