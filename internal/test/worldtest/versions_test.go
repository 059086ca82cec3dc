package worldtest

import (
	"slices"
	"testing"

	"questscheduler/internal/store"
)

func TestVersions_DecodeAgainOnlyWhatWasWritten(t *testing.T) {
	t.Parallel()
	at := func(path store.Path, written int64) store.Document {
		return store.Document{Path: path, Data: map[string]any{"n": written}, Written: written}
	}
	for _, c := range []struct {
		name  string
		again store.Document
		want  []store.Path // decoded
	}{
		{"the same commit", at("notes/a", 1), []store.Path{"notes/a"}},
		{"a later commit", at("notes/a", 2), []store.Path{"notes/a", "notes/a"}},
		{"another document of the commit", at("notes/b", 1), []store.Path{"notes/a", "notes/b"}},
		{"a store without numbers", at("notes/c", 0), []store.Path{"notes/a", "notes/c"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var decoded []store.Path
			v := versioned(func(doc store.Document) int64 {
				decoded = append(decoded, doc.Path)
				return doc.Data["n"].(int64)
			})
			v.all([]store.Document{at("notes/a", 1)})
			got := v.all([]store.Document{c.again})
			if !slices.Equal(decoded, c.want) || len(got) != 1 || *got[0] != c.again.Data["n"] {
				t.Errorf("decoded %v, want %v; the second answer is %v", decoded, c.want, got)
			}
		})
	}
}

func TestVersions_WithoutNumbers_AreNotRemembered(t *testing.T) {
	t.Parallel()
	decoded := 0
	v := versioned(func(store.Document) int { decoded++; return decoded })
	for range 2 {
		v.all([]store.Document{{Path: "notes/a"}})
	}
	if decoded != 2 {
		t.Errorf("decoded %d times, want 2", decoded)
	}
}
