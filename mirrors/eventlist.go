package mirrors

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"questscheduler/internal/mirror"
	"questscheduler/internal/recurrence"
	"questscheduler/internal/store"
	"questscheduler/rules"
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
	return rules.Span{Start: r.Start, End: r.End, StartField: "start", EndField: "end", Longest: longest}.Check()
}

func (r Range) shows(event mirror.Event) bool {
	return (r.AccountID == "" || event.AccountID == r.AccountID) &&
		(r.Status == event.Status || r.Status == "" && event.Status != "cancelled")
}

// overlaps reports whether an occurrence is in the range. One without length is if it begins
// there.
func (r Range) overlaps(one Shown) bool {
	return one.Begins.Before(r.End) && (one.Ends.After(r.Start) || !one.Begins.Before(r.Start))
}

// maxOccurrences bounds what one series shows.
const maxOccurrences = 1000

// List passes the person's events that overlap a range to take, by start, at most limit
// after a cursor, until it returns false; next is where to continue. Events of groups that
// the person is connected to are among them. A series is expanded in its start's zone; one
// that cannot be expanded is passed as it is.
func (e *Events) List(
	ctx context.Context, ownerID string, in Range, part store.Paging, take func(Shown) (bool, error),
) (next *store.Cursor, err error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	if in.AccountID != "" {
		if _, err := e.Accounts.Owned(ctx, ownerID, in.AccountID); err != nil {
			return nil, err
		}
	}
	all, err := e.shown(ctx, ownerID, in, part.After)
	if err != nil {
		return nil, err
	}
	page := all[:min(part.Limit, len(all))]
	if err := e.addMirrors(ctx, ownerID, page); err != nil {
		return nil, err
	}
	next = part.After
	for _, shown := range page {
		if taken, err := take(shown); err != nil || !taken {
			return next, err
		}
		next = &store.Cursor{Values: []any{shown.Begins}, Path: mirror.EventPath(shown.ID)}
	}
	if len(page) == len(all) {
		return nil, nil
	}
	return next, nil
}

// shown lists what overlaps a range behind a cursor, by start and id.
func (e *Events) shown(ctx context.Context, ownerID string, in Range, after *store.Cursor) ([]Shown, error) {
	from, last := in.Start, Shown{}
	if after != nil { // what starts earlier was passed before
		last.Begins, _ = after.Values[0].(time.Time)
		last.ID = after.Path.ID()
		if last.Begins.After(from) {
			from = last.Begins.Add(-time.Microsecond)
		}
	}
	events, err := e.overlapping(ctx, ownerID, from, in.End)
	if err != nil {
		return nil, err
	}
	replaced := map[string]bool{}
	for _, event := range events {
		if event.SeriesID != "" {
			replaced[occurrence(event, event.SeriesID, event.OriginalStart)] = true
		}
	}
	var all []Shown
	for _, event := range events {
		if in.shows(event) {
			all = append(all, expand(event, in, replaced)...)
		}
	}
	all = slices.DeleteFunc(all, func(one Shown) bool {
		return after != nil && byStart(one, last) <= 0
	})
	slices.SortFunc(all, byStart)
	return all, nil
}

func byStart(a, b Shown) int {
	return cmp.Or(a.Begins.Compare(b.Begins), cmp.Compare(a.ID, b.ID))
}

// overlapping reads a person's events, and those of the groups that they are connected to.
func (e *Events) overlapping(ctx context.Context, ownerID string, from, to time.Time) ([]mirror.Event, error) {
	events, err := mirror.OverlapsOfPeople(ctx, e.Service.Store, []string{ownerID}, from, to)
	if err != nil {
		return nil, err
	}
	events = slices.DeleteFunc(events, func(event mirror.Event) bool { return event.Source == mirror.SourceGroup })
	groups, err := belonging(ctx, e.Service.Store, ownerID)
	if err != nil || len(groups) == 0 {
		return events, err
	}
	shared, err := mirror.OverlapsOfGroups(ctx, e.Service.Store, groups, from, to)
	if err != nil {
		return nil, err
	}
	for _, event := range shared {
		if event.OwnerID != ownerID || event.Source == mirror.SourceGroup { // the owner's sessions are there already
			events = append(events, asSharedWith(ownerID, event))
		}
	}
	return events, nil
}

// expand lists the occurrences of an event in a range but those that exceptions replace. It
// takes the whole range on every page: whether a series can be expanded depends on it.
func expand(event mirror.Event, in Range, replaced map[string]bool) (shown []Shown) {
	if len(event.Recurrence) == 0 {
		if one := (Shown{Event: event, Begins: event.From, Ends: event.Until}); in.overlaps(one) {
			shown = append(shown, one)
		}
		return shown
	}
	series := recurrence.Series{Start: event.Start, End: event.End, Lines: event.Recurrence}
	occurrences, err := recurrence.Expand(series, recurrence.Range{Zone: time.UTC, From: in.Start, To: in.End}, maxOccurrences)
	if err != nil { // it is shown as the series, wherever in the range it occurs
		if event.From.Before(in.End) && event.Until.After(in.Start) {
			shown = append(shown, Shown{Event: event, Begins: event.From, Ends: event.End.Instant(time.UTC)})
		}
		return shown
	}
	for _, o := range occurrences {
		if !replaced[occurrence(event, event.EventID, o.Original)] {
			shown = append(shown, Shown{Event: event, Begins: o.Start, Ends: o.End, OccurrenceID: OccurrenceID(event.ID, o.Original)})
		}
	}
	return shown
}

// occurrence identifies one occurrence of a series in a calendar.
func occurrence(in mirror.Event, seriesID string, original recurrence.Moment) string {
	return strings.Join([]string{in.AccountID, in.CalendarID, seriesID, original.String()}, "\x00")
}

// addMirrors adds the person's mirrors to events.
func (e *Events) addMirrors(ctx context.Context, ownerID string, shown []Shown) error {
	ids := make([]string, 0, len(shown))
	for _, one := range shown {
		ids = append(ids, one.ID)
	}
	slices.Sort(ids)
	found, err := mirror.OfEvents(ctx, e.Service.Store, ownerID, slices.Compact(ids))
	if err != nil {
		return err
	}
	byEvent := map[string][]mirror.Mirror{}
	for _, one := range found {
		byEvent[one.CanonicalID] = append(byEvent[one.CanonicalID], one)
	}
	for i := range shown {
		shown[i].Mirrors = byEvent[shown[i].ID]
	}
	return nil
}
