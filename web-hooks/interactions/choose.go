package interactions

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"questscheduler/fault"
	"questscheduler/internal/discord"
	"questscheduler/internal/poll"
	"questscheduler/rules"
	"questscheduler/scheduler"
)

// Options of commands whose text is chosen from a list.
const (
	optionPoll  = "poll"
	optionGroup = "group"
	optionCode  = "code"

	maxChoiceName = 100 // characters
)

// complete offers what an option that is being typed may become: nothing that the person could not
// find over the API.
func (h *handler) complete(ctx context.Context, in request) (answer, error) {
	person, err := h.person(ctx, in)
	if err != nil {
		return answer{}, err
	}
	name, typed := in.focused()
	offered := []choice{}
	offer := func(label, value string) {
		label = cmp.Or(cut(strings.TrimSpace(label), maxChoiceName), value)
		if len(offered) < maxChoices && len(value) <= maxChoiceName && contains(label, typed) {
			offered = append(offered, choice{label, value})
		}
	}
	switch name {
	case optionPoll:
		polls, err := h.pollsFor(ctx, in, person)
		if err != nil {
			return answer{}, err
		}
		for _, p := range polls {
			offer(cut(strings.TrimSpace(p.Title), maxChoiceName-len(" ()"+p.Status))+" ("+strings.ToLower(string(p.Status))+")", p.ID)
		}
	case optionGroup:
		groups, err := h.createdGroups(ctx, scheduler.Person{ID: person.UID}, func(poll.Group) bool { return true })
		if err != nil {
			return answer{}, err
		}
		for _, group := range groups {
			offer(group.Name, group.ID)
		}
	}
	return answer{answerChoices, choices{offered}}, nil
}

func contains(text, part string) bool {
	return strings.Contains(strings.ToLower(text), strings.ToLower(strings.TrimSpace(part)))
}

// pollsFor are the polls of the channel that the person may choose for a command, newest first.
func (h *handler) pollsFor(ctx context.Context, in request, person discord.Person) ([]poll.Poll, error) {
	polls, err := h.Polls.PollsHere(ctx, scheduler.Person{ID: person.UID}, in.place())
	command, _ := in.subcommand()
	return slices.DeleteFunc(polls, func(p poll.Poll) bool {
		return p.Status == rules.Archived || command == "manage" && p.CreatorID != person.UID
	}), err
}

// whoOf is who for a poll that a command names.
func (h *handler) whoOf(ctx context.Context, in request) (answer, error) {
	return h.chosen(ctx, in, h.who)
}

// menuOf is menu for a poll that a command names.
func (h *handler) menuOf(ctx context.Context, in request) (answer, error) {
	return h.chosen(ctx, in, h.menu)
}

// chosen does what do does, for the poll that a command names: by its id, as an autocompletion
// gives it, or as much of its title as tells it from the others. Without a name it is the one open
// poll, or the only one.
func (h *handler) chosen(ctx context.Context, in request, do func(context.Context, request) (answer, error)) (answer, error) {
	_, given := in.subcommand()
	named := strings.TrimSpace(given[optionPoll])
	in.poll = named
	if in.checkPoll() == nil {
		return do(ctx, in)
	}
	person, err := h.person(ctx, in)
	if err != nil {
		return answer{}, err
	}
	polls, err := h.pollsFor(ctx, in, person)
	if err != nil {
		return answer{}, err
	}
	p, err := theOne(polls, named)
	if err != nil {
		return answer{}, err
	}
	in.poll = p.ID
	return do(ctx, in)
}

// theOne is the poll of a name, "" being none, or an error that says what to give.
func theOne(polls []poll.Poll, named string) (poll.Poll, error) {
	for _, fits := range []func(p poll.Poll) bool{
		func(p poll.Poll) bool { return named != "" && strings.EqualFold(strings.TrimSpace(p.Title), named) },
		func(p poll.Poll) bool { return named == "" && p.Status == rules.Open },
		func(p poll.Poll) bool { return contains(p.Title, named) },
	} {
		fitting := slices.DeleteFunc(slices.Clone(polls), func(p poll.Poll) bool { return !fits(p) })
		switch {
		case len(fitting) == 1:
			return fitting[0], nil
		case len(fitting) > 1:
			return poll.Poll{}, fault.New(fault.Conflict, "Several polls fit. Give poll, and choose one from the list.")
		}
	}
	return poll.Poll{}, fault.New(fault.NotFound, "No poll of yours fits here. Give poll, and choose one from the list.")
}

// createdGroups are the groups that a person created and that fit. Groups of others that invite them
// take no room among these.
func (h *handler) createdGroups(ctx context.Context, who scheduler.Person, fits func(poll.Group) bool) ([]poll.Group, error) {
	groups, err := poll.CreatedBy(ctx, h.Store, who.ID)
	return slices.DeleteFunc(groups, func(group poll.Group) bool { return !fits(group) }), err
}
