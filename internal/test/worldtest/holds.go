package worldtest

import (
	"questscheduler/internal/calendars"
	"questscheduler/internal/gcal"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
)

// fullListing is a full listing of a sync run: how many polls followed the calendar
// then, and how many of them were cancelled for events that it lacked.
type fullListing struct{ linked, cancelled int }

// beginsListing notes that a full listing begins. Requests of the same sync run
// after it still concern events that it lacked.
func (w *World) beginsListing(ref gcal.Ref, syncToken, pageToken string) {
	if syncToken != "" || pageToken != "" {
		return
	}
	this := syncKey{w.running, calendars.Path(poll.CalendarKey(ref.Account, ref.Calendar))}
	if w.commits.full[this] == nil {
		w.commits.full[this] = &fullListing{linked: w.linkedIn(ref)}
	}
}

// judgeCancel judges a cancellation by the calendar: of what a full listing lacks
// at once, more than a handful and more than a share wait for a person's word. calendar
// is as it was before, since what
// waited there for the event is settled with it. A deletion that an earlier run was shown alone, and
// could not apply, is none of the listing, which may be another consumer's.
func (w *World) judgeCancel(line string, entry poll.JournalEntry, calendar calendars.Calendar) {
	full := w.commits.full[syncKey{w.running, calendars.Path(calendar.Key)}]
	if full == nil || calendar.Deferred(entry.EventID).Why == calendars.DeferredFailed {
		return
	}
	if calendar.Deferred(entry.EventID).Why == calendars.DeferredConfirmed || w.past.confirmed[entry.EventID] {
		return
	}
	full.cancelled++
	// Polls may have been linked since the listing began.
	ref := gcal.Ref{Account: calendar.AccountID, Calendar: calendar.CalendarID}
	full.linked = max(full.linked, full.cancelled+w.linkedIn(ref))
	if full.cancelled > w.options.HoldMin && float64(full.cancelled) > w.options.HoldShare*float64(full.linked) {
		w.wrong("%s is one of %d that one full listing cancelled, of %d linked polls", line, full.cancelled, full.linked)
	}
}

// linkedIn is how many polls follow a calendar.
func (w *World) linkedIn(ref gcal.Ref) int {
	entries, err := store.Collect(poll.IndexOfCalendar(w.ctx, w.observed.stored, ref.Account, ref.Calendar))
	w.must(err)
	return len(entries)
}
