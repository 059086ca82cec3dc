package scheduler

import (
	"time"

	"questscheduler/internal/calendars"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/rules"
)

// askAgain asks for a look at the event of a poll that was put away, or stood
// otherwise, so that nothing was decided about it meanwhile. A hold stands on the
// poll and with its calendar, or on neither: where the event was held meanwhile
// the poll has yet to show it, which is what mustShow tells (see showHeld); where
// the poll shows one that was confirmed meanwhile, its owner is to say again.
func (st state) askAgain(tx store.Tx) (mustShow bool, err error) {
	event, shows := st.entry.EventID, st.poll.Sync.Error != nil && st.poll.Sync.Error.Code == rules.MassCancellationHeld
	updates := st.calendar.RequestFetch(event)
	if shows && !st.calendar.Awaits(event) {
		updates = append(calendars.RequestSync(), calendars.Defer(event, calendars.DeferredHeld))
	}
	held := st.calendar.Deferred[event] == calendars.DeferredHeld
	return held && !shows, tx.Merge(calendars.Path(st.calendar.Key), updates...)
}

// showHeld writes on a poll that its cancellation is held, in the transaction
// and after the entry that made it follow its event again.
func (s *Service) showHeld(tx store.Tx, after poll.Poll, winning *poll.Slot, entered time.Time, cause Cause) error {
	after.Sync.State, after.Sync.Error = rules.StateError, syncError(rules.MassCancellationHeld, entered)
	_, err := s.record(tx, poll.Entry{
		At: entered.Add(time.Microsecond), Trace: cause.Trace, Hint: cause.Hint,
		Decision: rules.Warn, Reason: string(rules.MassCancellationHeld),
		EventID: after.GoogleEventID, CalendarID: after.GoogleCalendarID,
		Before: after.Sync.Applied, After: after.Sync.Applied,
	}, outcome{after, winning}, "", false)
	return err
}
