package interactions

import (
	"context"
	"fmt"

	"questscheduler/fault"
	"questscheduler/internal/discord"
	"questscheduler/internal/poll"
)

// me says to whom the Discord user is linked, and in which zone they read times.
func (h *handler) me(ctx context.Context, in request) (answer, error) {
	person, err := discord.PersonOf(ctx, h.Store, in.user.ID)
	if err != nil {
		return answer{}, err
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

// notLinked tells a Discord user how to link.
func (h *handler) notLinked() answer {
	text := "Your Discord user is not linked to an account yet. Use /quest me-code for a code"
	if h.AppURL == "" {
		return say(text + ", and enter it where you are signed in.")
	}
	return say(text+", or link it in the app's settings.", link("Open settings", h.AppURL+"/settings"))
}

// isNotLinked tells an error of discord.PersonOf.
func isNotLinked(err error) bool { return fault.CodeOf(err) == discord.CodeNotLinked }
