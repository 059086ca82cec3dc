package main

import (
	"slices"
	"strings"

	"questscheduler/internal/test/worldtest"
)

// mappingOf draws a row that maps a colleague.
func (l *life) mappingOf(name string) worldtest.SheetRow {
	primary := worldtest.Person(name).Email
	addresses := []string{worldtest.Person(name + "2").Email}
	switch l.attended.draws.IntN(8) {
	case 0:
		addresses = append(addresses, "team@two.example")
	case 1:
		addresses = []string{"team@two.example"}
	case 2:
		addresses = append(addresses, worldtest.Person(drawn(l, worldtest.Primaries)+"2").Email)
	}
	slices.Sort(addresses)
	addresses = slices.Compact(addresses)
	var cell []string
	for _, address := range addresses {
		cell = append(cell, l.spelled(address))
	}
	status := drawn(l, []string{"", "", "active", "Active"})
	return worldtest.SheetRow{Cells: []string{l.spelled(primary), strings.Join(cell, ", "), status}, Primary: primary, Seconds: addresses}
}

// inactive is a row that ends a mapping.
func inactive(primary string) worldtest.SheetRow {
	return worldtest.SheetRow{Cells: []string{primary, "", "inactive"}, Primary: primary}
}

// mistaken draws a row with a mistake.
func (l *life) mistaken() worldtest.SheetRow {
	primary := worldtest.Person(drawn(l, worldtest.Primaries)).Email
	kept := func(cells ...string) worldtest.SheetRow {
		return worldtest.SheetRow{Cells: cells, Primary: primary, Wrong: true}
	}
	switch l.attended.draws.IntN(7) {
	case 0:
		return kept(primary, "two.example", "")
	case 1:
		return kept(primary, "pia@one.example", "")
	case 2:
		return kept(primary, "", "active")
	case 3:
		return kept(primary, "pia@two.example", "perhaps")
	case 4:
		return kept(primary, "pia@two.example, @two.example", "")
	case 5:
		return worldtest.SheetRow{Cells: []string{"pia@else.example", "pia@two.example"}}
	default:
		return worldtest.SheetRow{Cells: []string{"pia", "pia@two.example", "active"}}
	}
}

// sayRows tells what the sheet has now.
func (l *life) sayRows() {
	var rows []string
	for _, row := range l.w.Sheet.Rows {
		rows = append(rows, strings.Join(row.Cells, "|"))
	}
	l.say("the sheet: %s", strings.Join(rows, "; "))
}

// reload has the program load the mappings at somebody's request.
func (l *life) reload(confirm string) {
	if l.attended.off {
		return
	}
	l.say("the mappings are loaded%s", strings.TrimSuffix(" and confirmed as "+confirm, " and confirmed as "))
	l.answer(l.w.ReloadMappings(confirm))
}

// changeRows changes the sheet, which the program reads later.
func (l *life) changeRows(change func(rows []worldtest.SheetRow) []worldtest.SheetRow) {
	l.w.Sheet.Rows = change(slices.Clone(l.w.Sheet.Rows))
	l.sayRows()
}

// newcomers are rows of some newcomers.
func (l *life) newcomers() (rows []worldtest.SheetRow) {
	for range 1 + l.attended.draws.IntN(len(worldtest.Newcomers)) {
		name := drawn(l, worldtest.Newcomers)
		primary, second := name+"@"+worldtest.Domain, name+"@two.example"
		rows = append(rows, worldtest.SheetRow{
			Cells: []string{primary, l.spelled(second), "active"}, Primary: primary, Seconds: []string{second},
		})
	}
	return rows
}

// sheetChanges are what happens to the mappings.
var sheetChanges = []step{
	{weight: 6, do: func(l *life) {
		row := l.mappingOf(drawn(l, worldtest.Primaries))
		l.changeRows(func(rows []worldtest.SheetRow) []worldtest.SheetRow { return append(rows, row) })
	}},
	{weight: 5, do: func(l *life) {
		primary := worldtest.Person(drawn(l, worldtest.Primaries)).Email
		l.changeRows(func(rows []worldtest.SheetRow) []worldtest.SheetRow { return append(rows, inactive(primary)) })
	}},
	{weight: 3, do: func(l *life) {
		l.changeRows(func(rows []worldtest.SheetRow) []worldtest.SheetRow {
			if len(rows) < 2 {
				return rows
			}
			at := l.attended.draws.IntN(len(rows))
			return slices.Delete(rows, at, at+1)
		})
	}},
	{weight: 3, do: func(l *life) {
		l.changeRows(func(rows []worldtest.SheetRow) []worldtest.SheetRow {
			return slices.Insert(rows, l.attended.draws.IntN(len(rows)+1), l.mistaken())
		})
	}},
	{weight: 3, do: func(l *life) {
		l.changeRows(func(rows []worldtest.SheetRow) []worldtest.SheetRow { return append(rows, l.newcomers()...) })
	}},
	{weight: 2, do: func(l *life) {
		l.changeRows(func([]worldtest.SheetRow) []worldtest.SheetRow {
			return []worldtest.SheetRow{inactive(worldtest.Person(drawn(l, worldtest.Primaries)).Email)}
		})
	}},
	{weight: 1, do: func(l *life) {
		l.changeRows(func([]worldtest.SheetRow) []worldtest.SheetRow {
			return drawn(l, [][]worldtest.SheetRow{nil, {{Cells: []string{"", " "}}}})
		})
	}},
	{weight: 4, do: func(l *life) {
		l.w.Sheet.Failing = !l.w.Sheet.Failing
		l.say("the sheet can be read: %t", !l.w.Sheet.Failing)
	}},
	{weight: 8, do: func(l *life) { l.reload("") }},
	{weight: 2, do: func(l *life) {
		if held := l.w.HeldMappings(); held != "" {
			l.reload(held)
		}
	}},
}
