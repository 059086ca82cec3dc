package worldtest

import (
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"

	"questscheduler/internal/discord"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/rules"
)

// judgePress judges a commit that may be an effect of a press: it is recorded, and there is one. A
// vote lands in an open poll. Any other commit of somebody's vote ends what their press made of it.
func (w *World) judgePress(written []store.Path) {
	p := w.pressing
	for _, path := range written {
		switch path.Collection() {
		case allVotes.Collection:
			if p == nil || !p.Voting || path != poll.VotePath(p.Poll, p.By) {
				delete(w.presses.votes, path)
				continue
			}
			p.voted++
			w.presses.votes[path] = p
			w.judgeEffect(p, "vote", p.voted)
			status := poll.Decode(w.observed.document(poll.Path(p.Poll))).Status
			if status != rules.Open {
				w.wrong("a vote of %s by press %s landed in poll %s, which is %s", p.By, p.ID, p.Poll, status)
			}
			w.judgeSlots(p)
		case allPolls.Collection:
			if p != nil && p.Slots > 0 && p.Poll == "" && path.ID() == p.Makes() {
				w.judgeMade(p, path, written)
			}
		}
	}
}

// SlotsOf are the slots of a poll, read as no read of the program.
func (w *World) SlotsOf(pollID string) []poll.Slot {
	w.t.Helper()
	slots, err := poll.LoadSlots(w.ctx, w.observed.stored, pollID)
	w.must(err)
	return slots
}

// judgeSlots: the slots of a poll count each vote once, and are those that were shown.
func (w *World) judgeSlots(p *Press) {
	slots := w.SlotsOf(p.Poll)
	votes, err := poll.LoadVotes(w.ctx, w.observed.stored, p.Poll)
	w.must(err)
	isSame := func(a, b poll.Slot) bool { return a.ID == b.ID && a.Start.Equal(b.Start) && a.End.Equal(b.End) }
	if !slices.EqualFunc(slots, p.Shown, isSame) {
		w.wrong("press %s of %s voted for slots that have other times since", p.ID, p.By)
	}
	for _, slot := range slots {
		feasible, preferred := poll.Count(votes, slot.ID)
		if slot.Feasible != feasible || slot.Preferred != preferred {
			w.wrong("slot %s of poll %s counts %d and %d votes after press %s, and they are %d and %d",
				slot.ID, p.Poll, slot.Feasible, slot.Preferred, p.ID, feasible, preferred)
		}
	}
}

// judgeMade judges the commit that makes a poll by a press, or changes it.
func (w *World) judgeMade(p *Press, path store.Path, written []store.Path) {
	slots := 0
	for _, other := range written {
		if other.Collection() == allSlots.Collection && other.Below(path) && w.observed.document(other).Exists() {
			slots++
		}
	}
	p.made++
	w.judgeEffect(p, "poll", p.made)
	if slots != p.Slots {
		w.wrong("press %s made a poll with %d of %d slots", p.ID, slots, p.Slots)
	}
}

// judgeCommanded judges a new entry of a journal: a press commands once.
func (w *World) judgeCommanded(entry poll.JournalEntry) {
	id, ours := strings.CutPrefix(entry.Trace, pressTrace)
	p := w.presses.byID[id]
	restored := entry.Decision == rules.Restore && entry.Who != ""
	if !ours || p == nil || entry.Trigger != "discord" || entry.Command == "" && !restored {
		return
	}
	p.commanded++
	w.judgeEffect(p, "command", p.commanded)
}

// forgetVotes: the votes of a poll that is deleted.
func (w *World) forgetVotes(tree store.Path) {
	maps.DeleteFunc(w.presses.votes, func(path store.Path, _ *Press) bool { return path.Below(tree) })
}

func (w *World) judgeEffect(p *Press, what string, times int) {
	if times > 1 {
		w.wrong("press %s of %s took effect as a %s %d times", p.ID, p.By, what, times)
	}
	if !w.observed.document(discord.InteractionPath(p.ID)).Exists() {
		w.wrong("press %s of %s took effect as a %s, and that is not recorded", p.ID, p.By, what)
	}
}

// effects is how often a press took effect.
func (p Press) effects() int { return p.voted + p.commanded + p.made }

// unsure begin the texts after which a press may have had an effect or not.
var unsure = []string{"That did not work.", "That takes longer than Discord waits."}

// judgeTold judges the answer to a press, of that age by the program's clock, as it was before and
// after: what is too old is refused, and nothing else is; a vote that is confirmed was given by this
// delivery, and one that is refused was not.
func (w *World) judgeTold(before, p Press, told Told, age time.Duration) {
	isUnsure := slices.ContainsFunc(unsure, func(text string) bool { return strings.HasPrefix(told.Text, text) })
	confirms := strings.HasPrefix(told.Text, "Your vote")
	now := p.effects() - before.effects()
	switch {
	case age > oldest:
		if told.Status != http.StatusBadRequest || now > 0 {
			w.wrong("press %s, which is %v old, was answered with %d %q", p.ID, age, told.Status, told.Text)
		}
	case told.Status != http.StatusOK:
		w.wrong("press %s, which is %v old, was answered with %d", p.ID, age, told.Status)
	case isUnsure:
	case told.Text == "Done already.":
		if p.effects() == 0 && p.Voting {
			w.wrong("press %s of %s is done already, they are told, and it did nothing", p.ID, p.By)
		}
	case p.Voting && confirms != (now == 1):
		w.wrong("press %s of %s voted %d times, and they are told: %s", p.ID, p.By, now, told.Text)
	}
}

// GivenProblems says which votes are not in their polls as they were given last, by a press that
// nothing has changed since. Some of these nobody heard of: their effect was all there.
func (w *World) GivenProblems() (problems []string) {
	for _, path := range slices.Sorted(maps.Keys(w.presses.votes)) {
		p, document := w.presses.votes[path], w.observed.document(path)
		f := store.Fields(document.Data)
		given := map[string]any{}
		for slot, choice := range p.Vote {
			given[slot] = choice
		}
		if !document.Exists() || !reflect.DeepEqual(map[string]any(f.Map("votes")), given) ||
			f.Bool("noTimesWork") || f.String("voterId") != p.By || f.String("lastVotedFrom") != "discord" {
			problems = append(problems, fmt.Sprintf("the vote of %s in poll %s by press %s is %v, and not %v",
				p.By, p.Poll, p.ID, document.Data, given))
		}
	}
	return problems
}
