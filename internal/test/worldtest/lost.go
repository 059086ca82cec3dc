package worldtest

import (
	"fmt"
	"slices"

	"questscheduler/internal/accounts"
	"questscheduler/internal/calendars"
	"questscheduler/internal/poll"
	"questscheduler/notify"
	"questscheduler/operations/health"
	"questscheduler/rules"
)

// ClubLost reports whether gm lost the club's calendar: Google answers each call for it with
// 404 or 403, and its list of calendars lacks it.
func (w *World) ClubLost() bool { return w.club == NoAccess || w.club == Refused }

// LostProblems says, once nothing else is wrong, where polls, the notices of their owner or
// the sync status do not say that the club's calendar is lost, and where another calendar's
// poll waits for it.
func (w *World) LostProblems() (problems []string) {
	w.t.Helper()
	say := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	shown := false
	for _, entry := range w.Index() {
		p, _, there := w.PollWithWinner(entry.PollID)
		status, due := w.accountIs(entry.AccountID)
		if !there || !p.Linked() || p.EditedDirectly() || entry.Awaited || status != accounts.Active || due {
			continue
		}
		code := rules.ErrorCode("")
		if p.Sync.Error != nil {
			code = p.Sync.Error.Code
		}
		switch lost := entry.CalendarID == ClubCalendar; {
		case code == rules.MassCancellationHeld:
		case lost && code != rules.CalendarLost:
			say("poll %s is in a lost calendar and shows the error %q", p.ID, code)
		case !lost && (code == rules.CalendarLost || code == rules.SyncFailed):
			say("poll %s is in a calendar that answers and shows the error %q", p.ID, code)
		}
		shown = shown || code == rules.CalendarLost
	}
	if shown && !slices.Contains(w.Notices("gm"), notify.NoticeSyncError) {
		say("gm was not notified of a lost calendar")
	}
	report, err := w.Health.OfPerson(w.ctx, "gm")
	w.must(err)
	for _, account := range report.Accounts {
		for _, calendar := range account.Calendars {
			says := slices.ContainsFunc(calendar.Troubles, func(t health.Trouble) bool { return t.Code == string(rules.CalendarLost) })
			if says != (calendar.CalendarID == ClubCalendar) {
				say("the sync status says of calendar %s that it is lost: %t", calendar.CalendarID, says)
			}
		}
	}
	return problems
}

// foundProblems: a poll whose calendar was read since does not say that it is lost.
func (p *picture) foundProblems() (problems []string) {
	for _, entry := range p.index.all {
		of := p.polls.at[poll.Path(entry.PollID)]
		calendar := p.calendars.at[calendars.Path(poll.CalendarKey(entry.AccountID, entry.CalendarID))]
		pending := calendar.SyncPending || !calendar.LeaseUntil.IsZero() || !calendar.FailedSince.IsZero()
		if of.Linked() && !of.EditedDirectly() && of.Sync.Error != nil && of.Sync.Error.Code == rules.CalendarLost && !pending {
			problems = append(problems, fmt.Sprintf("poll %s says that its calendar is lost, which was read since", of.ID))
		}
	}
	return problems
}
