package groupevents

import (
	"slices"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/mirror"
)

// Bounds on what one author puts into the calendars of a group's members.
const (
	// MaxPerDay is how many events an author makes in a group in a day of UTC. Deleting one
	// gives nothing back: each cost every connected account two writes.
	MaxPerDay = 200
	// MaxPresent is how many events of an author a group has. Deleted ones do not count, ended
	// ones do until they are removed (Keep).
	MaxPresent = 1000
	// MaxSwitches is how often a person connects accounts to a group, or turns sharing on or off,
	// in a day of UTC: each may write all events of the group anew.
	MaxSwitches = 20
)

// Codes of Create's errors at these bounds.
const (
	CodePerDay  = "group_events_today" // RateLimited, until the next day of UTC
	CodePresent = "too_many_events"    // Conflict
)

// CodeSwitches is the code of the RateLimited error at MaxSwitches, until the next day of UTC.
const CodeSwitches = "group_connections_today"

// authored counts the events of one author in a group.
type authored struct {
	AuthorID string
	// Day is the day of UTC in which Today were made.
	Day     time.Time
	Today   int64
	Present int64
	// Switches counts the connections and changes of sharing in Day.
	Switches int64
}

// author gives the place of a person's counts in a state of its own; those of another day are
// zero.
func (g groupState) author(personID string, now time.Time) (next groupState, author *authored, today time.Time) {
	today = now.UTC().Truncate(24 * time.Hour)
	g.Authors = slices.DeleteFunc(slices.Clone(g.Authors), func(a authored) bool {
		return a.Present == 0 && !a.Day.Equal(today) && a.AuthorID != personID
	})
	i := slices.IndexFunc(g.Authors, func(a authored) bool { return a.AuthorID == personID })
	if i < 0 {
		g.Authors = append(g.Authors, authored{AuthorID: personID})
		i = len(g.Authors) - 1
	}
	author = &g.Authors[i]
	if !author.Day.Equal(today) {
		author.Day, author.Today, author.Switches = today, 0, 0
	}
	return g, author, today
}

// switching is the state after a person connected an account, or turned sharing on or off.
// RateLimited: they did so MaxSwitches times today.
func (g groupState) switching(personID string, now time.Time) (groupState, error) {
	g, person, today := g.author(personID, now)
	if person.Switches >= MaxSwitches {
		return g, &fault.Error{
			Kind: fault.RateLimited, Own: true, Code: CodeSwitches, RetryAfter: today.AddDate(0, 0, 1).Sub(now),
			Message: "You have connected accounts or changed the sharing of sessions in this group 20 times today. Go on tomorrow (UTC).",
		}
	}
	person.Switches++
	return g, nil
}

// counting is the state after its author made one event more. RateLimited, Conflict: the
// author may not.
func (g groupState) counting(authorID string, now time.Time) (groupState, error) {
	g, author, today := g.author(authorID, now)
	switch {
	case author.Present >= MaxPresent:
		return g, &fault.Error{
			Kind: fault.Conflict, Code: CodePresent,
			Message: "This group has 1000 events of yours, as many as one author may have. Delete some of them first.",
		}
	case author.Today >= MaxPerDay:
		return g, &fault.Error{
			Kind: fault.RateLimited, Own: true, Code: CodePerDay, RetryAfter: today.AddDate(0, 0, 1).Sub(now),
			Message: "You have made 200 events in this group today. Make more tomorrow (UTC), or change one that you made.",
		}
	}
	author.Today++
	author.Present++
	return g, nil
}

// takingOver is the state after an event became a person's, also beyond MaxPresent.
func (g groupState) takingOver(authorID string, now time.Time) groupState {
	g, author, _ := g.author(authorID, now)
	author.Present++
	return g
}

// discounting is the state after an event was deleted, or removed since it ended long ago.
func (g groupState) discounting(e mirror.Event) groupState {
	g.Authors = slices.Clone(g.Authors)
	for i := range g.Authors {
		if author := &g.Authors[i]; author.AuthorID == e.OwnerID {
			author.Present = max(author.Present-1, 0)
		}
	}
	return g
}
