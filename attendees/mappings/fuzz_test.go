package mappings_test

import (
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"questscheduler/attendees/mappings"
)

// Whatever a sheet has, Parse ends, its sentences can be shown, what it takes is in order,
// and reading that once more gives the same.
func FuzzParse(f *testing.F) {
	for _, sheet := range sheets {
		f.Add(sheet.rows)
	}
	before := mappings.NewTable([]mappings.Mapping{annBefore, {Primary: "in@hoge.test", Secondaries: []string{"in@sub.hoge.test"}}})
	f.Fuzz(func(t *testing.T, text string) {
		rows := rowsOf(text)
		table, skipped, err := mappings.Parse(rows, domains, before)
		if err != nil {
			if table.Len() > 0 || skipped != nil {
				t.Errorf("%v, and yet %d mappings, %v", err, table.Len(), skipped)
			}
			return
		}
		wantShowable(t, skipped, len(rows))
		again, skipped, err := mappings.Parse(rowsFor(table), domains, mappings.Table{})
		if table.Len() > 0 && (err != nil || len(skipped) > 0 || !same(again, table)) {
			t.Errorf("read again: %v, %v, %s", err, skipped, textOf(again))
		}
	})
}

func wantShowable(t *testing.T, skipped []mappings.Skipped, rows int) {
	t.Helper()
	const longest = 300
	odd := func(c rune) bool { return !unicode.IsPrint(c) }
	for i, one := range skipped {
		if one.Row < 2 || one.Row > rows+1 || i > 0 && one.Row <= skipped[i-1].Row {
			t.Errorf("skipped are %v of %d rows", skipped, rows)
		}
		if !utf8.ValidString(one.Reason) || strings.ContainsFunc(one.Reason, odd) ||
			utf8.RuneCountInString(one.Reason) > longest || !strings.HasSuffix(one.Reason, ".") {
			t.Errorf("the sentence %q cannot be shown", one.Reason)
		}
	}
}

func FuzzDecode(f *testing.F) {
	encoded, err := mappings.NewTable([]mappings.Mapping{annBefore}).Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(encoded)
	f.Add([]byte("[]"))
	f.Fuzz(func(t *testing.T, encoded []byte) {
		table, err := mappings.DecodeTable(encoded)
		if err != nil {
			return
		}
		written, err := table.Encode()
		if err != nil {
			t.Fatal(err)
		}
		again, err := mappings.DecodeTable(written)
		if err != nil || !slices.Equal(again.Primaries(), table.Primaries()) || again.Version() != table.Version() {
			t.Errorf("%v, %s and %s", err, textOf(table), textOf(again))
		}
	})
}
