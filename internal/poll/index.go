package poll

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"strings"
	"time"

	"questscheduler/internal/store"
	"questscheduler/rules"
)

// ConsumerPoll is the consumer of calendar changes that polls are.
const ConsumerPoll = "poll"

// IndexEntry is a document of calendarEventIndex: which poll follows a calendar event. It
// exists exactly while the poll is linked, or awaits the event. Closed to clients.
type IndexEntry struct {
	EventID    string
	PollID     string
	AccountID  string
	CreatorID  string
	CalendarID string
	Generation int64
	CreatedAt  time.Time
	// Awaited reports whether the event's deletion cancelled the poll, which awaits it
	// (Sync.Awaited).
	Awaited bool
	// Made is when the document was made (store.Document.Made); no field holds it.
	Made int64
}

// Place is a calendar as one account sees it.
type Place struct {
	AccountID  string
	CalendarID string
}

// Place is where the event of the entry is.
func (e IndexEntry) Place() Place { return Place{e.AccountID, e.CalendarID} }

// Link is the identity of the event that the entry is for.
func (e IndexEntry) Link() rules.Link {
	return rules.Link{Account: e.AccountID, Calendar: e.CalendarID, Event: e.EventID, Generation: e.Generation}
}

// IndexPath is where the entry of an event stands; a second one of the same event id, in
// another calendar, stands at SharedIndexPath.
func IndexPath(eventID string) store.Path { return store.Doc("calendarEventIndex", eventID) }

// SharedIndexPath is where the entry of an event stands whose id another calendar's has taken.
func SharedIndexPath(eventID, accountID, calendarID string) store.Path {
	return IndexPath(eventID + "~" + CalendarKey(accountID, calendarID)[:8])
}

// EncodeIndex gives the fields of an entry.
func EncodeIndex(e IndexEntry) map[string]any {
	fields := map[string]any{
		"consumer": ConsumerPoll, "schedulerId": e.PollID, "accountId": e.AccountID,
		"creatorId": e.CreatorID, "calendarId": e.CalendarID, "generation": e.Generation, "createdAt": e.CreatedAt,
	}
	if e.Awaited {
		fields["awaited"] = true
	}
	return fields
}

// SetEntryAwaited marks an entry as that of an awaited event, or of one that is back.
func SetEntryAwaited(awaited bool) store.Update {
	if awaited {
		return Set("awaited", true)
	}
	return Set("awaited", store.Delete)
}

// DecodeIndex reads an entry.
func DecodeIndex(doc store.Document) IndexEntry {
	f := store.Fields(doc.Data)
	eventID, _, _ := strings.Cut(doc.Path.ID(), "~")
	return IndexEntry{
		EventID: eventID, PollID: f.String("schedulerId"), AccountID: f.String("accountId"),
		CreatorID: f.String("creatorId"), CalendarID: f.String("calendarId"), Generation: f.Int("generation"),
		CreatedAt: f.Time("createdAt"), Awaited: f.Bool("awaited"), Made: doc.Made,
	}
}

// MoveIndex gives the updates of an entry whose event was moved to another calendar.
func MoveIndex(to Place) []store.Update {
	return []store.Update{Set("accountId", to.AccountID), Set("calendarId", to.CalendarID)}
}

// FindIndex reads the entry of an event in one calendar of one account (nil for none), and
// where it stands or would stand. It costs one read, or two where the event id's own place
// holds another calendar's entry or none.
func FindIndex(ctx context.Context, reader store.Reader, accountID, calendarID, eventID string) (*IndexEntry, store.Path, error) {
	if eventID == "" {
		return nil, "", nil
	}
	var free store.Path
	for _, path := range []store.Path{IndexPath(eventID), SharedIndexPath(eventID, accountID, calendarID)} {
		doc, err := reader.Get(ctx, path)
		if err != nil {
			return nil, "", err
		}
		if entry := DecodeIndex(doc); doc.Exists() && entry.AccountID == accountID && entry.CalendarID == calendarID {
			return &entry, path, nil
		}
		if free == "" && !doc.Exists() {
			free = path
		}
	}
	return nil, cmp.Or(free, SharedIndexPath(eventID, accountID, calendarID)), nil
}

// IndexOf reads the entry of a poll's linked or awaited event, nil for none, and its place.
func IndexOf(ctx context.Context, reader store.Reader, p Poll) (*IndexEntry, store.Path, error) {
	if p.EventID() == "" {
		return nil, "", nil
	}
	doc, err := reader.Get(ctx, IndexPath(p.EventID()))
	if err != nil {
		return nil, "", err
	}
	if entry := DecodeIndex(doc); doc.Exists() && entry.PollID == p.ID {
		return &entry, doc.Path, nil
	}
	return indexByPoll(ctx, reader, p)
}

// Indexed reads the entries at IndexPath that follow the polls' events, by the polls' ids. It
// makes one call.
func Indexed(ctx context.Context, reader store.Reader, polls []Poll) (map[string]IndexEntry, error) {
	var paths []store.Path
	for _, p := range polls {
		if path := IndexPath(p.EventID()); path.Valid() == nil {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	docs, err := reader.GetAll(ctx, slices.Compact(paths))
	if err != nil {
		return nil, err
	}
	entries := map[string]IndexEntry{}
	for _, doc := range docs {
		if doc.Exists() {
			entries[doc.Path.ID()] = DecodeIndex(doc)
		}
	}
	indexed := map[string]IndexEntry{}
	for _, p := range polls {
		if entry, known := entries[p.EventID()]; known && p.ID != "" && entry.PollID == p.ID {
			indexed[p.ID] = entry
		}
	}
	return indexed, nil
}

// indexByPoll finds an entry that had to step aside for another of its id.
func indexByPoll(ctx context.Context, reader store.Reader, p Poll) (*IndexEntry, store.Path, error) {
	docs, err := reader.Query(ctx, indexOfPoll.With(p.ID))
	if err != nil {
		return nil, "", err
	}
	for _, doc := range docs {
		if entry := DecodeIndex(doc); entry.EventID == p.EventID() {
			return &entry, doc.Path, nil
		}
	}
	return nil, "", nil
}

// IndexesOf reads every entry for a poll, and where each stands.
func IndexesOf(ctx context.Context, reader store.Reader, pollID string) (entries []IndexEntry, paths []store.Path, err error) {
	docs, err := reader.Query(ctx, indexOfPoll.With(pollID))
	if err != nil {
		return nil, nil, err
	}
	for _, doc := range docs {
		entries, paths = append(entries, DecodeIndex(doc)), append(paths, doc.Path)
	}
	return entries, paths, nil
}

var (
	indexOfPoll     = store.Select("index entries of a poll", "calendarEventIndex", "", store.Where("schedulerId", store.Equal))
	indexOfCalendar = store.Select("index entries of a calendar", "calendarEventIndex", "",
		store.Where("accountId", store.Equal), store.Where("calendarId", store.Equal))
)

// IndexOfCalendar yields the entries of one calendar, by event id.
func IndexOfCalendar(ctx context.Context, reader store.Reader, accountID, calendarID string) iter.Seq2[IndexEntry, error] {
	return store.All(ctx, reader, indexOfCalendar.With(accountID, calendarID), DecodeIndex)
}
