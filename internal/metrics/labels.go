package metrics

import (
	"slices"

	"questscheduler/internal/fault"
	"questscheduler/rules"
)

// ok is the outcome of what went well.
const ok = "ok"

// The labels, each with all values that it can have beside "other".
var (
	// hints are what makes us look (scheduler.Cause.Hint).
	hints = label{"hint", []string{"push", "timer", "person", "relink", "start", "sweep", "intent", "watch", "backfill", "document"}}
	// outcomes are ok, or the kind of the error.
	outcomes = label{"outcome", append([]string{ok}, kinds...)}
	// looked are the outcomes of looks; overtaken is one whose work a later look
	// does.
	looked = label{"outcome", append([]string{ok, overtaken}, kinds...)}
	// occasions say whether a watch channel is the first of its calendar that
	// lives, or takes the place of one that ends.
	occasions = label{"occasion", []string{"creation", "renewal"}}
	actions   = label{"transition", texts(
		rules.Adopt, rules.MoveCalendar, rules.Cancel, rules.Reschedule, rules.RescheduleAgain, rules.Restore, rules.Revive, rules.Warn, rules.Clear)}
	moves    = label{"transition", texts(rules.Cancel, rules.Reschedule, rules.RescheduleAgain, rules.Restore, rules.Revive)}
	commands = label{"command", texts(
		rules.CommandFinalise, rules.CommandCancel, rules.CommandReopen, rules.CommandVote, rules.CommandEdit, rules.CommandEditSlots,
		rules.CommandArchive, rules.CommandUnarchive, rules.CommandRestoreOriginal, rules.CommandAcceptNew, rules.CommandDelete)}
	codes = label{"code", texts(
		rules.TokenExpired, rules.CalendarUnlinked, rules.WatchFailed, rules.SyncFailed, rules.MassCancellationHeld,
		rules.RecurringUnsupported, rules.UnreadableEvent)}
	mendings = label{"mending", texts(
		rules.MendGone, rules.MendRecreated, rules.MendCancel, rules.MendReopen, rules.MendLink, rules.MendUnlink, rules.MendRestore, rules.MendNote)}
	notices = label{"notice", texts(rules.NoticeRescheduled, rules.NoticeRestored, rules.NoticeCancelled, rules.NoticeOnAgain)}
	// channels are those of Discord, as announcements name them.
	channels       = label{"channel", []string{"discord", "card"}}
	discordReasons = label{"code", []string{
		"unknown_channel", "unknown_message", "missing_access", "missing_permission", "thread_archived", "bot_token_refused", "refused"}}
	// methods are the calls of Google, as its documentation names them; token and
	// revoke are those of its OAuth endpoints.
	methods = label{"method", []string{
		"events.insert", "events.get", "events.list", "events.patch", "events.delete", "events.watch", "channels.stop",
		"calendarList.list", "token", "revoke"}}
	// verdicts are what becomes of a task's run (queue.Verdict).
	verdicts = label{"verdict", []string{"done", "retry", "later", "dead"}}
	levels   = label{"level", []string{"warn", "error"}}
	// httpMethods and classes are those of answers.
	httpMethods = label{"method", []string{"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"}}
	classes     = label{"status", []string{"1xx", "2xx", "3xx", "4xx", "5xx"}}
)

// overtaken is the outcome of a look whose work a later one does.
const overtaken = "overtaken"

// kinds are the names of all kinds of errors, as labels are written.
var kinds = kindNames()

func kindNames() (names []string) {
	for kind := fault.Internal; kind <= fault.Exhausted; kind++ {
		names = append(names, kindName(kind))
	}
	return names
}

// kindName is a kind as a label's value: "rate_limited".
func kindName(kind fault.Kind) string {
	name := []byte(kind.String())
	for i, c := range name {
		if c == ' ' {
			name[i] = '_'
		}
	}
	return string(name)
}

// outcome is how something ended.
func outcome(err error) string {
	if err == nil {
		return ok
	}
	return kindName(fault.KindOf(err))
}

// of is the value of a label for a text.
func (l label) of(text string) string {
	if slices.Contains(l.values, text) {
		return text
	}
	return other
}

func texts[T ~string](values ...T) []string {
	all := make([]string, len(values))
	for i, value := range values {
		all[i] = string(value)
	}
	return all
}
