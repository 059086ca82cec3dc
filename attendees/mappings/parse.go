package mappings

import (
	"fmt"
	"slices"
	"strings"

	"questscheduler/fault"
)

// Skipped is a row that was not taken, or replaced by a later one.
type Skipped struct {
	// Row is its number in the sheet, whose header is row 1.
	Row int
	// Reason is a sentence for who keeps the sheet. It quotes of a cell at most its
	// beginning, without control characters.
	Reason string
}

// String is the reason with the row's number.
func (s Skipped) String() string { return fmt.Sprintf("Row %d: %s", s.Row, s.Reason) }

const (
	// MaxRows is the most rows that Parse takes, empty ones included.
	MaxRows = 20_000
	// MaxSecondaries is the most secondary addresses of a primary one.
	MaxSecondaries = 20
	// Columns are those of a row: primary address, secondary addresses, status.
	Columns = 3

	firstRow = 2 // below the header
)

// Parse reads the rows below the header. Of several rows with one primary address the last
// counts. A row with a mistake is skipped whole: if it is the last one of its primary
// address, that address keeps the secondary ones that it has in before, as far as the
// domains allow. While a row has a mistake in its primary address itself, every address of
// before that no row names keeps its secondary ones too, since the row may be meant for it.
// So a mistake changes nothing of what is in force. Skipped are in the order of the rows.
//
// Primary addresses are in one of the domains, secondary ones in none; a subdomain is
// another domain.
//
// It fails with fault.Invalid, and nothing is read, if there are no rows, more than MaxRows
// or more cells than these have.
func Parse(rows [][]string, domains []string, before Table) (Table, []Skipped, error) {
	if err := checkSize(rows); err != nil {
		return Table{}, nil, err
	}
	p := parser{domains: map[string]bool{}, rows: make([]row, 0, len(rows)), last: make(map[string]int, len(rows))}
	for _, domain := range domains {
		p.domains[Fold(domain)] = true
	}
	for i, cells := range rows {
		if !empty(cells) {
			p.add(p.read(i+firstRow, cells))
		}
	}
	if len(p.rows) == 0 {
		return Table{}, nil, errNoRows
	}
	table, skipped := p.table(before)
	return table, skipped, nil
}

var errNoRows = fault.New(fault.Invalid,
	"There are no mappings below the header; add rows with a primary address, its secondary addresses and a status.")

func checkSize(rows [][]string) error {
	if len(rows) > MaxRows {
		return fault.Newf(fault.Invalid, "There are more than %d rows of mappings; remove those that are not needed.", MaxRows)
	}
	cells := 0
	for _, row := range rows {
		cells += len(row)
	}
	if cells > MaxRows*Columns {
		return fault.Newf(fault.Invalid, "There are more than %d cells; a row of mappings has %d.", MaxRows*Columns, Columns)
	}
	return nil
}

func empty(cells []string) bool {
	for _, cell := range cells {
		if strings.TrimSpace(cell) != "" {
			return false
		}
	}
	return true
}

// row is what a row says. One with a mistake has no secondaries.
type row struct {
	number      int
	primary     string // "": not readable
	secondaries []string
	mistake     string
}

type parser struct {
	domains map[string]bool
	rows    []row
	last    map[string]int // the last of rows, by primary address
}

func (p *parser) add(r row) {
	if r.primary != "" {
		p.last[r.primary] = len(p.rows)
	}
	p.rows = append(p.rows, r)
}

// table judges the rows against each other.
func (p *parser) table(before Table) (Table, []Skipped) {
	mappings := make([]Mapping, 0, len(p.rows))
	missing := p.missing(before)
	var skipped []Skipped
	for i, r := range p.rows {
		last, known := p.last[r.primary]
		counts := known && last == i
		secondaries, reason := r.secondaries, r.mistake
		switch {
		case r.mistake != "" && counts:
			secondaries = p.kept(before.Secondaries(r.primary))
			if len(secondaries) > 0 {
				reason += " Its earlier secondary addresses stay in force."
			}
		case r.primary == "" && len(missing) > 0:
			reason += " Until this is corrected, primary addresses that no row names keep their secondary ones."
		case r.mistake == "" && !counts:
			reason = fmt.Sprintf("Row %d has the same primary address; the last row counts.", p.rows[last].number)
		}
		if reason != "" {
			skipped = append(skipped, Skipped{Row: r.number, Reason: reason})
		}
		if counts && len(secondaries) > 0 {
			mappings = append(mappings, Mapping{Primary: r.primary, Secondaries: secondaries})
		}
	}
	return NewTable(append(mappings, missing...)), skipped
}

// missing are the mappings of before that no row names, if a row's primary address cannot be
// read: it may be one of them.
func (p *parser) missing(before Table) (mappings []Mapping) {
	if !slices.ContainsFunc(p.rows, func(r row) bool { return r.primary == "" }) {
		return nil
	}
	for _, m := range before.Mappings() {
		_, named := p.last[m.Primary]
		if kept := p.kept(m.Secondaries); !named && p.domains[domainOf(m.Primary)] && len(kept) > 0 {
			mappings = append(mappings, Mapping{Primary: m.Primary, Secondaries: kept})
		}
	}
	return mappings
}

// kept are those of earlier secondary addresses that the domains still allow.
func (p *parser) kept(secondaries []string) (kept []string) {
	for _, address := range secondaries {
		if !p.domains[domainOf(address)] {
			kept = append(kept, address)
		}
	}
	return kept
}
