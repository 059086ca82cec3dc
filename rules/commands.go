package rules

import (
	"slices"

	"questscheduler/fault"
)

// Command is what a person requests of a poll.
type Command string

// The commands, as stored in the journal.
const (
	CommandFinalise        Command = "finalise"
	CommandCancel          Command = "cancel"
	CommandReopen          Command = "reopen"
	CommandVote            Command = "vote"
	CommandEdit            Command = "edit"
	CommandEditSlots       Command = "edit_slots"
	CommandArchive         Command = "archive"
	CommandUnarchive       Command = "unarchive"
	CommandRestoreOriginal Command = "restore_original_time"
	CommandAcceptNew       Command = "accept_new_time"
	CommandDelete          Command = "delete"
	CommandDeleteEvent     Command = "delete_event"
)

// Change is the effect of an accepted command.
type Change struct {
	// Nothing means that the poll already is as requested.
	Nothing bool
	// To is the resulting status.
	To Status
	// Supersedes increments the generation and turns an insert under way into a deletion.
	Supersedes bool
	// Unlinks removes the index entry; the caller decides whether the event is deleted or
	// released.
	Unlinks bool
	// ClearsReschedule removes calendarSync.rescheduled and the calendar slot.
	ClearsReschedule bool
	// ClearsCancelled removes cancelled and calendarSync.cancelled.
	ClearsCancelled bool
}

// CommandRow is one row of the command table.
type CommandRow struct {
	Command Command
	// From lists the statuses of the row. Awaiting restricts it to polls with an awaited
	// event.
	From     []Status
	Awaiting bool
	// Refusal, if set, is the sentence that the person reads; the poll is unchanged.
	Refusal string
	// Change is the effect otherwise.
	Change Change
}

const archivedFirst = "This poll is archived. Unarchive it first."

var living = []Status{Open, Finalized, Cancelled}

var commands = []CommandRow{
	{
		Command: CommandFinalise, From: living,
		Change: Change{To: Finalized, Supersedes: true, Unlinks: true, ClearsReschedule: true, ClearsCancelled: true},
	},
	{Command: CommandFinalise, From: []Status{Archived}, Refusal: archivedFirst},

	{Command: CommandCancel, From: []Status{Open, Finalized}, Change: Change{To: Cancelled, Supersedes: true, Unlinks: true}},
	{Command: CommandCancel, From: []Status{Cancelled}, Awaiting: true, Change: Change{To: Cancelled, Supersedes: true, Unlinks: true}},
	{Command: CommandCancel, From: []Status{Cancelled}, Change: Change{Nothing: true, To: Cancelled}},
	{Command: CommandCancel, From: []Status{Archived}, Refusal: archivedFirst},

	{
		Command: CommandReopen, From: []Status{Finalized, Cancelled},
		Change: Change{To: Open, Supersedes: true, Unlinks: true, ClearsReschedule: true, ClearsCancelled: true},
	},
	{Command: CommandReopen, From: []Status{Open}, Change: Change{Nothing: true, To: Open}},
	{Command: CommandReopen, From: []Status{Archived}, Refusal: archivedFirst},

	{Command: CommandVote, From: []Status{Open}, Change: Change{To: Open}},
	{Command: CommandVote, From: []Status{Finalized, Cancelled, Archived}, Refusal: "Voting is closed. Ask the creator to reopen the poll."},

	{Command: CommandEdit, From: []Status{Open}, Change: Change{To: Open}},
	{Command: CommandEdit, From: []Status{Finalized}, Change: Change{To: Finalized}},
	{Command: CommandEdit, From: []Status{Cancelled}, Change: Change{To: Cancelled}},
	{Command: CommandEdit, From: []Status{Archived}, Refusal: archivedFirst},

	{Command: CommandEditSlots, From: []Status{Open}, Change: Change{To: Open, ClearsReschedule: true}},
	{Command: CommandEditSlots, From: []Status{Cancelled}, Change: Change{To: Cancelled, ClearsReschedule: true}},
	{Command: CommandEditSlots, From: []Status{Finalized}, Refusal: "This poll is finalised. Reopen it before changing its times."},
	{Command: CommandEditSlots, From: []Status{Archived}, Refusal: archivedFirst},

	{Command: CommandArchive, From: living, Change: Change{To: Archived}},
	{Command: CommandArchive, From: []Status{Archived}, Change: Change{Nothing: true, To: Archived}},

	{Command: CommandUnarchive, From: []Status{Archived}, Change: Change{}}, // To is what the poll was: see Before
	{Command: CommandUnarchive, From: []Status{Open}, Change: Change{Nothing: true, To: Open}},
	{Command: CommandUnarchive, From: []Status{Finalized}, Change: Change{Nothing: true, To: Finalized}},
	{Command: CommandUnarchive, From: []Status{Cancelled}, Change: Change{Nothing: true, To: Cancelled}},

	{Command: CommandRestoreOriginal, From: []Status{Finalized}, Change: Change{To: Finalized}},
	{Command: CommandRestoreOriginal, From: []Status{Open, Cancelled, Archived}, Refusal: notRescheduled},
	{Command: CommandAcceptNew, From: []Status{Finalized}, Change: Change{To: Finalized}},
	{Command: CommandAcceptNew, From: []Status{Open, Cancelled, Archived}, Refusal: notRescheduled},

	// The poll keeps its status and agreed time: the web app reopens, edits or deletes it next.
	{Command: CommandDeleteEvent, From: []Status{Open}, Change: Change{To: Open, Supersedes: true, Unlinks: true, ClearsReschedule: true}},
	{
		Command: CommandDeleteEvent, From: []Status{Finalized},
		Change: Change{To: Finalized, Supersedes: true, Unlinks: true, ClearsReschedule: true},
	},
	{
		Command: CommandDeleteEvent, From: []Status{Cancelled},
		Change: Change{To: Cancelled, Supersedes: true, Unlinks: true, ClearsReschedule: true},
	},
	{
		Command: CommandDeleteEvent, From: []Status{Archived},
		Change: Change{To: Archived, Supersedes: true, Unlinks: true, ClearsReschedule: true},
	},

	{Command: CommandDelete, From: Statuses, Change: Change{Supersedes: true, Unlinks: true}},
}

const notRescheduled = "This poll is not rescheduled. Reload it to see how it stands."

// CommandRows returns the table, for documentation and tests.
func CommandRows() []CommandRow { return slices.Clone(commands) }

// Apply returns the effect of a command on a poll, or a Conflict whose sentence says what
// to do next.
func Apply(poll Poll, command Command) (Change, error) {
	for _, row := range commands {
		if row.Command != command || !slices.Contains(row.From, poll.Status) || row.Awaiting && poll.Awaited.Event == "" {
			continue
		}
		if row.Refusal != "" {
			return Change{}, fault.New(fault.Conflict, row.Refusal)
		}
		needsReschedule := command == CommandRestoreOriginal || command == CommandAcceptNew
		if needsReschedule && (!poll.Rescheduled || poll.Link.Event == "") {
			return Change{}, fault.New(fault.Conflict, notRescheduled)
		}
		return row.Change, nil
	}
	return Change{}, fault.Newf(fault.Invalid, "There is no command %q for a poll that is %s.", command, poll.Status)
}

// Before is the status of a poll before it was archived, judging by its fields.
func Before(hasWinningSlot, hasCancelled bool) Status {
	switch {
	case hasCancelled:
		return Cancelled
	case hasWinningSlot:
		return Finalized
	default:
		return Open
	}
}
