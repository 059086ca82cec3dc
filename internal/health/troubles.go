package health

import (
	"fmt"
	"time"

	"questscheduler/calendarsync"
	"questscheduler/internal/accounts"
	"questscheduler/internal/calendars"
	"questscheduler/internal/fault"
)

// Facts are what is stored of one followed calendar, and all that its health
// follows from.
type Facts struct {
	// Account is that of the calendar; "" where its document is gone.
	Account  accounts.Status
	Calendar calendars.Calendar
	Channels []calendarsync.Watch
	// FailingSince is when the oldest of its events that keep failing began to;
	// zero: not known.
	FailingSince time.Time
}

// Terms are what the facts are held against.
type Terms struct {
	Now time.Time
	// Recent is how old the last success of a healthy calendar may be: the time
	// between two sweeps, and an hour.
	Recent time.Duration
	// Address is where pushes are to go; a channel that goes elsewhere does not
	// count. "": no calendar is watched here.
	Address string
	// Off tells that this server follows no calendar (QS_SYNC=off).
	Off bool
}

// situation is a calendar and what it is held against, as the rows see it.
type situation struct {
	Facts
	Terms
	channel       ChannelStatus
	held, failing int
}

// row is one thing that can be wrong with a followed calendar.
type row struct {
	code string
	// when tells whether it is, and since when; zero: not known.
	when func(s situation) (since time.Time, wrong bool)
	// status is how bad that is; "": as bad as it is old.
	status  Status
	message func(s situation) string
}

// rows are all that can be wrong with a followed calendar. Every row that fits
// counts.
var rows = []row{
	{"token_expired", refused, Error, says("Google refuses the access to this account. Link it again in Settings.")},
	{"calendar_unlinked", unlinked, Error, says("The account was unlinked while sessions still follow its calendar. Link it again in Settings, or finalise those sessions with another account.")},
	{"sync_off", switchedOff, Degraded, says("This server follows no calendar now. Its operator can set QS_SYNC to on.")},
	{"look_failed", lookFails, "", lookMessage},
	{"look_late", lookLate, "", says("The calendar was not read for longer than it should be. The server's timers may not run: its operator finds out by `questscheduler doctor`.")},
	{"never_looked", neverLooked, "", says("The calendar was linked and not read yet. If this stays, its operator finds out by `questscheduler doctor` why the server's tasks do not run.")},
	{"sync_failed", eventsFail, "", func(s situation) string {
		return fmt.Sprintf("%d of its events cannot be taken over and are tried again with every sweep. If this stays, ask for a sync of their sessions, or finalise those again.", s.failing)
	}},
	{"mass_cancellation_held", eventsHeld, Degraded, func(s situation) string {
		return fmt.Sprintf("%d of its events are gone at once. Confirm that they were deleted on purpose, or restore them in Google Calendar.", s.held)
	}},
	{"watch_failed", channelMissing, Degraded, channelMessage},
}

func says(message string) func(situation) string { return func(situation) string { return message } }

func refused(s situation) (time.Time, bool) {
	return s.Calendar.FailedSince, s.Account == accounts.Revoked || s.Account == accounts.Active && s.Calendar.LastError == fault.Revoked.String()
}

func unlinked(s situation) (time.Time, bool) {
	return s.Calendar.FailedSince, s.Account == accounts.Unlinked || s.Account == ""
}

// callable tells whether the account's calendars can be asked at all; where they
// cannot, nothing else that is wrong can be mended before.
func (s situation) callable() bool {
	_, isRefused := refused(s)
	_, isUnlinked := unlinked(s)
	return !isRefused && !isUnlinked
}

func switchedOff(s situation) (time.Time, bool) { return time.Time{}, s.Off && s.callable() }

func lookFails(s situation) (time.Time, bool) {
	return s.Calendar.FailedSince, !s.Calendar.FailedSince.IsZero() && s.callable()
}

func lookLate(s situation) (time.Time, bool) {
	last := s.Calendar.SuccessAt
	return last, !last.IsZero() && s.Now.Sub(last) > s.Recent && s.callable()
}

func neverLooked(s situation) (time.Time, bool) {
	return s.Calendar.LinkedAt(), s.Calendar.SuccessAt.IsZero() && s.callable()
}

func eventsFail(s situation) (time.Time, bool) { return s.FailingSince, s.failing > 0 && s.callable() }

func eventsHeld(s situation) (time.Time, bool) { return time.Time{}, s.held > 0 && s.callable() }

func channelMissing(s situation) (time.Time, bool) {
	return time.Time{}, s.channel != ChannelActive && !s.Off && s.callable()
}

// lookMessages say why looks fail, by the reason that the calendar keeps.
var lookMessages = map[string]string{
	fault.Exhausted.String():   "Google's quota for this account is used up. The calendar is read again by itself once it is not.",
	fault.RateLimited.String(): "Google asks for fewer calls. The calendar is read again by itself in a moment.",
	fault.Unavailable.String(): "Google Calendar does not answer. It is tried again by itself.",
	fault.NotFound.String():    "Google does not find the calendar. If it was deleted, finalise its sessions again in another one.",
	fault.Forbidden.String():   "Google does not let this account read the calendar. Share it with the account again, with the right to change events.",
	fault.Provider.String():    "Google refuses to give the calendar. Check in Google Calendar that the account can still change its events.",
}

func lookMessage(s situation) string {
	if message, known := lookMessages[s.Calendar.LastError]; known {
		return message
	}
	return "Reading the calendar fails and is tried again by itself. If this stays, the server's log says why."
}

func channelMessage(s situation) string {
	if s.Address == "" {
		return "Google cannot tell this server of changes, which are found by the sweep alone. Its operator can set QS_PUBLIC_URL."
	}
	return "Google does not tell of changes now, so they are found by the sweep alone. A watch channel is made again by itself with the next one."
}

// severity is how bad something is that goes on since a time.
func severity(since, now time.Time) Status {
	switch age := now.Sub(since); {
	case since.IsZero() || age < DegradedFor:
		return Degraded
	case age <= StaleFor:
		return Stale
	default:
		return Unhealthy
	}
}

// Of is the health of a followed calendar.
func Of(facts Facts, terms Terms) Calendar {
	c := facts.Calendar
	s := situation{Facts: facts, Terms: terms}
	health := Calendar{
		Key: c.Key, CalendarID: c.CalendarID, LastSync: c.SyncedAt, LastSuccess: c.SuccessAt,
		PendingLooks: len(c.Deferred), LookDue: c.SyncPending,
	}
	for _, reason := range c.Deferred {
		switch reason {
		case calendars.DeferredHeld:
			s.held++
		case calendars.DeferredFailed:
			s.failing++
		}
	}
	health.Held, health.Failing = s.held, s.failing
	if c.PausedUntil.After(terms.Now) {
		health.ParkedUntil = c.PausedUntil
	}
	channel, stands := channelOf(facts.Channels, terms)
	s.channel, health.Channel, health.ChannelExpiry = stands, stands, channel.Expiration
	statuses := []Status{Healthy}
	for _, row := range rows {
		since, wrong := row.when(s)
		if !wrong {
			continue
		}
		trouble := Trouble{Code: row.code, Status: row.status, Since: since, Message: row.message(s)}
		if trouble.Status == "" {
			trouble.Status = severity(since, terms.Now)
		}
		health.Troubles, statuses = append(health.Troubles, trouble), append(statuses, trouble.Status)
	}
	worstFirst(health.Troubles)
	health.Status = Worst(statuses...)
	return health
}
