package interactions

import (
	"context"
	"slices"
	"strings"

	"questscheduler/internal/discord"
	"questscheduler/notify"
	"questscheduler/scheduler"
)

// Buttons and forms of ours, by the beginning of their ids. The id of a poll follows, and in a
// shown one what the button or form showed.
const (
	submitVote   = "qs:vote:"
	finaliseForm = "qs:fin:"
	cancelForm   = "qs:cancel:"
	reopenForm   = "qs:reopen:"
	restore      = "qs:restore:"
	accept       = "qs:accept:"
	createForm   = "qs:new:" // a time zone and a date follow
)

// act is what an interaction does.
type act func(h *handler, ctx context.Context, in request) (answer, error)

// row is a button or a form.
type row struct {
	kind   int
	prefix string
	// shown: the id ends with what was shown.
	shown bool
	act   act
}

// commands are what subcommands of Command do.
var (
	rows = []row{
		{kindComponent, notify.VoteButton, false, (*handler).askVote},
		{kindComponent, notify.WhoButton, false, (*handler).who},
		{kindComponent, notify.MenuButton, false, (*handler).menu},
		{kindComponent, finaliseForm, false, (*handler).askFinalise},
		{kindComponent, cancelForm, false, (*handler).askCancel},
		{kindComponent, reopenForm, false, (*handler).askReopen},
		{kindComponent, restore, true, (*handler).restore},
		{kindComponent, accept, true, (*handler).accept},
		{kindComponent, createForm, true, (*handler).askCreateAgain},
		{kindSubmit, submitVote, true, (*handler).vote},
		{kindSubmit, createForm, true, (*handler).create},
		{kindSubmit, finaliseForm, true, (*handler).finalise},
		{kindSubmit, cancelForm, false, (*handler).cancel},
		{kindSubmit, reopenForm, false, (*handler).reopen},
	}
	commands = map[string]act{
		"poll": (*handler).askCreate, "me": (*handler).me, "me-code": (*handler).meCode,
		"who": (*handler).whoOf, "manage": (*handler).menuOf,
		"link": (*handler).linkChannel, "unlink": (*handler).unlinkChannel,
	}
)

// commandsOfTheApp are commands that the web app names to people, and this server answers: they
// decide where its bot posts.
var commandsOfTheApp = map[string]act{"link-group": (*handler).linkGroup, "unlink-group": (*handler).unlinkChannel}

// formsOfTheApp begin the ids of what the web app's functions sent before, whose state this server
// does not know.
var formsOfTheApp = []string{"vote_pref:", "vote_feasible:", "page_prev:", "page_next:", "submit_vote:", "clear_votes:", "none_work:"}

// request is an interaction of ours.
type request struct {
	interaction
	user  discord.User
	trace string
	// poll and shown are of the id of a button or form; "" where it names none.
	poll, shown string
}

// actOf is what an interaction does, and asks for; nil for one that is not ours.
func actOf(in interaction, trace string) (act, request) {
	asked := request{interaction: in, user: in.by(), trace: trace}
	id := in.Data.CustomID
	if in.Kind == kindAutocomplete && in.Data.Name == Command {
		return (*handler).complete, asked
	}
	if in.Kind == kindCommand && in.Data.Name == Command {
		name, _ := in.subcommand()
		return commands[name], asked
	}
	if does := commandsOfTheApp[in.Data.Name]; in.Kind == kindCommand && does != nil {
		return does, asked
	}
	for _, row := range rows {
		rest, ours := strings.CutPrefix(id, row.prefix)
		if !ours || in.Kind != row.kind {
			continue
		}
		asked.poll = rest
		if at := strings.LastIndexByte(rest, ':'); row.shown && at >= 0 {
			asked.poll, asked.shown = rest[:at], rest[at+1:]
		}
		return row.act, asked
	}
	isOfTheApp := func(prefix string) bool { return strings.HasPrefix(id, prefix) }
	if in.Kind == kindComponent && slices.ContainsFunc(formsOfTheApp, isOfTheApp) {
		return (*handler).outdated, asked
	}
	return nil, asked
}

func (*handler) outdated(context.Context, request) (answer, error) {
	return replace("This form is an older one. Press Vote again."), nil
}

// idOf is the id of a form that names a poll, and what it shows.
func idOf(prefix, pollID, hash string) string { return prefix + pollID + ":" + hash }

func (r request) cause(person discord.Person) scheduler.Cause {
	return scheduler.Cause{Trigger: "discord", Trace: r.trace, Person: person.UID, Interaction: r.ID}
}

// place is where the interaction took place.
func (r request) place() scheduler.Place {
	return scheduler.Place{GuildID: r.GuildID, ChannelID: r.ChannelID, Name: r.Channel.Name, ParentID: r.Channel.ParentID}
}

// pollPage leads to a poll in the web app.
func (h *handler) pollPage(pollID string) []component {
	if h.AppURL == "" {
		return nil
	}
	return []component{link("Open poll", notify.PollURL(h.AppURL, pollID))}
}
