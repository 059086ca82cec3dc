package interactions

import (
	"context"

	"questscheduler/fault"
	"questscheduler/internal/discord"
	"questscheduler/scheduler"
)

// withEmail has a person do something, and where that is refused, do it once more as the owner of
// their address: who is invited by it is nobody else's affair. The address is the one that the
// sign-in verified; that of the profile is written by clients. A refusal writes nothing, so most
// presses ask for no address.
func (h *handler) withEmail(ctx context.Context, person discord.Person, do func(who scheduler.Person) error) error {
	refused := do(scheduler.Person{ID: person.UID})
	if !isRefused(refused) {
		return refused
	}
	email, err := h.emailOf(ctx, person)
	if err != nil {
		return err
	}
	if email == "" {
		return refused
	}
	return do(scheduler.Person{ID: person.UID, Email: email})
}

// isRefused reports whether a poll is not the person's to see or vote in.
func isRefused(err error) bool {
	return fault.Is(err, fault.NotFound) || fault.Is(err, fault.Forbidden)
}

func (h *handler) emailOf(ctx context.Context, person discord.Person) (string, error) {
	if h.EmailOf == nil {
		return "", nil
	}
	return h.EmailOf(ctx, person.UID)
}

// invited reports whether a poll that a person reads invites them, and they take no part in it yet.
func (h *handler) invited(ctx context.Context, person discord.Person, view scheduler.View) (bool, error) {
	if scheduler.TakesPart(scheduler.Person{ID: person.UID}, view.Poll, view.Group) {
		return false, nil
	}
	email, err := h.emailOf(ctx, person)
	if err != nil || email == "" {
		return false, err
	}
	// A view without the address, as by the poll's link, hides that the poll invites it.
	view, err = h.Polls.View(ctx, scheduler.Person{ID: person.UID, Email: email}, view.Poll.ID)
	return view.Poll.InvitedAs(email), err
}
