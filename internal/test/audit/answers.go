package audit

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// checkAnswers compares when accounts' owners are busy with what their primary calendars show.
func (a *audit) checkAnswers() error {
	within := a.compared()
	for _, id := range slices.Sorted(maps.Keys(a.accounts)) {
		account := a.accounts[id]
		calendar := primary(account)
		if account.text("status") != "active" || account.text("ownerId") == "" || a.Readers[calendar] == "" {
			continue
		}
		busy, unknown, err := a.Answer(id, within.Start, within.End)
		if err != nil {
			return err
		}
		if len(unknown) > 0 {
			continue
		}
		shown, err := a.list(calendar)
		if err != nil {
			return err
		}
		zone, err := time.LoadLocation(shown.Zone)
		if err != nil {
			return err
		}
		var occupied []Interval
		for _, e := range shown.Items {
			if e.Transparency != "transparent" && !e.declined() && e.Kind != "workingLocation" && e.Kind != "birthday" {
				occupied = append(occupied, e.times(zone))
			}
		}
		if got, want := spelled(joined(busy, within)), spelled(joined(occupied, within)); got != want {
			a.found("%s is answered to be busy at [%s], and calendar %s shows [%s]", account.text("ownerId"), got, calendar, want)
		}
	}
	return nil
}

// primary is the id of an account's primary calendar.
func primary(account record) string {
	if id := account.text("primaryCalendarId"); id != "" {
		return id
	}
	return account.text("email")
}

// joined are intervals within another, those that touch joined, in their order.
func joined(all []Interval, within Interval) (separate []Interval) {
	sorted := slices.SortedFunc(slices.Values(all), func(a, b Interval) int { return a.Start.Compare(b.Start) })
	for _, i := range sorted {
		if i.Start.Before(within.Start) {
			i.Start = within.Start
		}
		if i.End.After(within.End) {
			i.End = within.End
		}
		last := len(separate) - 1
		switch {
		case !i.Start.Before(i.End):
		case last >= 0 && !i.Start.After(separate[last].End):
			if i.End.After(separate[last].End) {
				separate[last].End = i.End
			}
		default:
			separate = append(separate, i)
		}
	}
	return separate
}

func spelled(all []Interval) string {
	var parts []string
	for _, i := range all {
		parts = append(parts, fmt.Sprintf("%s to %s", i.Start.UTC().Format(time.RFC3339), i.End.UTC().Format(time.RFC3339)))
	}
	return strings.Join(parts, ", ")
}
