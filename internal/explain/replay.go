package explain

import (
	"fmt"
	"strings"
	"time"

	"questscheduler/internal/poll"
	"questscheduler/rules"
)

// Standing is what a journal gives back of a poll.
type Standing struct {
	Status        rules.Status
	State         rules.State
	Error         rules.ErrorCode
	WinningSlotID string
	Rescheduled   bool
	// Cancelled tells whether a mark of a cancellation is in the poll.
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

// Replayed is what came of a replay.
type Replayed struct {
	Standing Standing
	// Partial tells that the journal begins in the middle: the poll was there
	// before it, or older entries are no longer kept (poll.RemoveOldEntries). The
	// first entry is then taken as it stands, and what it does not tell is learnt
	// from those that follow: any entry can be the oldest.
	Partial bool
	// Breaks are the entries that do not follow. After one the replay goes on
	// from what it says.
	Breaks []Break
}

// outsideEdit is the hint of entries that record what somebody wrote into the
// documents directly.
const outsideEdit = "outside_edit"

// Replay works a poll's state out again from its journal, oldest entry first:
// a command by rules.Apply, an observation by rules.Decide on the state before
// it, which must come out as the entry says. Of a direct edit, the status and
// the slot that somebody wrote are the entry's word, and the rest is what sets
// it right. For each entry all of the state is compared that it leaves.
//
// Entries from before their inputs were kept do not say whether a watch channel
// lived, whether a person confirmed a cancellation, and when the winning slot
// ended; there, a decision that follows for either answer follows.
func Replay(entries []poll.Entry) Replayed {
	r := replay{at: Standing{Status: rules.Open}, times: map[string]rules.Fingerprint{}}
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
		r.remember(entry)
	}
	result.Standing = r.at
	return result
}

// replay is a poll's state between two entries.
type replay struct {
	at Standing
	// link is the event that the poll follows; known tells whether that can be
	// told, since polls were linked before there was a journal.
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
	// times are those of the slots that won, as far as the journal tells.
	times map[string]rules.Fingerprint
}

// step carries an entry out. It gives why the entry does not follow, or "".
func (r *replay) step(entry poll.Entry, first bool) string {
	if !first && entry.Before != r.at.Applied {
		return fmt.Sprintf("it begins at %s, and the one before ended at %s", told(entry.Before), told(r.at.Applied))
	}
	if entry.Generation < r.generation {
		return fmt.Sprintf("its generation is %d, and the one before had %d", entry.Generation, r.generation)
	}
	next := *r
	var problem string
	switch {
	case entry.Hint == outsideEdit:
		problem = next.mended(entry)
	case entry.Command != "":
		problem = next.command(entry)
	case entry.Seen != "":
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

// observe decides again what was seen of the event.
func (r *replay) observe(entry poll.Entry) string {
	seen, ok := seenNames[entry.Seen]
	if !ok {
		return fmt.Sprintf("it saw the event %q, which is no way an event can look", entry.Seen)
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
	sight := rules.Observation{
		Link: link, Seen: seen, Fingerprint: entry.Fingerprint, Updated: entry.Updated, AccountLive: true, Asked: entry.Who != "",
		Fresh: true, // one that was not decided nothing
	}
	decision, ok := r.decide(state, sight, entry)
	if !ok {
		return fmt.Sprintf("it says %s (%s); decided again, it is %s (%s)", entry.Decision, entry.Reason, decision.Action, decision.Row)
	}
	r.apply(decision, entry)
	return ""
}

// decide decides again, and tells whether that comes out as the entry says. It
// looks for inputs for which it does, where the entry has none; where there are
// none it gives one of the other decisions.
func (r *replay) decide(state rules.Poll, seen rules.Observation, entry poll.Entry) (decision rules.Decision, follows bool) {
	for _, in := range r.inputs(entry) {
		state.Winning, state.Original, state.Timely = in.Winning, in.Original, in.Timely
		state.MovedAt, state.FinalizedAt = in.MovedAt, in.FinalizedAt
		seen.WatchLive, seen.Confirmed = in.WatchLive, in.Confirmed
		seen.Elsewhere = in.MovedTo != poll.Place{}
		decision = rules.Decide(state, seen, in.Now)
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
	for _, winning := range []rules.Fingerprint{r.times[r.at.WinningSlotID], {}, r.lastKnown(entry)} {
		for _, watchLive := range []bool{false, true} {
			for _, confirmed := range []bool{false, true} {
				all = append(all, poll.Inputs{Now: entry.At, Winning: winning, WatchLive: watchLive, Confirmed: confirmed})
			}
		}
	}
	return all
}

// lastKnown is where the event was when the entry was written.
func (r *replay) lastKnown(entry poll.Entry) rules.Fingerprint {
	for _, at := range []rules.Fingerprint{entry.Fingerprint, r.at.Applied, r.at.Baseline} {
		if !at.IsZero() {
			return at
		}
	}
	return rules.Fingerprint{}
}

// compare holds the state that was worked out against what the entry says of
// it.
func (r *replay) compare(entry poll.Entry) string {
	after := standingAfter(entry)
	if r.at == after { // as a rule, and the simulation replays millions
		return ""
	}
	for _, d := range differences(r.at, after) {
		return fmt.Sprintf("it leaves %s %s; worked out again, it is %s", d.Field, or(d.Stored, "empty"), or(d.Journal, "empty"))
	}
	return ""
}

// take makes an entry's own word the state.
func (r *replay) take(entry poll.Entry) {
	r.at = standingAfter(entry)
	r.link, r.known = rules.Link{}, false
	r.from, r.to = "", ""
	if entry.Rescheduled {
		r.to = entry.WinningSlotID
	}
	switch {
	case entry.Command == rules.CommandFinalise:
		r.observed = entry.Updated // of another event
	case applied(entry):
		r.observed = rules.Newest(r.observed, entry.Updated)
	}
}

// applied tells whether what an entry saw was taken over: only that makes what is
// older not count. Of an entry in the middle of a journal no more is known of
// what was seen before it.
func applied(entry poll.Entry) bool {
	if entry.Decision == rules.MoveCalendar { // it saw no more than that the event was gone
		return false
	}
	return entry.Command == rules.CommandFinalise || rules.Decision{Action: entry.Decision}.Changes() && entry.Seen != ""
}

// remember keeps of an entry what the next ones are held against, and the time
// of the slot that it lets win.
func (r *replay) remember(entry poll.Entry) {
	r.generation = max(r.generation, entry.Generation)
	setsTime := entry.Command == rules.CommandFinalise ||
		entry.Decision == rules.Reschedule || entry.Decision == rules.RescheduleAgain
	if setsTime {
		r.times[entry.WinningSlotID] = entry.Fingerprint
	}
}

// standingAfter is the poll as an entry says it is afterwards.
func standingAfter(entry poll.Entry) Standing {
	after := Standing{
		Status: entry.Status, State: entry.State, Error: entry.Error, WinningSlotID: entry.WinningSlotID,
		Rescheduled: entry.Rescheduled, Cancelled: entry.Cancelled, Baseline: entry.Baseline, Applied: entry.After,
	}
	if entry.Decision == rules.Record && entry.Seen != "" {
		after.Applied = entry.Before // what was seen was not applied
	}
	return after
}

var seenNames = map[string]rules.Seen{
	"present": rules.Present, "gone": rules.Gone, "series": rules.Series, "unreadable": rules.Unreadable,
}
