package attendees

import (
	"context"
	"maps"
	"slices"

	"questscheduler/internal/store"
)

// EventPath is where an event's record is.
func EventPath(id string) store.Path { return store.Doc("attendeeEvents", id) }

// EncodeEvent gives all fields of an event's record. Addresses are names of nested fields
// and contain dots: update one with store.Field("entries", address), never with a dotted
// name.
func EncodeEvent(e EventRecord) map[string]any {
	return map[string]any{
		"icalUid": e.ICalUID, "original": store.NullIfEmpty(e.Original), "seriesId": store.NullIfEmpty(e.SeriesID),
		"since": store.NullIfZero(e.Since), "inherited": mapOf(e.Inherited, encodeEntry),
		"copies": mapOf(e.Copies, encodeCopy), "entries": mapOf(e.Entries, encodeEntry), "primaries": e.Primaries(),
		"version": e.Version, "due": store.NullIfZero(e.Due), "trace": store.NullIfEmpty(e.Trace),
		"failures": e.Failures, "missing": e.Missing, "failedSince": store.NullIfZero(e.FailedSince), "error": e.Error, "inError": e.Error != "",
		"endsAt": store.NullIfZero(e.EndsAt), "history": store.ListOf(e.History, encodeChange), "updatedAt": store.NullIfZero(e.UpdatedAt),
	}
}

// DecodeEvent reads an event's record. A document that does not exist reads as a record of
// its id, with Version 0.
func DecodeEvent(doc store.Document) EventRecord {
	f := store.Fields(doc.Data)
	return EventRecord{
		ID: doc.Path.ID(), ICalUID: f.String("icalUid"), Original: f.String("original"), SeriesID: f.String("seriesId"),
		Since: f.Time("since"), Inherited: decodeMap(f.Map("inherited"), decodeEntry),
		Copies: decodeMap(f.Map("copies"), decodeCopy), Entries: decodeMap(f.Map("entries"), decodeEntry),
		Version: f.Int("version"), Due: f.Time("due"), Trace: f.String("trace"),
		Failures: f.Int("failures"), Missing: f.Int("missing"), FailedSince: f.Time("failedSince"), Error: f.String("error"),
		EndsAt: f.Time("endsAt"), History: store.DecodeList(f.List("history"), decodeChange), UpdatedAt: f.Time("updatedAt"),
	}
}

// Load reads an event's record; ok is false if there is none.
func Load(ctx context.Context, reader store.Reader, id string) (e EventRecord, ok bool, err error) {
	if EventPath(id).Valid() != nil {
		return EventRecord{}, false, nil //nolint:nilerr // the id of a task may hold anything
	}
	doc, err := reader.Get(ctx, EventPath(id))
	if err != nil || !doc.Exists() {
		return EventRecord{}, false, err
	}
	return DecodeEvent(doc), true, nil
}

// Primaries are the primary addresses whose mapping decides about an entry of the event,
// sorted: those of its additions. What a person did with an address stays as it is.
func (e EventRecord) Primaries() []string {
	found := map[string]bool{}
	for _, entry := range e.Entries {
		if entry.Ours() && entry.Primary != "" {
			found[entry.Primary] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// Ours reports that the address is at the event by our doing, or may be.
func (e Entry) Ours() bool {
	return e.State == Adding || e.State == Added || e.State == Withdrawing
}

func encodeCopy(c Copy) map[string]any {
	return map[string]any{
		"accountId": c.AccountID, "calendarId": c.CalendarID, "eventId": c.EventID,
		"organized": c.Organized, "mayEdit": c.MayEdit, "gone": c.Gone, "etag": store.NullIfEmpty(c.ETag),
	}
}

func decodeCopy(f store.Fields) Copy {
	return Copy{
		AccountID: f.String("accountId"), CalendarID: f.String("calendarId"), EventID: f.String("eventId"),
		Organized: f.Bool("organized"), MayEdit: f.Bool("mayEdit"), Gone: f.Bool("gone"), ETag: f.String("etag"),
	}
}

func encodeEntry(e Entry) map[string]any {
	return map[string]any{
		"state": string(e.State), "primary": e.Primary, "at": store.NullIfZero(e.At),
		"copy": store.NullIfEmpty(e.Copy), "declined": e.Declined,
	}
}

func decodeEntry(f store.Fields) Entry {
	return Entry{
		State: State(f.String("state")), Primary: f.String("primary"), At: f.Time("at"),
		Copy: f.String("copy"), Declined: f.Bool("declined"),
	}
}

func encodeChange(c Change) map[string]any {
	return map[string]any{
		"at": c.At, "trigger": c.Trigger, "trace": c.Trace, "address": c.Address, "primary": c.Primary,
		"before": string(c.Before), "after": string(c.After), "would": c.Would,
	}
}

func decodeChange(f store.Fields) Change {
	return Change{
		At: f.Time("at"), Trigger: f.String("trigger"), Trace: f.String("trace"), Address: f.String("address"), Primary: f.String("primary"),
		Before: State(f.String("before")), After: State(f.String("after")), Would: f.Bool("would"),
	}
}

func mapOf[T any](items map[string]T, encode func(T) map[string]any) map[string]any {
	fields := make(map[string]any, len(items))
	for name, item := range items {
		fields[name] = encode(item)
	}
	return fields
}

func decodeMap[T any](fields store.Fields, decode func(store.Fields) T) map[string]T {
	items := make(map[string]T, len(fields))
	for name := range fields {
		items[name] = decode(fields.Map(name))
	}
	return items
}
