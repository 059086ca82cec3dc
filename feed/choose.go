package feed

import (
	"context"
	"maps"
	"slices"

	"questscheduler/internal/poll"
)

// The polls of a person's groups that a feed reads where the newest sessions do not suffice.
const (
	// mostOfProven is for groups of polls that the person created, joined or voted in.
	mostOfProven = 4 * MaxSessions
	// mostOfOthers is for the other groups that list the person. A stranger can make those.
	mostOfOthers = MaxSessions
)

// choose reads and chooses the polls of a person's feed.
//
// As a rule one query finds them all. Where it ends before it has, or bounds leave polls of
// strangers out, everything that the person consented to is read by its proof, however often others
// named them since, and then what acquaintances named them in. So a stranger cannot push a session out,
// however many polls they make, and costs the feed a bounded number of reads (docs/feed.md).
func (s *Service) choose(ctx context.Context, userID string) (choice, error) {
	newest, err := poll.Sessions(ctx, s.Store, userID, MaxSessions)
	if err != nil {
		return choice{}, err
	}
	c := candidates{
		userID: userID, since: s.Now().Add(-KeepCancelled), makers: map[string]bool{},
		consented: map[string]bool{}, creators: map[string]bool{}, fellows: map[string]bool{},
	}
	c.add(newest)
	if _, err := s.joinGroups(ctx, &c, c.polls); err != nil {
		return choice{}, err
	}
	if err := s.learn(ctx, &c, c.polls); err != nil {
		return choice{}, err
	}
	chosen, cut := c.choose()
	full := len(newest) == MaxSessions && len(c.consented) < MaxSessions
	if !cut && !full {
		return chosen, nil
	}
	if err := s.prove(ctx, &c, full); err != nil {
		return choice{}, err
	}
	chosen, _ = c.choose()
	return chosen, nil
}

// joinGroups adds the groups of polls that the person belongs to, with the polls' creators in them, and
// returns their ids. They are read by their ids: a list of the person's groups may hold any number of
// others' before them.
func (s *Service) joinGroups(ctx context.Context, c *candidates, polls []poll.Poll) (ids []string, err error) {
	creators := poll.Creators(polls)
	for group, err := range poll.GroupsOfPolls(ctx, s.Store, s.MembersListed, c.userID, polls) {
		if err != nil {
			return ids, err
		}
		ids = append(ids, group.ID)
		c.join(group, creators)
	}
	return ids, nil
}

// learn finds to which of polls the person consented, and so with whom they are acquainted. The
// polls' groups are known.
func (s *Service) learn(ctx context.Context, c *candidates, polls []poll.Poll) error {
	unknown := slices.DeleteFunc(slices.Clone(polls), func(p poll.Poll) bool { return c.consented[p.ID] })
	consented, err := poll.ConsentedTo(ctx, s.Store, c.userID, unknown, c.groups)
	if err != nil {
		return err
	}
	c.meet(unknown, consented)
	maps.Copy(c.consented, consented)
	return nil
}

// prove adds the polls that the person consented to and that the newest do not hold, and the
// acquaintances by polls of every status and by groups. With more, it adds acquaintances' other
// polls too.
func (s *Service) prove(ctx context.Context, c *candidates, more bool) error {
	proven, err := poll.ProvenPolls(ctx, s.Store, c.userID, MaxSessions)
	if err != nil {
		return err
	}
	first, err := s.joinGroups(ctx, c, proven)
	if err != nil {
		return err
	}
	for group, err := range poll.Memberships(ctx, s.Store, s.MembersListed, c.userID) {
		if err != nil {
			return err
		}
		c.join(group, nil)
	}
	inGroups, err := s.groupPolls(ctx, c, first)
	if err != nil {
		return err
	}
	// Which creators of these belong to the groups was not known when the groups were read.
	if _, err := s.joinGroups(ctx, c, c.unclear(inGroups)); err != nil {
		return err
	}
	found := append(proven, inGroups...)
	if err := s.learn(ctx, c, found); err != nil {
		return err
	}
	c.add(found)
	if !more {
		return nil
	}
	named, err := poll.SessionsNaming(ctx, s.Store, c.userID, c.acquaintances(), MaxSessions)
	if err != nil {
		return err
	}
	c.add(named)
	return nil
}

// groupPolls reads the polls of the person's groups that name them, of the first groups before the
// others, which may displace none of theirs.
func (s *Service) groupPolls(ctx context.Context, c *candidates, first []string) ([]poll.Poll, error) {
	var others []string
	for _, group := range c.groups {
		if !slices.Contains(first, group.ID) {
			others = append(others, group.ID)
		}
	}
	ofFirst, err := poll.GroupPolls(ctx, s.Store, c.userID, first, MaxSessions, mostOfProven)
	if err != nil {
		return nil, err
	}
	ofOthers, err := poll.GroupPolls(ctx, s.Store, c.userID, others, MaxSessions, mostOfOthers)
	return append(ofFirst, ofOthers...), err
}

// unclear are those of polls for whose creators their known groups were not read.
func (c candidates) unclear(polls []poll.Poll) []poll.Poll {
	groups := make(map[string]*poll.Group, len(c.groups))
	for i := range c.groups {
		groups[c.groups[i].ID] = &c.groups[i]
	}
	return slices.DeleteFunc(slices.Clone(polls), func(p poll.Poll) bool { return groups[p.GroupID].Has(p.CreatorID) })
}

// acquaintances are the ids of everybody with whom the person is acquainted, by polls first.
func (c candidates) acquaintances() (people []string) {
	listed := map[string]bool{c.userID: true, "": true}
	add := func(id string) {
		if !listed[id] {
			listed[id] = true
			people = append(people, id)
		}
	}
	for _, p := range c.polls { // the newest first
		if c.creators[p.CreatorID] {
			add(p.CreatorID)
		}
	}
	for _, id := range slices.Concat(slices.Sorted(maps.Keys(c.creators)), c.circle) {
		add(id)
	}
	return people
}
