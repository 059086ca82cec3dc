package rules

import (
	"slices"

	"questscheduler/internal/fault"
)

// Command is what a person asks of a poll.
type Command string

// The commands, as they stand in the journal.
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

// Change is what an accepted command does.
type Change struct {
	// Nothing tells that the poll is already as asked: answer it as it is.
	Nothing bool
	// To is the status afterwards.
	To Status
	// Supersedes: the generation is bumped and an insert under way becomes a
	// deletion.
	Supersedes bool
	// Unlinks: the index entry goes; whether the event is deleted or released
	// is the caller's word.
	Unlinks bool
	// ClearsReschedule: calendarSync.rescheduled and the calendar slot go.
	ClearsReschedule bool
	// ClearsCancelled: cancelled and calendarSync.cancelled go.
	ClearsCancelled bool
}

// CommandRow is one row of the command table.
type CommandRow struct {
	Command Command
	// From lists the statuses the row is for. Awaiting is for polls alone whose
	// event may come back after its deletion cancelled them.
	From     []Status
	Awaiting bool
	// Refusal, where set, is the sentence the person reads; the poll stays.
	Refusal string
	// Change is what happens otherwise.
	Change Change
}

const archivedFirst = "This poll is archived. Unarchive it first."

var living = []Status{Open, Finalized, Cancelled}

// commands is the table of people's commands.
var commands = []CommandRow{
	{Command: CommandFinalise, From: living, Change: Change{To: Finalized, Supersedes: true, Unlinks: true, ClearsReschedule: true, ClearsCancelled: true}},
	{Command: CommandFinalise, From: []Status{Archived}, Refusal: archivedFirst},

	{Command: CommandCancel, From: []Status{Open, Finalized}, Change: Change{To: Cancelled, Supersedes: true, Unlinks: true}},
	{Command: CommandCancel, From: []Status{Cancelled}, Awaiting: true, Change: Change{To: Cancelled, Supersedes: true, Unlinks: true}},
	{Command: CommandCancel, From: []Status{Cancelled}, Change: Change{Nothing: true, To: Cancelled}},
	{Command: CommandCancel, From: []Status{Archived}, Refusal: archivedFirst},

	{Command: CommandReopen, From: []Status{Finalized, Cancelled}, Change: Change{To: Open, Supersedes: true, Unlinks: true, ClearsReschedule: true, ClearsCancelled: true}},
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

	// The poll stays what it is, at the time that was agreed: the web app reopens,
	// edits or deletes it right afterwards.
	{Command: CommandDeleteEvent, From: []Status{Open}, Change: Change{To: Open, Supersedes: true, Unlinks: true, ClearsReschedule: true}},
	{Command: CommandDeleteEvent, From: []Status{Finalized}, Change: Change{To: Finalized, Supersedes: true, Unlinks: true, ClearsReschedule: true}},
	{Command: CommandDeleteEvent, From: []Status{Cancelled}, Change: Change{To: Cancelled, Supersedes: true, Unlinks: true, ClearsReschedule: true}},
	{Command: CommandDeleteEvent, From: []Status{Archived}, Change: Change{To: Archived, Supersedes: true, Unlinks: true, ClearsReschedule: true}},

	{Command: CommandDelete, From: Statuses, Change: Change{Supersedes: true, Unlinks: true}},
}

const notRescheduled = "This poll is not rescheduled. Reload it to see how it stands."

// CommandRows gives the table, for documentation and tests.
func CommandRows() []CommandRow { return slices.Clone(commands) }

// Apply says what a command does to a poll, or refuses it with a Conflict
// whose sentence says what to do next.
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

// Before is the status that an archived poll had: what it was is still written
// in it.
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
