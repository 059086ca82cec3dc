package interactions

import (
	"context"
	"fmt"

	"questscheduler/fault"
	"questscheduler/internal/discord"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
)

// person is who caused an interaction.
func (h *handler) person(ctx context.Context, in request) (discord.Person, error) {
	return h.Links.PersonIn(ctx, in.user, in.GuildID)
}

// me says to whom the Discord user is linked, and in which zone they read times.
func (h *handler) me(ctx context.Context, in request) (answer, error) {
	person, err := h.person(ctx, in)
	if err != nil {
		return answer{}, err
	}
	if person.New {
		return say("You have no account yet. Your first vote makes you one; or link one that you have with /quest me-code."), nil
	}
	zone := "each poll's time zone"
	if _, err := poll.Zone(person.Zone); person.Zone != "" && err == nil {
		zone = person.Zone
	}
	return say(fmt.Sprintf("You are linked to the account %s, and read times in %s.", plain(person.UID), zone)), nil
}

// meCode gives a code by which the person who has an account links this Discord user.
func (h *handler) meCode(ctx context.Context, in request) (answer, error) {
	code, expires, err := h.Links.Issue(ctx, in.user, in.ID)
	if fault.Is(err, fault.Conflict) {
		return say("Done already."), nil
	}
	if err != nil {
		return answer{}, err
	}
	return say(fmt.Sprintf("Your code is **%s**, until <t:%d:t>. Enter it where you are signed in: POST /v1/me/discord. "+
		"It is yours alone: who enters it links **you**.", code, expires.Unix())), nil
}

// makePerson makes the person of a user who is nobody yet, for what is no vote.
func (h *handler) makePerson(ctx context.Context, person discord.Person, in request) error {
	if !person.New {
		return nil
	}
	return h.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error { return h.Links.Make(ctx, tx, in.user, in.GuildID) })
}

// notLinked tells a Discord user how to link.
func (h *handler) notLinked() answer {
	text := "Your Discord user is not linked to an account yet. Use /quest me-code for a code"
	if h.AppURL == "" {
		return say(text + ", and enter it where you are signed in.")
	}
	return say(text+", or link it in the app's settings.", link("Open settings", h.AppURL+"/settings"))
}

// isNotLinked tells an error of h.person.
func isNotLinked(err error) bool { return fault.CodeOf(err) == discord.CodeNotLinked }
