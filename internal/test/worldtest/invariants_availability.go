package worldtest

import (
	"context"
	"fmt"
	"slices"
	"time"

	"questscheduler/availability"
	"questscheduler/internal/accounts"
	"questscheduler/internal/fault"
	"questscheduler/internal/gcal"
	"questscheduler/internal/mirror"
)

// silent is a Google that says of nobody when they are busy.
type silent struct{}

// FreeBusy implements availability.Google.
func (silent) FreeBusy(context.Context, string, []string, time.Time, time.Time) (map[string]gcal.FreeBusy, error) {
	return nil, fault.New(fault.Unavailable, "nobody is asked")
}

// AvailabilityDisagreements compares when Mirrorer is busy with what their calendars show, in a
// world at rest of which every calendar was listed since anything was written to it.
func (w *World) AvailabilityDisagreements() (problems []string) {
	w.t.Helper()
	if !w.Mirroring() {
		return nil
	}
	for _, name := range w.MirroredNames() {
		problems = append(problems, w.availabilityDisagreements(name, w.OccurrencesOf(name))...)
	}
	return problems
}

// availabilityDisagreements compares when one of Mirrorer's accounts is busy, by the events
// that are stored, with what its calendar shows in a world at rest.
func (w *World) availabilityDisagreements(name string, shown []Occurrence) []string {
	w.t.Helper()
	if account, err := accounts.Load(w.ctx, w.observed.stored, w.linked[name]); err != nil || account.Usable() != nil {
		return nil
	}
	from, to := w.Clock.Now().Add(time.Hour), Start.Add(shownUntil)
	if !from.Before(to) {
		return nil
	}
	service := &availability.Service{Store: w.Documents, Google: silent{}, Now: w.Clock.Now, Recent: FallbackEvery + time.Hour}
	answer, err := service.Own(w.ctx, Mirrorer, from, to, []string{w.linked[name]})
	w.must(err)
	if len(answer.Unknown) > 0 {
		return nil
	}
	location, err := time.LoadLocation(zone)
	w.must(err)
	var busy []availability.Interval
	for _, o := range shown {
		if o.Transparency == "transparent" || o.declined() {
			continue
		}
		i := availability.Interval{Start: o.Start.in(location), End: o.End.in(location)}
		if i.Start.Before(from) {
			i.Start = from
		}
		if i.End.After(to) {
			i.End = to
		}
		busy = append(busy, i)
	}
	got, want := listed(answer.Busy), listed(availability.Merge(busy))
	if slices.Equal(got, want) {
		return nil
	}
	return []string{fmt.Sprintf("%s is answered to be busy at %v, and the calendar shows %v", name, got, want)}
}

// in is when the moment is; dates begin in a zone.
func (m moment) in(location *time.Location) time.Time {
	if at, err := time.ParseInLocation(time.DateOnly, m.Date, location); err == nil {
		return at
	}
	at, err := time.Parse(time.RFC3339Nano, m.DateTime)
	if err != nil {
		return time.Time{}
	}
	return at
}

func listed(intervals []availability.Interval) (all []string) {
	for _, i := range intervals {
		all = append(all, i.Start.UTC().Format(time.RFC3339)+"–"+i.End.UTC().Format(time.RFC3339))
	}
	return all
}

// isCopy reports whether a canonical event is what an event of ours occupies.
func isCopy(e mirror.Event) bool { return e.Source == mirror.SourceCopy }
