package interactions

import (
	"context"

	"questscheduler/fault"
	"questscheduler/internal/discord"
	"questscheduler/scheduler"
)

// voting is how a person votes in a poll.
type voting struct {
	person discord.Person
	view   scheduler.View
	// invited: they accept the poll's invitation by it. byChannel: they come to take part by it,
	// since the group opened its polls to the channel.
	invited, byChannel bool
}

// mayVote reads a poll for a person who may vote in it.
func (h *handler) mayVote(ctx context.Context, in request) (v voting, err error) {
	v.person, v.view, err = h.read(ctx, in)
	if fault.Is(err, fault.NotFound) && v.person.UID == "" { // not linked, or no poll's id
		return v, err
	}
	unseen := err
	if err == nil {
		v.invited, err = h.invited(ctx, v.person, v.view)
		if err != nil || v.invited || scheduler.TakesPart(scheduler.Person{ID: v.person.UID}, v.view.Poll, v.view.Group) {
			return v, err
		}
		unseen = fault.New(fault.Forbidden, "Only participants vote. Ask the host to add you, or join the poll in the app.")
	}
	if !isRefused(unseen) {
		return v, unseen
	}
	view, err := h.Polls.ViewFrom(ctx, scheduler.Person{ID: v.person.UID}, in.poll, in.place())
	if fault.Is(err, fault.NotFound) {
		return v, unseen
	}
	v.view, v.byChannel = view, true
	return v, err
}
