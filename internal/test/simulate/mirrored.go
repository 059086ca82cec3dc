package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"questscheduler/internal/mirror"
	"questscheduler/internal/test/worldtest"
	"questscheduler/mirrors/plan"
)

// mirroredShare is how many worlds there are to one with mirroring.
const mirroredShare = 4

// mirrored is mirroring in a world, if it has any. It has streams of its own, so that
// worlds without it are what they would be anyhow.
type mirrored struct {
	// names are the accounts of the person who has several.
	names []string
	// touched are those where somebody changed mirrors by hand.
	touched map[string]bool
	// foreign counts the ids like ours that were chosen.
	foreign int
	// followed reports whether Neighbour follows one of the accounts' calendars.
	followed bool
	// brought are the events of deleted mirrors that somebody brought back.
	brought []broughtBack
	draws   *rand.Rand
}

// streamMirrors tells the streams of mirroring from those of the world.
const streamMirrors = 0x3177

// drawMirrors begins the stream of a step.
func (l *life) drawMirrors(of int) {
	l.mirrored.draws = rand.New(rand.NewPCG(l.seed^streamMirrors, uint64(of)))
}

// makeMirrored draws whether the world has mirroring, and between how many accounts.
func (l *life) makeMirrored() []string {
	m := &l.mirrored
	m.touched = map[string]bool{}
	if m.draws.IntN(mirroredShare) > 0 {
		return nil
	}
	others := []string{"work", "home", "side"}[:1+m.draws.IntN(3)]
	m.names = append([]string{worldtest.Mirrorer}, others...)
	return others
}

// among draws one of several by the stream of mirroring.
func among[T any](l *life, of []T) T { return of[l.mirrored.draws.IntN(len(of))] }

// beginMirrors makes the first edges and events.
func (l *life) beginMirrors() {
	m := &l.mirrored
	if len(m.names) == 0 {
		return
	}
	l.changeEdges()
	for range 1 + m.draws.IntN(3) {
		l.newMeeting()
	}
	if m.draws.IntN(4) == 0 {
		name := among(l, m.names)
		l.say("%s: shares the calendar of %s with %s, who mirrors it", worldtest.Mirrorer, name, worldtest.Neighbour)
		l.w.FollowMirrored(name)
		m.followed = true
	}
	if m.draws.IntN(2) == 0 {
		l.w.Run(time.Minute)
	}
}

// mayMirror draws what happens of mirroring before a step.
func (l *life) mayMirror() {
	m := &l.mirrored
	if len(m.names) == 0 {
		return
	}
	for range m.draws.IntN(4) {
		whole, steps := 0, slices.Concat(mirrorSteps, invitedSteps)
		for _, d := range steps {
			whole += d.weight
		}
		at := m.draws.IntN(whole)
		for _, d := range steps {
			at -= d.weight
			if at < 0 {
				d.do(l)
				break
			}
		}
	}
}

// changeEdges gives the person edges between any two accounts, loops included.
func (l *life) changeEdges() {
	m := &l.mirrored
	var edges []mirror.Edge
	share := m.draws.IntN(5) // none: no calendar is mirrored into another any more
	detail := among(l, []mirror.Detail{"", mirror.Busy, mirror.Title, mirror.Full})
	var said []string
	for _, from := range m.names {
		for _, to := range m.names {
			if from == to || m.draws.IntN(4) >= share {
				continue
			}
			edge := mirror.Edge{FromAccountID: l.w.MirroredAccount(from), ToAccountID: l.w.MirroredAccount(to), Detail: detail}
			edge.Target = among(l, []mirror.Target{mirror.PrimaryTarget, mirror.PrimaryTarget, mirror.Overlay})
			if detail == "" {
				edge.Detail = among(l, []mirror.Detail{mirror.Busy, mirror.Title, mirror.Full})
			}
			edges = append(edges, edge)
			said = append(said, fmt.Sprintf("%s to %s (%s, %s)", from, to, edge.Detail, edge.Target))
		}
	}
	if m.draws.IntN(3) == 0 {
		from, with, to := among(l, m.names), among(l, m.names), among(l, m.names)
		if from != with && with != to {
			edge := mirror.Edge{
				FromAccountID: l.w.MirroredAccount(with), ToAccountID: l.w.MirroredAccount(to), Detail: mirror.Busy,
				Target: mirror.PrimaryTarget,
			}
			edge.FromCalendarID = l.w.ShareMirrored(from, with)
			edges = append(edges, edge)
			said = append(said, fmt.Sprintf("%s's calendar, by %s, to %s", from, with, to))
		}
	}
	l.say("%s: edges: %s", worldtest.Mirrorer, strings.Join(said, ", "))
	l.answer(l.w.SetEdges(edges))
}

// meetingDay is when the first meetings are: the last may be weeks later, behind a change
// of the clocks.
var meetingDay = time.Date(2026, 3, 16, 0, 0, 0, 0, time.UTC)

// meetingTime draws a time.
func (l *life) meetingTime() map[string]any {
	m := &l.mirrored
	start := meetingDay.AddDate(0, 0, m.draws.IntN(10))
	if m.draws.IntN(6) == 0 {
		return map[string]any{
			"start": map[string]any{"date": start.Format(time.DateOnly), "dateTime": nil, "timeZone": nil},
			"end":   map[string]any{"date": start.AddDate(0, 0, 1+m.draws.IntN(2)).Format(time.DateOnly), "dateTime": nil, "timeZone": nil},
		}
	}
	start = start.Add(time.Duration(7+m.draws.IntN(12)) * time.Hour)
	zone := among(l, []string{"Europe/Berlin", "Europe/Berlin", "America/New_York"})
	at := func(t time.Time) map[string]any {
		return map[string]any{"dateTime": t.Format(time.RFC3339), "timeZone": zone, "date": nil}
	}
	return map[string]any{"start": at(start), "end": at(start.Add(time.Duration(1+m.draws.IntN(3)) * time.Hour))}
}

// newMeeting makes an event in one of the person's calendars.
func (l *life) newMeeting() {
	m := &l.mirrored
	name, event := among(l, m.names), l.meetingTime()
	event["summary"] = fmt.Sprintf("Meeting %d", m.draws.IntN(1000))
	event["description"], event["location"] = "Agenda", "Room 4"
	said := ""
	if m.draws.IntN(4) == 0 {
		event["recurrence"] = []string{among(l, rulesOfSeries)}
		said += ", a series"
	}
	if m.draws.IntN(8) == 0 {
		event["transparency"] = "transparent"
		said += ", free time"
	}
	if m.draws.IntN(6) == 0 {
		event["visibility"] = "private"
		said += ", private"
	}
	if m.draws.IntN(3) == 0 {
		var guests []map[string]any
		var names []string
		for _, other := range m.names {
			if m.draws.IntN(2) == 0 && other != name {
				guests = append(guests, map[string]any{"email": worldtest.Person(other).Email})
				names = append(names, other)
			}
		}
		said += ", guests: " + strings.Join(names, " ")
		event["attendees"] = guests
	}
	switch m.draws.IntN(12) {
	case 0:
		m.foreign++
		event["id"] = fmt.Sprint(worldtest.ForeignPrefix, m.foreign)
		said += ", with an id like ours"
	case 1:
		if all := l.occurrences(own); len(all) > 0 {
			o := among(l, all)
			event["iCalUID"] = o.ICalUID
			said += ", with the iCalUID of " + o.Master()
		}
	}
	made := l.w.InsertEvent(name, event)
	l.say("%s: makes event %s%s", name, made.ID, said)
}

// rulesOfSeries are rules of series.
var rulesOfSeries = []string{"RRULE:FREQ=DAILY;COUNT=3", "RRULE:FREQ=WEEKLY;COUNT=3", "RRULE:FREQ=DAILY;INTERVAL=2;COUNT=2"}

// occurrence is one that somebody acts on.
type occurrence struct {
	worldtest.Occurrence
	name string
}

// occurrences are those of the person's calendars that fit.
func (l *life) occurrences(fits func(o worldtest.Occurrence) bool) (all []occurrence) {
	for _, name := range l.mirrored.names {
		for _, o := range l.w.OccurrencesOf(name) {
			if fits(o) {
				all = append(all, occurrence{o, name})
			}
		}
	}
	return all
}

// own are events that a person made here, or instances of those.
func own(o worldtest.Occurrence) bool { return !o.IsMirror() && o.Organizer.Self }

// meeting acts on one of the person's own events.
func (l *life) meeting(do func(o occurrence)) {
	if all := l.occurrences(own); len(all) > 0 {
		do(among(l, all))
	}
}

// mirrorEvent acts on the event of a mirror in an account's own calendar.
func (l *life) mirrorEvent(do func(o occurrence)) {
	if all := l.occurrences(worldtest.Occurrence.IsMirror); len(all) > 0 {
		do(among(l, all))
	}
}

// mirrorSteps are what happens of mirroring.
var mirrorSteps = []step{
	{weight: 8, do: (*life).newMeeting},
	{weight: 8, do: (*life).moveMeeting},
	{weight: 5, do: func(l *life) {
		l.meeting(func(o occurrence) {
			change := among(l, []map[string]any{
				{"summary": "Renamed"}, {"visibility": "private"}, {"visibility": "default"}, {"transparency": "transparent"},
				{"transparency": "opaque"},
				{"location": "Elsewhere"}, {"description": "More"}, {"recurrence": []string{rulesOfSeries[0]}},
				{"recurrence": []string{rulesOfSeries[1]}},
			})
			l.say("%s: %s becomes %v", o.name, o.Master(), change)
			l.w.PatchEvent(o.name, o.Master(), change)
		})
	}},
	{weight: 5, do: (*life).dropMeeting},
	{weight: 8, do: func(l *life) {
		all := l.occurrences(func(o worldtest.Occurrence) bool { return own(o) && o.SeriesID != "" })
		if len(all) == 0 {
			return
		}
		switch o := among(l, all); l.mirrored.draws.IntN(4) {
		case 0:
			l.say("%s: the occurrence %s is cancelled", o.name, o.ID)
			l.deleteMeeting(o.name, o.ID)
		case 1:
			l.say("%s: the occurrence %s is renamed", o.name, o.ID)
			l.w.PatchEvent(o.name, o.ID, map[string]any{"summary": "This one"})
		default:
			l.say("%s: the occurrence %s is moved", o.name, o.ID)
			l.w.PatchEvent(o.name, o.ID, l.instanceTime(o))
		}
	}},
	{weight: 3, do: func(l *life) {
		all := l.occurrences(func(o worldtest.Occurrence) bool { return !o.IsMirror() && !o.Organizer.Self })
		if len(all) == 0 {
			return
		}
		o, response := among(l, all), among(l, []string{"declined", "declined", "accepted"})
		l.respond(o, response)
	}},
	{weight: 3, do: func(l *life) {
		l.mirrorEvent(func(o occurrence) {
			l.touch(o.name)
			l.say("%s: drags the mirror %s", o.name, o.ID)
			l.w.PatchEvent(o.name, o.ID, l.instanceTime(o))
		})
	}},
	{weight: 2, do: func(l *life) {
		l.mirrorEvent(func(o occurrence) {
			l.touch(o.name)
			l.say("%s: renames the mirror %s", o.name, o.Master())
			l.w.PatchEvent(o.name, o.Master(), map[string]any{"summary": "Mine"})
		})
	}},
	{weight: 2, do: (*life).dropMirror},
	{weight: 4, do: (*life).changeDuring},
	{weight: 3, do: (*life).bringBack},
	{weight: 3, do: func(l *life) { l.mirrorEvent(l.insist) }},
	{weight: 2, do: func(l *life) {
		l.mirrorEvent(func(o occurrence) {
			to := among(l, l.mirrored.names)
			id, err := l.w.Google.Duplicate(worldtest.Person(o.name).Email, o.Master(), worldtest.Person(to).Email)
			l.must(err)
			l.say("%s: copies the mirror %s to %s, as %s", o.name, o.Master(), to, id)
		})
	}},
	{weight: 3, do: (*life).changeEdges},
	{weight: 2, do: func(l *life) { l.leaveMirrored() }},
	{weight: 3, do: func(l *life) {
		name := among(l, l.mirrored.names)
		l.say("%s: links %s again", worldtest.Mirrorer, name)
		l.w.LinkMirrored(name)
	}},
	{weight: 1, do: func(l *life) {
		name := among(l, l.mirrored.names)
		if id := l.w.Overlay(name); id != "" {
			l.touch(name)
			l.say("%s: deletes the calendar of mirrors", name)
			l.must(l.w.Google.RemoveCalendar(id))
		}
	}},
	{weight: 1, do: func(l *life) {
		name, zone := among(l, l.mirrored.names), among(l, []string{"Europe/Berlin", "America/New_York", "Asia/Tokyo"})
		l.say("%s: the calendar is in the zone %s now", name, zone)
		l.w.SetZone(name, zone)
	}},
	{weight: 1, do: func(l *life) {
		l.say("the mirrors are reconciled")
		l.answer(l.w.ReconcileMirrors())
		l.w.RunDue()
	}},
	{weight: 2, do: func(l *life) { l.say("Google: the sync tokens expire"); l.must(l.w.Google.ExpireSyncTokens()) }},
	{weight: 3, do: func(l *life) {
		method := among(l, []string{
			"events.insert", "events.patch", "events.delete", "events.instances", "calendars.insert", "calendarList.list",
		})
		switch l.mirrored.draws.IntN(3) {
		case 0:
			l.say("Google: the answer to the next %s is lost", method)
			l.w.Plant(method, func(f *worldtest.Fault) { f.LostAnswer, f.Times = true, 1 })
		case 1:
			status, times := among(l, []int{429, 500, 503, 412}), 1+l.mirrored.draws.IntN(3)
			if status == 412 {
				method = "events.patch"
			}
			l.say("Google: the next %d calls of %s are refused with %d", times, method, status)
			l.w.Refuse(method, status, "", times)
		default:
			point := among(l, []string{"before ", "after "}) + method
			l.say("the next call fails %s", point)
			l.w.Fail(point, broken)
		}
	}},
	{weight: 2, do: func(l *life) {
		n := 1 + l.mirrored.draws.IntN(80)
		l.say("the program will die at the call %d from here", n)
		l.w.CrashAt(n)
	}},
	{weight: 12, do: func(l *life) {
		d := time.Duration(1+l.mirrored.draws.IntN(40)) * time.Second
		l.say("%v pass", d)
		l.w.Run(d)
	}},
}

func (l *life) moveMeeting() {
	l.meeting(func(o occurrence) {
		l.say("%s: %s is moved", o.name, o.Master())
		l.w.PatchEvent(o.name, o.Master(), l.meetingTime())
	})
}

func (l *life) dropMeeting() {
	l.meeting(func(o occurrence) {
		l.say("%s: %s is deleted", o.name, o.Master())
		l.deleteMeeting(o.name, o.Master())
	})
}

func (l *life) dropMirror() {
	l.mirrorEvent(func(o occurrence) {
		id := among(l, []string{o.ID, o.Master()})
		l.touch(o.name)
		l.say("%s: deletes the mirror %s", o.name, id)
		l.deleteMeeting(o.name, id)
	})
}

// deleteMeeting deletes an event, or an occurrence that may outlive its series.
func (l *life) deleteMeeting(name, id string) {
	if l.w.EventOf(name, id).Live() {
		l.w.DeleteEvent(name, id)
	}
}

// insist deletes a mirror twice. It comes back once: what a person deletes again within a
// day is left deleted.
func (l *life) insist(o occurrence) {
	l.touch(o.name)
	id := o.Marks.Private[plan.MarkMirror]
	if o.SeriesID != "" || l.skewed || !l.w.Document(mirror.Path(id)).Exists() {
		return
	}
	began := l.w.Clock.Now()
	l.say("%s: deletes the mirror %s, and again when it is back", o.name, o.ID)
	for range 2 {
		m := mirror.Decode(l.w.Document(mirror.Path(id)))
		if m.State != mirror.Active || !l.w.EventOf(o.name, m.EventID).Live() {
			return
		}
		began = l.w.Clock.Now()
		l.w.DeleteEvent(o.name, m.EventID)
		l.w.Run(2 * time.Minute)
	}
	m := mirror.Decode(l.w.Document(mirror.Path(id)))
	if m.State == mirror.Active && !m.DeletedAt.Before(began) {
		l.Errorf("mirror %s was deleted twice and is back", id)
	}
}

// touch notes that somebody changes mirrors by hand.
func (l *life) touch(name string) { l.mirrored.touched[name] = true }

// instanceTime is another time of the same kind.
func (l *life) instanceTime(o occurrence) map[string]any {
	for {
		at := l.meetingTime()
		if allDay := at["start"].(map[string]any)["dateTime"] == nil; allDay == (o.Start.Date != "") {
			return at
		}
	}
}

// respond answers an invitation: to the occurrence alone, if the guest removed the series
// and was invited to this occurrence since. Google lets no guest change a removed series.
func (l *life) respond(o occurrence, response string) {
	id := o.Master()
	if !l.w.EventOf(o.name, id).Live() {
		id = o.ID
	}
	l.say("%s: answers %s: %s", o.name, id, response)
	var guests []map[string]any
	for _, a := range o.Attendees {
		answer := a.Response
		if a.Self {
			answer = response
		}
		guests = append(guests, map[string]any{"email": a.Email, "responseStatus": answer})
	}
	l.w.PatchEvent(o.name, id, map[string]any{"attendees": guests})
}

// leaveMirrored has the person take our access to an account away.
func (l *life) leaveMirrored() {
	name := among(l, l.mirrored.names)
	if l.mirrored.draws.IntN(2) == 0 {
		l.say("%s: takes our access to %s away", worldtest.Mirrorer, name)
		l.w.Revoke(name)
		return
	}
	l.say("%s: unlinks %s", worldtest.Mirrorer, name)
	l.answer(l.w.UnlinkMirrored(name))
}
