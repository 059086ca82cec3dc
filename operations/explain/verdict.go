package explain

import (
	"slices"
	"strconv"
	"time"

	"questscheduler/internal/poll"
	"questscheduler/rules"
)

// Verdict says whether the journal of a poll gives back what is stored.
type Verdict struct {
	// Agrees reports whether every entry follows, and that they lead to the stored poll.
	Agrees bool `json:"agrees"`
	// Entries counts those that were replayed.
	Entries int `json:"entries"`
	// Partial reports whether the journal begins in the middle: the poll was made or linked
	// before this backend, or older entries were removed (poll.RemoveOldEntries).
	Partial bool `json:"partial"`
	// Edited reports whether somebody wrote the poll's document directly, and that was not
	// repaired yet.
	Edited bool `json:"edited"`
	// Fields are all that was compared, Differences those that differ.
	Fields      []Difference `json:"fields"`
	Differences []Difference `json:"differences"`
	// Breaks are the entries that do not follow.
	Breaks []Break `json:"breaks"`
}

// Difference is a field of a poll by its journal and as it is stored.
type Difference struct {
	Field   string `json:"field"`
	Journal string `json:"journal"`
	Stored  string `json:"stored"`
}

// Break is an entry that does not follow from those before it.
type Break struct {
	Entry string    `json:"entry"`
	At    time.Time `json:"at"`
	What  string    `json:"what"`
}

// Judge replays the journal of a poll and compares it with the stored poll. A poll that was
// made elsewhere and has no journal yet is taken as it stands.
func Judge(h History) Verdict {
	h.Entries = Decided(h.Entries)
	stored := stateOf(h.Poll)
	state, partial, breaks := replayAll(h.Entries)
	v := Verdict{Entries: len(h.Entries), Partial: partial, Edited: h.Poll.EditedDirectly(), Breaks: breaks}
	recorded := h.Poll.Sync.Recorded.At
	if len(h.Entries) == 0 && recorded.IsZero() && stored.State == rules.StateNone {
		state, v.Partial = stored, stored.Status != rules.Open
	}
	v.Fields = fields(state, stored)
	if !recorded.IsZero() && len(h.Entries) > 0 {
		v.Fields = append(v.Fields, Difference{"last entry", moment(h.Entries[len(h.Entries)-1].At), moment(recorded)})
	}
	v.Differences = differing(v.Fields)
	v.Agrees = len(v.Breaks) == 0 && len(v.Differences) == 0
	return v
}

// Decided are the entries whose decisions were carried out (poll.JournalEntry.Observed).
func Decided(entries []poll.JournalEntry) []poll.JournalEntry {
	return slices.DeleteFunc(slices.Clone(entries), func(e poll.JournalEntry) bool { return e.Observed })
}

// State is the part of a poll that a journal gives back.
type State struct {
	Status        rules.Status
	State         rules.State
	Error         rules.ErrorCode
	WinningSlotID string
	Rescheduled   bool
	// Cancelled reports whether the poll has a mark of a cancellation.
	Cancelled         bool
	Baseline, Applied rules.Fingerprint
}

func stateOf(p poll.Poll) State {
	s := State{
		Status: p.Status, State: p.Sync.State, WinningSlotID: p.WinningSlotID,
		Rescheduled: p.Sync.Rescheduled != nil, Cancelled: p.MarkedCancelled(),
		Baseline: p.Sync.Baseline, Applied: p.Sync.Applied,
	}
	if p.Sync.Error != nil {
		s.Error = p.Sync.Error.Code
	}
	return s
}

// stateAfter is the poll as an entry says it is afterwards.
func stateAfter(entry poll.JournalEntry) State {
	after := State{
		Status: entry.Status, State: entry.State, Error: entry.Error, WinningSlotID: entry.WinningSlotID,
		Rescheduled: entry.Rescheduled, Cancelled: entry.Cancelled, Baseline: entry.Baseline, Applied: entry.After,
	}
	if entry.Decision == rules.Record && entry.EventState != "" {
		after.Applied = entry.Before // the observation was not applied
	}
	return after
}

// fields puts two states side by side.
func fields(journal, stored State) []Difference {
	return []Difference{
		{"status", string(journal.Status), string(stored.Status)},
		{"sync state", string(journal.State), string(stored.State)},
		{"error", string(journal.Error), string(stored.Error)},
		{"winning slot", journal.WinningSlotID, stored.WinningSlotID},
		{"rescheduled", strconv.FormatBool(journal.Rescheduled), strconv.FormatBool(stored.Rescheduled)},
		{"cancelled", strconv.FormatBool(journal.Cancelled), strconv.FormatBool(stored.Cancelled)},
		{"baseline", journal.Baseline.String(), stored.Baseline.String()},
		{"applied", journal.Applied.String(), stored.Applied.String()},
	}
}

// differing are those of some fields that differ.
func differing(fields []Difference) []Difference {
	differ := []Difference{}
	for _, field := range fields {
		if field.Journal != field.Stored {
			differ = append(differ, field)
		}
	}
	return differ
}

// moment is a time as it is compared.
func moment(at time.Time) string { return at.UTC().Format(time.RFC3339Nano) }
