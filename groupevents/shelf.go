package groupevents

import (
	"context"
	"slices"
	"time"

	"questscheduler/internal/mirror"
	"questscheduler/internal/recurrence"
	"questscheduler/internal/store"
)

// recentEvents is how many of a group's events are kept available.
const recentEvents = 50

// Summary is an event of a group without its description.
type Summary struct {
	ID         string // "evt_" and a ULID
	AuthorID   string
	Title      string
	Location   string
	Start, End recurrence.Moment
	Version    int64
	CreatedAt  time.Time
	UpdatedAt  time.Time
}

func summarise(e mirror.Event) Summary {
	return Summary{
		ID: e.ID, AuthorID: e.OwnerID, Title: e.Title, Location: e.Location, Start: e.Start, End: e.End,
		Version: e.Version, CreatedAt: e.CreatedAt, UpdatedAt: e.UpdatedAt,
	}
}

// shelf is a document of groupEvents, one for each group that uses them: its settings, and
// its latest events, so that a list is one read.
type shelf struct {
	GroupID       string
	ShareSessions bool
	// Recent are the latest events, newest first, at most recentEvents.
	Recent []Summary
	// Older says that the group may have more events than Recent.
	Older bool
	// Authors count what each person did, for MaxPerDay, MaxPresent and MaxSwitches.
	Authors []authored
}

func shelfPath(groupID string) store.Path { return store.Doc("groupEvents", groupID) }

func loadShelf(ctx context.Context, reader store.Reader, groupID string) (shelf, error) {
	doc, err := reader.Get(ctx, shelfPath(groupID))
	if err != nil {
		return shelf{}, err
	}
	return decodeShelf(doc), nil
}

func (h shelf) write(tx store.Tx) error { return tx.Set(shelfPath(h.GroupID), h.encode()) }

// put has the shelf hold an event as it is now.
func (h shelf) put(e mirror.Event) shelf {
	h = h.without(e.ID)
	h.Recent = append(h.Recent, summarise(e))
	slices.SortFunc(h.Recent, newestFirst)
	if len(h.Recent) > recentEvents {
		h.Recent, h.Older = h.Recent[:recentEvents], true
	}
	return h
}

func (h shelf) without(eventID string) shelf {
	h.Recent = slices.DeleteFunc(slices.Clone(h.Recent), func(s Summary) bool { return s.ID == eventID })
	return h
}

// removing is the shelf without an event that goes, filled up with older ones if it held it.
func (h shelf) removing(ctx context.Context, reader store.Reader, eventID string) (shelf, error) {
	if !h.holds(eventID) {
		return h, nil
	}
	h = h.without(eventID)
	var last *store.Cursor
	if len(h.Recent) > 0 {
		last = placeOf(h.Recent[len(h.Recent)-1])
	}
	for h.Older && len(h.Recent) < recentEvents {
		page, next, err := mirror.OfGroup(ctx, reader, h.GroupID, recentEvents-len(h.Recent), last)
		if err != nil {
			return shelf{}, err
		}
		for _, event := range page {
			if event.ID != eventID && belongs(event, h.GroupID) {
				h.Recent = append(h.Recent, summarise(event))
			}
		}
		last, h.Older = next, next != nil
	}
	return h, nil
}

func (h shelf) holds(eventID string) bool {
	return slices.ContainsFunc(h.Recent, func(s Summary) bool { return s.ID == eventID })
}

// newestFirst is the order of lists: that of the store, by time and then by id.
func newestFirst(a, b Summary) int {
	if order := b.CreatedAt.Compare(a.CreatedAt); order != 0 {
		return order
	}
	if a.ID > b.ID {
		return -1
	}
	return 1
}

func (h shelf) encode() map[string]any {
	recent := make([]any, len(h.Recent))
	for i, s := range h.Recent {
		recent[i] = map[string]any{
			"id": s.ID, "authorId": s.AuthorID, "title": s.Title, "location": s.Location,
			"start": mirror.EncodeMoment(s.Start), "end": mirror.EncodeMoment(s.End), "version": s.Version,
			"createdAt": s.CreatedAt, "updatedAt": s.UpdatedAt,
		}
	}
	authors := make([]any, len(h.Authors))
	for i, a := range h.Authors {
		authors[i] = map[string]any{"authorId": a.AuthorID, "day": a.Day, "today": a.Today, "present": a.Present, "switches": a.Switches}
	}
	return map[string]any{"shareSessions": h.ShareSessions, "recent": recent, "older": h.Older, "authors": authors}
}

func decodeShelf(doc store.Document) shelf {
	f := store.Fields(doc.Data)
	h := shelf{GroupID: doc.Path.ID(), ShareSessions: f.Bool("shareSessions"), Older: f.Bool("older")}
	for _, item := range f.List("recent") {
		fields, _ := item.(map[string]any)
		s := store.Fields(fields)
		h.Recent = append(h.Recent, Summary{
			ID: s.String("id"), AuthorID: s.String("authorId"), Title: s.String("title"), Location: s.String("location"),
			Start: mirror.DecodeMoment(s.Map("start")), End: mirror.DecodeMoment(s.Map("end")), Version: s.Int("version"),
			CreatedAt: s.Time("createdAt"), UpdatedAt: s.Time("updatedAt"),
		})
	}
	for _, item := range f.List("authors") {
		fields, _ := item.(map[string]any)
		a := store.Fields(fields)
		h.Authors = append(h.Authors, authored{
			AuthorID: a.String("authorId"), Day: a.Time("day"), Today: a.Int("today"), Present: a.Int("present"), Switches: a.Int("switches"),
		})
	}
	return h
}
