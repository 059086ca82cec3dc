package interactions

import (
	"fmt"
	"strings"
	"time"

	"questscheduler/internal/poll"
	"questscheduler/scheduler"
)

const (
	// maxSlots is how many slots a form can offer: two selects for each answer.
	maxSlots      = 50
	maxOptions    = 25 // of one select
	maxFormTitle  = 45
	maxCustomID   = 100
	fieldBest     = "pref"
	fieldPossible = "feas"
	fieldNone     = "none"
)

// voteForm is the form by which a person votes for all slots of a poll at once, with their vote
// as it is. Its id names the poll and the slots that it shows, so nothing is stored until it is
// submitted. Over 25 slots each answer has two selects.
func voteForm(p poll.Poll, slots []poll.Slot, own poll.Vote, zone *time.Location, now time.Time) form {
	made := form{CustomID: idOf(submitVote, p.ID, poll.ShownSlots(slots)), Title: cut("Vote: "+p.Title, maxFormTitle)}
	for _, ask := range []struct{ field, choice, label string }{
		{fieldBest, poll.Preferred, "Best for me"}, {fieldPossible, poll.Feasible, "Works too"},
	} {
		for first := 0; first < len(slots); first += maxOptions {
			page := slots[first:min(first+maxOptions, len(slots))]
			options := make([]selectOption, len(page))
			for i, slot := range page {
				options[i] = selectOption{Label: timeOf(slot, zone, now), Value: slot.Option(), Default: own.Choices[slot.ID] == ask.choice}
			}
			made.Components = append(made.Components, component{
				Kind: componentLabel, Label: ask.label, Description: "Times in " + zone.String(),
				Component: &component{
					Kind: componentSelect, CustomID: fmt.Sprintf("%s%d", ask.field, first/maxOptions), Options: options,
					Placeholder: "None", MinValues: new(int), MaxValues: len(options), Required: new(bool),
				},
			})
		}
	}
	made.Components = append(made.Components, checkbox("None of the times work for me", fieldNone, own.NoTimesWork))
	return made
}

// voteOf is the vote of a submitted form. Of both answers for one slot, the better one counts.
func voteOf(fields map[string]field, shown scheduler.VoteForm) scheduler.Vote {
	vote := scheduler.Vote{Choices: map[string]string{}, NoTimesWork: fields[fieldNone].checked(), Form: &shown}
	for _, ask := range []struct{ field, choice string }{{fieldPossible, poll.Feasible}, {fieldBest, poll.Preferred}} {
		for id, field := range fields {
			if strings.HasPrefix(id, ask.field) {
				for _, option := range field.Values {
					vote.Choices[option] = ask.choice
				}
			}
		}
	}
	return vote
}

// said is a vote in words.
func said(vote poll.Vote, slots []poll.Slot, zone *time.Location, now time.Time) string {
	if vote.NoTimesWork {
		return "Your vote: none of the times work for you."
	}
	if len(vote.Choices) == 0 {
		return "Your vote is withdrawn."
	}
	lines := []string{"Your vote (times in " + zone.String() + "):"}
	marks := map[string]string{poll.Preferred: "★", poll.Feasible: "✓"}
	for _, slot := range slots {
		if mark := marks[vote.Choices[slot.ID]]; mark != "" {
			lines = append(lines, mark+" "+timeOf(slot, zone, now))
		}
	}
	return strings.Join(lines, "\n")
}

// timeOf is a slot's time, such as "Wed 2 Dec, 19:00–23:00"; with the year where it is another
// than today's.
func timeOf(slot poll.Slot, zone *time.Location, now time.Time) string {
	at := slot.Fingerprint()
	if at.AllDay { // its days are the same everywhere
		first, last := at.StartTime().UTC(), at.EndTime().UTC().AddDate(0, 0, -1)
		if last.After(first) {
			return dayOf(first, now) + " – " + dayOf(last, now) + ", all day"
		}
		return dayOf(first, now) + ", all day"
	}
	start, end := at.StartTime().In(zone), at.EndTime().In(zone)
	if start.Format(time.DateOnly) == end.Format(time.DateOnly) {
		return dayOf(start, now) + start.Format(", 15:04–") + end.Format("15:04")
	}
	return dayOf(start, now) + start.Format(", 15:04 – ") + dayOf(end, now) + end.Format(", 15:04")
}

func dayOf(at, now time.Time) string {
	if at.Year() == now.In(at.Location()).Year() {
		return at.Format("Mon 2 Jan")
	}
	return at.Format("Mon 2 Jan 2006")
}
