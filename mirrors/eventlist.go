package mirrors

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"strings"
	"time"

	"questscheduler/internal/fault"
	"questscheduler/internal/mirror"
	"questscheduler/internal/recurrence"
	"questscheduler/internal/store"
)

// Range is what a list of events asks for.
type Range struct {
	// Start is inclusive, End exclusive.
	Start, End time.Time
	// AccountID is "" for all accounts. Status is "" for all but cancelled events.
	AccountID string
	Status    string
}

// longest is the longest range of a list.
const longest = 366 * 24 * time.Hour

// String tells ranges apart, for cursors.
func (r Range) String() string {
	return strings.Join([]string{r.Start.UTC().String(), r.End.UTC().String(), r.AccountID, r.Status}, "|")
}

func (r Range) check() error {
	switch {
	case !r.End.After(r.Start):
		return fault.Field("end", "must be after start")
	case r.End.Sub(r.Start) > longest:
		return fault.Field("end", "must be at most 366 days after start")
	}
	return nil
}

func (r Range) shows(event mirror.Event) bool {
	return (r.AccountID == "" || event.AccountID == r.AccountID) &&
		(r.Status == event.Status || r.Status == "" && event.Status != "cancelled")
}

// maxSeries bounds the series and long events that a list reads, and maxOccurrences what
// one series shows.
const (
	maxSeries      = 2000
	maxOccurrences = 1000
)

// List passes the person's events that overlap a range to take, by start, at most limit
// after a cursor, until it returns false; next is where to continue. A series is expanded
// in its start's zone; one that cannot be expanded is passed as it is.
func (e *Events) List(ctx context.Context, ownerID string, in Range, limit int, after *store.Cursor, take func(Shown) (bool, error)) (next *store.Cursor, err error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	if in.AccountID != "" {
		account, err := e.Accounts.Get(ctx, in.AccountID)
		if err == nil && account.OwnerID != ownerID {
			err = fault.New(fault.NotFound, "There is no such linked account.")
		}
		if err != nil {
			return nil, err
		}
	}
	spanning, err := e.spanning(ctx, ownerID, in)
	if err != nil {
		return nil, err
	}
	page, more, err := e.page(ctx, ownerID, in, spanning, limit, after)
	if err != nil {
		return nil, err
	}
	if err := e.addMirrors(ctx, ownerID, page); err != nil {
		return nil, err
	}
	last := after
	for _, shown := range page {
		if goOn, err := take(shown); err != nil || !goOn {
			return last, err
		}
		last = &store.Cursor{Values: []any{shown.Start}, Path: mirror.EventPath(shown.ID)}
	}
	if !more {
		return nil, nil
	}
	return last, nil
}

// page merges single events with occurrences, by start and id, after a cursor. more
// reports whether others follow.
func (e *Events) page(ctx context.Context, ownerID string, in Range, spanning []Shown, limit int, after *store.Cursor) (page []Shown, more bool, err error) {
	from, last := in.Start.Add(-mirror.Short), Shown{}
	if after != nil {
		last.Start, _ = after.Values[0].(time.Time)
		last.ID, from = after.Path.ID(), last.Start
	}
	next, stop := iter.Pull2(mirror.Starting(ctx, e.Store, ownerID, from, in.End))
	defer stop()
	single, err, ok := next()
	for {
		if err != nil {
			return nil, false, err
		}
		var shown Shown
		switch first := (Shown{Event: single, Start: single.From, End: single.Until}); {
		case ok && (len(spanning) == 0 || byStart(first, spanning[0]) < 0):
			shown = first
			single, err, ok = next()
		case len(spanning) > 0:
			shown, spanning = spanning[0], spanning[1:]
		default:
			return page, false, nil
		}
		if !in.shows(shown.Event) || !shown.End.After(in.Start) && shown.Start.Before(in.Start) || after != nil && byStart(shown, last) <= 0 {
			continue
		}
		if len(page) == limit {
			return page, true, nil
		}
		page = append(page, shown)
	}
}

func byStart(a, b Shown) int {
	return cmp.Or(a.Start.Compare(b.Start), cmp.Compare(a.ID, b.ID))
}

// spanning lists the long events and the occurrences of series that overlap a range.
func (e *Events) spanning(ctx context.Context, ownerID string, in Range) ([]Shown, error) {
	replaced := map[string]bool{}
	for exception, err := range mirror.Replacing(ctx, e.Store, ownerID, in.Start.Add(-longest), in.End.Add(24*time.Hour)) {
		if err != nil {
			return nil, err
		}
		replaced[occurrence(exception.AccountID, exception.CalendarID, exception.SeriesID, exception.OriginalStart)] = true
	}
	var all []Shown
	count := 0
	for event, err := range mirror.Spanning(ctx, e.Store, ownerID, in.Start) {
		if count++; err != nil || count > maxSeries {
			return nil, cmp.Or(err, error(fault.New(fault.TooLarge, "There are too many series to list. Ask for one account with account_id.")))
		}
		if !event.From.Before(in.End) || !in.shows(event) {
			continue
		}
		all = append(all, expand(event, in, replaced)...)
	}
	slices.SortFunc(all, byStart)
	return all, nil
}

// expand lists the occurrences of a series but those that exceptions replace.
func expand(event mirror.Event, in Range, replaced map[string]bool) (shown []Shown) {
	if len(event.Recurrence) == 0 {
		return []Shown{{Event: event, Start: event.From, End: event.Until}}
	}
	series := recurrence.Series{Start: event.Start, End: event.End, Lines: event.Recurrence}
	occurrences, err := recurrence.Expand(series, time.UTC, in.Start, in.End, maxOccurrences)
	if err != nil { // shown as the series
		return []Shown{{Event: event, Start: event.From, End: event.Until}}
	}
	for _, o := range occurrences {
		if !replaced[occurrence(event.AccountID, event.CalendarID, event.EventID, o.Original)] {
			shown = append(shown, Shown{Event: event, Start: o.Start, End: o.End})
		}
	}
	return shown
}

// occurrence identifies one occurrence of a series in a calendar.
func occurrence(accountID, calendarID, seriesID string, original recurrence.Moment) string {
	return strings.Join([]string{accountID, calendarID, seriesID, original.String()}, "\x00")
}

// addMirrors adds the person's mirrors to events.
func (e *Events) addMirrors(ctx context.Context, ownerID string, shown []Shown) error {
	ids := make([]string, 0, len(shown))
	for _, one := range shown {
		ids = append(ids, one.ID)
	}
	slices.Sort(ids)
	byEvent := map[string][]mirror.Mirror{}
	for group := range slices.Chunk(slices.Compact(ids), 30) {
		for one, err := range mirror.OfEvents(ctx, e.Store, ownerID, group) {
			if err != nil {
				return err
			}
			byEvent[one.CanonicalID] = append(byEvent[one.CanonicalID], one)
		}
	}
	for i := range shown {
		shown[i].Mirrors = byEvent[shown[i].ID]
	}
	return nil
}
