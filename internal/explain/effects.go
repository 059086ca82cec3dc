package explain

import (
	"fmt"
	"strings"
	"time"

	"questscheduler/internal/poll"
	"questscheduler/rules"
)

// apply is what a decision does to the state.
func (r *replay) apply(decision rules.Decision, entry poll.Entry) {
	if !decision.Changes() {
		return
	}
	r.at.State, r.at.Error = decision.State, decision.Error
	action := decision.Action
	if action == rules.Revive {
		r.at.Status, r.at.Cancelled = rules.Finalized, false
		r.link, r.known, r.awaited = r.awaited, true, rules.Link{}
		action = decision.Then
	}
	if applied(entry) {
		r.observed = rules.Newest(r.observed, entry.Updated)
	}
	switch action {
	case rules.Cancel:
		r.at.Status, r.at.Cancelled = rules.Cancelled, true
		r.awaited, r.awaitedSince = r.link, entry.At
		r.link, r.known = rules.Link{}, true
	case rules.MoveCalendar:
		r.link.Account, r.link.Calendar = entry.Inputs.MovedTo.AccountID, entry.Inputs.MovedTo.CalendarID
	case rules.Adopt:
		r.at.Baseline, r.at.Applied = entry.Fingerprint, entry.Fingerprint
	case rules.Reschedule:
		r.from, r.to = r.at.WinningSlotID, entry.WinningSlotID // the slot is new, so its id is the entry's word
		r.at.WinningSlotID, r.at.Rescheduled, r.at.Applied = r.to, true, entry.Fingerprint
	case rules.RescheduleAgain:
		r.at.WinningSlotID, r.at.Applied = or(r.to, entry.WinningSlotID), entry.Fingerprint
	case rules.Restore:
		r.at.WinningSlotID, r.at.Rescheduled, r.at.Applied = or(r.from, entry.WinningSlotID), false, entry.Fingerprint
		r.from, r.to = "", ""
	}
}

// syncError is an entry about the sync itself: an error that was set, or that
// is over.
func (r *replay) syncError(entry poll.Entry) string {
	switch entry.Decision {
	case rules.Warn:
		r.at.State, r.at.Error = rules.StateError, rules.ErrorCode(entry.Reason)
	case rules.Clear:
		if code, _, _ := strings.Cut(entry.Reason, " "); code != string(r.at.Error) {
			return fmt.Sprintf("it says that %s, and the error that stood was %q", entry.Reason, r.at.Error)
		}
		r.at.State, r.at.Error = rules.Recovered(rules.Poll{Rescheduled: r.at.Rescheduled}), ""
	default:
		return fmt.Sprintf("it is %q, and says neither who commanded it nor what was seen", entry.Decision)
	}
	return ""
}

// command carries a person's command out.
func (r *replay) command(entry poll.Entry) string {
	state := rules.Poll{Status: r.at.Status, State: r.at.State, Error: r.at.Error, Rescheduled: r.at.Rescheduled}
	state.Link.Event, state.Awaited = entry.EventID, r.awaited
	change, err := rules.Apply(state, entry.Command)
	if err != nil {
		return fmt.Sprintf("%s of a poll that is %s is refused: %v", entry.Command, r.at.Status, err)
	}
	if change.Nothing {
		if entry.Generation > r.generation {
			return "" // it took back a finalisation that was under way
		}
		return fmt.Sprintf("%s of a poll that is %s changes nothing", entry.Command, r.at.Status)
	}
	r.at.Status = change.To
	// A deletion without an event took back a finalisation under way; nothing was
	// moved by that.
	if change.ClearsReschedule && (entry.Command != rules.CommandDeleteEvent || entry.EventID != "") {
		r.at.Rescheduled, r.from, r.to = false, "", ""
	}
	if change.ClearsCancelled {
		r.at.Cancelled = false
	}
	r.write(entry)
	return ""
}

// write is what a command does beside what the table of commands says. The
// choice of a slot is the person's, so that is the entry's word.
func (r *replay) write(entry poll.Entry) {
	switch entry.Command {
	case rules.CommandFinalise:
		r.at = Standing{Status: r.at.Status, WinningSlotID: entry.WinningSlotID}
		r.link, r.known, r.observed, r.awaited = rules.Link{}, true, entry.Updated, rules.Link{}
		if entry.EventID != "" {
			r.at.State, r.at.Baseline, r.at.Applied = rules.StateOK, entry.Fingerprint, entry.Fingerprint
			r.link = rules.Link{Account: entry.AccountID, Calendar: entry.CalendarID, Event: entry.EventID}
		}
	case rules.CommandCancel:
		r.awaited = rules.Link{}
		r.at.State, r.at.Error, r.at.Cancelled = rules.StateCancelled, "", true
	case rules.CommandReopen:
		r.awaited = rules.Link{}
		r.at, r.observed = Standing{Status: r.at.Status}, time.Time{}
	case rules.CommandEditSlots:
		r.at.WinningSlotID = entry.WinningSlotID
	case rules.CommandUnarchive:
		r.at.Status = rules.Before(r.at.WinningSlotID != "", r.at.Cancelled)
	case rules.CommandDeleteEvent:
		if entry.EventID != "" { // else a finalisation under way was taken back
			r.at.WinningSlotID = entry.WinningSlotID
			r.letGo(false)
		}
		r.link, r.known = rules.Link{}, true
	case rules.CommandAcceptNew:
		r.at.Baseline, r.at.Rescheduled = r.at.Applied, false
		if r.at.Error == "" || r.at.State != rules.StateError {
			r.at.State = rules.StateOK
		}
		r.from, r.to = "", ""
	}
}

// mended carries out what set a direct edit right.
func (r *replay) mended(entry poll.Entry) string {
	r.at.Status, r.at.WinningSlotID = entry.Status, entry.WinningSlotID
	r.forget(entry)
	switch mending := rules.Mending(entry.Reason); mending {
	case rules.MendCancel:
		r.at.Status, r.at.State, r.at.Error, r.at.Cancelled = rules.Cancelled, rules.StateCancelled, "", true
	case rules.MendReopen:
		r.at, r.observed, r.from, r.to = Standing{Status: rules.Open}, time.Time{}, "", ""
	case rules.MendRestore:
		if r.at.Rescheduled && !entry.Rescheduled && !entry.After.IsZero() { // its event is awaited
			r.at.Rescheduled, r.at.Applied, r.from, r.to = false, r.at.Baseline, "", ""
		}
		if r.at.Cancelled = false; r.at.State == rules.StateCancelled {
			r.at.State = rules.StateNone
			if entry.EventID != "" {
				r.at.State = rules.Recovered(rules.Poll{Rescheduled: r.at.Rescheduled})
			}
		}
	case rules.MendLink, rules.MendUnlink, rules.MendNote, rules.MendSlots:
	default:
		return fmt.Sprintf("it says that %q set a direct edit right, and nothing is called so", mending)
	}
	if r.link, r.known = (rules.Link{}), false; r.at.Status == rules.Cancelled || r.at.Status == rules.Open {
		r.known = true // it follows no event
	}
	return ""
}

// forget lets go of what is known of an event that the poll does not name any
// more: its times, or, where there are none yet, an error that went.
func (r *replay) forget(entry poll.Entry) {
	times := !entry.Before.IsZero() && entry.After.IsZero()
	if alone := r.at.Applied.IsZero() && r.at.Error != "" && entry.State != rules.StateError; !times && !alone {
		return
	}
	r.letGo(entry.EventID != "")
}

// letGo forgets an event; linked tells whether the poll names another one.
func (r *replay) letGo(linked bool) {
	r.at.State, r.at.Error = rules.Forgotten(rules.Poll{State: r.at.State, Error: r.at.Error}, linked)
	r.at.Baseline, r.at.Applied, r.at.Rescheduled = rules.Fingerprint{}, rules.Fingerprint{}, false
	r.observed, r.from, r.to = time.Time{}, "", ""
}

// or is the first text, or where that is empty the second.
func or(text, other string) string {
	if text == "" {
		return other
	}
	return text
}
