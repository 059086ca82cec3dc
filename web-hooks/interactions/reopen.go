package interactions

import (
	"context"
	"slices"
	"strings"
	"time"

	"questscheduler/internal/poll"
)

// wish is what a person wrote into the form that creates a poll.
type wish struct {
	title, times, length, description string
	days                              []string
}

func wishOf(fields map[string]field) wish {
	return wish{
		title: fields[fieldTitle].text(), times: fields[fieldTimes].text(), length: fields[fieldLength].text(),
		description: fields[fieldDescription].text(), days: fields[fieldDays].Values,
	}
}

// Names of what a message shows of a wish. The button below it finds the wish there again, so that
// nothing is stored until a poll is made.
const (
	shownTitle  = "Title"
	shownDays   = "Days"
	shownTimes  = "Start times"
	shownLength = "Length"
)

const maxEmbedField = 1024 // characters

// repeated says what is wrong with a wish, shows it, and offers the form with it again. An embed
// pings nobody.
func repeated(in request, mistake string, wrote wish) answer {
	said := say(mistake, component{
		Kind: componentButton, Style: styleSecondary, Label: "Change it", CustomID: in.Data.CustomID,
	})
	shown, _ := said.Data.(message)
	all := embed{Description: strings.TrimSpace(wrote.description)}
	for _, part := range []embedField{
		{shownTitle, wrote.title}, {shownDays, strings.Join(wrote.days, ", ")}, {shownTimes, wrote.times}, {shownLength, wrote.length},
	} {
		if strings.TrimSpace(part.Value) != "" && len(part.Value) <= maxEmbedField {
			all.Fields = append(all.Fields, part)
		}
	}
	if all.Description != "" || len(all.Fields) > 0 { // Discord refuses an empty one
		shown.Embeds = []embed{all}
	}
	said.Data = shown
	return said
}

// askCreateAgain opens the form with what the message of the pressed button shows.
func (h *handler) askCreateAgain(_ context.Context, in request) (answer, error) {
	zone, err := poll.Zone(in.poll)
	if err != nil {
		return answer{}, err
	}
	from, err := time.ParseInLocation(time.DateOnly, in.shown, zone)
	if err != nil || len(in.Message.Embeds) == 0 {
		return say("What you wrote is not here any more. Use /quest poll again."), nil //nolint:nilerr // the person reads it
	}
	all := in.Message.Embeds[0]
	wrote := wish{description: all.Description}
	for _, part := range all.Fields {
		switch part.Name {
		case shownTitle:
			wrote.title = part.Value
		case shownDays:
			wrote.days = strings.Split(part.Value, ", ")
		case shownTimes:
			wrote.times = part.Value
		case shownLength:
			wrote.length = part.Value
		}
	}
	return answer{answerForm, newPollForm(zone, from, h.Now(), wrote)}, nil
}

// newPollForm asks for a poll: days from a date on, and times of day. What is chosen of other days
// is left out.
func newPollForm(zone *time.Location, from, now time.Time, wrote wish) form {
	days := make([]selectOption, maxOptions)
	for i := range days {
		day := from.AddDate(0, 0, i)
		date := day.Format(time.DateOnly)
		days[i] = selectOption{Label: dayOf(day, now), Value: date, Default: slices.Contains(wrote.days, date)}
	}
	return form{CustomID: idOf(createForm, zone.String(), from.Format(time.DateOnly)), Title: "New poll", Components: []component{
		{Kind: componentLabel, Label: "Title", Component: input(fieldTitle, cut(wrote.title, maxTitle), maxTitle)},
		{Kind: componentLabel, Label: "Days", Component: &component{
			Kind: componentSelect, CustomID: fieldDays, Options: days, Placeholder: "Choose days", MaxValues: len(days),
		}},
		{
			Kind: componentLabel, Label: "Start times", Description: "In " + zone.String() + ", such as 19:00, 20:30",
			Component: input(fieldTimes, cut(wrote.times, maxTimes), maxTimes),
		},
		{
			Kind: componentLabel, Label: "Length", Description: "Such as 4h or 3h30m",
			Component: input(fieldLength, cut(wrote.length, maxLength), maxLength),
		},
		{Kind: componentLabel, Label: "Description", Component: &component{
			Kind: componentInput, CustomID: fieldDescription, Style: styleParagraph, Value: cut(wrote.description, maxDescription),
			MaxLength: maxDescription, Required: new(bool),
		}},
	}}
}

func input(id, value string, most int) *component {
	return &component{Kind: componentInput, CustomID: id, Style: styleShort, Value: value, MaxLength: most}
}
