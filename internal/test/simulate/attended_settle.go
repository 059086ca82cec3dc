package main

import (
	"fmt"
	"time"

	"questscheduler/internal/test/worldtest"
)

// linkAttended has all colleagues link their accounts again.
func (l *life) linkAttended() {
	if l.attended.on {
		l.w.Sheet.Failing = false
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
