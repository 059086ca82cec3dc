// Package explain says how a poll, an event with its mirrors, or the second addresses at an
// event came to be as they are. Each of the three loads what is stored and turns its journal
// into steps; the report of head and steps, its text and its JSON are the same for all.
//
// The journal of a poll can also be replayed: the poll's state is computed again from the
// entries, by the transitions that made them, and compared with what is stored. Nothing here
// writes.
package explain

import (
	"context"
	"encoding/json"
	"io"
	"strings"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/store"
)

// Report says what is stored and how it came to that.
type Report struct {
	// Head is what is stored now.
	Head []Line `json:"head"`
	// Steps are the journal's entries, oldest first.
	Steps []Step `json:"steps"`
	// Replay is nil if none was requested.
	Replay *Verdict `json:"replay,omitempty"`
}

// Line is a fact with its label. Several lines may have one label.
type Line struct {
	Label string `json:"label"`
	Text  string `json:"text"`
}

// Step is one entry of a journal in words. Parts that an entry does not have are "".
type Step struct {
	At time.Time `json:"at"`
	// Step is the name of what happened as the journal has it, and What is the same in words.
	Step string `json:"step"`
	What string `json:"what"`
	// Observed reports that it was not carried out, since QS_SYNC was observe.
	Observed bool `json:"observed,omitempty"`
	// By is the user who requested it, or what else caused it, such as "the calendar".
	By string `json:"by"`
	// Trigger is such as push, timer or person; Trace correlates all effects of one trigger.
	Trigger string `json:"trigger"`
	Trace   string `json:"trace,omitempty"`
	// Calendar is what the calendar showed of a poll's event. Mirror and Address are what the
	// step is about, in the reports of events and of second addresses.
	Calendar string `json:"calendar,omitempty"`
	Mirror   string `json:"mirror,omitempty"`
	Address  string `json:"address,omitempty"`
	// Why is the journal's reason, and Rule the row of the rules that it names.
	Why  string `json:"why,omitempty"`
	Rule string `json:"rule,omitempty"`
	// Change is the difference that the step made.
	Change string `json:"change"`
	// Announced is what became of the announcement of a poll's step.
	Announced string `json:"announced,omitempty"`
	// Entry is the id of the journal's entry.
	Entry string `json:"entry,omitempty"`
}

// New makes the report of what an id names: a poll, a canonical event (evt_…), or second
// addresses at an event, by their record (att_…) or iCalUID. replay has the journal of a poll
// replayed; there is no replay of the others. NotFound if nothing is stored under the id;
// Unavailable if it does not stop changing.
func New(ctx context.Context, reader store.Reader, id string, replay bool) (Report, error) {
	switch {
	case isAttendees(id):
		return attendeesReport(ctx, reader, id)
	case isEvent(id):
		return eventReport(ctx, reader, id)
	}
	history, err := Load(ctx, reader, id)
	if fault.Is(err, fault.NotFound) {
		history, err = loadShort(ctx, reader, strings.TrimSuffix(id, "…"), err)
	}
	if err != nil {
		return Report{}, err
	}
	return NewReport(history, replay), nil
}

// IsPoll reports whether an id can be a poll's, and so whether there is a replay of it.
func IsPoll(id string) bool { return !isAttendees(id) && !isEvent(id) }

// Disagrees reports whether a replay was requested and differs from what is stored.
func (r Report) Disagrees() bool { return r.Replay != nil && !r.Replay.Agrees }

// WriteJSON writes the report as one JSON object.
func (r Report) WriteJSON(out io.Writer) error {
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(r)
}
