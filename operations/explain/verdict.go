package explain

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"questscheduler/internal/poll"
	"questscheduler/rules"
)

// Difference is a field in which journal and stored poll differ.
type Difference struct {
	Field   string `json:"field"`
	Journal string `json:"journal"`
	Stored  string `json:"stored"`
}

// Verdict says whether a journal gives back the poll that is stored.
type Verdict struct {
	// Agrees reports whether every entry follows, and that they lead to the stored poll.
	Agrees bool `json:"agrees"`
	// Entries counts those that were replayed.
	Entries int `json:"entries"`
	// Partial: see Replayed.
	Partial bool `json:"partial"`
	// Edited reports whether somebody wrote the poll's document directly and no repair came by
	// since.
	Edited bool `json:"edited"`
	// Fields are all that was compared, the differing ones included.
	Fields      []Difference `json:"fields"`
	Differences []Difference `json:"differences"`
	Breaks      []Break      `json:"breaks"`
}

// Judge replays a history and compares it with the stored poll. A poll that was made elsewhere
// and has no journal yet is taken as it stands.
func Judge(h History) Verdict {
	h.Entries = Decided(h.Entries)
	replayed := Replay(h.Entries)
	stored := stateOf(h.Poll)
	if len(h.Entries) == 0 && h.Poll.Sync.Recorded.At.IsZero() && stored.State == rules.StateNone {
		replayed.State, replayed.Partial = stored, stored.Status != rules.Open
	}
	v := Verdict{
		Entries: len(h.Entries), Partial: replayed.Partial, Edited: h.Poll.EditedDirectly(),
		Fields: fields(replayed.State, stored), Differences: differences(replayed.State, stored), Breaks: replayed.Breaks,
	}
	if known := h.Poll.Sync.Recorded.At; !known.IsZero() && len(h.Entries) > 0 {
		newest := h.Entries[len(h.Entries)-1].At
		last := Difference{"last entry", moment(newest), moment(known)}
		v.Fields = append(v.Fields, last)
		if last.Journal != last.Stored {
			v.Differences = append(v.Differences, last)
		}
	}
	v.Agrees = len(v.Breaks) == 0 && len(v.Differences) == 0
	return v
}

// Decided are the entries whose decisions were carried out (poll.Entry.Observed).
func Decided(entries []poll.Entry) []poll.Entry {
	return slices.DeleteFunc(slices.Clone(entries), func(e poll.Entry) bool { return e.Observed })
}

// stateOf is the stored poll's part that a journal gives back.
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

func differences(journal, stored State) []Difference {
	differ := []Difference{}
	for _, field := range fields(journal, stored) {
		if field.Journal != field.Stored {
			differ = append(differ, field)
		}
	}
	return differ
}

// moment is a time as it is compared.
func moment(at time.Time) string { return at.UTC().Format(time.RFC3339Nano) }

// timeText is a fingerprint for a sentence.
func timeText(f rules.Fingerprint) string { return cmp.Or(f.String(), "no time") }
