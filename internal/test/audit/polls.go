package audit

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// The statuses of a poll, and the states of its sync.
const (
	open      = "OPEN"
	finalized = "FINALIZED"
	cancelled = "CANCELLED"

	isOK          = "OK"
	isRescheduled = "RESCHEDULED"
	isError       = "ERROR"

	// eventPrefix begins the ids of the program's events of polls.
	eventPrefix = "questsched"
)

// edited reports whether somebody wrote a poll directly and nothing has read that since, or
// wrote it before the program knew it.
func edited(p record) bool {
	known := func(name string) string { return p.text("calendarSync", "recorded", name) }
	return !p.has("calendarSync", "recorded", "at") || known("status") != p.text("status") ||
		known("winningSlotId") != p.text("winningSlotId") || known("eventId") != p.text("googleEventId")
}

// checkPolls compares each poll with its event, its slots and its error.
func (a *audit) checkPolls() error {
	for _, id := range slices.Sorted(maps.Keys(a.polls)) {
		p := a.polls[id]
		if edited(p) {
			continue
		}
		var err error
		switch status, linked := p.text("status"), p.text("googleEventId") != ""; {
		case status == finalized && linked:
			err = a.checkLinked(p)
		case status == cancelled:
			err = a.checkCancelled(p)
		case status == open || status == finalized:
			a.checkUnlinked(p)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// checkUnlinked: a poll without an event shows nothing that only a calendar says.
func (a *audit) checkUnlinked(p record) {
	for _, name := range []string{"rescheduled", "error"} {
		if p.has("calendarSync", name) {
			a.found("poll %s is %s without an event, and its calendarSync has %s: %v", p.id, p.text("status"), name, p.value("calendarSync", name))
		}
	}
	for key, slot := range a.slots {
		if strings.HasPrefix(key, p.id+"/") && slot.text("source") == "calendar" {
			a.found("poll %s is %s without an event, and has slot %s of a calendar", p.id, p.text("status"), slot.id)
		}
	}
}

// checkCancelled: an event whose deletion cancelled a poll is gone. Past sessions stay
// cancelled.
func (a *audit) checkCancelled(p record) error {
	awaited, calendar := p.text("calendarSync", "awaited", "event"), p.text("calendarSync", "awaited", "calendar")
	until := p.when("calendarSync", "awaited", "until")
	if awaited == "" || a.Now.After(until) || a.past(p) || a.slotEdited(p) {
		return nil
	}
	e, err := a.eventOf(calendar, awaited)
	if err == nil && e.live() {
		a.found("poll %s was cancelled by its calendar, where event %s is at %s", p.id, awaited, e.text())
	}
	return err
}

// slotEdited reports whether a poll's session has another time than at its cancellation.
func (a *audit) slotEdited(p record) bool {
	slot := a.slots[p.id+"/"+p.text("winningSlotId")]
	return slot.fields == nil || slotText(slot) != p.text("calendarSync", "awaited", "winning")
}

// wholeDays reports whether a slot is one of whole days: people edit its instants alone.
func wholeDays(slot record) bool {
	const midnight = "T00:00:00.000Z"
	return slot.flag("allDay") && slot.text("start") == slot.text("startDate")+midnight && slot.text("end") == slot.text("endDate")+midnight
}

// slotText is the time of a slot as fingerprints are written.
func slotText(slot record) string {
	if wholeDays(slot) {
		return slot.text("startDate") + "|" + slot.text("endDate") + "|true"
	}
	return stamp(slot.when("start")) + "|" + stamp(slot.when("end")) + "|false"
}

// checkLinked compares a finalised poll with its event.
func (a *audit) checkLinked(p record) error {
	sync := record{fields: mapOf(p.value("calendarSync"))}
	code, applied, baseline := sync.text("error", "code"), sync.text("lastEventFingerprint"), sync.text("baseline", "fingerprint")
	moved := sync.has("rescheduled")
	if wrong := State(p.id, p.fields); wrong != "" {
		a.findings = append(a.findings, wrong)
	}
	a.checkCause(p)
	if a.Lost[p.text("googleCalendarId")] {
		return nil
	}
	e, err := a.eventOf(p.text("googleCalendarId"), p.text("googleEventId"))
	if err != nil {
		return err
	}
	switch {
	case code == "mass_cancellation_held": // until a person confirms, also if the event is back
		return nil
	case code == "recurring_unsupported":
		if len(e.Recurrence) == 0 && !a.past(p) {
			a.found("poll %s says that event %s recurs, which does not", p.id, e.ID)
		}
		return nil
	case code != "" || a.past(p):
		return nil
	case !e.live():
		a.found("poll %s is finalised, and event %s is gone", p.id, p.text("googleEventId"))
		return nil
	case len(e.Recurrence) > 0:
		a.found("poll %s does not say that event %s recurs", p.id, e.ID)
		return nil
	case applied != e.text():
		a.found("poll %s applied %q last, and event %s is at %q", p.id, applied, e.ID, e.text())
	case moved != (baseline != e.text()):
		a.found("poll %s was finalised for %q, event %s is at %q, and rescheduled is there: %t", p.id, baseline, e.ID, e.text(), moved)
	}
	a.checkWinner(p, e, moved)
	return nil
}

// checkWinner compares the slot that people read with the event. The event of a poll that was
// finalised with another duration ends at another time than the slot.
func (a *audit) checkWinner(p record, e event, moved bool) {
	slot := a.slots[p.id+"/"+p.text("winningSlotId")]
	start := func(text string) string { at, _, _ := strings.Cut(text, "|"); return at }
	shown := slotText(slot)
	adopted := !moved && !strings.HasPrefix(e.ID, eventPrefix) // linked before the program, at whatever time it was then
	if allDay := e.Start.Date != ""; allDay && !wholeDays(slot) {
		shown = e.text() // an accepted or finalised day is kept by its instants
		if at := slot.when("start"); at.Format(time.DateOnly) != e.Start.Date && !moved && !adopted {
			a.found("poll %s shows %s, and event %s is on %s", p.id, at, e.ID, e.Start.Date)
		}
	}
	switch {
	case slot.fields == nil:
		a.found("poll %s is finalised for slot %q, which is not there", p.id, p.text("winningSlotId"))
	case adopted:
	case start(shown) != start(e.text()) || moved && shown != e.text():
		a.found("poll %s shows %q, and event %s is at %q", p.id, slotText(slot), e.ID, e.text())
	case moved && (slot.text("source") != "calendar" || p.text("calendarSync", "rescheduled", "toSlotId") != slot.id):
		a.found("poll %s was rescheduled to slot %q and shows slot %q, of %q", p.id,
			p.text("calendarSync", "rescheduled", "toSlotId"), slot.id, slot.text("source"))
	}
}

// checkCause: each error is there only while its cause is. At rest nothing fails that could
// be read.
func (a *audit) checkCause(p record) {
	code, calendar := p.text("calendarSync", "error", "code"), p.text("googleCalendarId")
	account := a.accounts[a.index[p.text("googleEventId")+" "+p.id].text("accountId")]
	status := account.text("status")
	due := account.has("due")
	holds := true
	switch code {
	case "":
		holds = !a.Lost[calendar] && status != "unlinked" || due || a.past(p)
	case "token_expired":
		holds = status == "revoked" || due
	case "calendar_unlinked":
		holds = status == "unlinked" || due
	case "calendar_lost":
		holds = a.Lost[calendar]
	case "mass_cancellation_held", "recurring_unsupported":
	case "unreadable_event":
		holds = len(a.Lost) > 0
	default:
		holds = false
	}
	if !holds && !a.past(p) {
		a.found("poll %s shows the error %q; its account %s is %q, and its calendar %s is lost: %t", p.id, code, account.id,
			status, calendar, a.Lost[calendar])
	}
}

// past reports whether a session may have ended over a day ago: then what the calendar says
// of it decides nothing. A time that was over when it was applied says nothing of that.
func (a *audit) past(p record) bool {
	sync := record{fields: mapOf(p.value("calendarSync"))}
	over := func(text string) bool { return text != "" && ends(text).Before(a.Now.Add(-24*time.Hour)) }
	applied := sync.text("lastEventFingerprint")
	if !over(applied) || !sync.has("rescheduled") {
		return over(applied)
	}
	original := a.slots[p.id+"/"+sync.text("rescheduled", "fromSlotId")]
	return ends(applied).After(sync.when("rescheduled", "movedAt")) || over(sync.text("baseline", "fingerprint")) ||
		over(sync.text("rescheduled", "timely")) || original.fields != nil && over(slotText(original))
}

// ends is the end of a time as fingerprints are written.
func ends(text string) time.Time {
	_, rest, _ := strings.Cut(text, "|")
	end, _, _ := strings.Cut(rest, "|")
	if day, err := time.Parse(time.DateOnly, end); err == nil {
		return day
	}
	return instant(end)
}

func mapOf(value any) map[string]any {
	fields, _ := value.(map[string]any)
	return fields
}
