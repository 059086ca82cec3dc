package interactions

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/discord"
	"questscheduler/internal/ids"
	"questscheduler/internal/poll"
	"questscheduler/scheduler"
)

// Fields of the form that creates a poll.
const (
	fieldTitle       = "title"
	fieldDays        = "days"
	fieldTimes       = "times"
	fieldLength      = "length"
	fieldDescription = "description"

	maxTitle       = 200
	maxDescription = 4000
	maxTimes       = 100
	maxLength      = 10
	usualStart     = "19:00"
	usualLength    = "4h"
)

// askCreate answers /quest poll with a form: the days from a date on, and times of day, whose
// combinations are the slots.
func (h *handler) askCreate(ctx context.Context, in request) (answer, error) {
	person, _, err := h.groupHere(ctx, in)
	if err != nil {
		return answer{}, err
	}
	_, given := in.subcommand()
	zone := zoneFor(person, poll.Poll{})
	if given["zone"] != "" {
		zone, err = poll.Zone(given["zone"])
		if err != nil {
			return say("There is no time zone " + plain(given["zone"]) + ". Give one such as Europe/Berlin."), nil //nolint:nilerr // the person reads it
		}
	}
	from := h.Now().In(zone).AddDate(0, 0, 1)
	if given["from"] != "" {
		from, err = time.ParseInLocation(time.DateOnly, given["from"], zone)
		if err != nil {
			return say("Give from as a date such as 2026-12-24."), nil //nolint:nilerr // the person reads it
		}
	}
	asked := newPollForm(zone, from, h.Now(), wish{title: given["title"], times: usualStart, length: usualLength})
	if len(asked.CustomID) > maxCustomID {
		return say("The name of this time zone is too long for Discord. Create the poll in the app."), nil
	}
	return answer{answerForm, asked}, nil
}

// create makes the poll of a submitted form. Its id derives from the interaction, so that one
// that comes again makes no other.
func (h *handler) create(ctx context.Context, in request) (answer, error) {
	person, group, err := h.groupHere(ctx, in)
	if err != nil {
		return answer{}, err
	}
	zone, err := poll.Zone(in.poll)
	if err != nil {
		return answer{}, err
	}
	wrote := wishOf(in.fields())
	slots, mistake := slotsOf(wrote.days, wrote.times, wrote.length, zone, h.Now())
	if mistake != "" {
		return repeated(in, mistake, wrote), nil
	}
	view, err := h.Polls.Create(ctx, scheduler.Person{ID: person.UID}, scheduler.Create{
		ID: ids.UUIDOf("discord:" + in.ID), Title: wrote.title, Description: wrote.description,
		Timezone: zone.String(), Slots: slots, GroupID: group.ID,
	}, in.cause(person))
	if fault.Is(err, fault.Invalid) {
		return repeated(in, fault.MessageOf(err, ""), wrote), nil
	}
	if err != nil {
		return answer{}, err
	}
	return say("The poll **"+plain(view.Poll.Title)+"** is made. Its card comes here, with the button Vote.", h.pollPage(view.Poll.ID)...), nil
}

// slotsOf are the combinations of days and times of day that lie ahead, or what is wrong.
func slotsOf(days []string, times, length string, zone *time.Location, now time.Time) (slots []scheduler.Times, mistake string) {
	lasts, err := time.ParseDuration(strings.ReplaceAll(length, " ", ""))
	if err != nil || lasts < time.Minute || lasts > 31*24*time.Hour {
		return nil, "Give the length such as 4h or 3h30m."
	}
	starts := strings.FieldsFunc(times, func(r rune) bool { return r == ',' || r == ';' || r == ' ' })
	for _, day := range days {
		for _, start := range starts {
			at, err := time.ParseInLocation("2006-01-02 15:04", day+" "+start, zone)
			if err != nil {
				return nil, "Give start times such as 19:00, 20:30."
			}
			if at.After(now) {
				slots = append(slots, scheduler.Times{Start: at, End: at.Add(lasts)})
			}
		}
	}
	switch {
	case len(slots) == 0:
		return nil, "None of these times lies ahead."
	case len(slots) > maxSlots:
		return nil, "These are more than 50 times. Choose fewer days or start times."
	}
	return slots, ""
}

// groupHere is the person's group whose channel the interaction is in. Of several, the person
// has to choose in the app.
func (h *handler) groupHere(ctx context.Context, in request) (person discord.Person, group poll.Group, err error) {
	person, err = h.person(ctx, in)
	if err != nil {
		return person, group, err
	}
	here, err := poll.GroupsOfChannel(ctx, h.Store, in.ChannelID)
	here = slices.DeleteFunc(here, func(one poll.Group) bool { return !one.InGuild(in.GuildID) || !one.Has(person.UID) })
	switch {
	case err != nil:
		return person, group, err
	case len(here) == 0:
		return person, group, fault.New(fault.NotFound, "None of your groups has this channel. Use the command in your group's channel.")
	case len(here) > 1:
		names := make([]string, len(here))
		for i, one := range here {
			names[i] = plain(one.Name)
		}
		slices.Sort(names)
		return person, group, fault.New(fault.Conflict,
			"Several of your groups have this channel: "+strings.Join(names, ", ")+". Create the poll in the app.")
	}
	return person, here[0], nil
}

// text is what was typed into a field.
func (f field) text() (typed string) {
	_ = json.Unmarshal(f.Value, &typed) // what is no text is none
	return typed
}
