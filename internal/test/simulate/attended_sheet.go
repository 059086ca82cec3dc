package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

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
	{weight: 2, do: func(l *life) {
		l.changeRows(func(rows []worldtest.SheetRow) []worldtest.SheetRow {
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

// attendedFaults are what goes wrong of second addresses.
var attendedFaults = []step{
	{weight: 4, do: func(l *life) { l.gathering(l.actDuringACall) }},
	{weight: 3, do: (*life).attendAtOnce},
	{weight: 4, do: func(l *life) {
		method := drawn(l, []string{"events.get", "events.patch", "events.patch"})
		switch l.attended.draws.IntN(3) {
		case 0:
			l.say("Google: the answer to the next %s is lost", method)
			l.w.Plant(method, func(f *worldtest.Fault) { f.LostAnswer, f.Times = true, 1 })
		case 1:
			status, times := drawn(l, []int{429, 500, 503, 412}), 1+l.attended.draws.IntN(3)
			if status == 412 {
				method = "events.patch"
			}
			l.say("Google: the next %d calls of %s are refused with %d", times, method, status)
			l.w.Refuse(method, status, "", times)
		default:
			point := drawn(l, []string{"before ", "after "}) + drawn(l, []string{method, "sheet.read", "store.run", "queue.enqueue"})
			l.say("the next call fails %s", point)
			l.w.Fail(point, broken)
		}
	}},
	{weight: 3, do: func(l *life) {
		n := 1 + l.attended.draws.IntN(60)
		l.say("the program will die at the call %d from here", n)
		l.w.CrashAt(n)
	}},
	{weight: 2, do: func(l *life) {
		point := drawn(l, []string{"before ", "after "}) + drawn(l, []string{"events.patch", "events.patch", "events.get", "sheet.read"})
		l.say("the program will die %s", point)
		l.w.Crash(point)
	}},
	{weight: 1, do: func(l *life) { l.say("Google: the sync tokens expire"); l.must(l.w.Google.ExpireSyncTokens()) }},
	{weight: 2, do: func(l *life) { l.say("Google: the pushes under way are lost"); l.w.LosePushes() }},
	{weight: 2, do: func(l *life) {
		name := drawn(l, worldtest.Primaries)
		if l.attended.delegated {
			l.say("the administrator ends the delegation")
			l.w.EndDelegation(true)
			return
		}
		if l.chance(2) {
			l.say("%s: takes our access away", name)
			l.w.Revoke(name)
			return
		}
		l.say("%s: unlinks their account", name)
		l.w.Unlink(name)
	}},
	{weight: 3, do: func(l *life) {
		l.say("the colleagues give access again")
		l.w.LinkColleagues()
	}},
}

// attendAtOnce runs tasks, loads, drains and what people do concurrently.
func (l *life) attendAtOnce() {
	n := 2 + l.attended.draws.IntN(3)
	l.say("%d things of second addresses at once", n)
	w := l.interleaver()
	defer w.describe()
	if l.chance(4) {
		at := 1 + l.attended.draws.IntN(15*n)
		l.say("the program will die at the call %d from here", at)
		l.w.CrashAt(at)
	}
	var do []func()
	for k := range n {
		kind, draws := l.attended.draws.IntN(8), rand.New(rand.NewPCG(l.attended.draws.Uint64(), l.attended.draws.Uint64()))
		w.operations = append(w.operations, &operation{number: 1 + k, draws: draws})
		do = append(do, func() { l.use(); l.attendConcurrently(kind) })
	}
	interleaving := w.interleaving()
	interleaving.Most, interleaving.More = n, l.more
	l.w.AtOnce(interleaving, do...)
}

func (l *life) attendConcurrently(kind int) {
	switch kind {
	case 0:
		l.reload("")
	case 1:
		l.say("a drain of second addresses")
		l.w.DrainAttendees()
	case 2:
		l.push()
	case 3, 4:
		l.w.DuringCalls(func() { l.gathering(l.invite) })
	default:
		l.task(time.Duration(l.draws.IntN(2)) * time.Minute)
	}
}

// actDuringACall has somebody change an event while the program is about to.
func (l *life) actDuringACall(g worldtest.Gathering) {
	point := drawn(l, []string{"before events.patch", "before events.patch", "after events.get"})
	act := drawn(l, []string{"invites uwe", "removes a guest", "accepts", "declines"})
	l.say("somebody %s at %v %s", act, g, point)
	draw, email := l.attended.draws.IntN(100), l.spelled("uwe@else.example")
	l.w.On(point, func() {
		l.w.DuringCalls(func() {
			now := l.w.GatheringOf(g.OrganizerName(), g.ID)
			switch {
			case !now.Live():
			case act == "invites uwe":
				l.w.Invite(g.OrganizerName(), g.ID, worldtest.Guest{"email": email})
			case len(now.Guests) == 0:
			case act == "removes a guest":
				l.w.Uninvite(g.OrganizerName(), g.ID, now.Guests[draw%len(now.Guests)].Address())
			default:
				guest := now.Guests[draw%len(now.Guests)]
				if l.shows(now)(guest) {
					l.w.Respond(nameOf(guest.Address()), g.ID, map[string]string{"accepts": "accepted", "declines": "declined"}[act])
				}
			}
		})
	})
}

// linkAttended has all colleagues link their accounts again.
func (l *life) linkAttended() {
	if l.attended.on {
		l.w.LinkColleagues()
	}
}

// settleAttended has second addresses come to rest, and checks them.
func (l *life) settleAttended() {
	if !l.attended.on {
		return
	}
	if l.attended.off {
		l.problems = append(l.problems, l.w.OffProblems()...)
		return
	}
	l.w.Sheet.Failing = false
	if len(l.w.Sheet.Rows) == 0 || l.chance(3) {
		l.changeRows(func([]worldtest.SheetRow) (rows []worldtest.SheetRow) {
			for _, name := range worldtest.Primaries {
				rows = append(rows, l.mappingOf(name))
			}
			return rows
		})
	}
	l.reload("")
	l.problems = append(l.problems, l.w.AfterReload("")...)
	if held := l.w.HeldMappings(); held != "" && l.chance(2) {
		l.reload(held)
		l.problems = append(l.problems, l.w.AfterReload(held)...)
	}
	l.w.Run(6 * time.Minute)
	for range mostWaits {
		if !l.w.AwaitAttendees() {
			break
		}
	}
	l.problems = append(l.problems, l.w.MappingProblems()...)
	l.problems = append(l.problems, l.w.AttendeeDisagreements()...)
	before := l.w.GuestPatches()
	l.say("%d changes of guests so far; a sweep more", before)
	l.w.Sweep()
	l.must(l.w.Google.ExpireSyncTokens())
	l.w.Sweep()
	l.w.Run(6 * time.Minute)
	if after := l.w.GuestPatches(); after != before && len(l.problems) == 0 {
		l.Errorf("second addresses that came to rest were changed %d more times", after-before)
	}
	if left := fmt.Sprint(l.w.AttendeeDisagreements()); left != "[]" && len(l.problems) == 0 {
		l.Errorf("second addresses that came to rest are wrong later: %s", left)
	}
}
