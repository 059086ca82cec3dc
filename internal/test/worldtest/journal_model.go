package worldtest

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"questscheduler/internal/poll"
	"questscheduler/operations/explain"
	"questscheduler/rules"
)

// modelProblems says where a poll is not what the model makes of its journal.
func modelProblems(stored poll.Poll, entries []poll.JournalEntry) (problems []string) {
	entries = explain.Decided(entries)
	if len(entries) == 0 {
		return nil
	}
	model := journalModel{at: modelState{Status: rules.Open}}
	for i, entry := range entries {
		first := i == 0
		if problem := model.step(entry, first); problem != "" {
			if !first || entry.Command == rules.CommandFinalise {
				problems = append(problems, fmt.Sprintf("by the model, entry %s does not follow: %s", entry.ID, problem))
			}
			model.take(entry)
		}
		model.generation = max(model.generation, entry.Generation)
	}
	if is := modelOf(stored); is != model.at {
		problems = append(problems, fmt.Sprintf("by the model, its journal gives %+v, and it is %+v", model.at, is))
	}
	return problems
}

// modelState is what a journal gives back of a poll.
type modelState struct {
	Status        rules.Status
	State         rules.State
	Error         rules.ErrorCode
	WinningSlotID string
	Rescheduled   bool
	Cancelled     bool // whether a mark of a cancellation is in the poll
	Baseline      rules.Fingerprint
	Applied       rules.Fingerprint
}

// modelOf is the stored poll's part that a journal gives back.
func modelOf(p poll.Poll) modelState {
	s := modelState{
		Status: p.Status, State: p.Sync.State, WinningSlotID: p.WinningSlotID,
		Rescheduled: p.Sync.Rescheduled != nil, Cancelled: p.MarkedCancelled(),
		Baseline: p.Sync.Baseline, Applied: p.Sync.Applied,
	}
	if p.Sync.Error != nil {
		s.Error = p.Sync.Error.Code
	}
	return s
}

// journalModel replays a journal by effects of its own: explain.Judge applies the
// product's transitions, so a fault in one of them would repeat in its replay. It
// holds a poll's state between two entries.
type journalModel struct {
	at modelState
	// link is the event that the poll follows; known: the journal says which event
	// that is. It may not, since polls were linked before there was a journal.
	link  rules.Link
	known bool
	// observed is the event's `updated` when an observation was applied last.
	observed time.Time
	// awaited is the event whose deletion cancelled the poll at awaitedSince, and
	// which may come back.
	awaited      rules.Link
	awaitedSince time.Time
	// generation is that of the last entry.
	generation int64
	// from and to are the slots of the reschedule that stands, "" where they
	// are not known.
	from, to string
}

// step carries an entry out. It gives why the entry does not follow, or "".
func (r *journalModel) step(entry poll.JournalEntry, first bool) string {
	if !first && entry.Before != r.at.Applied {
		return fmt.Sprintf("it begins at %s, and the one before ended at %s", entry.Before, r.at.Applied)
	}
	if entry.Generation < r.generation {
		return fmt.Sprintf("its generation is %d, and the one before had %d", entry.Generation, r.generation)
	}
	next := *r
	var problem string
	switch {
	case entry.Trigger == "outside_edit":
		problem = next.repaired(entry)
	case entry.Command != "":
		problem = next.command(entry)
	case entry.EventState != "":
		problem = next.observe(entry)
	default:
		problem = next.syncError(entry)
	}
	if problem == "" {
		problem = next.compare(entry)
	}
	if problem == "" {
		*r = next
	}
	return problem
}

// observe decides again about an observation of the event.
func (r *journalModel) observe(entry poll.JournalEntry) string {
	eventState, ok := modelEventStates[entry.EventState]
	if !ok || entry.Inputs == nil {
		return fmt.Sprintf("its event state is %q, with the inputs %v", entry.EventState, entry.Inputs)
	}
	link := rules.Link{Account: entry.AccountID, Calendar: entry.CalendarID, Event: entry.EventID, Generation: entry.Generation}
	if entry.Decision == rules.Revive {
		if r.awaited.Event == "" && !r.known {
			r.awaited, r.awaitedSince = link, entry.At // the cancellation is no longer kept
		}
		r.link, r.known = rules.Link{}, true
	}
	if !r.known {
		r.link, r.known = link, true
	}
	r.link.Generation, r.awaited.Generation = entry.Generation, entry.Generation // a poll's generation grows between entries too
	state := rules.Poll{
		Status: r.at.Status, State: r.at.State, Error: r.at.Error, Link: r.link, Baseline: r.at.Baseline,
		Applied: r.at.Applied, AppliedUpdated: r.observed, Rescheduled: r.at.Rescheduled,
		Awaited: r.awaited, AwaitedUntil: r.awaitedSince.Add(rules.AwaitFor),
	}
	observation := rules.Observation{
		Link: link, EventState: eventState, Fingerprint: entry.Fingerprint, Updated: entry.Updated, AccountLive: true, Asked: entry.Who != "",
		Fresh: true, // one that was not decided nothing
	}
	decision, ok := r.decide(state, observation, entry)
	if !ok {
		return fmt.Sprintf("it says %s (%s); decided again, it is %s (%s)", entry.Decision, entry.Reason, decision.Action, decision.Row)
	}
	r.apply(decision, entry)
	return ""
}

// decide decides again on the entry's inputs and reports whether the result is that of the
// entry.
func (r *journalModel) decide(
	state rules.Poll, observation rules.Observation, entry poll.JournalEntry,
) (decision rules.Decision, follows bool) {
	in := *entry.Inputs
	state.Winning, state.Original, state.Timely = in.Winning, in.Original, in.Timely
	state.MovedAt, state.FinalizedAt = in.MovedAt, in.FinalizedAt
	observation.WatchLive, observation.Confirmed = in.WatchLive, in.Confirmed
	observation.Elsewhere = in.MovedTo != poll.Place{}
	decision = rules.Decide(state, observation, in.Now)
	row, _, _ := strings.Cut(entry.Reason, ":") // an adoption says more behind the row
	return decision, decision.Action == entry.Decision && decision.Row == row && decision.State == entry.State && decision.Error == entry.Error
}

// compare holds the state that was worked out against what the entry says of
// it.
func (r *journalModel) compare(entry poll.JournalEntry) string {
	after := modelAfter(entry)
	if r.at == after { // as a rule, and the simulation replays millions
		return ""
	}
	return fmt.Sprintf("it leaves %+v; worked out again, it is %+v", after, r.at)
}

// take makes an entry's own word the state.
func (r *journalModel) take(entry poll.JournalEntry) {
	r.at = modelAfter(entry)
	r.link, r.known = rules.Link{}, false
	r.from, r.to = "", ""
	if entry.Rescheduled {
		r.to = entry.WinningSlotID
	}
	switch {
	case entry.Command == rules.CommandFinalise:
		r.observed = entry.Updated // of another event
	case modelApplied(entry):
		r.observed = rules.Newest(r.observed, entry.Updated)
	}
}

// modelApplied reports whether the observation of an entry was applied: only an
// applied observation makes older ones obsolete. A replay that starts in the middle
// of a journal knows nothing more of earlier observations.
func modelApplied(entry poll.JournalEntry) bool {
	if entry.Decision == rules.MoveCalendar { // it saw no more than that the event was gone
		return false
	}
	return entry.Command == rules.CommandFinalise || rules.Decision{Action: entry.Decision}.Changes() && entry.EventState != ""
}

// modelAfter is the poll as an entry says it is afterwards.
func modelAfter(entry poll.JournalEntry) modelState {
	after := modelState{
		Status: entry.Status, State: entry.State, Error: entry.Error, WinningSlotID: entry.WinningSlotID,
		Rescheduled: entry.Rescheduled, Cancelled: entry.Cancelled, Baseline: entry.Baseline, Applied: entry.After,
	}
	if entry.Decision == rules.Record && entry.EventState != "" {
		after.Applied = entry.Before // the observation was not applied
	}
	return after
}

var modelEventStates = map[string]rules.EventState{
	"present": rules.Present, "gone": rules.Gone, "series": rules.Series, "unreadable": rules.Unreadable,
}

// apply is what a decision does to the state.
func (r *journalModel) apply(decision rules.Decision, entry poll.JournalEntry) {
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
	if modelApplied(entry) {
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
		r.at.WinningSlotID, r.at.Applied = cmp.Or(r.to, entry.WinningSlotID), entry.Fingerprint
	case rules.Restore:
		r.at.WinningSlotID, r.at.Rescheduled, r.at.Applied = cmp.Or(r.from, entry.WinningSlotID), false, entry.Fingerprint
		r.from, r.to = "", ""
	}
}

// syncError is an entry about the sync itself: an error that was set, or that
// is over.
func (r *journalModel) syncError(entry poll.JournalEntry) string {
	switch entry.Decision {
	case rules.Warn:
		r.at.State, r.at.Error = rules.StateError, rules.ErrorCode(entry.Reason)
	case rules.Clear:
		if code, _, _ := strings.Cut(entry.Reason, " "); code != string(r.at.Error) {
			return fmt.Sprintf("it says that %s, and the error that stood was %q", entry.Reason, r.at.Error)
		}
		r.at.State, r.at.Error = rules.Recovered(rules.Poll{Rescheduled: r.at.Rescheduled}), ""
	default:
		return fmt.Sprintf("it is %q, and records neither a command nor an observation", entry.Decision)
	}
	return ""
}

// command carries a person's command out.
func (r *journalModel) command(entry poll.JournalEntry) string {
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
func (r *journalModel) write(entry poll.JournalEntry) {
	switch entry.Command {
	case rules.CommandFinalise:
		r.at = modelState{Status: r.at.Status, WinningSlotID: entry.WinningSlotID}
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
		r.at, r.observed = modelState{Status: r.at.Status}, time.Time{}
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

// repaired carries out what set a direct edit right.
func (r *journalModel) repaired(entry poll.JournalEntry) string {
	r.at.Status, r.at.WinningSlotID = entry.Status, entry.WinningSlotID
	r.forget(entry)
	switch repair := rules.Repair(entry.Reason); repair {
	case rules.RepairCancel:
		r.at.Status, r.at.State, r.at.Error, r.at.Cancelled = rules.Cancelled, rules.StateCancelled, "", true
	case rules.RepairReopen:
		r.at, r.observed, r.from, r.to = modelState{Status: rules.Open}, time.Time{}, "", ""
	case rules.RepairRestore:
		if r.at.Rescheduled && !entry.Rescheduled && !entry.After.IsZero() { // its event is awaited, or its slots were edited
			r.at.Rescheduled, r.at.Applied, r.from, r.to = false, r.at.Baseline, "", ""
		}
		if !entry.Baseline.IsZero() && entry.Baseline != r.at.Baseline { // its slots were edited
			r.at.Baseline, r.at.Applied = entry.Baseline, entry.Baseline
		}
		r.at.Cancelled = false
		if r.at.State == rules.StateCancelled {
			r.at.State = rules.StateNone
			if entry.EventID != "" {
				r.at.State = rules.Recovered(rules.Poll{Rescheduled: r.at.Rescheduled})
			}
		}
	case rules.RepairLink, rules.RepairUnlink, rules.RepairRecord, rules.RepairSlots:
	default:
		return fmt.Sprintf("it says that %q repaired a direct edit, and nothing is called so", repair)
	}
	r.link, r.known = (rules.Link{}), false
	if r.at.Status == rules.Cancelled || r.at.Status == rules.Open {
		r.known = true // it follows no event
	}
	return ""
}

// forget lets go of what is known of an event that the poll does not name any
// more: its times, or, where there are none yet, an error that went.
func (r *journalModel) forget(entry poll.JournalEntry) {
	times := !entry.Before.IsZero() && entry.After.IsZero()
	if alone := r.at.Applied.IsZero() && r.at.Error != "" && entry.Error == ""; !times && !alone {
		return
	}
	r.letGo(entry.EventID != "")
}

// letGo forgets an event; linked: the poll names another one.
func (r *journalModel) letGo(linked bool) {
	r.at.State, r.at.Error = rules.Forgotten(rules.Poll{State: r.at.State, Error: r.at.Error}, linked)
	r.at.Baseline, r.at.Applied, r.at.Rescheduled = rules.Fingerprint{}, rules.Fingerprint{}, false
	r.observed, r.from, r.to = time.Time{}, "", ""
}
