package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"questscheduler/internal/test/worldtest"
)

// attendedShare is how many worlds there are to one with second addresses, and offShare how
// many of those to one where the program has them off.
const (
	attendedShare = 4
	offShare      = 12
)

// attended are second addresses in a world, if it has any. They have streams of their own,
// so that worlds without them are what they would be anyhow.
type attended struct {
	on, off, delegated bool
	draws              *rand.Rand
}

// streamAttendees tells the streams of second addresses from those of the world.
const streamAttendees = 0xa77e

// drawAttended begins the stream of a step.
func (l *life) drawAttended(of int) {
	l.attended.draws = rand.New(rand.NewPCG(l.seed^streamAttendees, uint64(of)))
}

// makeAttended draws whether the world has second addresses, whether they are off, and by
// which accounts their people are reached.
func (l *life) makeAttended(options *worldtest.Options) {
	a := &l.attended
	a.on, a.off, a.delegated = l.chance(attendedShare), l.chance(offShare), l.chance(2)
	options.Attended, options.AttendeesOff, options.Delegated = a.on, a.on && a.off, a.on && a.delegated
}

// drawn draws one of several by the stream of second addresses.
func drawn[T any](l *life, of []T) T { return of[l.attended.draws.IntN(len(of))] }

// chance draws one of n.
func (l *life) chance(n int) bool { return l.attended.draws.IntN(n) == 0 }

// beginAttended makes the first mappings and events.
func (l *life) beginAttended() {
	if !l.attended.on {
		return
	}
	for _, name := range worldtest.Primaries {
		if !l.chance(5) {
			l.w.Sheet.Rows = append(l.w.Sheet.Rows, l.mappingOf(name))
		}
	}
	if len(l.w.Sheet.Rows) == 0 {
		l.w.Sheet.Rows = append(l.w.Sheet.Rows, l.mappingOf("pia"))
	}
	l.sayRows()
	l.reload("")
	for range 1 + l.attended.draws.IntN(3) {
		l.newGathering()
	}
	if l.chance(2) {
		l.w.Run(time.Minute)
	}
}

// mayAttend draws what happens of second addresses before a step.
func (l *life) mayAttend() {
	if !l.attended.on {
		return
	}
	for range l.attended.draws.IntN(5) {
		l.attendedStep()
	}
}

func (l *life) attendedStep() {
	whole := 0
	for _, d := range attendedSteps {
		whole += d.weight
	}
	at := l.attended.draws.IntN(whole)
	for _, d := range attendedSteps {
		at -= d.weight
		if at < 0 {
			d.do(l)
			return
		}
	}
}

// attendedSteps are what happens of second addresses.
var attendedSteps = slices.Concat(gatherings, sheetChanges, attendedFaults)

// organizers make events: those whom the program can act for, and others. ola is an outsider.
var organizers = []string{"pia", "pia", "paul", "pola", "ola", "ola", "pia2"}

// invitees are the addresses that people invite: mapped ones, and others.
var invitees = []string{
	"pia@one.example", "pia@one.example", "paul@one.example", "paul@one.example", "pola@one.example",
	"pia@two.example", "paul@two.example", "ola@else.example", "uwe@else.example",
}

// spelled is an address as people write it.
func (l *life) spelled(address string) string {
	name, domain, _ := strings.Cut(address, "@")
	switch l.attended.draws.IntN(6) {
	case 0:
		return strings.ToUpper(name[:1]) + name[1:] + "@" + domain
	case 1:
		return strings.ToUpper(name) + "@" + strings.ToUpper(domain[:1]) + domain[1:]
	default:
		return address
	}
}

// guest is a new guest, at times one who need not come.
func (l *life) guest(address string) worldtest.Guest {
	guest := worldtest.Guest{"email": l.spelled(address)}
	if l.chance(4) {
		guest["optional"] = true
	}
	return guest
}

// newGathering makes an event of a colleague, with guests or without.
func (l *life) newGathering() {
	name, event := drawn(l, organizers), l.gatheringTime()
	event["summary"] = fmt.Sprintf("Gathering %d", l.attended.draws.IntN(1000))
	said := ""
	if l.chance(3) {
		event["recurrence"] = []string{drawn(l, rulesOfSeries)}
		said += ", a series"
	}
	if l.chance(3) {
		event["guestsCanModify"] = true
		said += ", guests may change it"
	}
	var guests []worldtest.Guest
	for range l.attended.draws.IntN(4) {
		address := drawn(l, invitees)
		if slices.ContainsFunc(guests, func(g worldtest.Guest) bool { return g.Address() == address }) {
			continue
		}
		guests = append(guests, l.guest(address))
		if l.chance(8) {
			guests[len(guests)-1]["responseStatus"] = "declined"
		}
	}
	if l.chance(5) {
		guests = slices.DeleteFunc(guests, func(g worldtest.Guest) bool { return g.Address() == "pola@one.example" })
		guests = append(guests, worldtest.Guest{"email": "pola@one.example", "resource": true})
	}
	event["attendees"] = guests
	made := l.w.Gather(name, event)
	l.say("%s: makes event %s%s, guests: %v", name, made.ID, said, guests)
}

// gatheringTime draws a time, at times one that is over.
func (l *life) gatheringTime() map[string]any {
	start := meetingDay.AddDate(0, 0, l.attended.draws.IntN(10))
	if l.chance(12) {
		start = worldtest.Start.AddDate(0, 0, -3)
	}
	if l.chance(8) {
		return map[string]any{
			"start": map[string]any{"date": start.Format(time.DateOnly), "dateTime": nil, "timeZone": nil},
			"end":   map[string]any{"date": start.AddDate(0, 0, 1).Format(time.DateOnly), "dateTime": nil, "timeZone": nil},
		}
	}
	start = start.Add(time.Duration(7+l.attended.draws.IntN(12)) * time.Hour)
	at := func(t time.Time) map[string]any {
		return map[string]any{"dateTime": t.Format(time.RFC3339), "timeZone": "Europe/Berlin", "date": nil}
	}
	return map[string]any{"start": at(start), "end": at(start.Add(time.Hour))}
}

// gathering acts on one of the colleagues' events, at times on an occurrence of a series.
func (l *life) gathering(do func(g worldtest.Gathering)) {
	var all []worldtest.Gathering
	for _, person := range worldtest.Colleagues {
		all = append(all, l.w.Gatherings(person.ID)...)
	}
	if len(all) == 0 {
		return
	}
	g := drawn(l, all)
	if len(g.Recurrence) > 0 && l.chance(2) {
		if ids := l.w.OccurrencesOfSeries(g); len(ids) > 0 {
			g = l.w.GatheringOf(g.OrganizerName(), drawn(l, ids))
		}
	}
	do(g)
}

// editor draws who changes an event: its organizer, or at times a guest who may.
func (l *life) editor(g worldtest.Gathering) string {
	if g.MayEdit && l.chance(3) {
		for _, person := range worldtest.Colleagues {
			if g.Guest(person.Email) != nil && l.w.GatheringOf(person.ID, g.ID).Live() {
				return person.ID
			}
		}
	}
	return g.OrganizerName()
}

// second reports whether an address is a further one.
func second(address string) bool { return strings.HasSuffix(address, "@two.example") }

// guestOf draws one of an event's guests that fit.
func (l *life) guestOf(g worldtest.Gathering, fits func(guest worldtest.Guest) bool, do func(address string)) {
	var some []string
	for _, guest := range g.Guests {
		if fits(guest) {
			some = append(some, guest.Address())
		}
	}
	if len(some) > 0 {
		do(drawn(l, some))
	}
}

// gatherings are what people do to events.
var gatherings = []step{
	{weight: 10, do: (*life).newGathering},
	{weight: 10, do: func(l *life) { l.gathering(l.invite) }},
	{weight: 6, do: func(l *life) {
		l.gathering(func(g worldtest.Gathering) {
			l.guestOf(g, func(worldtest.Guest) bool { return true }, func(address string) { l.uninvite(g, address) })
		})
	}},
	{weight: 10, do: func(l *life) {
		l.gathering(func(g worldtest.Gathering) {
			l.guestOf(g, func(guest worldtest.Guest) bool { return second(guest.Address()) }, func(address string) { l.uninvite(g, address) })
		})
	}},
	{weight: 10, do: func(l *life) { l.gathering(l.respondTo) }},
	{weight: 3, do: func(l *life) {
		l.gathering(func(g worldtest.Gathering) {
			l.guestOf(g, l.shows(g), func(address string) {
				l.say("%s: deletes their copy of %v", address, g)
				l.w.LeaveGathering(nameOf(address), g.ID)
			})
		})
	}},
	{weight: 6, do: func(l *life) {
		l.gathering(func(g worldtest.Gathering) {
			change := drawn(l, []map[string]any{
				{"summary": "Renamed"}, {"guestsCanModify": true}, {"guestsCanModify": nil}, {"location": "Room 4"}, l.gatheringTime(),
			})
			l.say("%s: %v becomes %v", g.OrganizerName(), g, change)
			if g.SeriesID == "" || change["start"] == nil || (change["start"].(map[string]any)["date"] == nil) == (g.Start.Date == "") {
				l.w.ChangeGathering(g.OrganizerName(), g.ID, change)
			}
		})
	}},
	{weight: 2, do: func(l *life) {
		l.gathering(func(g worldtest.Gathering) {
			l.say("%s: deletes %v", g.OrganizerName(), g)
			l.w.LeaveGathering(g.OrganizerName(), g.ID)
		})
	}},
	{weight: 5, do: (*life).takeOut},
	{weight: 3, do: (*life).declineAndLeave},
	{weight: 14, do: func(l *life) {
		d := time.Duration(1+l.attended.draws.IntN(120)) * time.Second
		l.say("%v pass", d)
		l.w.Run(d)
	}},
}

func (l *life) invite(g worldtest.Gathering) {
	name, guest := l.editor(g), l.guest(drawn(l, invitees))
	l.say("%s: invites %v to %v", name, guest, g)
	l.w.Invite(name, g.ID, guest)
}

func (l *life) uninvite(g worldtest.Gathering, address string) {
	name := l.editor(g)
	l.say("%s: removes %s from %v", name, address, g)
	l.w.Uninvite(name, g.ID, address)
}

// nameOf is the colleague of an address.
func nameOf(address string) string {
	for _, person := range worldtest.Colleagues {
		if person.Email == address {
			return person.ID
		}
	}
	return ""
}

// shows reports whether a guest's own calendar shows an event.
func (l *life) shows(g worldtest.Gathering) func(guest worldtest.Guest) bool {
	return func(guest worldtest.Guest) bool {
		name := nameOf(guest.Address())
		return name != "" && name != g.OrganizerName() && l.w.GatheringOf(name, g.ID).Live()
	}
}

func (l *life) respondTo(g worldtest.Gathering) {
	l.guestOf(g, l.shows(g), func(address string) {
		response := drawn(l, []string{"declined", "declined", "accepted", "tentative"})
		l.say("%s: answers %v: %s", address, g, response)
		l.w.Respond(nameOf(address), g.ID, response)
	})
}

// calm lets some minutes pass in which nothing goes wrong.
func (l *life) calm() {
	l.w.Calm()
	l.w.Heal()
	l.w.Run(3 * time.Minute)
}

// takeOut has a person remove a further address long after it was added, and change the
// event then.
func (l *life) takeOut() {
	l.calm()
	l.gathering(func(g worldtest.Gathering) {
		l.guestOf(g, func(guest worldtest.Guest) bool { return second(guest.Address()) }, func(address string) {
			l.uninvite(g, address)
			l.w.Run(time.Minute)
			l.say("%s: %v gets another title", g.OrganizerName(), g)
			l.w.ChangeGathering(g.OrganizerName(), g.ID, map[string]any{"summary": "Without them"})
			l.w.Run(time.Minute)
		})
	})
}

// declineAndLeave has somebody decline, their mapping end, and begin again.
func (l *life) declineAndLeave() {
	l.calm()
	l.gathering(func(g worldtest.Gathering) {
		l.guestOf(g, func(guest worldtest.Guest) bool { return second(guest.Address()) && l.shows(g)(guest) }, func(address string) {
			l.say("%s: declines %v; the mapping ends, and begins again", address, g)
			l.w.Respond(nameOf(address), g.ID, "declined")
			rows := slices.Clone(l.w.Sheet.Rows)
			for i, row := range l.w.Sheet.Rows {
				if slices.Contains(row.Seconds, address) {
					l.w.Sheet.Rows[i] = inactive(row.Primary)
				}
			}
			l.reload("")
			l.w.Run(2 * time.Minute)
			l.w.Sheet.Rows = rows
			l.reload("")
			l.w.Run(2 * time.Minute)
		})
	})
}
