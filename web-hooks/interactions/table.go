package interactions

import (
	"context"
	"strings"

	"questscheduler/internal/discord"
	"questscheduler/notify"
	"questscheduler/scheduler"
)

// Forms and buttons of ours, by the beginning of their ids.
const (
	askWho     = notify.WhoButton
	submitVote = "qs:vote:"
)

// act is what an interaction does.
type act func(h *handler, ctx context.Context, in request) (answer, error)

// components and submits are what buttons and forms do, by the beginning of their ids; commands
// what subcommands of Command do.
var (
	components = map[string]act{notify.VoteButton: (*handler).askVote, askWho: (*handler).who}
	submits    = map[string]act{submitVote: (*handler).vote}
	commands   = map[string]act{"me": (*handler).me, "me-code": (*handler).meCode}
)

// formsOfTheApp begin the ids of what the web app's functions sent before, whose state this server
// does not know.
var formsOfTheApp = []string{"vote_pref:", "vote_feasible:", "page_prev:", "page_next:", "submit_vote:", "clear_votes:", "none_work:"}

// actOf is what an interaction does; nil for one that is not ours.
func actOf(in interaction) act {
	switch in.Kind {
	case kindComponent:
		for _, prefix := range formsOfTheApp {
			if strings.HasPrefix(in.Data.CustomID, prefix) {
				return func(*handler, context.Context, request) (answer, error) {
					return replace("This form is an older one. Press Vote again."), nil
				}
			}
		}
		return startsWith(components, in.Data.CustomID)
	case kindSubmit:
		return startsWith(submits, in.Data.CustomID)
	case kindCommand:
		if name, _ := in.subcommand(); in.Data.Name == Command {
			return commands[name]
		}
	}
	return nil
}

func startsWith(acts map[string]act, id string) act {
	for prefix, act := range acts {
		if strings.HasPrefix(id, prefix) {
			return act
		}
	}
	return nil
}

// request is an interaction of ours.
type request struct {
	interaction
	user  discord.User
	trace string
	// poll and hash are of the id of a button or form; "" where it names none.
	poll, hash string
}

func requestOf(in interaction, trace string) request {
	made := request{interaction: in, user: in.by(), trace: trace}
	for _, prefix := range []string{notify.VoteButton, askWho, submitVote} {
		if rest, ok := strings.CutPrefix(in.Data.CustomID, prefix); ok {
			made.poll, made.hash = rest, ""
			if prefix == submitVote {
				if at := strings.LastIndexByte(rest, ':'); at >= 0 {
					made.poll, made.hash = rest[:at], rest[at+1:]
				}
			}
		}
	}
	return made
}

// idOf is the id of a form that names a poll, and what it shows.
func idOf(prefix, pollID, hash string) string { return prefix + pollID + ":" + hash }

func (r request) cause(person discord.Person) scheduler.Cause {
	return scheduler.Cause{Trigger: "discord", Trace: r.trace, Person: person.UID, Interaction: r.ID}
}

// pollPage leads to a poll in the web app.
func (h *handler) pollPage(pollID string) []component {
	if h.AppURL == "" {
		return nil
	}
	return []component{link("Open poll", notify.PollURL(h.AppURL, pollID))}
}
