package interactions

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"questscheduler/fault"
	"questscheduler/internal/discord"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/rules"
	"questscheduler/scheduler"
)

// askVote answers the Vote button with the form. Somebody whom the poll invites accepts by
// submitting it.
func (h *handler) askVote(ctx context.Context, in request) (answer, error) {
	may, err := h.mayVote(ctx, in)
	switch {
	case fault.Is(err, fault.NotFound) && !isNotLinked(err):
		return say(fault.MessageOf(err, "")+" If you are invited by e-mail, accept in the app first.", h.pollPage(in.poll)...), nil
	case fault.Is(err, fault.Forbidden):
		return say(fault.MessageOf(err, ""), h.pollPage(in.poll)...), nil
	case err != nil:
		return answer{}, err
	}
	person, view := may.person, may.view
	zone := zoneFor(person, view.Poll)
	switch {
	case view.Poll.Status != rules.Open:
		return say(closed(view, zone, h.Now())), nil
	case len(view.Slots) == 0:
		return say("This poll has no times to vote for yet."), nil
	case len(view.Slots) > maxSlots || len(idOf(submitVote, in.poll, poll.ShownSlots(view.Slots))) > maxCustomID:
		return say("This poll is too large for a form of Discord. Vote in the app.", h.pollPage(in.poll)...), nil
	}
	own := poll.Vote{}
	if i := slices.IndexFunc(view.Votes, func(vote poll.Vote) bool { return vote.UserID == person.UID }); i >= 0 {
		own = view.Votes[i]
	}
	asked := voteForm(view.Poll, view.Slots, own, zone, h.Now())
	switch {
	case may.invited:
		asked.Title = cut("Accept and vote: "+view.Poll.Title, maxFormTitle)
	case may.byChannel:
		asked.Title = cut("Join and vote: "+view.Poll.Title, maxFormTitle)
	}
	return answer{answerForm, asked}, nil
}

// vote writes the vote of a submitted form.
func (h *handler) vote(ctx context.Context, in request) (answer, error) {
	if err := in.checkPoll(); err != nil {
		return answer{}, err
	}
	fields := in.fields()
	for _, field := range []string{fieldBest + "0", fieldPossible + "0", fieldNone} {
		if _, sent := fields[field]; !sent { // it would withdraw the vote
			return say("This form is another one. Press Vote again."), nil
		}
	}
	person, err := h.person(ctx, in)
	if err != nil {
		return answer{}, err
	}
	ask := voteOf(fields, scheduler.VoteForm{
		Shown: in.shown, Guild: in.GuildID, Channel: in.ChannelID, Avatar: person.PhotoURL,
	})
	if person.New {
		ask.Form.Makes = func(ctx context.Context, tx store.Tx) error { return h.Links.Make(ctx, tx, in.user, in.GuildID) }
	}
	if ask.NoTimesWork && len(ask.Choices) > 0 {
		return say("You chose times, and that none of them works. Press Vote again, and choose one or the other."), nil
	}
	var ballot scheduler.Ballot
	cast := func(who scheduler.Person) (err error) {
		ballot, err = h.Polls.Cast(ctx, who, in.poll, ask, in.cause(person))
		return err
	}
	err = h.withEmail(ctx, person, cast)
	if refused := err; isRefused(refused) { // an invitation goes first
		ask.Form.ByChannel = true
		err = cast(scheduler.Person{ID: person.UID})
		if fault.Is(err, fault.NotFound) {
			err = refused
		}
	}
	if err != nil {
		return answer{}, err
	}
	return say(said(ballot.Vote, ballot.Slots, zoneFor(person, ballot.Poll), h.Now())), nil
}

// closed says that a poll takes no votes.
func closed(view scheduler.View, zone *time.Location, now time.Time) string {
	switch {
	case view.Winning != nil && view.Poll.Status == rules.Finalized:
		return "Voting is closed: the session takes place " + timeOf(*view.Winning, zone, now) + " (" + zone.String() + ")."
	case view.Poll.Status == rules.Cancelled:
		return "Voting is closed: the session was cancelled."
	default:
		return "Voting is closed."
	}
}

// zoneFor is the time zone in which a person reads the times of a poll.
func zoneFor(person discord.Person, p poll.Poll) *time.Location {
	for _, name := range []string{person.Zone, p.Timezone} {
		if zone, err := poll.Zone(name); name != "" && err == nil {
			return zone
		}
	}
	return time.UTC
}

// checkPoll refuses what can be no poll's id: ids of buttons come from outside, and are parts of
// paths.
func (r request) checkPoll() error {
	if len(r.poll) != uuidLength || uuid.Validate(r.poll) != nil {
		return poll.ErrNotFound()
	}
	return nil
}

// uuidLength is that of the ids of polls, as the web app and this server make them.
const uuidLength = 36

// read reads who caused an interaction, and its poll as that person may see it. A poll of another
// guild is Forbidden: what one sees in a guild is what its members share.
func (h *handler) read(ctx context.Context, in request) (discord.Person, scheduler.View, error) {
	if err := in.checkPoll(); err != nil {
		return discord.Person{}, scheduler.View{}, err
	}
	person, err := h.person(ctx, in)
	if err != nil {
		return person, scheduler.View{}, err
	}
	var view scheduler.View
	err = h.withEmail(ctx, person, func(who scheduler.Person) (err error) {
		view, err = h.Polls.View(ctx, who, in.poll)
		return err
	})
	if err == nil && !view.Group.InGuild(in.GuildID) {
		err = fault.New(fault.Forbidden, "This poll belongs to another server on Discord.")
	}
	return person, view, err
}
