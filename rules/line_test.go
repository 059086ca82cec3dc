package rules_test

import (
	"strings"
	"testing"

	"questscheduler/fault"
	"questscheduler/rules"
)

func TestLine_OfControlOrDirection_IsRefused(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		text, line string
		refused    bool
	}{
		"plain":                {" Movie night ", "Movie night", false},
		"of any script":        {"Wéekly ליל סרט 🎲\u200d🐉", "Wéekly ליל סרט 🎲\u200d🐉", false},
		"as long as allowed":   {strings.Repeat("ü", 20), strings.Repeat("ü", 20), false},
		"too long":             {strings.Repeat("ü", 21), "", true},
		"empty":                {" \t ", "", true},
		"a line break":         {"Movie\nnight", "", true},
		"a tab":                {"Movie\tnight", "", true},
		"a bell":               {"Movie\anight", "", true},
		"an escape":            {"\x1b[31mred", "", true},
		"C1":                   {"Movie\u0085night", "", true},
		"delete":               {"Movie\x7f", "", true},
		"a line separator":     {"Movie\u2028night", "", true},
		"a paragraph":          {"Movie\u2029night", "", true},
		"right to left":        {"safe\u202eexe.cod", "", true},
		"an isolate":           {"safe\u2067exe.cod\u2069", "", true},
		"a mark":               {"safe\u200fexe", "", true},
		"an Arabic letter one": {"safe\u061cexe", "", true},
	} {
		line, err := rules.Line("title", row.text, 20)
		if line != row.line || (err != nil) != row.refused || err != nil && !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %q, %v", name, line, err)
		}
	}
}
