package scheduler

import (
	"context"
	"maps"
	"slices"

	"questscheduler/fault"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
)

// MostUnanswered is how many polls in a row, in the order of their creation, a creator may put a
// person into who consents to none of them.
const MostUnanswered = 3

// peopleAtOnce is for how many people a check reads votes at once: one is refused before the votes of
// all others are read.
const peopleAtOnce = 100

// naming is what is known of people whom a request is going to name in a poll, before the
// transaction that names them. Members of the poll's group, where the creator is one, and of any group of
// the creator's, may always be named. Others may not if they would then not have consented (poll.Consented) to more than
// MostUnanswered polls in a row that name them, so naming people in polls older than one that
// they answered is bounded, too.
type naming struct {
	people  []string // of whom it is known, up to the one who is refused
	answers poll.Answers
	fellows map[string]bool
	refused error
	listed  bool // that of poll.TrustLists
}

// inquire reads what check needs to know of people; a poll without an ID is being made. The
// creator's polls are read once for all people, and votes many at a time.
func inquire(ctx context.Context, reader store.Reader, listed bool, in poll.Poll, people []string) (n naming, err error) {
	group, err := poll.LoadGroup(ctx, reader, in.GroupID)
	if err != nil {
		return naming{}, err
	}
	poll.TrustLists(listed, group)
	others, err := outsiders(ctx, reader, in, group, people)
	if err != nil {
		return naming{}, err
	}
	n = naming{listed: listed, people: others, answers: poll.Answers{}, fellows: map[string]bool{}}
	if len(n.people) == 0 {
		return n, nil
	}
	namings, err := poll.LoadNamings(ctx, reader, in, n.people, MostUnanswered)
	if err != nil {
		return naming{}, err
	}
	for part := range slices.Chunk(n.people, peopleAtOnce) {
		answers, err := namings.Answers(ctx, reader, listed, part)
		if err != nil {
			return naming{}, err
		}
		maps.Copy(n.answers, answers)
		fellows, refused, err := n.strangers(ctx, reader, in.CreatorID, namings, part)
		if err != nil || refused != nil {
			n.refused = refused
			return n, err
		}
		maps.Copy(n.fellows, fellows)
	}
	return n, nil
}

// check refuses people whom a transaction newly names, by what was read before it. It reads the
// creator's polls again, so that requests at once cannot exceed the bound, and no votes but of people who
// were not inquired about.
func (n naming) check(ctx context.Context, tx store.Reader, in poll.Poll, group *poll.Group, people []string) error {
	poll.TrustLists(n.listed, group)
	named, err := outsiders(ctx, tx, in, group, people)
	if err != nil || len(named) == 0 {
		return err
	}
	if len(without(named, n.people...)) > 0 { // the poll changed since
		n, err = inquire(ctx, tx, n.listed, in, named)
		if err != nil {
			return err
		}
	}
	if n.refused != nil {
		return n.refused
	}
	namings, err := poll.LoadNamings(ctx, tx, in, named, MostUnanswered)
	if err != nil {
		return err
	}
	_, refused, err := n.strangers(ctx, tx, in.CreatorID, namings, named)
	if err != nil {
		return err
	}
	return refused
}

// strangers refuses those of people whom the creator may not name, and otherwise returns those who
// may be named as fellows. They are asked for only where the bound is reached.
func (n naming) strangers(
	ctx context.Context, reader store.Reader, creatorID string, namings poll.Namings, people []string,
) (fellows map[string]bool, refused, err error) {
	var strangers []string
	for _, id := range people {
		if namings.Unanswered(id, n.answers) >= MostUnanswered && !n.fellows[id] {
			strangers = append(strangers, id)
		}
	}
	if len(strangers) == 0 {
		return nil, nil, nil
	}
	fellows, err = poll.Fellows(ctx, reader, n.listed, creatorID, strangers)
	if err != nil {
		return nil, nil, err
	}
	if others := slices.DeleteFunc(strangers, func(id string) bool { return fellows[id] }); len(others) > 0 {
		refused = errUnanswered(others[0])
	}
	return fellows, refused, nil
}

// outsiders are those of people who are neither a poll's creator nor belong to its group (nil: none)
// by choice, as the creator does: who left a group names its people as any stranger.
func outsiders(ctx context.Context, reader store.Reader, in poll.Poll, group *poll.Group, people []string) ([]string, error) {
	if err := poll.Prove(ctx, reader, people, group); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(people), func(id string) bool { return id == in.CreatorID || in.ByGroup(id, group) }), nil
}

func errUnanswered(personID string) error {
	refused := fault.Field("participant_ids", "must not name people who have not answered the last 3 polls that you added them to")
	refused.Message = "participant_ids must not name " + personID + ", who has not answered the last 3 polls that you added them to. " +
		"Ask them to join one of these or to vote, invite them by e-mail, send them the link of this poll, or make it in a group " +
		"that they belong to."
	return refused
}
