package worldtest

import (
	"slices"
	"strings"
	"time"

	"questscheduler/demo/sim/google"
	"questscheduler/internal/calendars"
	"questscheduler/internal/poll"
	"questscheduler/mirrors/plan"
	"questscheduler/rules"
)

// keeper owns the club's calendar beside gm, has nothing to do with polls, and
// can always change its events, whatever becomes of gm's access.
const keeper = "keeper"

// openClub makes the club's calendar, with gm as an owner.
func (w *World) openClub() {
	w.t.Helper()
	grant, err := w.Google.AddUser(google.User{Key: keeper, Sub: "sub-" + keeper, Email: "keeper@example.com", TimeZone: zone})
	w.must(err)
	w.browsers[keeper] = grant
	w.must(w.Google.AddCalendar(google.Calendar{ID: ClubCalendar, Summary: "Club", TimeZone: zone, Owner: keeper}))
	w.must(w.Google.Share(ClubCalendar, "gm", Owner))
	w.club = Owner
}

// OpenCalendar makes another calendar of a person's.
func (w *World) OpenCalendar(id, person string) {
	w.t.Helper()
	w.must(w.Google.AddCalendar(google.Calendar{ID: id, Summary: id, TimeZone: "Europe/Berlin", Owner: person}))
}

// SetZone gives a person's own calendar another time zone, of which Google sends no push.
func (w *World) SetZone(person, zone string) {
	w.t.Helper()
	w.must(w.Google.SetZone(Person(person).Email, zone))
}

// ShareClub gives gm another role in the club's calendar. Events that the
// program may have to leave there until gm is an owner again, because it cannot
// know better, count as released then: see outOfReach.
func (w *World) ShareClub(role Role) {
	w.t.Helper()
	w.must(w.Google.Share(ClubCalendar, "gm", role))
	before := w.club
	if before != Owner && role == Owner {
		w.past.owned = w.Clock.Now()
	}
	w.club = role
	if w.ClubLost() && w.past.lost.IsZero() {
		w.past.lost = w.Clock.Now()
	}
	w.past.onlyRead = w.past.onlyRead || role == Reader || role == Refused
	if role != Owner {
		return
	}
	outOfReach, followed := w.outOfReach(Club), w.followed()
	for _, event := range w.Events(Club) {
		if (outOfReach || w.sought(event, ClubCalendar, before)) &&
			!followed[poll.IntentID(w.accountOf("gm"), ClubCalendar, event.ID)] && !followed[event.ID] {
			w.Released(event.ID)
		}
	}
	w.past.onlyRead, w.past.lost = false, time.Time{}
}

// sought reports whether the program had to search for an event while gm had a role in the club's
// calendar in which no list names it: the search for an event that was moved there skips it then.
func (w *World) sought(event Event, calendarID string, role Role) bool {
	_, arrived := w.past.arrived[calendarID+"/"+event.ID]
	return calendarID == ClubCalendar && arrived && role == NoAccess
}

// lostFor is how long the program waits for a calendar that it does not find.
const lostFor = 24 * time.Hour

// outOfReach reports whether Google refused the program write access to a calendar
// of Calendars, or the program never found it, has found it lost, or has not read it for
// long: then events that are left there are not the program's fault.
func (w *World) outOfReach(calendar string) bool {
	if calendar != Club || w.past.onlyRead || w.past.lost.IsZero() {
		return calendar == Club && w.past.onlyRead
	}
	club := calendars.Decode(w.observed.document(calendars.Path(w.CalendarKey(Club))))
	read := club.SuccessAt
	return read.IsZero() || club.Lost() || !w.Clock.Now().Before(w.past.lost.Add(lostFor)) || !w.Clock.Now().Before(read.Add(lostFor))
}

// adopt notes that a poll follows an event whose id Google made.
func (w *World) adopt(entry poll.IndexEntry) {
	if !strings.HasPrefix(entry.EventID, poll.EventPrefix) {
		w.past.adopted[entry.EventID] = true
	}
}

// isOurs reports whether the program is responsible for an event of a calendar: it
// created or adopted the event, was not asked to leave it there, and the event was
// not moved there.
func (w *World) isOurs(event Event, calendarID string) bool {
	known := len(event.Marks.Private) > 0 && event.Marks.Private[plan.MarkMirror] == "" || w.past.adopted[event.ID]
	return known && !w.released[event.ID] && !w.past.moved[calendarID+"/"+event.ID]
}

// drifted reports whether a poll is unchanged since its adoption, with an event at
// another time than its slot: nobody moved the event since the program knows it.
func (w *World) drifted(p poll.Poll, event Event) bool {
	if p.Sync.Rescheduled != nil || !event.Live() || len(event.Recurrence) > 0 || event.Fingerprint() != p.Sync.Applied {
		return false
	}
	return slices.ContainsFunc(w.Journal(p.ID), func(entry poll.JournalEntry) bool {
		adopted := entry.Decision == rules.Adopt && strings.Contains(entry.Reason, ":") || // which says so
			entry.Decision == rules.Revive && strings.Contains(entry.Reason, ": linked_before:")
		return adopted && entry.EventID == p.GoogleEventID && entry.Baseline == p.Sync.Baseline
	})
}

// accountOf is the id of a person's linked account; "" where they have none.
func (w *World) accountOf(person string) string {
	w.t.Helper()
	all, err := w.Accounts.List(w.ctx, person)
	w.must(err)
	if len(all) == 0 {
		return ""
	}
	return all[0].ID
}

// followed are the events that an index entry or an intent is for, by
// poll.IntentID, and by their ids alone, since they may have been moved.
func (w *World) followed() map[string]bool {
	w.t.Helper()
	followed := map[string]bool{}
	for _, entry := range w.Index() {
		followed[poll.IntentID(entry.AccountID, entry.CalendarID, entry.EventID)], followed[entry.EventID] = true, true
		w.adopt(entry)
	}
	for _, intent := range w.Intents() {
		followed[intent.ID()], followed[intent.EventID] = true, true
	}
	return followed
}
