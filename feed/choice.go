package feed

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"questscheduler/internal/poll"
	"questscheduler/rules"
)

// Anybody can name anybody in any number of polls, so polls that only name a person must not
// displace those that they consented to (poll.Consented).
const (
	// MostNamedByCreator is how many polls of one creator that only name the person a feed holds,
	// unless the person is acquainted with the creator: they consented to another poll of theirs,
	// or share a group.
	MostNamedByCreator = 3
	// MostNamed is how many such polls a feed holds of all creators.
	MostNamed = 50
)

// candidates are the polls that a feed may hold.
type candidates struct {
	userID string
	// groups are the person's as far as they are known: of their other people those alone who created
	// polls for which the groups were read, since these prove consent to no others (poll.Poll.ByGroup).
	groups []poll.Group
	// since is from when on cancelled sessions are shown.
	since time.Time
	// polls have a session to show and name the person, each once.
	polls []poll.Poll
	// makers are the creators of polls.
	makers map[string]bool
	// consented are the ids of those that the person consented to.
	consented map[string]bool
	// creators are those with whom the person is acquainted by a poll, fellows those by a group.
	creators, fellows map[string]bool
	// circle are the fellows in the order in which their groups were found.
	circle []string
}

// mostFellows bounds how many fellows are kept of people who made none of the known polls: anybody
// can make large groups.
const mostFellows = 10_000

// choice is what a feed holds: at most MaxSessions polls, and the ids of those that only name the
// person.
type choice struct {
	polls []poll.Poll
	named map[string]bool
}

// choose chooses among the candidates: first those that the person consented to, then those of
// acquaintances, then those of strangers within their bounds; of each the ones made last. cut
// reports whether strangers' polls are left out: somebody may yet turn out to be acquainted.
func (c candidates) choose() (chosen choice, cut bool) {
	newest := slices.SortedFunc(slices.Values(c.polls), func(a, b poll.Poll) int {
		return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), strings.Compare(a.ID, b.ID))
	})
	var acquainted, strangers []poll.Poll
	byCreator := map[string]int{}
	for _, p := range newest {
		switch {
		case c.consented[p.ID]:
			chosen.polls = append(chosen.polls, p)
		case c.acquainted(p.CreatorID):
			acquainted = append(acquainted, p)
		case byCreator[p.CreatorID] < MostNamedByCreator && len(strangers) < MostNamed:
			byCreator[p.CreatorID]++
			strangers = append(strangers, p)
		default:
			cut = true
		}
	}
	chosen.polls = slices.Concat(chosen.polls, acquainted, strangers)
	chosen.polls = chosen.polls[:min(len(chosen.polls), MaxSessions)]
	chosen.named = map[string]bool{}
	for _, p := range chosen.polls {
		if !c.consented[p.ID] {
			chosen.named[p.ID] = true
		}
	}
	return chosen, cut
}

// acquainted reports whether a creator's polls are shown although they only name the person.
func (c candidates) acquainted(creatorID string) bool {
	return c.creators[creatorID] || c.fellows[creatorID]
}

// add adds polls of which some may be known already, or have nothing to show the person: sessions
// that were cancelled long ago, and polls that never had one.
func (c *candidates) add(polls []poll.Poll) {
	known := make(map[string]bool, len(c.polls))
	for _, p := range c.polls {
		known[p.ID] = true
	}
	for _, p := range polls {
		shown := p.HasSession() && p.WinningSlotID != "" && (p.Status != rules.Cancelled || !cancelledAt(p).Before(c.since))
		if !known[p.ID] && shown && slices.Contains(p.ParticipantIDs, c.userID) {
			known[p.ID], c.makers[p.CreatorID] = true, true
			c.polls = append(c.polls, p)
		}
	}
}

// join adds a group that the person belongs to, with those of creators who do. Of a known one it adds
// these alone.
func (c *candidates) join(group poll.Group, creators []string) {
	if at := slices.IndexFunc(c.groups, func(known poll.Group) bool { return known.ID == group.ID }); at >= 0 {
		c.groups[at] = c.groups[at].WithAlso(group, creators...)
		return
	}
	c.groups = append(c.groups, group.Brief(append(slices.Clone(creators), c.userID)...))
	for _, id := range append([]string{group.CreatorID}, group.MemberIDs...) {
		if !c.fellows[id] && (c.makers[id] || len(c.circle) < mostFellows) {
			c.fellows[id] = true
			c.circle = append(c.circle, id)
		}
	}
}

// meet makes the person acquainted with the creators of those of polls that they consented to.
func (c *candidates) meet(polls []poll.Poll, consented map[string]bool) {
	for _, p := range polls {
		if consented[p.ID] {
			c.creators[p.CreatorID] = true
		}
	}
}
