package feed

import (
	"context"
	"maps"
	"slices"

	"questscheduler/internal/poll"
)

// choose reads and chooses the polls of a person's feed.
//
// As a rule one query finds them all. Where it ends before it has, or bounds leave polls of
// strangers out, everything that the person consented to is read by its proof, however often others
// named them since, and then what acquaintances named them in. So a stranger cannot push a session out,
// however many polls they make, and costs the feed a bounded number of reads (docs/feed.md).
func (s *Service) choose(ctx context.Context, userID string) (choice, error) {
	groups, err := s.groupsOf(ctx, userID)
	if err != nil {
		return choice{}, err
	}
	newest, err := poll.Sessions(ctx, s.Store, userID, MaxSessions)
	if err != nil {
		return choice{}, err
	}
	c := candidates{
		userID: userID, groups: groups, since: s.Now().Add(-KeepCancelled), creators: map[string]bool{}, fellows: map[string]bool{},
	}
	for _, group := range groups {
		for _, id := range append(group.MemberIDs, group.CreatorID) {
			c.fellows[id] = true
		}
	}
	c.add(newest)
	if c.consented, err = poll.ConsentedTo(ctx, s.Store, userID, c.polls, groups); err != nil {
		return choice{}, err
	}
	c.meet(c.polls, c.consented)
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

// groupsOf are the groups (poll.Memberships) that a person belongs to by choice.
func (s *Service) groupsOf(ctx context.Context, userID string) ([]poll.Group, error) {
	groups, err := poll.Memberships(ctx, s.Store, userID)
	if err != nil {
		return nil, err
	}
	poll.TrustLists(s.MembersListed, poll.Pointers(groups)...)
	if err := poll.Prove(ctx, s.Store, []string{userID}, poll.Pointers(groups)...); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(groups, func(group poll.Group) bool { return !group.ByChoice(userID) }), nil
}

// prove adds the polls that the person consented to and that the newest do not hold, and the
// acquaintances by polls of every status. With more, it adds acquaintances' other polls too.
func (s *Service) prove(ctx context.Context, c *candidates, more bool) error {
	proven, err := poll.ProvenPolls(ctx, s.Store, c.userID, c.groups, MaxSessions)
	if err != nil {
		return err
	}
	unknown := slices.DeleteFunc(proven, func(p poll.Poll) bool { return c.consented[p.ID] })
	consented, err := poll.ConsentedTo(ctx, s.Store, c.userID, unknown, c.groups)
	if err != nil {
		return err
	}
	c.meet(unknown, consented)
	c.add(unknown)
	for id := range consented {
		c.consented[id] = true
	}
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
	for _, id := range slices.Concat(slices.Sorted(maps.Keys(c.creators)), slices.Sorted(maps.Keys(c.fellows))) {
		add(id)
	}
	return people
}
