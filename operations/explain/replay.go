package explain

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"questscheduler/internal/poll"
	"questscheduler/rules"
	"questscheduler/transition"
)

// State is the part of a poll that a journal reproduces.
type State struct {
	Status        rules.Status
	State         rules.State
	Error         rules.ErrorCode
	WinningSlotID string
	Rescheduled   bool
	// Cancelled reports whether the poll has a mark of a cancellation.
	Cancelled bool
	Baseline  rules.Fingerprint
	Applied   rules.Fingerprint
}

// Break is an entry that does not follow from those before it.
type Break struct {
	Entry string    `json:"entry"`
	At    time.Time `json:"at"`
	What  string    `json:"what"`
}

// Replayed is the result of a replay.
type Replayed struct {
	State State
	// Partial reports whether the journal begins in the middle: the poll was there before it, or
	// older entries were removed (poll.RemoveOldEntries). The first entry is then taken as it
	// stands, and what it lacks is learnt from those that follow.
	Partial bool
	// Breaks are the entries that do not follow; the replay goes on from what they say.
	Breaks []Break
}

// outsideEdit is the trigger of entries about direct edits.
const outsideEdit = "outside_edit"

// Replay works a poll's state out again from its journal, oldest entry first, by the functions
// that made its transitions: a command that rules.Apply accepts, an observation by rules.Decide
// on the state before it, which has to decide what the entry says. The status, slot and event
// of a direct edit are taken from its entry. The whole state after each entry is compared.
//
// Old entries do not say whether a watch channel lived, a person confirmed a cancellation, or
// when the winning slot ended; there, a decision that follows for either answer follows.
func Replay(entries []poll.Entry) Replayed {
	r := replay{poll: poll.Poll{Status: rules.Open}, times: map[string]rules.Fingerprint{}}
	result := Replayed{Breaks: []Break{}}
	for i, entry := range entries {
		first := i == 0
		result.Partial = result.Partial || first && !entry.Before.IsZero()
		problem := r.step(entry, first)
		switch {
		case problem == "":
		case first && entry.Command != rules.CommandFinalise: // a finalisation leaves nothing of before
			result.Partial = true
			r.take(entry)
		default:
			result.Breaks = append(result.Breaks, Break{Entry: entry.ID, At: entry.At, What: problem})
			r.take(entry)
		}
		r.number(max(r.generation, entry.Generation))
		if entry.Command == rules.CommandFinalise || entry.Decision == rules.Reschedule || entry.Decision == rules.RescheduleAgain {
			r.times[entry.WinningSlotID] = entry.Fingerprint
		}
	}
	result.State = stateOf(r.poll)
	return result
}

// replay is a poll between two entries, as far as its journal holds it; unknown slots of a
// reschedule are "".
type replay struct {
	poll poll.Poll
	// account is the linked event's. known reports whether that event is known: some polls were
	// linked before there was a journal.
	account    string
	known      bool
	generation int64 // of the last entry
	// times are those of the slots that won, as far as the journal holds them.
	times map[string]rules.Fingerprint
}

// number gives the poll a generation, which grows between entries too.
func (r *replay) number(generation int64) {
	r.generation, r.poll.Sync.Generation = generation, generation
	if r.poll.Sync.Awaited != nil {
		awaited := *r.poll.Sync.Awaited
		awaited.Link.Generation = generation
		r.poll.Sync.Awaited = &awaited
	}
}

// step carries an entry out. It gives why the entry does not follow, or "".
func (r *replay) step(entry poll.Entry, first bool) string {
	if applied := r.poll.Sync.Applied; !first && entry.Before != applied {
		return fmt.Sprintf("it begins at %s, and the one before ended at %s", timeText(entry.Before), timeText(applied))
	}
	if entry.Generation < r.generation {
		return fmt.Sprintf("its generation is %d, and the one before had %d", entry.Generation, r.generation)
	}
	next := *r
	var problem string
	switch {
	case entry.Trigger == outsideEdit:
		problem = next.repair(entry)
	case entry.Command != "":
		problem = next.command(entry)
	case entry.EventState != "":
		problem = next.observe(entry)
	default:
		problem = next.syncError(entry)
	}
	if problem == "" {
		problem = compare(stateOf(next.poll), stateAfter(entry))
	}
	if problem == "" {
		*r = next
	}
	return problem
}

// observe decides again about an observation of the event.
func (r *replay) observe(entry poll.Entry) string {
	state, ok := transition.EventStateNamed(entry.EventState)
	if !ok {
		return fmt.Sprintf("it saw the event %q, which no event can be", entry.EventState)
	}
	link := rules.Link{Account: entry.AccountID, Calendar: entry.CalendarID, Event: entry.EventID, Generation: entry.Generation}
	p := &r.poll
	if entry.Decision == rules.Revive {
		if p.Sync.Awaited == nil && !r.known { // the cancellation is no longer kept
			p.Sync.Awaited = &poll.Awaited{Link: link, Until: entry.At.Add(rules.AwaitFor)}
		}
		p.GoogleEventID, r.known = "", true
	}
	if !r.known {
		r.account, p.GoogleCalendarID, p.GoogleEventID, r.known = link.Account, link.Calendar, link.Event, true
	}
	r.number(entry.Generation)
	decision, ok := r.decide(rules.Observation{
		Link: link, EventState: state, Fingerprint: entry.Fingerprint, Updated: entry.Updated, AccountLive: true, Asked: entry.Who != "",
		Fresh: true, // one that was not decided nothing
	}, entry)
	if !ok {
		return fmt.Sprintf("it says %s (%s); decided again, it is %s (%s)", entry.Decision, entry.Reason, decision.Action, decision.Row)
	}
	if !decision.Changes() {
		return ""
	}
	if moved := p.Sync.Rescheduled; moved != nil && moved.FromSlotID == "" && !entry.Rescheduled {
		known := *moved
		known.FromSlotID = entry.WinningSlotID
		p.Sync.Rescheduled = &known
	}
	switch decision.Action {
	case rules.Revive:
		r.account = p.Sync.Awaited.Link.Account
	case rules.MoveCalendar:
		r.account = entry.Inputs.MovedTo.AccountID
	}
	*p = transition.Observed(*p, decision, entry, transition.Details{})
	return ""
}

// decide decides again, and reports whether the entry's decision follows for some inputs;
// otherwise it returns one of the other decisions.
func (r *replay) decide(observation rules.Observation, entry poll.Entry) (decision rules.Decision, follows bool) {
	state := r.poll.Rules(r.account, nil, nil)
	for _, in := range r.inputs(entry) {
		state.Winning, state.Original, state.Timely = in.Winning, in.Original, in.Timely
		state.MovedAt, state.FinalizedAt = in.MovedAt, in.FinalizedAt
		observation.WatchLive, observation.Confirmed = in.WatchLive, in.Confirmed
		observation.Elsewhere = in.MovedTo != poll.Place{}
		decision = rules.Decide(state, observation, in.Now)
		row, _, _ := strings.Cut(entry.Reason, ":") // an adoption says more behind the row
		if decision.Action == entry.Decision && decision.Row == row && decision.State == entry.State && decision.Error == entry.Error {
			return decision, true
		}
	}
	return decision, false
}

// inputs are those of an entry, or all that it may have been decided on.
func (r *replay) inputs(entry poll.Entry) (all []poll.Inputs) {
	if entry.Inputs != nil {
		return []poll.Inputs{*entry.Inputs}
	}
	lastKnown := cmp.Or(entry.Fingerprint, r.poll.Sync.Applied, r.poll.Sync.Baseline)
	for _, winning := range []rules.Fingerprint{r.times[r.poll.WinningSlotID], {}, lastKnown} {
		for _, watchLive := range []bool{false, true} {
			for _, confirmed := range []bool{false, true} {
				all = append(all, poll.Inputs{Now: entry.At, Winning: winning, WatchLive: watchLive, Confirmed: confirmed})
			}
		}
	}
	return all
}

// syncError is an entry about an error of the sync that was set, or is over.
func (r *replay) syncError(entry poll.Entry) string {
	switch entry.Decision {
	case rules.Warn:
	case rules.Clear:
		if code, _, _ := strings.Cut(entry.Reason, " "); code != string(stateOf(r.poll).Error) {
			return fmt.Sprintf("it says that %s, and the error that stood was %q", entry.Reason, stateOf(r.poll).Error)
		}
	default:
		return fmt.Sprintf("it is %q, and says neither who commanded it nor what was observed", entry.Decision)
	}
	r.poll = transition.SyncChecked(r.poll, entry)
	return ""
}

// command carries a person's command out.
func (r *replay) command(entry poll.Entry) string {
	state := r.poll.Rules("", nil, nil)
	state.Link.Event = entry.EventID
	change, err := rules.Apply(state, entry.Command)
	switch {
	case err != nil:
		return fmt.Sprintf("%s of a poll that is %s is refused: %v", entry.Command, state.Status, err)
	case change.Nothing && entry.Generation <= r.generation:
		return fmt.Sprintf("%s of a poll that is %s changes nothing", entry.Command, state.Status)
	case change.Nothing, entry.Command == rules.CommandDeleteEvent && entry.EventID == "":
		r.poll = transition.TakenBack(r.poll)
		return ""
	}
	r.poll = transition.Commanded(r.poll, entry, transition.Details{})
	switch entry.Command {
	case rules.CommandFinalise:
		r.account, r.known = entry.AccountID, true
	case rules.CommandDeleteEvent, rules.CommandEditSlots: // the entry alone holds which slots there are
		r.poll.WinningSlotID = entry.WinningSlotID
		r.known = r.known || entry.Command == rules.CommandDeleteEvent
	}
	return ""
}

// repair carries a direct edit through. A forgotten event shows in its times, or without those
// in an error that went.
func (r *replay) repair(entry poll.Entry) string {
	switch repair := rules.Repair(entry.Reason); repair {
	case rules.RepairCancel, rules.RepairReopen, rules.RepairRestore, rules.RepairLink, rules.RepairUnlink, rules.RepairRecord, rules.RepairSlots:
	default:
		return fmt.Sprintf("it says that %q repaired a direct edit, and nothing is called so", repair)
	}
	p := r.poll
	p.Status, p.WinningSlotID, p.GoogleEventID, p.GoogleCalendarID = entry.Status, entry.WinningSlotID, entry.EventID, entry.CalendarID
	noTimes, noError := !entry.Before.IsZero() && entry.After.IsZero(), p.Sync.Applied.IsZero() && p.Sync.Error != nil && entry.State != rules.StateError
	r.poll = transition.Repaired(p, entry, transition.Details{
		AnotherEvent: noTimes || noError, Awaiting: p.Sync.Rescheduled != nil && !entry.Rescheduled && !entry.After.IsZero(),
	})
	r.account, r.known = "", entry.Status == rules.Cancelled || entry.Status == rules.Open // then it follows no event
	return ""
}

// compare compares the state that was worked out with what the entry says.
func compare(state, after State) string {
	if state == after { // as a rule, and the simulation replays millions
		return ""
	}
	for _, d := range differences(state, after) {
		return fmt.Sprintf("it leaves %s %s; worked out again, it is %s", d.Field, cmp.Or(d.Stored, "empty"), cmp.Or(d.Journal, "empty"))
	}
	return ""
}

// take makes the poll what an entry says, and keeps what was observed before.
func (r *replay) take(entry poll.Entry) {
	after, observed := stateAfter(entry), r.poll.Sync.Observed
	switch changes := (rules.Decision{Action: entry.Decision}).Changes(); {
	case entry.Command == rules.CommandFinalise:
		observed = entry.Updated // of another event
	case changes && entry.EventState != "" && entry.Decision != rules.MoveCalendar:
		observed = rules.Newest(observed, entry.Updated)
	}
	r.known = false
	r.poll = poll.Poll{Status: after.Status, WinningSlotID: after.WinningSlotID, HasCancelledAt: after.Cancelled, Sync: poll.Sync{
		State: after.State, Baseline: after.Baseline, Applied: after.Applied, Observed: observed, Awaited: r.poll.Sync.Awaited,
	}}
	if after.Error != "" {
		r.poll.Sync.Error = &poll.SyncError{Code: after.Error}
	}
	if after.Rescheduled {
		r.poll.Sync.Rescheduled = &poll.Rescheduled{ToSlotID: after.WinningSlotID}
	}
}

// stateAfter is the poll as an entry says it is afterwards.
func stateAfter(entry poll.Entry) State {
	after := State{
		Status: entry.Status, State: entry.State, Error: entry.Error, WinningSlotID: entry.WinningSlotID,
		Rescheduled: entry.Rescheduled, Cancelled: entry.Cancelled, Baseline: entry.Baseline, Applied: entry.After,
	}
	if entry.Decision == rules.Record && entry.EventState != "" {
		after.Applied = entry.Before // the observation was not applied
	}
	return after
}
