package main

import (
	"fmt"
	"strings"
	"time"

	"questscheduler/internal/mirror"
	"questscheduler/internal/test/worldtest"
)

// invitedSteps are what somebody else does to a series that the person is invited to.
var invitedSteps = []step{
	{weight: 3, do: (*life).invitation},
	{weight: 8, do: (*life).editInvitation},
}

// invitation has the outsider invite some of the person's accounts to a series with more
// exceptions than are copied at once.
func (l *life) invitation() {
	m := &l.mirrored
	event := l.meetingTime()
	event["summary"], event["recurrence"] = fmt.Sprintf("Invitation %d", m.draws.IntN(1000)), []string{"RRULE:FREQ=DAILY;COUNT=8"}
	guests := []map[string]any{{"email": worldtest.Person(among(l, m.names)).Email}}
	if other := worldtest.Person(among(l, m.names)).Email; other != guests[0]["email"] && m.draws.IntN(3) == 0 {
		guests = append(guests, map[string]any{"email": other})
	}
	event["attendees"] = guests
	made := l.w.InsertEvent(worldtest.Outsider.ID, event)
	l.say("%s: invites %v to the series %s", worldtest.Outsider.ID, guests, made.ID)
	if m.draws.IntN(2) == 0 {
		l.editOccurrences(made.ID)
	}
}

// editInvitation has the outsider change a series or several of its occurrences, and checks
// that few of its exceptions are written at once.
func (l *life) editInvitation() {
	m := &l.mirrored
	var series []string
	for _, o := range l.w.OccurrencesOf(worldtest.Outsider.ID) {
		if o.SeriesID != "" {
			series = append(series, o.SeriesID)
		}
	}
	if len(series) == 0 {
		return
	}
	id := among(l, series)
	quiet := !l.skewed && len(l.writtenSince(id, time.Time{}, true)) == 0
	began := l.w.Clock.Now()
	switch m.draws.IntN(5) {
	case 0:
		rule := fmt.Sprintf("RRULE:FREQ=DAILY;COUNT=%d", 7+m.draws.IntN(3))
		l.say("%s: the series %s becomes %s", worldtest.Outsider.ID, id, rule)
		l.w.PatchEvent(worldtest.Outsider.ID, id, map[string]any{"recurrence": []string{rule}})
	case 1:
		l.say("%s: the series %s is moved", worldtest.Outsider.ID, id)
		l.w.PatchEvent(worldtest.Outsider.ID, id, l.meetingTime())
	default:
		l.editOccurrences(id)
	}
	if !quiet {
		return
	}
	l.w.Run(time.Minute)
	for name, n := range l.writtenSince(id, began, false) { // cancelled ones have a larger bound
		if n > worldtest.MostExceptions && !m.touched[name] {
			l.Errorf("%d exceptions of %s were written into %s at once", n, id, name)
		}
	}
}

// editOccurrences has the outsider move or cancel most occurrences of a series.
func (l *life) editOccurrences(id string) {
	by := 1 + l.mirrored.draws.IntN(3)
	for _, o := range l.w.OccurrencesOf(worldtest.Outsider.ID) {
		if o.SeriesID != id || l.mirrored.draws.IntN(4) == 0 {
			continue
		}
		if l.mirrored.draws.IntN(4) == 0 {
			l.say("%s: the occurrence %s is cancelled", worldtest.Outsider.ID, o.ID)
			l.deleteMeeting(worldtest.Outsider.ID, o.ID)
			continue
		}
		l.say("%s: the occurrence %s is moved by %d hours", worldtest.Outsider.ID, o.ID, by)
		l.w.PatchEvent(worldtest.Outsider.ID, o.ID, o.Moved(time.Duration(by)*time.Hour))
	}
}

// writtenSince counts the mirrors of an invitation's exceptions that were written since a
// time, but those of cancelled ones, or that are waiting, by account.
func (l *life) writtenSince(series string, began time.Time, waiting bool) map[string]int {
	counts := map[string]int{}
	for _, m := range l.w.MirrorDocuments() {
		if m.ICalUID != series+"@google.com" || m.SeriesMirrorID == "" {
			continue
		}
		if waiting && m.Due.IsZero() && !m.LastWrite.After(l.w.Clock.Now().Add(-time.Hour)) ||
			!waiting && (m.LastWrite.Before(began) || strings.HasPrefix(m.Wanted, "cancelled")) {
			continue
		}
		counts[l.accountNamed(*m)]++
	}
	return counts
}

// accountNamed is the name of the account that a mirror is in.
func (l *life) accountNamed(m mirror.Mirror) string {
	for _, name := range l.mirrored.names {
		if l.w.MirroredAccount(name) == m.TargetAccountID {
			return name
		}
	}
	return m.TargetAccountID
}
