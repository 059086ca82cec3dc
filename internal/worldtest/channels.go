package worldtest

import (
	"fmt"

	"questscheduler/calendarsync"
	"questscheduler/cursor"
	"questscheduler/poll"
	"questscheduler/rules"
	"questscheduler/store"
)

// ChannelProblems says where a calendar that a poll follows has another number of
// watch channels that live than one, or another calendar any. There is none after
// a sweep without faults.
func (w *World) ChannelProblems() (problems []string) {
	w.t.Helper()
	live := map[string]int{}
	for _, document := range w.Watches() {
		f := store.Fields(document.Data)
		if f.String("status") == string(calendarsync.Active) && f.Time("expiration").After(w.Clock.Now()) {
			live[f.String("calendarKey")]++
		}
	}
	for _, calendar := range decoded(w.all(allCalendars), cursor.Decode) {
		wanted := 0
		if calendar.Wanted() && !w.options.NoPushes {
			wanted = 1
		}
		if live[calendar.Key] != wanted {
			problems = append(problems, fmt.Sprintf("calendar %s has %d live watch channels, and %d polls follow it", calendar.CalendarID, live[calendar.Key], calendar.Interests[poll.ConsumerPoll]))
		}
	}
	return problems
}

// Held tells whether a poll's cancellation waits for its owner's word: it says
// so, and the calendar knows of it.
func (w *World) Held(p poll.Poll) bool {
	w.t.Helper()
	entry, _, err := poll.IndexOf(w.ctx, w.Documents, p)
	w.must(err)
	if p.Sync.Error == nil || p.Sync.Error.Code != rules.MassCancellationHeld || entry == nil {
		return false
	}
	calendar, _, err := cursor.Load(w.ctx, w.Documents, entry.AccountID, entry.CalendarID)
	w.must(err)
	return calendar.Pending[entry.EventID] == cursor.PendingHeld
}
