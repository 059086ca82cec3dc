package worldtest

import (
	"fmt"
	"slices"
	"time"

	"questscheduler/internal/accounts"
	"questscheduler/internal/calendars"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/rules"
)

// Check fails the test where an invariant of docs/architecture.md does not hold now. They
// hold between any two calls of the program, so it may be asked at any time.
func (w *World) Check() {
	w.t.Helper()
	for _, problem := range w.Problems() {
		w.t.Errorf("%s", problem)
	}
}

// Problems says which invariants do not hold, and where. It checks
// only what has changed since the last call, and finds what ProblemsAnew finds.
func (w *World) Problems() []string {
	w.t.Helper()
	defer w.meter.turn(w.meter.turn(checks))
	return slices.Concat(w.picture.problems(), w.commits.wrong)
}

// ProblemsAnew is Problems, from reading everything there is.
func (w *World) ProblemsAnew() []string {
	w.t.Helper()
	return slices.Concat(newPicture(w).problems(), w.commits.wrong)
}

// Polls are all polls.
func (w *World) Polls() []poll.Poll {
	w.t.Helper()
	w.picture.refresh()
	polls := make([]poll.Poll, 0, len(w.picture.polls.paths))
	for _, p := range w.picture.polls.all {
		polls = append(polls, p)
	}
	return polls
}

// invariants are the conditions that must hold, each with the kinds of documents
// that it depends on: without a change of those it is not checked again.
var invariants = []struct {
	of   kinds
	find func(*picture) []string
}{
	{ofPolls | ofJournals, (*picture).journalProblems},
	{ofIndex | ofIntents | ofAccounts | ofEvents | ofReleased, (*picture).eventProblems},
	{ofPolls | ofIndex | ofCalendars, (*picture).indexProblems},
	{ofPolls | ofSlots | ofIntents, (*picture).slotProblems},
	{ofPolls | ofSlots | ofIntents | ofCalendars | ofEvents | ofTokens, (*picture).syncTokenProblems},
	{ofPolls | ofIndex | ofAccounts | ofCalendars, (*picture).lostProblems},
	{ofPolls | ofIndex | ofCalendars, (*picture).foundProblems},
	{ofPolls, (*picture).stateProblems},
	{ofSecrets, (*picture).secretProblems},
}

// eventProblems: no event of ours without an index entry, or an intent that
// will finish or delete it, unless released (invariant 5).
func (p *picture) eventProblems() (problems []string) {
	followed := map[string]bool{}
	for _, entry := range p.index.all {
		followed[poll.IntentID(entry.AccountID, entry.CalendarID, entry.EventID)], followed[entry.EventID] = true, true
		p.world.adopt(entry)
	}
	for _, intent := range p.intents.all {
		followed[intent.ID()], followed[intent.EventID] = true, true
	}
	for _, name := range Calendars {
		if p.world.outOfReach(name) {
			continue
		}
		owner, calendarID := calendarOf(name)
		for _, event := range p.events[name] {
			if !p.world.isOurs(event, calendarID) || p.world.sought(event, calendarID, p.world.club) {
				continue
			}
			// An event that was moved here is found by its id.
			_, arrived := p.world.past.arrived[calendarID+"/"+event.ID]
			id := poll.IntentID(p.world.accountOf(owner), calendarID, event.ID)
			if !followed[id] && !(arrived && followed[event.ID]) {
				problems = append(problems, fmt.Sprintf("event %s in the calendar of %s is an orphan", event.ID, name))
			}
		}
	}
	return problems
}

// Released says that an event was left in the calendar as asked.
func (w *World) Released(eventID string) { w.released[eventID] = true }

// Keep runs a command that leaves the event in the calendar: one that it takes
// from its poll is released at that moment, which a death may follow. So is the
// older event of a finalisation that keeps it, in whatever task that ends.
func (w *World) Keep(do func() error) error {
	w.keeping = true
	defer func() { w.keeping = false }()
	return do()
}

// WasReleased reports whether an event was left in the calendar as asked.
func (w *World) WasReleased(eventID string) bool { return w.released[eventID] }

// indexProblems: no index entry without a poll that is linked or awaits the event,
// no such poll without one, and each calendar counts them (invariant 5).
func (p *picture) indexProblems() (problems []string) {
	interests := map[string]int64{}
	linked := map[string]bool{}
	for _, entry := range p.index.all {
		interests[poll.CalendarKey(entry.AccountID, entry.CalendarID)]++
		linked[entry.PollID] = true
		of, there := p.polls.at[poll.Path(entry.PollID)]
		follows := of.Linked() || of.Status == rules.Archived // an archived poll stays linked
		follows = follows && of.GoogleEventID == entry.EventID && of.GoogleCalendarID == entry.CalendarID
		if !there || follows == entry.Awaited || !follows && !awaits(of, entry) {
			problems = append(problems, fmt.Sprintf("index entry %s is for poll %s, which does not follow it", entry.EventID, entry.PollID))
		}
	}
	for _, stored := range p.polls.all {
		if (stored.Linked() || stored.Sync.Awaited != nil) && !linked[stored.ID] {
			problems = append(problems, fmt.Sprintf("poll %s follows event %s, which has no index entry", stored.ID, stored.EventID()))
		}
	}
	for _, calendar := range p.calendars.all {
		if count := calendar.Interests[poll.ConsumerPoll]; count != interests[calendar.Key] {
			problems = append(problems,
				fmt.Sprintf("calendar %s counts %d linked polls and has %d", calendar.CalendarID, count, interests[calendar.Key]))
		}
	}
	return problems
}

// awaits reports whether a poll awaits the event of an entry: it was cancelled by the
// calendar, and stayed so, or a person restored or archived it.
func awaits(p poll.Poll, entry poll.IndexEntry) bool {
	return p.Sync.Awaited != nil && p.Sync.Awaited.Link == entry.Link() && p.GoogleEventID == "" && p.Status != rules.Open
}

// lostProblems: a poll whose account was unlinked shows an error once the unlink was
// carried on; a poll that was archived since shows it once its pending sync has ended.
func (p *picture) lostProblems() (problems []string) {
	for _, entry := range p.index.all {
		of := p.polls.at[poll.Path(entry.PollID)]
		if status, due := p.world.accountIs(entry.AccountID); status != accounts.Unlinked || due {
			continue
		}
		key := poll.CalendarKey(entry.AccountID, entry.CalendarID)
		calendar := p.calendars.at[calendars.Path(key)]
		pending := calendar.SyncPending || !calendar.LeaseUntil.IsZero()
		if of.Linked() && !of.EditedDirectly() && of.Sync.Error == nil && !pending {
			problems = append(problems,
				fmt.Sprintf("poll %s follows an event by account %s, which is unlinked, and says that all is well", of.ID, entry.AccountID))
		}
	}
	return problems
}

// slotProblems: a calendar slot exists exactly while rescheduled names it
// (invariant 6), and a winning slot exists.
func (p *picture) slotProblems() (problems []string) {
	named := map[store.Path]bool{}
	for _, stored := range p.polls.all {
		if moved := stored.Sync.Rescheduled; moved != nil {
			path := poll.SlotPath(stored.ID, moved.ToSlotID)
			named[path] = true
			if p.slots.at[path].Source != poll.SourceCalendar {
				problems = append(problems, fmt.Sprintf("poll %s was rescheduled to slot %s, which is no calendar slot", stored.ID, moved.ToSlotID))
			}
		}
		if stored.Status == rules.Finalized && p.slot(stored.ID, stored.WinningSlotID) == nil {
			problems = append(problems, fmt.Sprintf("poll %s is finalised for slot %q, which is not there", stored.ID, stored.WinningSlotID))
		}
	}
	for path, slot := range p.slots.all {
		if slot.Source == poll.SourceCalendar && !named[path] && !p.purgeUnderWay(path) {
			problems = append(problems, fmt.Sprintf("calendar slot %s is left over", path))
		}
	}
	return problems
}

// purgeUnderWay reports whether a slot belongs to a deleted poll whose remains an
// intent will remove.
func (p *picture) purgeUnderWay(slot store.Path) bool {
	for _, intent := range p.intents.all {
		if intent.Kind == poll.IntentPurge && slot.Below(poll.Path(intent.PollID)) {
			return true
		}
	}
	return false
}

// syncTokenProblems: every change that a stored sync token covers was applied, or
// is deferred and will be fetched individually (invariant 9).
func (p *picture) syncTokenProblems() (problems []string) {
	for _, calendar := range p.calendars.all {
		if calendar.SyncToken == "" || !calendar.FailedSince.IsZero() {
			continue // the next sync is a full one, or the account is not readable now
		}
		changed, good := p.world.Google.ChangedSince(calendar.CalendarID, calendar.SyncToken)
		if !good {
			continue // the next sync is a full one
		}
		for _, stored := range p.polls.all {
			open := slices.Contains(changed, stored.EventID()) || calendar.Deferred(stored.EventID()).Why != "" ||
				!calendar.Backlogs[poll.ConsumerPoll].Relist.IsZero() || p.insertUnderWay(stored)
			if open || stored.EventID() == "" || stored.GoogleCalendarID != calendar.CalendarID {
				continue
			}
			event := p.event(calendarName(stored), stored.EventID())
			if said := disagreement(stored, event, p.slot(stored.ID, stored.WinningSlotID), p.slot(stored.ID, originalSlot(stored)),
				p.world.Clock.Now()); said != "" && !p.world.drifted(stored, event) {
				problems = append(problems, fmt.Sprintf("the sync token of %s passed over a change: %s", calendar.CalendarID, said))
			}
		}
	}
	return problems
}

func (p *picture) insertUnderWay(stored poll.Poll) bool {
	for _, intent := range p.intents.all {
		if intent.PollID == stored.ID && intent.Kind == poll.IntentInsert {
			return true
		}
	}
	return false
}

// secretProblems: no secret in the log, nor in a document of ours (invariant
// 10). Only channels' hashes and sealed tokens are stored.
func (p *picture) secretProblems() (problems []string) {
	for _, mark := range p.logLeaks {
		problems = append(problems, "the log holds a secret that begins with "+mark)
	}
	for path, mark := range p.leaks.all {
		problems = append(problems, fmt.Sprintf("document %s holds a secret that begins with %s", path, mark))
	}
	return problems
}

// Disagreement says how a poll differs from its event; "" if they agree (invariant 8
// demands that at the end).
func (w *World) Disagreement(p poll.Poll) string {
	w.t.Helper()
	if p.EventID() == "" {
		return ""
	}
	slot, err := poll.LoadSlot(w.ctx, w.Documents, p.ID, p.WinningSlotID)
	w.must(err)
	original, err := poll.LoadSlot(w.ctx, w.Documents, p.ID, originalSlot(p))
	w.must(err)
	event := w.EventOf(calendarName(p), p.EventID())
	if w.drifted(p, event) {
		return ""
	}
	return disagreement(p, event, slot, original, w.Clock.Now())
}

// calendarName is the calendar that a poll's event is in, as calendarOf wants it.
func calendarName(p poll.Poll) string {
	for _, name := range Calendars {
		if _, calendarID := calendarOf(name); calendarID == p.GoogleCalendarID {
			return name
		}
	}
	return p.CreatorID
}

// originalSlot is the id of the slot that won before a reschedule; "" for none.
func originalSlot(p poll.Poll) string {
	if p.Sync.Rescheduled == nil {
		return ""
	}
	return p.Sync.Rescheduled.FromSlotID
}

// isOver reports whether a session ended over a day ago. If the poll was moved to a
// calendar time that was already over, the original time counts.
func isOver(p poll.Poll, slot, original *poll.Slot, now time.Time) bool {
	ends := p.FinalizedAt
	if accepted := time.UnixMilli(p.SlotPriority[p.WinningSlotID]); accepted.After(ends) {
		ends = accepted
	}
	until := func(at time.Time) {
		if at.After(ends) {
			ends = at
		}
	}
	moved := p.Sync.Rescheduled
	if moved != nil && p.Sync.Applied.EndTime().After(moved.MovedAt) {
		until(p.Sync.Applied.EndTime())
		return ends.Before(now.Add(-rules.PastAfter))
	}
	if moved == nil {
		until(p.Sync.Applied.EndTime())
		original = slot
	}
	if moved != nil {
		until(moved.Timely.EndTime())
	}
	until(p.Sync.Baseline.EndTime())
	if original != nil {
		until(original.End)
	}
	return ends.Before(now.Add(-rules.PastAfter))
}

// disagreement is none of a past session: what is over is left as it was.
func disagreement(p poll.Poll, event Event, slot, original *poll.Slot, now time.Time) string {
	stands := p.Rules("", slot, original)
	switch {
	case isOver(p, slot, original, now):
		return ""
	case p.GoogleEventID == "":
		awaited := stands.Awaited.Event != "" && !now.After(stands.AwaitedUntil)
		if awaited && event.Live() && (p.Status == rules.Cancelled || p.Status == rules.Finalized) {
			return fmt.Sprintf("poll %s is %s without its event, which is back", p.ID, p.Status)
		}
		return ""
	case !p.Linked():
		return ""
	case !event.Live():
		return fmt.Sprintf("poll %s is finalised and its event was deleted", p.ID)
	case len(event.Recurrence) > 0:
		if p.Sync.Error == nil { // a graver error keeps its place
			return fmt.Sprintf("poll %s does not say that its event became a series", p.ID)
		}
		return ""
	case event.Fingerprint() != p.Sync.Applied:
		return fmt.Sprintf("poll %s last applied %v and its event is at %v", p.ID, p.Sync.Applied, event.Fingerprint())
	case slot == nil || slot.Start.UnixMilli() != event.Fingerprint().Start:
		return fmt.Sprintf("poll %s shows slot %v and its event stands at %v", p.ID, slot, event.Fingerprint())
	default:
		return ""
	}
}
