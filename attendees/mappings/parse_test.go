package mappings_test

import (
	"flag"
	"os"
	"strings"
	"testing"

	"questscheduler/attendees/mappings"
	"questscheduler/fault"
)

var update = flag.Bool("update", false, "write the golden file anew")

var domains = []string{"hoge.test", "Sub.Hoge.test"}

// rowsOf reads rows of a text: lines of cells between bars.
func rowsOf(text string) (rows [][]string) {
	for line := range strings.Lines(text) {
		var cells []string
		line = strings.TrimSuffix(line, "\n")
		if line != "" {
			cells = strings.Split(line, "|")
		}
		rows = append(rows, cells)
	}
	return rows
}

// textOf is a table as text: a line for each primary address.
func textOf(table mappings.Table) string {
	var lines []string
	for _, m := range table.Mappings() {
		lines = append(lines, m.Primary+": "+strings.Join(m.Secondaries, " "))
	}
	return strings.Join(lines, "\n")
}

// sheets are tables as people keep them; what is skipped of them is in testdata/skipped.txt.
var sheets = []struct {
	name, rows string
	before     []mappings.Mapping
	want       string
}{
	{name: "the columns", rows: "ann@hoge.test|ann@fuga.test, ann@baz.test|active", want: "ann@hoge.test: ann@baz.test ann@fuga.test"},
	{name: "case and space", rows: " Ann@HOGE.test |\tANN@Fuga.Test ,ann@fuga.test, | Active ", want: "ann@hoge.test: ann@fuga.test"},
	{
		name: "no status", rows: "ann@hoge.test|ann@fuga.test|\nbob@hoge.test|bob@fuga.test",
		want: "ann@hoge.test: ann@fuga.test\nbob@hoge.test: bob@fuga.test",
	},
	{name: "inactive", rows: "ann@hoge.test|ann@fuga.test|inactive\nbob@hoge.test|not read|INACTIVE", before: []mappings.Mapping{annBefore}},
	{name: "unknown status", rows: "ann@hoge.test|ann@fuga.test|paused"},
	{name: "empty rows", rows: "\n||\n | \nann@hoge.test|ann@fuga.test\n\nbob@hoge.test|bob", want: "ann@hoge.test: ann@fuga.test"},
	{
		name: "duplicates", rows: "ann@hoge.test|one@fuga.test\nann@hoge.test|two@fuga.test\nANN@hoge.test|three@fuga.test",
		want: "ann@hoge.test: three@fuga.test",
	},
	{name: "a duplicate that ends it", rows: "ann@hoge.test|one@fuga.test\nann@hoge.test|one@fuga.test|inactive"},
	{name: "a duplicate with a mistake first", rows: "ann@hoge.test|one\nann@hoge.test|two@fuga.test", want: "ann@hoge.test: two@fuga.test"},
	{
		name: "a duplicate with a mistake last", rows: "ann@hoge.test|two@fuga.test\nann@hoge.test|one",
		before: []mappings.Mapping{annBefore}, want: "ann@hoge.test: old@fuga.test",
	},
	{name: "a duplicate with a mistake last, and nothing before", rows: "ann@hoge.test|two@fuga.test\nann@hoge.test|one"},
	{name: "other domains",
		rows: "ann@fuga.test|ann@baz.test\nann@my.hoge.test|ann@baz.test\nann@evilhoge.test|ann@baz.test\nann@sub.hoge.test|ann@baz.test",
		want: "ann@sub.hoge.test: ann@baz.test"},
	{name: "a secondary in a primary domain", rows: "ann@hoge.test|ann@baz.test, bob@Hoge.test\nbob@hoge.test|bob@hoge.test"},
	{name: "mistakes keep what was", before: []mappings.Mapping{annBefore},
		rows: "ann@hoge.test|new@fuga.test, broken\nbob@hoge.test|bob@fuga.test",
		want: "ann@hoge.test: old@fuga.test\nbob@hoge.test: bob@fuga.test"},
	{name: "mistakes keep no more than the domains allow",
		before: []mappings.Mapping{
			{Primary: "ann@hoge.test", Secondaries: []string{"in@hoge.test", "old@fuga.test"}},
			{Primary: "x@fuga.test", Secondaries: []string{"x@baz.test"}},
		},
		rows: "ann@hoge.test||\nx@fuga.test|x@baz.test", want: "ann@hoge.test: old@fuga.test"},
	{
		name: "an unreadable primary keeps those that no row names", before: []mappings.Mapping{annBefore},
		rows: "ann(at)hoge.test|old@fuga.test\nbob@hoge.test|bob@fuga.test",
		want: "ann@hoge.test: old@fuga.test\nbob@hoge.test: bob@fuga.test",
	},
	{
		name: "removed rows end mappings", before: []mappings.Mapping{annBefore}, rows: "bob@hoge.test|bob@fuga.test",
		want: "bob@hoge.test: bob@fuga.test",
	},
	{name: "missing cells", rows: "ann@hoge.test\n|ann@fuga.test|active\n||active"},
	{
		name: "a fourth column", rows: "ann@hoge.test|ann@fuga.test|active||\nbob@hoge.test|bob@fuga.test|bob@baz.test|active",
		want: "ann@hoge.test: ann@fuga.test",
	},
	{
		name: "twenty secondaries", rows: "ann@hoge.test|" + strings.Repeat("x@fuga.test,", mappings.MaxSecondaries),
		want: "ann@hoge.test: x@fuga.test",
	},
	{name: "too many secondaries", rows: "ann@hoge.test|" + strings.Repeat("x@fuga.test,", mappings.MaxSecondaries+1)},
	{name: "bad addresses", rows: strings.Join([]string{
		"ann", "@hoge.test", "ann@", "ann@hoge", "a@b@hoge.test", "Ann <ann@hoge.test>", "an n@hoge.test", "ann.@hoge.test",
		".ann@hoge.test", "a..n@hoge.test",
		"ann@hoge..test", "ann@-hoge.test", "ann@hoge-.test", "ann@ho_ge.test", "änn@hoge.test", "ann\u200b@hoge.test", "\u212aann@hoge.test",
		"\"ann\"@hoge.test", strings.Repeat("a", 65) + "@hoge.test", "ann@" + strings.Repeat("a", 64) + ".test",
		"ann@" + strings.Repeat("hoge.", 60) + "test",
		"ann@hoge.test\x00", "=HYPERLINK(1)", "#REF!",
	}, "|ann@fuga.test\n")},
	{name: "good addresses", rows: "o'neil+tag_1-x.y=z@hoge.test|1@a-b.co.test\n\u00a0nbsp@hoge.test|x@xn--bcher-kva.test",
		want: "nbsp@hoge.test: x@xn--bcher-kva.test\no'neil+tag_1-x.y=z@hoge.test: 1@a-b.co.test"},
	{name: "semicolons", rows: "ann@hoge.test|a@fuga.test; b@fuga.test"},
	{name: "line breaks in a cell", rows: "ann@hoge.test|a@fuga.test\rb@fuga.test"},
	{name: "control characters", rows: "ann@hoge.test|a@fuga.test|\x1b[31mred\u202egnp.exe\a"},
	{
		name: "overlong cells",
		rows: "ann@hoge.test|a@fuga.test|" + strings.Repeat("never ", 10_000) + "\n" + strings.Repeat("x", 50_000) + "|a@fuga.test",
	},
	{name: "quotes and markup", rows: "ann@hoge.test|a@fuga.test|\"<script>\""},
	{name: "bytes that are no text", rows: "ann@hoge.test|a@fuga.test|\xff\xfe"},
}

var annBefore = mappings.Mapping{Primary: "ann@hoge.test", Secondaries: []string{"old@fuga.test"}}

func TestParse_Sheets_AreReadByTheirRules(t *testing.T) {
	t.Parallel()
	var sentences strings.Builder
	for _, sheet := range sheets {
		table, skipped, err := mappings.Parse(rowsOf(sheet.rows), domains, mappings.NewTable(sheet.before))
		if err != nil {
			t.Errorf("%s: %v", sheet.name, err)
			continue
		}
		if got := textOf(table); got != sheet.want {
			t.Errorf("%s: got\n%s\nwant\n%s", sheet.name, got, sheet.want)
		}
		sentences.WriteString(sheet.name + "\n")
		for _, one := range skipped {
			sentences.WriteString("  " + one.String() + "\n")
		}
	}
	golden(t, "testdata/skipped.txt", sentences.String())
}

func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s should be\n%s\n(go test ./attendees/mappings -update writes it anew)", path, got)
	}
}

func TestParse_WholeSheetUnusable_IsInvalid(t *testing.T) {
	t.Parallel()
	wide := make([]string, 100_000)
	for name, test := range map[string]struct {
		rows [][]string
		say  string
	}{
		"header only":   {nil, "There are no mappings below the header"},
		"empty rows":    {rowsOf("\n||\n \n"), "There are no mappings below the header"},
		"100,000 cells": {[][]string{{"ann@hoge.test"}, wide}, "There are more than 60000 cells"},
		"too many rows": {make([][]string, mappings.MaxRows+1), "There are more than 20000 rows"},
	} {
		table, skipped, err := mappings.Parse(test.rows, domains, mappings.NewTable([]mappings.Mapping{annBefore}))
		if !fault.Is(err, fault.Invalid) || !strings.HasPrefix(err.Error(), test.say) || table.Len() > 0 || skipped != nil {
			t.Errorf("%s: %v, %d mappings, %v", name, err, table.Len(), skipped)
		}
	}
}

func TestParse_WithoutDomains_SkipsEveryRow(t *testing.T) {
	t.Parallel()
	table, skipped, err := mappings.Parse(rowsOf("ann@hoge.test|ann@fuga.test\nbob@hoge.test|bob@fuga.test|inactive"), nil,
		mappings.NewTable([]mappings.Mapping{annBefore}))
	if err != nil || table.Len() != 0 || len(skipped) != 2 {
		t.Errorf("%d mappings, %v, %v", table.Len(), skipped, err)
	}
}
