package mappings_test

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"questscheduler/attendees/mappings"
	"questscheduler/fault"
)

const fileHeader = "Primary,Secondary,Status\n"

// fileOf is a source that reads a text.
func fileOf(t *testing.T, text string) mappings.File {
	t.Helper()
	path := filepath.Join(t.TempDir(), "mappings.csv")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return mappings.File{Path: path}
}

func TestFile_Rows_AreAtTheirLines(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		text string
		want [][]string
	}{
		"plain":            {fileHeader + "a@h,a@f,active\nb@h,b@f\n", [][]string{{"a@h", "a@f", "active"}, {"b@h", "b@f"}}},
		"no last line end": {fileHeader + "a@h,a@f,", [][]string{{"a@h", "a@f", ""}}},
		"CRLF and BOM": {
			"\ufeffPrimary,Secondary,Status\r\na@h,a@f,active\r\n\r\nb@h,,\r\n",
			[][]string{{"a@h", "a@f", "active"}, nil, {"b@h", "", ""}},
		},
		"quoted commas":       {fileHeader + "a@h,\"a@f, a@g\",active\n", [][]string{{"a@h", "a@f, a@g", "active"}}},
		"space before quotes": {fileHeader + "a@h, \"a@f, a@g\", active\n", [][]string{{"a@h", "a@f, a@g", "active"}}},
		"unquoted commas":     {fileHeader + "a@h,a@f,a@g,active\n", [][]string{{"a@h", "a@f", "a@g", "active"}}},
		"cells of many lines": {
			fileHeader + "a@h,\"a@f,\na@g\",active\nb@h,b@f\n", [][]string{{"a@h", "a@f,\na@g", "active"}, nil, {"b@h", "b@f"}},
		},
		"empty lines":          {"\n" + fileHeader + "\na@h,a@f\n", [][]string{nil, nil, {"a@h", "a@f"}}},
		"header only":          {fileHeader, nil},
		"header of one column": {"Primary\na@h\n", [][]string{{"a@h"}}},
		"quoted header":        {"\ufeff\"Primary\",\"Secondary, all\",\"Status\"\na@h\n", [][]string{{"a@h"}}},
	} {
		rows, err := fileOf(t, test.text).Rows(t.Context())
		if err != nil || !reflect.DeepEqual(rows, test.want) {
			t.Errorf("%s: %q, %v, want %q", name, rows, err, test.want)
		}
	}
}

func TestFile_SkippedRows_NameTheirLine(t *testing.T) {
	t.Parallel()
	rows, err := fileOf(t, fileHeader+"\nann@hoge.test,\"ann@fuga.test,\nann@baz.test\"\n\nbob@hoge.test,bob\n").Rows(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	table, skipped, err := mappings.Parse(rows, []string{"hoge.test"}, mappings.Table{})
	if err != nil || len(table.Secondaries("ann@hoge.test")) != 2 || len(skipped) != 1 || skipped[0].Row != 6 {
		t.Errorf("%v, %v, %v", table.Mappings(), skipped, err)
	}
}

func TestFile_Unreadable_SaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		text string
		kind fault.Kind
		says string
	}{
		"empty":            {"", fault.Invalid, "is empty"},
		"a BOM alone":      {"\ufeff", fault.Invalid, "is empty"},
		"no header":        {"ann@hoge.test,ann@fuga.test\n", fault.Invalid, "begins with a mapping"},
		"semicolons":       {"Primary;Secondary;Status\na@h;a@f;\n", fault.Invalid, "semicolons"},
		"a stray quote":    {fileHeader + "a@h,a@f\nb@h,b\"secret\n", fault.Invalid, "Line 3 of"},
		"an open quote":    {fileHeader + "a@h,\"secret\nb@h,b@f\n", fault.Invalid, "Line 2 of"},
		"a quote in title": {"Pri\"mary\n", fault.Invalid, "Line 1 of"},
		"UTF-16":           {"\xff\xfeP\x00r\x00", fault.Invalid, "not in UTF-8"},
		"too large":        {fileHeader + strings.Repeat("ann@hoge.test,ann@fuga.test,active\n", 250_000), fault.TooLarge, "larger than 8 MiB"},
		"too many lines":   {fileHeader + strings.Repeat("\n", mappings.MaxRows) + "a@h,a@f\n", fault.Invalid, "more than 20001 lines"},
	} {
		rows, err := fileOf(t, test.text).Rows(t.Context())
		if rows != nil || !fault.Is(err, test.kind) || !strings.Contains(err.Error(), test.says) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %d rows, %v", name, len(rows), err)
		}
	}
}

func TestFile_ThatIsNone_SaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	if _, err := (mappings.File{Path: folder}).Rows(t.Context()); !fault.Is(err, fault.Invalid) ||
		!strings.Contains(err.Error(), "QS_ATTENDEES_CSV") {
		t.Errorf("a folder: %v", err)
	}
	missing := mappings.File{Path: filepath.Join(folder, "never.csv")}
	if _, err := missing.Rows(t.Context()); !fault.Is(err, fault.NotFound) || !strings.Contains(err.Error(), "QS_ATTENDEES_CSV") {
		t.Errorf("a missing file: %v", err)
	}
	if !strings.Contains(missing.String(), "never.csv") {
		t.Errorf("its name is %s", missing)
	}
}

func TestFile_AsManyRowsAsParseTakes_AreRead(t *testing.T) {
	t.Parallel()
	rows, err := fileOf(t, fileHeader+strings.Repeat("ann@hoge.test,ann@fuga.test,active\n", mappings.MaxRows)).Rows(t.Context())
	if err != nil || len(rows) != mappings.MaxRows {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	table, skipped, err := mappings.Parse(rows, []string{"hoge.test"}, mappings.Table{})
	if err != nil || table.Len() != 1 || len(skipped) != mappings.MaxRows-1 {
		t.Errorf("%d mappings, %d skipped, %v", table.Len(), len(skipped), err)
	}
}
