package mappings_test

import (
	"strings"
	"testing"

	"questscheduler/attendees/mappings"
	"questscheduler/fault"
)

// Whatever a file has, reading it ends, with an error that has a kind or with at most as many
// rows as it has lines.
func FuzzFile(f *testing.F) {
	for _, text := range []string{fileHeader + "a@h,\"a@f, a@g\",active\r\n", "\ufeff\"x\ny\",z\n\n\nq", "a;b\n", "\"", "\r", ",\n,,,\n"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		rows, err := fileOf(t, text).Rows(t.Context())
		if err != nil && (rows != nil || fault.KindOf(err) == fault.Internal) {
			t.Errorf("%d rows, %v", len(rows), err)
		}
		if len(rows) > strings.Count(text, "\n") {
			t.Errorf("%d rows of %q", len(rows), text)
		}
		if _, _, err := mappings.Parse(rows, []string{"h"}, mappings.Table{}); err != nil && !fault.Is(err, fault.Invalid) {
			t.Errorf("parsed: %v", err)
		}
	})
}
