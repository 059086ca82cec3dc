package mirror

import (
	"context"
	"iter"
	"slices"
	"time"

	"questscheduler/internal/store"
)

// These queries are for several people at once, so that a question about eight people costs
// as many as one about one person.
var (
	ofPeople = overlaps{
		long:     byEnd("long canonical events of people by end", "ownerId"),
		short:    byStart("short canonical events of people by start", "ownerId"),
		replaced: byReplaced("exceptions of people by original start", "ownerId"),
	}
	ofAccounts = overlaps{
		long:     byEnd("long canonical events of accounts by end", "accountId"),
		short:    byStart("short canonical events of accounts by start", "accountId"),
		replaced: byReplaced("exceptions of accounts by original start", "accountId"),
	}
	ofGroups = overlaps{
		long:  byEnd("long canonical events of groups by end", "groupId"),
		short: byStart("short canonical events of groups by start", "groupId"),
	}
)

// longestException is how long an occurrence may last whose exception OverlapsOfPeople finds
// although the exception is elsewhere.
const longestException = 8 * day

// day is more than a date begins anywhere before or after its midnight in UTC.
const day = 24 * time.Hour

// overlaps are the queries for the events of some people, accounts or groups that overlap a range.
type overlaps struct {
	long, short, replaced *store.Query
	timesOnly             bool // leave the texts out, which may be long
}

func (o overlaps) queries() []*store.Query {
	return slices.DeleteFunc([]*store.Query{o.long, o.short, o.replaced}, func(q *store.Query) bool { return q == nil })
}

func byEnd(name, field string) *store.Query {
	return store.Select(name, events, "until", store.Where(field, store.In), store.Where("long", store.Equal),
		store.Where("until", store.Greater))
}

func byStart(name, field string) *store.Query {
	return store.Select(name, events, "from",
		store.Where(field, store.In), store.Where("long", store.Equal), store.Where("from", store.Greater), store.Where("from", store.Less))
}

func byReplaced(name, field string) *store.Query {
	return store.Select(name, events, "replaces", store.Where(field, store.In), store.Where("replaces", store.Greater),
		store.Where("replaces", store.Less))
}

// OverlapsOfPeople lists the canonical events of people of which some occurrence may overlap
// a time range, and exceptions of occurrences that did, and events up to a day off, each once and cancelled and declined
// ones included. It takes three queries for each 30 people.
func OverlapsOfPeople(ctx context.Context, reader store.Reader, ownerIDs []string, start, end time.Time) ([]Event, error) {
	return ofPeople.read(ctx, reader, ownerIDs, start, end)
}

// OverlapsOfGroups is OverlapsOfPeople for the events of groups, by two queries for each 30.
func OverlapsOfGroups(ctx context.Context, reader store.Reader, groupIDs []string, start, end time.Time) ([]Event, error) {
	return ofGroups.read(ctx, reader, groupIDs, start, end)
}

func (o overlaps) read(ctx context.Context, reader store.Reader, ids []string, start, end time.Time) ([]Event, error) {
	return store.Collect(o.all(ctx, reader, ids, start, end))
}

// all yields what read lists. It keeps the ids alone of what it yielded.
func (o overlaps) all(ctx context.Context, reader store.Reader, ids []string, start, end time.Time) iter.Seq2[Event, error] {
	start, end = start.Add(-day), end.Add(day) // dates are stored as days of UTC
	decode := DecodeEvent
	if o.timesOnly {
		decode = decodeTimes
	}
	return func(yield func(Event, error) bool) {
		known := map[string]bool{}
		for some := range slices.Chunk(ids, maxIn) {
			asked := []store.Bound{o.long.With(some, true, start), o.short.With(some, false, start.Add(-shortest), end)}
			if o.replaced != nil {
				asked = append(asked, o.replaced.With(some, start.Add(-longestException), end))
			}
			for i, one := range asked {
				for event, err := range store.All(ctx, reader, one, decode) {
					isThere := err != nil || i == 2 || event.From.Before(end) && event.Until.After(start)
					if !isThere || known[event.ID] {
						continue
					}
					known[event.ID] = true
					if !yield(event, err) || err != nil {
						return
					}
				}
			}
		}
	}
}

// Sharing reports which of these people share their availability, in one read of their
// documents.
func Sharing(ctx context.Context, reader store.Reader, ownerIDs []string) (map[string]bool, error) {
	paths := make([]store.Path, len(ownerIDs))
	for i, id := range ownerIDs {
		paths[i] = PersonPath(id)
	}
	docs, err := reader.GetAll(ctx, paths)
	if err != nil {
		return nil, err
	}
	sharing := map[string]bool{}
	for _, doc := range docs {
		if person := DecodePerson(doc); person.SharesAvailability {
			sharing[person.OwnerID] = true
		}
	}
	return sharing, nil
}
