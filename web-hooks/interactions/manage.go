package interactions

import (
	"context"

	"questscheduler/fault"
	"questscheduler/internal/discord"
	"questscheduler/internal/ids"
	"questscheduler/internal/poll"
	"questscheduler/rules"
	"questscheduler/scheduler"
)

// menu offers a poll's creator what they can do with it as it is.
func (h *handler) menu(ctx context.Context, in request) (answer, error) {
	person, view, err := h.created(ctx, in)
	if err != nil {
		return answer{}, err
	}
	p := view.Poll
	to := func(label, prefix string) component {
		return component{Kind: componentButton, Style: styleSecondary, Label: label, CustomID: prefix + p.ID}
	}
	var buttons []component
	switch {
	case p.Status == rules.Archived:
		return say("This poll is archived. Unarchive it first."), nil
	case p.Status == rules.Open:
		buttons = []component{to("Finalise", finaliseForm), to("Cancel", cancelForm)}
	case p.Status == rules.Cancelled:
		buttons = []component{to("Reopen", reopenForm)}
	case p.Sync.Rescheduled != nil:
		shown := ":" + shownTime(p)
		back, stay := to("Restore original time", restore), to("Accept new time", accept)
		back.CustomID, stay.CustomID = back.CustomID+shown, stay.CustomID+shown
		buttons = append(buttons, back, stay)
		fallthrough
	default:
		buttons = append(buttons, to("Reopen", reopenForm), to("Cancel", cancelForm))
	}
	zone := zoneFor(person, p)
	text := "**" + plain(p.Title) + "**"
	if view.Winning != nil && p.Status == rules.Finalized {
		text += ": " + timeOf(*view.Winning, zone, h.Now()) + " (" + zone.String() + ")"
	}
	return say(text, buttons...), nil
}

// created is read for what only the poll's creator does.
func (h *handler) created(ctx context.Context, in request) (discord.Person, scheduler.View, error) {
	person, view, err := h.read(ctx, in)
	if err == nil && view.Poll.CreatorID != person.UID {
		err = fault.New(fault.Forbidden, "Only the creator of this poll may do that. Ask them.")
	}
	return person, view, err
}

// shownTime names the time that a rescheduled poll has.
func shownTime(p poll.Poll) string { return ids.Of(p.Sync.Applied.String()).Base64(12) }

// staysMoved refuses a button that showed another time of the event.
func staysMoved(in request) func(scheduler.View) error {
	return func(view scheduler.View) error {
		if view.Poll.Sync.Rescheduled != nil && in.shown != shownTime(view.Poll) {
			return fault.New(fault.Conflict, "The event has another time by now. Press Manage again.")
		}
		return nil
	}
}

// restore moves the event of a rescheduled poll back.
func (h *handler) restore(ctx context.Context, in request) (answer, error) {
	return h.command(ctx, in, staysMoved(in), func(person discord.Person, _ scheduler.View) (scheduler.View, error) {
		return h.Polls.RestoreOriginal(ctx, scheduler.Person{ID: person.UID}, in.poll, in.cause(person))
	})
}

// accept makes the event's new time the poll's own.
func (h *handler) accept(ctx context.Context, in request) (answer, error) {
	return h.command(ctx, in, staysMoved(in), func(person discord.Person, view scheduler.View) (scheduler.View, error) {
		return h.Polls.AcceptNew(ctx, scheduler.Person{ID: person.UID}, in.poll, view.Poll.Sync.Applied.String(), in.cause(person))
	})
}

// aboutEvent is a form that asks what becomes of the event, if there is one.
type aboutEvent struct {
	prefix, title, text string
	deletes             bool // unless the box is cleared
	asks                func(poll.Poll) bool
}

var (
	cancelling = aboutEvent{cancelForm, "Cancel the session", "The session is cancelled, and everybody is told.", true, hasEvent}
	reopening  = aboutEvent{reopenForm, "Reopen the poll", "People can vote again.", false, poll.Poll.Linked}
)

// hasEvent reports whether a poll names an event, which one that was reopened may have left in
// the calendar.
func hasEvent(p poll.Poll) bool { return p.GoogleEventID != "" }

func (h *handler) askCancel(ctx context.Context, in request) (answer, error) {
	return h.askAboutEvent(ctx, in, cancelling)
}

func (h *handler) askReopen(ctx context.Context, in request) (answer, error) {
	return h.askAboutEvent(ctx, in, reopening)
}

const fieldEvent = "event"

func (h *handler) askAboutEvent(ctx context.Context, in request, about aboutEvent) (answer, error) {
	_, view, err := h.created(ctx, in)
	if err != nil {
		return answer{}, err
	}
	asked := form{CustomID: about.prefix + in.poll, Title: about.title, Components: []component{{Kind: componentText, Content: about.text}}}
	if about.asks(view.Poll) {
		asked.Components = append(asked.Components, checkbox("Delete the calendar event", fieldEvent, about.deletes))
	}
	return answer{answerForm, asked}, nil
}

func (h *handler) cancel(ctx context.Context, in request) (answer, error) {
	return h.command(ctx, in, nil, func(person discord.Person, _ scheduler.View) (scheduler.View, error) {
		box, shown := in.fields()[fieldEvent] // not shown: there was no event then, and one that came since goes too
		return h.Polls.Cancel(ctx, scheduler.Person{ID: person.UID}, in.poll, shown && !box.checked(), in.cause(person))
	})
}

func (h *handler) reopen(ctx context.Context, in request) (answer, error) {
	return h.command(ctx, in, nil, func(person discord.Person, _ scheduler.View) (scheduler.View, error) {
		return h.Polls.Reopen(ctx, scheduler.Person{ID: person.UID}, in.poll, in.fields()[fieldEvent].checked(), in.cause(person))
	})
}

// command carries out a creator's command, which it counts unless check (nil: none) refuses it,
// and says how the poll is then. One that fails counts too: it may have begun.
func (h *handler) command(
	ctx context.Context, in request, check func(scheduler.View) error, do func(discord.Person, scheduler.View) (scheduler.View, error),
) (answer, error) {
	person, view, err := h.created(ctx, in)
	if err != nil {
		return answer{}, err
	}
	if check != nil {
		err = check(view)
	}
	if err == nil {
		_, err = h.Count(person.UID, in.poll)
	}
	if err == nil {
		view, err = do(person, view)
	}
	if err != nil {
		return answer{}, err
	}
	zone := zoneFor(person, view.Poll)
	switch {
	case view.Poll.Status == rules.Open:
		return say("The poll is open: people can vote."), nil
	case view.Poll.Status == rules.Cancelled:
		return say("The session is cancelled."), nil
	case view.Winning == nil:
		return say("Done."), nil
	}
	return say("The session takes place " + timeOf(*view.Winning, zone, h.Now()) + " (" + zone.String() + ")."), nil
}
