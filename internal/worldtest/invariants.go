package worldtest

import (
	"fmt"
	"slices"
	"strings"

	"questscheduler/cursor"
	"questscheduler/gcal"
	"questscheduler/poll"
	"questscheduler/rules"
	"questscheduler/store"
)

// Check fails the test where an invariant of design.md does not hold now. They
// hold between any two calls of the program, so it may be asked at any time.
func (w *World) Check() {
	w.t.Helper()
	for _, problem := range w.Problems() {
		w.t.Errorf("%s", problem)
	}
}

// Problems says which invariants do not hold, and where.
func (w *World) Problems() []string {
	w.t.Helper()
	return slices.Concat(w.journalProblems(), w.eventProblems(), w.indexProblems(), w.slotProblems(), w.cursorProblems(), w.secretProblems())
}

// Polls are all polls.
func (w *World) Polls() []poll.Poll {
	w.t.Helper()
	return decoded(w.all(allPolls), poll.Decode)
}

// journalProblems: a poll's state is what its journal replays to (invariant 1).
func (w *World) journalProblems() (problems []string) {
	for _, p := range w.Polls() {
		replayed, err := Replay(w.Journal(p.ID))
		if err != nil {
			problems = append(problems, fmt.Sprintf("poll %s: its journal does not replay: %v", p.ID, err))
			continue
		}
		if stands := standing(p); replayed != stands {
			problems = append(problems, fmt.Sprintf("poll %s is %+v, but its journal says %+v", p.ID, stands, replayed))
		}
	}
	return problems
}

// eventProblems: no event of ours without an index entry, or an intent that
// will finish or delete it, unless released (invariant 5).
func (w *World) eventProblems() (problems []string) {
	followed := map[string]bool{}
	for _, entry := range w.Index() {
		followed[poll.IntentID(entry.AccountID, entry.CalendarID, entry.EventID)] = true
	}
	for _, intent := range w.Intents() {
		followed[intent.ID()] = true
	}
	for _, name := range Calendars {
		owner, calendarID := calendarOf(name)
		for _, event := range w.Events(name) {
			if len(event.Marks.Private) == 0 || w.released[event.ID] {
				continue
			}
			if id := poll.IntentID(w.Account(owner), calendarID, event.ID); !followed[id] {
				problems = append(problems, fmt.Sprintf("event %s in the calendar of %s is an orphan", event.ID, name))
			}
		}
	}
	return problems
}

// Released says that an event was left in the calendar as asked.
func (w *World) Released(eventID string) { w.released[eventID] = true }

// WasReleased tells whether an event was left in the calendar as asked.
func (w *World) WasReleased(eventID string) bool { return w.released[eventID] }

// indexProblems: no index entry without a linked poll, no linked poll without
// one, and each calendar counts them (invariant 5).
func (w *World) indexProblems() (problems []string) {
	interests := map[string]int64{}
	linked := map[string]bool{}
	for _, entry := range w.Index() {
		interests[poll.CalendarKey(entry.AccountID, entry.CalendarID)]++
		linked[entry.PollID] = true
		p, err := poll.Load(w.ctx, w.Documents, entry.PollID)
		follows := p.Linked() || p.Status == rules.Archived // an archived poll stays linked
		if err != nil || !follows || p.GoogleEventID != entry.EventID || p.GoogleCalendarID != entry.CalendarID {
			problems = append(problems, fmt.Sprintf("index entry %s is for poll %s, which does not follow it", entry.EventID, entry.PollID))
		}
	}
	for _, p := range w.Polls() {
		if p.Linked() && !linked[p.ID] {
			problems = append(problems, fmt.Sprintf("poll %s follows event %s, which has no index entry", p.ID, p.GoogleEventID))
		}
	}
	for _, calendar := range decoded(w.all(allCalendars), cursor.Decode) {
		if count := calendar.Interests[poll.ConsumerPoll]; count != interests[calendar.Key] {
			problems = append(problems, fmt.Sprintf("calendar %s counts %d linked polls and has %d", calendar.CalendarID, count, interests[calendar.Key]))
		}
	}
	return problems
}

// slotProblems: a calendar slot exists exactly while rescheduled names it
// (invariant 6), and a winning slot exists.
func (w *World) slotProblems() (problems []string) {
	slots := map[store.Path]poll.Slot{}
	for _, doc := range w.all(allSlots) {
		slots[doc.Path] = poll.DecodeSlot(doc)
	}
	named := map[store.Path]bool{}
	for _, p := range w.Polls() {
		if moved := p.Sync.Rescheduled; moved != nil {
			path := poll.SlotPath(p.ID, moved.ToSlotID)
			named[path] = true
			if slots[path].Source != poll.SourceCalendar {
				problems = append(problems, fmt.Sprintf("poll %s was rescheduled to slot %s, which is no calendar slot", p.ID, moved.ToSlotID))
			}
		}
		if _, there := slots[poll.SlotPath(p.ID, p.WinningSlotID)]; p.Status == rules.Finalized && !there {
			problems = append(problems, fmt.Sprintf("poll %s is finalised for slot %q, which is not there", p.ID, p.WinningSlotID))
		}
	}
	for _, doc := range w.all(allSlots) {
		if slots[doc.Path].Source == poll.SourceCalendar && !named[doc.Path] && !w.purgeUnderWay(doc.Path) {
			problems = append(problems, fmt.Sprintf("calendar slot %s is left over", doc.Path))
		}
	}
	return problems
}

// purgeUnderWay tells whether a slot is that of a deleted poll, of which an
// intent will remove what is left.
func (w *World) purgeUnderWay(slot store.Path) bool {
	return slices.ContainsFunc(w.Intents(), func(i poll.Intent) bool {
		return i.Kind == poll.IntentPurge && strings.HasPrefix(string(slot), string(poll.Path(i.PollID))+"/")
	})
}

// cursorProblems: what a stored sync token covers was applied, or is to be
// asked for by itself (invariant 9).
func (w *World) cursorProblems() (problems []string) {
	for _, calendar := range decoded(w.all(allCalendars), cursor.Decode) {
		if calendar.SyncToken == "" || !calendar.FailedSince.IsZero() {
			continue // the next look reads everything, or the account is not readable now
		}
		changed, err := w.changedSince(calendar)
		if err != nil {
			continue // the token is not good any more, so the next look reads everything
		}
		for _, p := range w.Polls() {
			open := changed[p.GoogleEventID] || calendar.Pending[p.GoogleEventID] != "" || w.insertUnderWay(p)
			if p.Linked() && p.GoogleCalendarID == calendar.CalendarID && !open && w.Disagreement(p) != "" {
				problems = append(problems, fmt.Sprintf("the cursor of %s passed over a change: %s", calendar.CalendarID, w.Disagreement(p)))
			}
		}
	}
	return problems
}

// changedSince are the events that the next look will be shown.
func (w *World) changedSince(calendar cursor.Calendar) (map[string]bool, error) {
	changed := map[string]bool{}
	faults := w.Google.Control().Rules()
	defer func() {
		for _, planted := range faults {
			w.must(w.Google.Control().Plant(planted))
		}
	}()
	w.Google.Control().Clear()
	for page := ""; ; {
		w.own["events.list"]++
		got, err := w.reader.List(w.ctx, gcal.Ref{Account: calendar.AccountID, Calendar: calendar.CalendarID}, calendar.SyncToken, page)
		if err != nil {
			return nil, err
		}
		for _, event := range got.Events {
			changed[event.ID] = true
		}
		if page = got.NextPage; page == "" {
			return changed, nil
		}
	}
}

func (w *World) insertUnderWay(p poll.Poll) bool {
	return slices.ContainsFunc(w.Intents(), func(i poll.Intent) bool { return i.PollID == p.ID && i.Kind == poll.IntentInsert })
}

// Disagreement says where a poll and its event tell different stories; "" where
// they do not (invariant 8 asks for that at the end).
func (w *World) Disagreement(p poll.Poll) string {
	w.t.Helper()
	if !p.Linked() {
		return ""
	}
	calendar := p.CreatorID
	if p.GoogleCalendarID == ClubCalendar {
		calendar = Club
	}
	event := w.EventOf(calendar, p.GoogleEventID)
	slot, err := poll.LoadSlot(w.ctx, w.Documents, p.ID, p.WinningSlotID)
	w.must(err)
	switch {
	case !event.Live():
		return fmt.Sprintf("poll %s is finalised and its event was deleted", p.ID)
	case len(event.Recurrence) > 0:
		if p.Sync.Error == nil { // a graver error keeps its place
			return fmt.Sprintf("poll %s does not say that its event became a series", p.ID)
		}
		return ""
	case event.Fingerprint() != p.Sync.Applied:
		return fmt.Sprintf("poll %s was last told of %v and its event stands at %v", p.ID, p.Sync.Applied, event.Fingerprint())
	case slot == nil || slot.Start.UnixMilli() != event.Fingerprint().Start:
		return fmt.Sprintf("poll %s shows slot %v and its event stands at %v", p.ID, slot, event.Fingerprint())
	default:
		return ""
	}
}

// secretProblems: no secret in the log, nor in a document of ours (invariant
// 10). Only channels' hashes and sealed tokens are stored.
func (w *World) secretProblems() (problems []string) {
	var stored strings.Builder
	for _, query := range inspections() {
		for _, doc := range w.all(query) {
			fmt.Fprintln(&stored, doc.Path, doc.Data)
		}
	}
	for _, secret := range append([]string{"1//sim-", "ya29.sim-"}, w.secrets...) {
		if strings.Contains(w.Log(), secret) {
			problems = append(problems, "the log holds the secret "+secret)
		}
		if strings.Contains(stored.String(), secret) {
			problems = append(problems, "a document holds the secret "+secret)
		}
	}
	return problems
}
