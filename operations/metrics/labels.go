package metrics

import (
	"slices"
	"strings"

	"questscheduler/attendees"
	"questscheduler/attendees/mappings"
	"questscheduler/fault"
	"questscheduler/internal/outbox"
	"questscheduler/mirrors/plan"
	"questscheduler/operations/health"
	"questscheduler/rules"
	"questscheduler/web-hooks/timers"
)

// label is a label with its values. Every other value counts as "other".
type label struct {
	name   string
	values []string
}

const (
	ok = "ok" // the outcome of what went well
	// overtaken is the outcome of a sync run whose work a later one does.
	overtaken = "overtaken"
	other     = "other"
)

// The labels of the figures.
var (
	triggers  = labelOf("hint", "push", "timer", "person", "relink", "start", "sweep", "intent", "watch", "backfill", "document", "discord")
	outcomes  = label{"outcome", append([]string{ok}, kinds...)}
	synced    = label{"outcome", append([]string{ok, overtaken}, kinds...)}
	occasions = labelOf("occasion", "creation", "renewal")
	actions   = labelOf("transition",
		rules.Adopt, rules.MoveCalendar, rules.Cancel, rules.Reschedule, rules.RescheduleAgain, rules.Restore, rules.Revive,
		rules.Warn, rules.Clear)
	moves    = labelOf("transition", rules.Cancel, rules.Reschedule, rules.RescheduleAgain, rules.Restore, rules.Revive)
	commands = labelOf("command",
		rules.CommandFinalise, rules.CommandCancel, rules.CommandReopen, rules.CommandVote, rules.CommandEdit, rules.CommandEditSlots,
		rules.CommandArchive, rules.CommandUnarchive, rules.CommandRestoreOriginal, rules.CommandAcceptNew, rules.CommandDelete,
		rules.CommandDeleteEvent)
	codes   = labelOf("code", health.ErrorCodes...)
	repairs = labelOf("repair",
		rules.RepairDeleted, rules.RepairRecreated, rules.RepairCancel, rules.RepairReopen, rules.RepairLink, rules.RepairUnlink,
		rules.RepairRestore, rules.RepairRecord, rules.RepairSlots)
	notices = labelOf("notice", rules.NoticeRescheduled, rules.NoticeRestored, rules.NoticeCancelled, rules.NoticeOnAgain)
	// channels are those outside the app, as announcements name them.
	channels       = labelOf("channel", "discord", "card")
	discordReasons = labelOf("code",
		"unknown_channel", "unknown_message", "missing_access", "missing_permission", "thread_archived", "bot_token_refused", "refused")
	mirrorWrites   = labelOf("operation", "write", "delete", "delete_stray", "create_calendar")
	mirrorVerdicts = labelOf("verdict", plan.Echo, plan.Drift, plan.GaveUp, plan.Recreated, plan.LeftDeleted, plan.Ignored)
	patchResults   = label{"outcome", append([]string{ok, "stale"}, kinds...)}
	addressChanges = labelOf("change", "invited", "withdrawn")
	addressNotes   = labelOf("state", attendees.Theirs, attendees.Removed, attendees.Declined)
	loadResults    = labelOf("outcome", mappings.LoadUnchanged, mappings.LoadChanged, mappings.LoadHeld, mappings.LoadFailed)
	// methods are Google's calls, as its documentation names them; token and revoke
	// are those of its OAuth endpoints.
	methods = labelOf("method",
		"events.insert", "events.get", "events.list", "events.patch", "events.delete", "events.watch", "channels.stop",
		"events.instances", "calendarList.list", "calendars.insert", "freebusy.query", "token", "revoke")
	workOutcomes = labelOf("outcome", outbox.Outcomes()...)
	errorKinds   = label{"kind", kinds}
	levels       = labelOf("level", "warn", "error")
	httpMethods  = labelOf("method", "GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS")
	classes      = labelOf("status", "1xx", "2xx", "3xx", "4xx", "5xx")
	jobs         = labelOf("job", timers.RenewWatches, timers.PollFallback, timers.PlanUpcoming, timers.ReconcileMirrors,
		timers.RefreshMappings, timers.Cleanup, timers.Health)
)

func labelOf[T ~string](name string, values ...T) label {
	l := label{name: name}
	for _, value := range values {
		l.values = append(l.values, string(value))
	}
	return l
}

// of is the value of a label for a text.
func (l label) of(text string) string {
	if slices.Contains(l.values, text) {
		return text
	}
	return other
}

// kinds are the names of all kinds of errors, as labels are written.
var kinds = func() (names []string) {
	for _, kind := range fault.Kinds() {
		names = append(names, kindName(kind))
	}
	return names
}()

// kindName is a kind as a label's value: "rate_limited".
func kindName(kind fault.Kind) string { return strings.ReplaceAll(kind.String(), " ", "_") }

// outcome is how something ended.
func outcome(err error) string {
	if err == nil {
		return ok
	}
	return kindName(fault.KindOf(err))
}
