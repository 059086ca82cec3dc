package plan

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"questscheduler/internal/gcal"
	"questscheduler/internal/ids"
	"questscheduler/internal/mirror"
	"questscheduler/internal/recurrence"
)

// BusyTitle stands for the title of an event that is shown with its times alone.
const BusyTitle = "Busy"

// Private reports that others see the times of an event alone, whatever detail they may have.
func Private(event mirror.Event) bool {
	return event.Visibility == "private" || event.Visibility == "confidential"
}

// effective is the detail that an event is shown with at most.
func effective(event mirror.Event, detail mirror.Detail) mirror.Detail {
	if Private(event) {
		return mirror.Busy
	}
	return detail
}

// Project returns what the mirror of an event shows. BUSY is the times alone, as is every
// detail for a private or confidential event. No mirror has guests, a conference or
// reminders, which gcal.Content cannot express. event may be an exception: its content is
// that of the instance.
func Project(event mirror.Event, detail mirror.Detail) gcal.Content {
	content := gcal.Content{
		Summary: BusyTitle, Start: event.Start, End: event.End, Recurrence: event.Recurrence,
		Transparency: "opaque", Visibility: "default",
	}
	switch effective(event, detail) {
	case mirror.Full:
		content.Summary, content.Visibility, content.Transparency = event.Title, "private", event.Transparency
		content.Description, content.Location = event.Description, event.Location
	case mirror.Title:
		content.Summary, content.Visibility = event.Title, "private"
	}
	return normal(content)
}

// Shown returns the content of an event in a calendar, as Project would have written it:
// Hash(Shown(answer)) equals Hash(content) for the answer to a write of content, unless
// Google changes the text.
func Shown(details gcal.Details) gcal.Content {
	return normal(gcal.Content{
		Summary: details.Summary, Description: details.Description, Location: details.Location,
		Start: details.Start, End: details.End, Recurrence: details.Recurrence,
		Transparency: details.Transparency, Visibility: details.Visibility,
	})
}

// normal gives contents that a calendar shows alike one form.
func normal(c gcal.Content) gcal.Content {
	c.Summary, c.Description, c.Location = strings.TrimSpace(c.Summary), strings.TrimSpace(c.Description), strings.TrimSpace(c.Location)
	c.Start, c.End = normalMoment(c.Start), normalMoment(c.End)
	c.Recurrence = slices.Sorted(slices.Values(c.Recurrence))
	if c.Transparency == "" {
		c.Transparency = "opaque"
	}
	if c.Visibility == "" {
		c.Visibility = "default"
	}
	return c
}

// normalMoment names a zone for every instant, as a series needs one, and cuts it to
// Google's precision. Another name of the same zone is another content: Google keeps it.
func normalMoment(m recurrence.Moment) recurrence.Moment {
	if m.AllDay() || m.IsZero() {
		return recurrence.Moment{Date: m.Date}
	}
	if m.Zone == "" {
		m.Zone = "UTC"
	}
	m.Time = m.Time.UTC().Truncate(time.Second)
	return m
}

// Hash identifies a content.
func Hash(content gcal.Content) string {
	c := normal(content)
	parts := []string{
		c.Summary, c.Description, c.Location, c.Start.String(), c.Start.Zone, c.End.String(), c.End.Zone, c.Transparency, c.Visibility,
	}
	return hash(append(parts, c.Recurrence...)...)
}

func hash(parts ...string) string {
	var all strings.Builder
	for _, part := range parts {
		fmt.Fprintf(&all, "%d:%s", len(part), part)
	}
	return ids.Of(all.String()).Hex(16)
}
