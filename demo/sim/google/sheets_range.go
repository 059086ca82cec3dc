package google

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// cellRange is a rectangle of a tab. Rows and columns count from 0, and the last ones are
// in it; -1 is no end.
type cellRange struct {
	tab                   string
	firstRow, firstColumn int
	lastRow, lastColumn   int
}

// a1 is one or two cells in A1 notation, whose rows may be left out: B2, A2:C, A:C.
var a1 = regexp.MustCompile(`^([A-Z]{1,3})([1-9][0-9]{0,6})?(?::([A-Z]{1,3})([1-9][0-9]{0,6})?)?$`)

// parseRange reads a range that names its tab, in quotes or without: 'User Mappings'!A2:C,
// or a tab alone. Of Google's ranges without a tab, and of its named ones, the simulator
// knows none.
func parseRange(text string) (r cellRange, ok bool) {
	tab, cells, given := cutTab(text)
	r = cellRange{tab: tab, lastRow: -1, lastColumn: -1}
	if !given {
		return r, tab != ""
	}
	m := a1.FindStringSubmatch(strings.ToUpper(cells))
	if m == nil || tab == "" {
		return r, false
	}
	r.firstColumn, r.firstRow = column(m[1]), max(0, rowNumber(m[2]))
	r.lastColumn, r.lastRow = column(m[3]), rowNumber(m[4])
	if m[3] == "" { // one cell, or nothing that is one
		r.lastColumn, r.lastRow = r.firstColumn, rowNumber(m[2])
		return r, m[2] != ""
	}
	return r, r.lastColumn >= r.firstColumn && (r.lastRow < 0 || r.lastRow >= r.firstRow)
}

// cutTab separates a tab's title, without its quotes, from the cells.
func cutTab(text string) (tab, cells string, given bool) {
	at := strings.LastIndexByte(text, '!')
	if at < 0 {
		at = len(text)
	}
	tab = text[:at]
	if inside, quoted := strings.CutPrefix(tab, "'"); quoted {
		tab = strings.ReplaceAll(strings.TrimSuffix(inside, "'"), "''", "'")
	}
	if at == len(text) {
		return tab, "", false
	}
	return tab, text[at+1:], true
}

// column is the number of a column by its letters; -1 without any.
func column(letters string) int {
	n := 0
	for _, c := range letters {
		n = n*26 + int(c-'A') + 1
	}
	return n - 1
}

// letters is the reverse of column.
func letters(column int) string {
	text := ""
	for n := column + 1; n > 0; n = (n - 1) / 26 {
		text = string(rune('A'+(n-1)%26)) + text
	}
	return text
}

// rowNumber is -1 without digits, of which there are few.
func rowNumber(digits string) int {
	n, err := strconv.Atoi(digits)
	if err != nil {
		return -1
	}
	return n - 1
}

// String is the range in full, as answers show it.
func (r cellRange) String() string {
	tab := r.tab
	if strings.ContainsFunc(tab, func(c rune) bool { return !isLetterOrDigit(c) }) {
		tab = "'" + strings.ReplaceAll(tab, "'", "''") + "'"
	}
	return fmt.Sprintf("%s!%s%d:%s%d", tab, letters(r.firstColumn), r.firstRow+1, letters(r.lastColumn), r.lastRow+1)
}

func isLetterOrDigit(c rune) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_'
}
