package explain

import (
	"cmp"
	"fmt"
	"strings"

	"questscheduler/internal/poll"
	"questscheduler/rules"
	"questscheduler/transition"
)

// replay is a poll between two entries, as far as its journal holds it. A journal may begin
// in the middle: what its first entry does not say (the linked event, the slot before a
// reschedule) is then learnt from the entries that follow.
type replay struct {
	poll poll.Poll
	// account is the linked event's. linkKnown reports whether it is known which event is linked.
	account    string
	linkKnown  bool
	generation int64 // of the last entry
}

// replayAll computes a poll's state again from its journal, oldest entry first, by the
// functions that made its transitions: a command that rules.Apply accepts, an observation by
// rules.Decide on the state before it and the entry's inputs, which has to decide what the
// entry says. The status, slot and event of a direct edit are taken from its entry. The whole
// state after each entry is compared; after a break the replay goes on from what the entry
// says.
func replayAll(entries []poll.JournalEntry) (state State, partial bool, breaks []Break) {
	r, breaks := replay{poll: poll.Poll{Status: rules.Open}}, []Break{}
	for i, entry := range entries {
		first := i == 0
		partial = partial || first && !entry.Before.IsZero()
		if problem := r.step(entry, first); problem != "" {
			if first && entry.Command != rules.CommandFinalise { // which depends on nothing before it
				partial = true
			} else {
				breaks = append(breaks, Break{Entry: entry.ID, At: entry.At, What: problem})
			}
			r.take(entry)
		}
		r.number(max(r.generation, entry.Generation))
	}
	return stateOf(r.poll), partial, breaks
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

// step carries an entry out. It returns why the entry does not follow, or "".
func (r *replay) step(entry poll.JournalEntry, first bool) string {
	if applied := r.poll.Sync.Applied; !first && entry.Before != applied {
		return fmt.Sprintf("it begins at %s, and the one before ended at %s", timeText(entry.Before), timeText(applied))
	}
	if entry.Generation < r.generation {
		return fmt.Sprintf("its generation is %d, and the one before had %d", entry.Generation, r.generation)
	}
	next := *r
	var problem string
	switch {
	case entry.Trigger == transition.OutsideEdit:
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
func (r *replay) observe(entry poll.JournalEntry) string {
	state, ok := transition.EventStateNamed(entry.EventState)
	switch {
	case !ok:
		return fmt.Sprintf("it observed the event state %q, which does not exist", entry.EventState)
	case entry.Inputs == nil:
		return fmt.Sprintf("it observed the event state %q without the inputs of a decision", entry.EventState)
	}
	link := rules.Link{Account: entry.AccountID, Calendar: entry.CalendarID, Event: entry.EventID, Generation: entry.Generation}
	r.learn(entry, link)
	r.number(entry.Generation)
	known, in := r.poll.Rules(r.account, nil, nil), *entry.Inputs
	known.Winning, known.Original, known.Timely, known.MovedAt, known.FinalizedAt = in.Winning, in.Original, in.Timely,
		in.MovedAt, in.FinalizedAt
	decision := rules.Decide(known, rules.Observation{
		Link: link, EventState: state, Fingerprint: entry.Fingerprint, Updated: entry.Updated, AccountLive: true, Asked: entry.Who != "",
		WatchLive: in.WatchLive, Confirmed: in.Confirmed, Elsewhere: in.MovedTo != poll.Place{},
		Fresh: true, // one that was not decided nothing
	}, in.Now)
	row, _, _ := strings.Cut(entry.Reason, ":") // an adoption says more behind the row
	if decision.Action != entry.Decision || decision.Row != row || decision.State != entry.State || decision.Error != entry.Error {
		return fmt.Sprintf("it says %s (%s); decided again, it is %s (%s)", entry.Decision, entry.Reason, decision.Action, decision.Row)
	}
	if !decision.Changes() {
		return ""
	}
	switch decision.Action {
	case rules.Revive:
		r.account = r.poll.Sync.Awaited.Link.Account
	case rules.MoveCalendar:
		r.account = in.MovedTo.AccountID
	}
	r.poll = transition.Observed(r.poll, decision, entry)
	return ""
}

// learn takes from an observation what the entries before it do not say, since the journal
// begins in the middle.
func (r *replay) learn(entry poll.JournalEntry, link rules.Link) {
	p := &r.poll
	if entry.Decision == rules.Revive {
		if p.Sync.Awaited == nil && !r.linkKnown { // the cancellation is not in the journal
			p.Sync.Awaited = &poll.Awaited{Link: link, Until: entry.At.Add(rules.AwaitFor)}
		}
		p.GoogleEventID, r.linkKnown = "", true
	}
	if !r.linkKnown {
		r.account, p.GoogleCalendarID, p.GoogleEventID, r.linkKnown = link.Account, link.Calendar, link.Event, true
	}
}

// syncError is an entry about an error of the sync that was set, or is over.
func (r *replay) syncError(entry poll.JournalEntry) string {
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
func (r *replay) command(entry poll.JournalEntry) string {
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
		r.account, r.linkKnown = entry.AccountID, true
	case rules.CommandDeleteEvent, rules.CommandEditSlots: // the entry alone holds which slots there are
		r.poll.WinningSlotID = entry.WinningSlotID
		r.linkKnown = r.linkKnown || entry.Command == rules.CommandDeleteEvent
	}
	return ""
}

// repair carries a direct edit through. A forgotten event shows in its times, or without those
// in an error that went.
func (r *replay) repair(entry poll.JournalEntry) string {
	switch repair := rules.Repair(entry.Reason); repair {
	case rules.RepairCancel, rules.RepairReopen, rules.RepairRestore, rules.RepairLink, rules.RepairUnlink, rules.RepairRecord,
		rules.RepairSlots:
	default:
		return fmt.Sprintf("it says that %q repaired a direct edit, and nothing is called so", repair)
	}
	p := r.poll
	p.Status, p.WinningSlotID, p.GoogleEventID, p.GoogleCalendarID = entry.Status, entry.WinningSlotID, entry.EventID, entry.CalendarID
	noTimes, noError := !entry.Before.IsZero() && entry.After.IsZero(),
		p.Sync.Applied.IsZero() && p.Sync.Error != nil && entry.Error == ""
	more := transition.Details{
		AnotherEvent: noTimes || noError, Awaiting: p.Sync.Rescheduled != nil && !entry.Rescheduled && !entry.After.IsZero(),
	}
	if entry.Baseline != p.Sync.Baseline {
		more.Given = entry.Baseline
	}
	r.poll = transition.Repaired(p, entry, more)
	r.account, r.linkKnown = "", entry.Status == rules.Cancelled || entry.Status == rules.Open // then it follows no event
	return ""
}

// compare compares the state that was computed again with what the entry says.
func compare(state, after State) string {
	if state == after { // as a rule, and the simulation replays millions
		return ""
	}
	d := differing(fields(state, after))[0]
	return fmt.Sprintf("it leaves %s %s; worked out again, it is %s", d.Field, cmp.Or(d.Stored, "empty"), cmp.Or(d.Journal, "empty"))
}

// take makes the poll what an entry says, and keeps what was observed before.
func (r *replay) take(entry poll.JournalEntry) {
	after, observed := stateAfter(entry), r.poll.Sync.Observed
	switch changes := (rules.Decision{Action: entry.Decision}).Changes(); {
	case entry.Command == rules.CommandFinalise:
		observed = entry.Updated // of another event
	case changes && entry.EventState != "" && entry.Decision != rules.MoveCalendar:
		observed = rules.Newest(observed, entry.Updated)
	}
	r.linkKnown = false
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

// timeText is a fingerprint for a sentence.
func timeText(f rules.Fingerprint) string { return cmp.Or(f.String(), "no time") }
