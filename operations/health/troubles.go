package health

import (
	"cmp"
	"fmt"
	"time"

	"questscheduler/attendees/mappings"
	"questscheduler/calendarsync"
	"questscheduler/fault"
	"questscheduler/internal/accounts"
	"questscheduler/internal/calendars"
	"questscheduler/internal/poll"
	"questscheduler/rules"
)

// Facts are the stored facts of one followed calendar. Its health follows from them and
// the Terms.
type Facts struct {
	// Account is the status of its account; "" where the document is gone.
	Account accounts.Status
	// Delegated: it is of kind accounts.KindServiceAccount, which nobody links.
	Delegated bool
	Calendar  calendars.Calendar
	Channels  []calendarsync.Watch
	// HeldSince is when many of its events were gone at once, whose mirrors are kept since;
	// zero: none are.
	HeldSince time.Time
}

// Terms are what the facts are compared with.
type Terms struct {
	Now time.Time
	// Recent is how old the last success of a healthy calendar may be: the time
	// between two sweeps, and an hour.
	Recent time.Duration
	// Address is where Google should push; channels to another address do not
	// count. "": no calendar is watched here.
	Address string
	// Off reports that this server follows no calendar (QS_SYNC=off).
	Off bool
}

// situation is the facts and terms as the rows use them.
type situation struct {
	Facts
	Terms
	channel       ChannelStatus
	held, failing int
	failingSince  time.Time
	// behind counts the events that mirroring has not had, since when; unread those that
	// second addresses have not had.
	behind, unread           int
	behindSince, unreadSince time.Time
}

// row is one thing that can be wrong with a followed calendar.
type row struct {
	code string
	// status is how bad that is; "": as bad as it is old.
	status Status
	// when reports whether the trouble exists and since when; zero if unknown.
	when    func(s situation) (since time.Time, wrong bool)
	message func(s situation) string
}

// accountRows are the troubles of the account's access. If one applies, the calendar's rows
// do not, since the access must be repaired first.
var accountRows = []row{
	{"token_expired", Error, func(s situation) (time.Time, bool) {
		refused := s.Account == accounts.Revoked || s.Account == accounts.Active && s.Calendar.LastError == fault.Revoked.String()
		return s.Calendar.FailedSince, refused
	}, func(s situation) string {
		if s.Delegated {
			return "Google knows no account of this e-mail address. Correct it in the mappings, or create the account in the Admin console."
		}
		return "Google refuses the access to this account. Link it again in Settings."
	}},
	{"calendar_unlinked", Error, func(s situation) (time.Time, bool) {
		return s.Calendar.FailedSince, s.Account == accounts.Unlinked || s.Account == ""
	}, func(s situation) string {
		if s.Delegated {
			return "The mappings no longer name this e-mail address, and its calendar is still followed until what was added there is taken back."
		}
		return "The account was unlinked while sessions still follow its calendar. Link it again in Settings, or finalise those " +
			"sessions with another account."
	}},
	{string(rules.CalendarLost), Error,
		func(s situation) (time.Time, bool) { return s.Calendar.RefusedSince, s.Calendar.Lost() }, func(s situation) string {
			if s.Delegated {
				return "The calendar is gone, or its domain no longer lets this server read it. Check it in the Admin console."
			}
			return "The calendar is gone or no longer shared with this account. Share it again, with the right to change events, or " +
				"finalise its sessions anew in another calendar."
		}},
}

// calendarRows are the troubles of the calendar. Every row that applies counts.
var calendarRows = []row{
	{"sync_off", Degraded, func(s situation) (time.Time, bool) { return time.Time{}, s.Off },
		says("This server follows no calendar now. Its operator can set QS_SYNC to on.")},
	{
		"look_failed", "",
		func(s situation) (time.Time, bool) { return s.Calendar.FailedSince, !s.Calendar.FailedSince.IsZero() },
		syncFailureMessage,
	},
	{"look_late", "", func(s situation) (time.Time, bool) {
		last := s.Calendar.SuccessAt
		return last, !last.IsZero() && s.Now.Sub(last) > s.Recent
	}, says("The calendar was not read for longer than it should be. The server's timers may not run: its operator finds out " +
		"by `questscheduler doctor`.")},
	{"never_looked", "", func(s situation) (time.Time, bool) { return s.Calendar.LinkedAt, s.Calendar.SuccessAt.IsZero() },
		says("The calendar was linked and not read yet. If this stays, its operator finds out by `questscheduler doctor` why the " +
			"server's tasks do not run.")},
	{"sync_failed", "", func(s situation) (time.Time, bool) { return s.failingSince, s.failing > 0 }, func(s situation) string {
		return fmt.Sprintf(
			"%d of its events cannot be applied and are retried every hour at least. If this stays, ask for a sync of their "+
				"sessions, or finalise those again.",
			s.failing,
		)
	}},
	{"mass_deletion_held", Degraded, func(s situation) (time.Time, bool) { return s.HeldSince, !s.HeldSince.IsZero() },
		says("Many of its events are gone at once. Their copies in other calendars stay until it is listed again, an hour later. " +
			"Restore the events in Google Calendar to keep the copies.")},
	{"mirrors_behind", "", func(s situation) (time.Time, bool) {
		return s.behindSince, !s.behindSince.IsZero() && s.Now.Sub(s.behindSince) > backlogGrace && s.HeldSince.IsZero()
	}, func(s situation) string {
		return fmt.Sprintf(
			"%s of its events could not be mirrored yet, and are retried every hour at least. If this stays, the server's log says why.",
			cmp.Or(countOf(s.behind), "Some"),
		)
	}},
	{"attendees_behind", "", func(s situation) (time.Time, bool) {
		return s.unreadSince, !s.unreadSince.IsZero() && s.Now.Sub(s.unreadSince) > backlogGrace
	}, func(s situation) string {
		return fmt.Sprintf(
			"%s of its events could not be read for second addresses yet, and are retried every hour at least. If this stays, the "+
				"server's log says why.",
			cmp.Or(countOf(s.unread), "Some"),
		)
	}},
	{"mass_cancellation_held", Degraded, func(s situation) (time.Time, bool) { return time.Time{}, s.held > 0 }, func(s situation) string {
		return fmt.Sprintf(
			"%d of its events are gone at once. Confirm that they were deleted on purpose, or restore them in Google Calendar.",
			s.held,
		)
	}},
	{
		"watch_failed", Degraded,
		func(s situation) (time.Time, bool) { return time.Time{}, s.channel != ChannelActive && !s.Off }, channelMessage,
	},
}

// backlogGrace is how long the events of a calendar may wait for a consumer: the first
// listing takes its time.
const backlogGrace = 10 * time.Minute

// backlog counts what consumers beside polls have not had of a calendar, and since when:
// that for second addresses, or the others.
func backlog(c calendars.Calendar, guests bool) (behind int, since time.Time) {
	for _, consumer := range c.Others() {
		if (consumer == mappings.Consumer) != guests {
			continue
		}
		since = earlier(since, c.Backlogs[consumer].Relist)
		for _, deferral := range c.Backlogs[consumer].Deferred {
			behind++
			since = earlier(since, deferral.At)
		}
	}
	return behind, since
}

// earlier is the earlier of two times; zero is none.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

func countOf(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}

func says(message string) func(situation) string { return func(situation) string { return message } }

// troubles are the rows that apply.
func (s situation) troubles(rows []row) (troubles []Trouble) {
	for _, row := range rows {
		since, wrong := row.when(s)
		if !wrong {
			continue
		}
		status := cmp.Or(row.status, severity(since, s.Now))
		troubles = append(troubles, Trouble{Code: row.code, Status: status, Since: since, Message: row.message(s)})
	}
	return troubles
}

// syncFailures explains a failing sync by its stored reason.
var syncFailures = map[string]string{
	fault.Exhausted.String():   "Google's quota for this account is used up. The calendar is read again once it is not.",
	fault.RateLimited.String(): "Google asks for fewer calls. The calendar is read again in a moment.",
	fault.Unavailable.String(): "Google Calendar does not answer. It is retried.",
	fault.NotFound.String():    "Google does not find the calendar. If it was deleted, finalise its sessions again in another one.",
	fault.Forbidden.String(): "Google does not let this account read the calendar. Share it with the account again, with the " +
		"right to change events.",
	fault.Provider.String(): "Google refuses to give the calendar. Check in Google Calendar that the account can still change its events.",
}

func syncFailureMessage(s situation) string {
	if message, known := syncFailures[s.Calendar.LastError]; known {
		return message
	}
	return "Reading the calendar fails and is retried. If this stays, the server's log says why."
}

func channelMessage(s situation) string {
	if s.Address == "" {
		return "Google cannot push changes to this server, so only the sweep finds them. Its operator can set QS_PUBLIC_URL."
	}
	return "Google does not push changes now, so only the sweep finds them. The next sweep opens a watch channel again."
}

// severity is how bad something is by its age.
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
		SyncPending: c.SyncPending,
	}
	for _, backlog := range c.Backlogs {
		health.Deferred += len(backlog.Deferred)
	}
	for _, deferral := range c.Backlogs[poll.ConsumerPoll].Deferred {
		switch deferral.Why {
		case calendars.DeferredHeld:
			s.held++
		case calendars.DeferredFailed, calendars.DeferredMissing:
			s.failing++
			s.failingSince = earlier(s.failingSince, deferral.At)
		}
	}
	health.Held, health.Failing = s.held, s.failing
	s.behind, s.behindSince = backlog(c, false)
	s.unread, s.unreadSince = backlog(c, true)
	if c.PausedUntil.After(terms.Now) {
		health.PausedUntil = c.PausedUntil
	}
	channel, stands := channelOf(facts.Channels, terms)
	s.channel, health.Channel, health.ChannelExpiry = stands, stands, channel.Expiration
	health.Troubles = s.troubles(accountRows)
	if len(health.Troubles) == 0 {
		health.Troubles = s.troubles(calendarRows)
	}
	worstFirst(health.Troubles)
	health.Status = Healthy
	if len(health.Troubles) > 0 {
		health.Status = health.Troubles[0].Status
	}
	return health
}
