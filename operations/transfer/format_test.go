package transfer_test

import (
	"bytes"
	"strings"
	"testing"

	"questscheduler/fault"
	"questscheduler/internal/store"
	"questscheduler/operations/transfer"
)

// TestRead_ChangedAnywhere_IsRefused: each byte changed, and the file cut behind each.
func TestRead_ChangedAnywhere_IsRefused(t *testing.T) {
	t.Parallel()
	file := exported(t, documents{"books/one": {"title": "One", "n": int64(12)}, "books/one/pages/1": {"n": 1.5}})
	if contents, _, err := transfer.Read(bytes.NewReader(file), nil); err != nil || contents.Documents != 2 {
		t.Fatal(contents, err)
	}
	for at := range file {
		changed := bytes.Clone(file)
		changed[at] ^= 1
		if _, _, err := transfer.Read(bytes.NewReader(changed), nil); err == nil && at < len(file)-1 {
			t.Errorf("with another byte %d it is read: %s", at, changed)
		}
		if _, _, err := transfer.Read(bytes.NewReader(file[:at]), nil); !fault.Is(err, fault.Invalid) && at < len(file)-1 {
			t.Errorf("cut behind byte %d it returns %v", at, err)
		}
	}
}

func TestRead_NoExport_SaysWhatToDo(t *testing.T) {
	t.Parallel()
	file := string(exported(t, polls(2)))
	lines := strings.SplitAfter(file, "\n")
	line := func(n int, with string) string {
		changed := append([]string(nil), lines...)
		changed[n] = with
		return strings.Join(changed, "")
	}
	for name, row := range map[string]struct{ file, says string }{
		"nothing":                   {"", `make one with "questscheduler export FILE"`},
		"a text":                    {"Dear diary\n", `make one with "questscheduler export FILE"`},
		"a data file":               {"SQLite format 3\x00" + strings.Repeat("\x00", 1<<20), `make one with "questscheduler export FILE"`},
		"other JSON":                {`{"documents": 3}` + "\n", `make one with "questscheduler export FILE"`},
		"a later version":           {strings.Replace(file, `"version":1`, `"version":2`, 1), "import it with the version of questscheduler that wrote it"},
		"the head alone":            {lines[0], "the file lacks its end"},
		"without its last line":     {strings.Join(lines[:7], ""), "the file lacks its end"},
		"cut in a line":             {file[:len(lines[0])+10], "was changed or damaged"},
		"without a line":            {line(3, ""), "was changed or damaged"},
		"with a line twice":         {line(3, lines[3]+lines[3]), "was changed or damaged"},
		"lines in another order":    {line(3, lines[4]+lines[3]), "was changed or damaged"},
		"a line behind the end":     {file + lines[3], "lines follow its last one"},
		"a document without fields": {line(3, `{"path":"a/b"}`+"\n"), "line 4"},
		"a path that is none":       {line(3, `{"path":"a","data":{}}`+"\n"), "line 4"},
		"a value that is none":      {line(3, `{"path":"a/b","data":{"t":{"$time":"x"}}}`+"\n"), "line 4"},
		"a field that is too large": {line(3, `{"path":"a/b","data":{"t":"`+strings.Repeat("x", 2<<20)+`"}}`+"\n"), "line 4"},
		"a line without an end":     {lines[0] + strings.Repeat("x", 10<<20), "was changed or damaged"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, _, err := transfer.Read(strings.NewReader(row.file), func(store.Document) error { return nil })
			if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), row.says) {
				t.Errorf("it returns %v, which lacks %q", err, row.says)
			}
		})
	}
}
