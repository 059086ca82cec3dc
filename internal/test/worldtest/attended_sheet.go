package worldtest

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"questscheduler/attendees/mappings"
	"questscheduler/fault"
)

// SheetRow is a row of mappings as somebody wrote it.
type SheetRow struct {
	Cells []string
	// Primary is the mapped address, in lower case; "": nobody can read it.
	Primary string
	// Seconds are its further addresses, in lower case; none: the row ends the mapping.
	Seconds []string
	// Wrong: the row has a mistake, so what is in force of its primary address stays.
	Wrong bool
}

// Sheet is where the mappings are kept. It outlives the program.
type Sheet struct {
	Rows []SheetRow
	// Failing: reading it fails.
	Failing bool
}

// sheetPort is the Sheet as the program reads it: its Source.
type sheetPort struct{ world *World }

func (s *sheetPort) String() string { return "the sheet" }

// Rows implements mappings.Source.
func (s *sheetPort) Rows(context.Context) ([][]string, error) {
	w := s.world
	return through(&w.ports, "sheet.read", func() ([][]string, error) {
		if w.Sheet.Failing {
			return nil, fault.New(fault.Unavailable, "The sheet cannot be read now; it is tried again.")
		}
		w.mapped.offered = append(w.mapped.offered, offer{slices.Clone(w.Sheet.Rows), w.mapped.confirming})
		w.mapped.everWanted(w.Sheet.Rows)
		var rows [][]string
		for _, row := range w.Sheet.Rows {
			rows = append(rows, slices.Clone(row.Cells))
		}
		return rows, nil
	})
}

// loads notes that the mappings are loaded, until it ends.
func (w *World) loads() (end func()) {
	w.mapped.loading++
	return func() { w.mapped.loading-- }
}

// seconds are the further addresses of primary ones.
type seconds map[string][]string

// mapped follows which mappings may be in force, by what the sheet had each time when it
// was read.
type mapped struct {
	now seconds
	// offered were read since now was in force, oldest first; loading counts the loads under way.
	offered []offer
	loading int
	// confirming is the version that a person confirms now.
	confirming string
	// loaded: some mappings are in force, if only that there are none.
	loaded bool
	// ever are the pairs that the sheet had at some time.
	ever map[string]map[string]bool
}

// offer is what the sheet had when it was read, and the version that was confirmed then.
type offer struct {
	rows      []SheetRow
	confirmed string
}

func newMapped() mapped { return mapped{now: seconds{}, ever: map[string]map[string]bool{}} }

func (m *mapped) everWanted(rows []SheetRow) {
	for _, row := range rows {
		for _, second := range row.Seconds {
			if m.ever[row.Primary] == nil {
				m.ever[row.Primary] = map[string]bool{}
			}
			m.ever[row.Primary][second] = true
		}
	}
}

// read is what rows say to who has other mappings in force; ok is false if they say nothing.
// A row that says not whose it is may be that of any person whom no row names.
func (s seconds) read(rows []SheetRow) (after seconds, ok bool) {
	after = seconds{}
	named, nobodys := map[string]bool{}, false
	for _, row := range rows {
		full := strings.TrimSpace(strings.Join(row.Cells, "")) != ""
		ok = ok || full
		if row.Primary == "" {
			nobodys = nobodys || full
			continue
		}
		named[row.Primary] = true
		delete(after, row.Primary)
		list := slices.Compact(slices.Sorted(slices.Values(row.Seconds)))
		if row.Wrong {
			list = s[row.Primary]
		}
		if len(list) > 0 {
			after[row.Primary] = list
		}
	}
	for primary, list := range s {
		if nobodys && !named[primary] {
			after[primary] = list
		}
	}
	return after, ok
}

// suspect reports whether a change must be confirmed: more than half of the pairs are gone, of
// two at least; or more than half as many came, for more than five people.
func (s seconds) suspect(after seconds) bool {
	came, people := 0, map[string]bool{}
	for primary, list := range after {
		for _, second := range list {
			if !slices.Contains(s[primary], second) {
				came, people[primary] = came+1, true
			}
		}
	}
	lost, of := 0, 0
	for primary, list := range s {
		for _, second := range list {
			of++
			if !slices.Contains(after[primary], second) {
				lost++
			}
		}
	}
	return of >= 2 && 2*lost > of || len(people) > 5 && 2*came > of
}

// version is the name that the program gives to the same mappings.
func (s seconds) version() string {
	var list []mappings.Mapping
	for primary, addresses := range s {
		list = append(list, mappings.Mapping{Primary: primary, Secondaries: addresses})
	}
	return cmp.Or(mappings.NewTable(list).Version(), mappings.Empty)
}

// reachable are the mappings that may be in force after what was read, by their versions.
func (m *mapped) reachable() map[string]seconds {
	found := map[string]seconds{m.now.version(): m.now}
	for range len(m.offered) {
		before := len(found)
		for _, offered := range m.offered {
			for _, from := range slices.Sorted(maps.Keys(found)) {
				after, ok := found[from].read(offered.rows)
				version := after.version()
				first := !m.loaded && from == m.now.version()
				if ok && (first || !found[from].suspect(after) || offered.confirmed == version) {
					found[version] = after
				}
			}
		}
		if len(found) == before {
			break
		}
	}
	return found
}

// MappingProblems says whether other mappings are in force than the sheet ever gave: a
// failed read changes nothing, and neither does the loss or growth of over half until it is
// confirmed.
func (w *World) MappingProblems() (problems []string) {
	w.t.Helper()
	if !w.options.Attended {
		return nil
	}
	state := mappings.DecodeRecord(w.observed.document(mappings.RecordPath()))
	m := &w.mapped
	now, could := m.reachable()[cmp.Or(state.Version, mappings.Empty)]
	if !could {
		return []string{
			fmt.Sprintf("the mappings %q of %d people are in force, which the sheet did not give: %v before", state.Version, state.Count, m.now),
		}
	}
	if m.loading == 0 {
		m.now, m.offered, m.loaded = now, nil, state.Version != ""
	}
	return nil
}

// Mapped are the mappings in force, by primary address.
func (w *World) Mapped() map[string][]string { return w.mapped.now }

// AfterReload says what is wrong after a reload without a failure: the sheet's mappings are
// in force, or held unless they were confirmed.
func (w *World) AfterReload(confirmed string) (problems []string) {
	w.t.Helper()
	before, first := w.mapped.now, !w.mapped.loaded
	wanted, ok := before.read(w.Sheet.Rows)
	problems = w.MappingProblems()
	if len(problems) > 0 {
		return problems
	}
	state := mappings.DecodeRecord(w.observed.document(mappings.RecordPath()))
	held := ok && !first && before.suspect(wanted) && confirmed != wanted.version()
	switch {
	case !ok && (state.Error == "" || state.Version != "" && state.Version != before.version()):
		return []string{"an empty sheet counts as mappings"}
	case ok && held && (state.Held.Version != wanted.version() || state.Version != before.version()):
		return []string{fmt.Sprintf("the sheet changed too much to count unconfirmed, and that is not held: %+v", state)}
	case ok && !held && (state.Version != wanted.version() || state.Error != ""):
		return []string{fmt.Sprintf("the sheet's mappings %v are not in force: %+v", wanted, state)}
	}
	return nil
}

// HeldMappings is the version that awaits a person's word; "": none.
func (w *World) HeldMappings() string {
	return mappings.DecodeRecord(w.observed.document(mappings.RecordPath())).Held.Version
}
