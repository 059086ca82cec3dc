package worldtest

import (
	"context"
	"fmt"
	"strings"
	"time"

	"questscheduler/availability"
	"questscheduler/fault"
	"questscheduler/feed"
	"questscheduler/internal/gcal"
)

// Stranger makes polls, has no account, and belongs to no group.
const Stranger = "mallory"

// free is a Google that has nobody busy.
type free struct{}

func (free) FreeBusy(_ context.Context, _ string, calendars []string, _, _ time.Time) (map[string]gcal.FreeBusy, error) {
	answers := map[string]gcal.FreeBusy{}
	for _, calendar := range calendars {
		answers[calendar] = gcal.FreeBusy{}
	}
	return answers, nil
}

// Known asks for the availability of a poll's people as somebody. It returns whether anything is
// known of a person at any slot, by person, and whether the asker may ask at all.
func (w *World) Known(pollID, asker string) (known map[string]bool, may bool) {
	w.t.Helper()
	service := &availability.Service{Store: w.Documents, Google: free{}, Now: w.Clock.Now, Recent: 7 * time.Hour}
	slots, err := service.ForPoll(w.ctx, pollID, asker)
	if fault.Is(err, fault.NotFound) || fault.Is(err, fault.Forbidden) {
		return nil, false
	}
	if fault.CodeOf(err) == availability.CodeAllowance {
		return nil, true
	}
	w.must(err)
	known = map[string]bool{}
	for _, slot := range slots {
		for _, person := range slot.People {
			known[person.ID] = known[person.ID] || person.State != availability.StateUnknown
		}
	}
	return known, true
}

// Share has everybody share their availability.
func (w *World) Share() {
	w.t.Helper()
	service := &availability.Service{Store: w.Documents, Now: w.Clock.Now}
	for _, person := range People {
		w.must(service.Share(w.ctx, person.ID, true))
	}
}

// Feed is what a person's feed says of polls, by their ids: the status of each, with " described"
// where it has a description.
func (w *World) Feed(person string) map[string]string {
	w.t.Helper()
	service := &feed.Service{Store: w.Documents, Now: w.Clock.Now, URL: "https://feeds.example"}
	address, err := service.Renew(w.ctx, person, w.Clock.Now())
	w.must(err)
	calendar, err := service.Calendar(w.ctx, secretOf(address), func(string) bool { return false })
	w.must(err)
	found := map[string]string{}
	for _, event := range strings.Split(strings.ReplaceAll(string(calendar.Text), "\r\n ", ""), "BEGIN:VEVENT")[1:] {
		var pollID, status, described string
		for line := range strings.SplitSeq(event, "\r\n") {
			switch name, value, _ := strings.Cut(line, ":"); name {
			case "UID":
				pollID, _, _ = strings.Cut(value, "@")
			case "STATUS":
				status = value
			case "DESCRIPTION":
				described = " described"
			}
		}
		found[pollID] = status + described
	}
	return found
}

// secretOf is the secret of a feed's address.
func secretOf(address string) string {
	return strings.TrimSuffix(address[strings.LastIndex(address, "/")+1:], feed.Extension)
}

// ConsentProblems says where a poll of Stranger's shows more of a person than it may, or less.
// consented are the people of whom it is known whether they consented to the poll.
func (w *World) ConsentProblems(pollID string, consented map[string]bool) (problems []string) {
	w.t.Helper()
	shown, may := w.Known(pollID, Stranger)
	if !may {
		problems = append(problems, fmt.Sprintf("poll %s: its creator may not ask for availability", pollID))
	}
	for person, consents := range consented {
		if shown[person] && !consents {
			problems = append(problems, fmt.Sprintf("poll %s: its creator reads when %s is free, who is only named", pollID, person))
		}
		if _, may := w.Known(pollID, person); may != consents {
			problems = append(problems, fmt.Sprintf("poll %s: that %s may ask for availability is %t", pollID, person, may))
		}
	}
	return problems
}
