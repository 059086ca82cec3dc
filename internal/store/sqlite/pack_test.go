package sqlite_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"questscheduler/internal/store"
	"questscheduler/internal/store/sqlite"
	"questscheduler/internal/store/typedjson"
)

// unpack makes the file's documents texts, as those of earlier programs are.
func (w *twins) unpack() {
	w.t.Helper()
	var all []store.Document
	err := w.file.EachDocument(w.t.Context(), func(doc store.Document) error {
		all = append(all, doc)
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	for _, doc := range all {
		text, err := typedjson.Encode(doc.Data)
		if err != nil {
			w.t.Fatal(err)
		}
		if _, err := w.file.Writer().ExecContext(w.t.Context(), `UPDATE documents SET data = ? WHERE path = ?`, text, string(doc.Path)); err != nil {
			w.t.Fatal(err)
		}
	}
}

func TestDocuments_OfEarlierPrograms_AreReadAndPackedWhenWritten(t *testing.T) {
	t.Parallel()
	w := filled(t, newFile(t), 40)
	w.unpack()
	path := w.file.Path()
	if err := w.file.Close(); err != nil {
		t.Fatal(err)
	}
	w.reopen(path, false, nil)
	w.compare("as texts")
	w.change(40)
	w.compare("some packed")
	var packed, texts int
	row := w.file.Writer().QueryRowContext(t.Context(), `SELECT sum(typeof(data) = 'blob'), sum(typeof(data) = 'text') FROM documents`)
	if err := row.Scan(&packed, &texts); err != nil || packed == 0 || texts == 0 {
		t.Errorf("%d documents are packed, %d are texts (%v)", packed, texts, err)
	}
}

// somewhere draws texts that repeat themselves and the dictionary, at all distances.
func somewhere() *rapid.Generator[string] {
	dictionary := string(sqlite.Dictionary())
	pieces := rapid.OneOf(
		rapid.String(), rapid.SampledFrom([]string{"a", "abcd", `"$time":"20`, strings.Repeat("x", 300), strings.Repeat("far", 25_000)}),
		rapid.Custom(func(t *rapid.T) string {
			from := rapid.IntRange(0, len(dictionary)).Draw(t, "from")
			return dictionary[from:rapid.IntRange(from, len(dictionary)).Draw(t, "to")]
		}),
	)
	return rapid.Map(rapid.SliceOfN(pieces, 0, 8), func(drawn []string) string { return strings.Join(drawn, "") })
}

func TestPack_UnpackGivesTheTextBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := somewhere().Draw(t, "text")
		packed := sqlite.Pack(text)
		back, err := sqlite.Unpack(packed)
		if err != nil || string(back) != text {
			t.Fatalf("%q was packed and came back as %q, %v", text, back, err)
		}
		if most := len(text) + len(text)/100 + 20; len(packed) > most {
			t.Fatalf("%d bytes were packed into %d", len(text), len(packed))
		}
	})
}

// A part of a packed text is none, and a changed one is an error or another text.
func FuzzUnpack(f *testing.F) {
	f.Add(sqlite.Pack(`{"at":{"$time":"2026-03-01T17:00:00Z"},"a":"abcabcabcabcabcabcabcabcabcabc"}`))
	f.Add([]byte{1, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1})
	f.Add([]byte{1, 9, 0, 1, 0, 0xF0, 0xFF, 0x01})
	f.Add([]byte("{}"))
	f.Fuzz(func(t *testing.T, stored []byte) {
		text, err := sqlite.Unpack(stored)
		if err != nil || len(stored) == 0 || stored[0] != 1 {
			return
		}
		again, err := sqlite.Unpack(sqlite.Pack(string(text)))
		if err != nil || string(again) != string(text) {
			t.Fatalf("%q came back as %q, %v", text, again, err)
		}
		for end := range min(len(stored), 200) {
			if _, err := sqlite.Unpack(stored[:end]); err == nil && end > 0 {
				t.Fatalf("%x was unpacked from the first %d bytes", stored, end)
			}
		}
	})
}

// Data files keep packed documents: where this fails the dictionary or the form was changed, and files
// of earlier programs cannot be read any more. A new one needs a new mark.
func TestUnpack_ReadsWhatDataFilesKeep(t *testing.T) {
	t.Parallel()
	const text = `{"createdAt":{"$time":"2026-03-01T09:00:00Z"},"creatorId":"gm","note":"twice is twice","status":"FINALIZED"}`
	const stored = "016c0f9e1006b232362d30332d303154303923030154030829021067c301216e6f7e025074776963654e0e0109000fcd0203107d"
	packed, err := hex.DecodeString(stored)
	if err != nil {
		t.Fatal(err)
	}
	const digest = "876485e37dd56520bf8105ef2b940befb4a9ed06825c731ceaed2930c670301c"
	if got := fmt.Sprintf("%x", sha256.Sum256(sqlite.Dictionary())); got != digest {
		t.Errorf("the dictionary is %s, want %s", got, digest)
	}
	back, err := sqlite.Unpack(packed)
	if err != nil || string(back) != text {
		t.Errorf("read %q, %v; today it would be packed as %x", back, err, sqlite.Pack(text))
	}
}
