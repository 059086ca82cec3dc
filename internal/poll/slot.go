package poll

import (
	"context"
	"slices"
	"strings"
	"time"

	"questscheduler/internal/ids"
	"questscheduler/internal/store"
	"questscheduler/rules"
)

// Sources of a slot: made by people, or by a move of the event.
const (
	SourcePoll     = "poll"
	SourceCalendar = "calendar"
)

// CreatedBySync marks slots that the reconciler made.
const CreatedBySync = "calendar-sync"

// Slot is a document of schedulers/{id}/slots: one time people can choose.
type Slot struct {
	ID         string
	Start, End time.Time
	// AllDay slots come from all-day events; Start and End are then midnights
	// UTC of their dates, End exclusive.
	AllDay    bool
	Source    string
	CreatedBy string
	// Feasible and Preferred count votes (stats).
	Feasible, Preferred int64
}

// SlotPath is where a slot's document is.
func SlotPath(pollID, slotID string) store.Path { return Path(pollID).Doc("slots", slotID) }

// slotPath is SlotPath; false where slotID can be no id.
func slotPath(pollID, slotID string) (store.Path, bool) {
	path := SlotPath(pollID, slotID)
	return path, !strings.Contains(slotID, "/") && path.Valid() == nil
}

// slotNamed is the slot that a poll names; "" where that can be no id.
func slotNamed(id string) string {
	if _, isID := slotPath("poll", id); !isID {
		return ""
	}
	return id
}

// Option names the slot in a form of Discord, whose values are shorter than ids may be.
func (s Slot) Option() string { return ids.Of(s.ID).Base64(12) }

// ShownSlots names slots as a form shows them: it changes with their ids and times.
func ShownSlots(slots []Slot) string {
	parts := make([]string, 0, 2*len(slots))
	for _, slot := range slots {
		parts = append(parts, slot.ID, slot.Fingerprint().String())
	}
	return ids.Of(parts...).Base64(12)
}

// Fingerprint is the time of the slot.
func (s Slot) Fingerprint() rules.Fingerprint {
	f := rules.Timed(s.Start, s.End)
	f.AllDay = s.AllDay
	return f
}

// SlotAt is a slot that the reconciler makes for a time of the calendar.
func SlotAt(id string, f rules.Fingerprint) Slot {
	return Slot{
		ID: id, Start: f.StartTime(), End: f.EndTime(), AllDay: f.AllDay,
		Source: SourceCalendar, CreatedBy: CreatedBySync,
	}
}

// DecodeSlot reads a slot's document.
func DecodeSlot(doc store.Document) Slot {
	f := store.Fields(doc.Data)
	s := Slot{
		ID: doc.Path.ID(), Start: f.Time("start"), End: f.Time("end"), AllDay: f.Bool("allDay"),
		Source: f.String("source"), CreatedBy: f.String("createdBy"),
		Feasible: f.Map("stats").Int("feasible"), Preferred: f.Map("stats").Int("preferred"),
	}
	if s.Source == "" {
		s.Source = SourcePoll
	}
	if s.AllDay {
		days, err := rules.Days(f.String("startDate"), f.String("endDate"))
		if err != nil { // the days that the instants are in
			days = rules.Timed(midnight(s.Start), midnight(s.End))
		} else if !s.Start.IsZero() && (days.Start != s.Start.UnixMilli() || days.End != s.End.UnixMilli()) {
			s.AllDay = false // clients of the web app edit start and end alone
			return s
		}
		s.Start, s.End = days.StartTime(), days.EndTime()
	}
	return s
}

// midnight is the one that a day in UTC begins with.
func midnight(at time.Time) time.Time { return at.UTC().Truncate(24 * time.Hour) }

// EncodeSlot gives the fields of a new slot's document.
func EncodeSlot(s Slot) map[string]any {
	data := times(s.Fingerprint())
	if s.AllDay { // the web app reads start and end of every slot
		data["start"] = rules.Instant(s.Start)
		data["end"] = rules.Instant(s.End)
		data["allDay"] = true
	}
	data["stats"] = map[string]any{"feasible": s.Feasible, "preferred": s.Preferred}
	if s.Source == SourceCalendar {
		data["source"], data["createdBy"] = s.Source, s.CreatedBy
	}
	return data
}

// times are the fields of a fingerprint's times: start and end as instants, and for whole days
// startDate and endDate.
func times(f rules.Fingerprint) map[string]any {
	data := map[string]any{
		"start": rules.Instant(f.StartTime()),
		"end":   rules.Instant(f.EndTime()),
	}
	if f.AllDay {
		data["startDate"] = f.StartTime().Format(time.DateOnly)
		data["endDate"] = f.EndTime().Format(time.DateOnly)
	}
	return data
}

// MoveSlot gives the updates that give a calendar slot another time.
func MoveSlot(f rules.Fingerprint) []store.Update {
	data := times(f)
	updates := []store.Update{
		Set("start", data["start"]), Set("end", data["end"]), Set("allDay", f.AllDay),
		Set("startDate", store.Delete), Set("endDate", store.Delete),
	}
	if f.AllDay {
		updates[3].Value, updates[4].Value = data["startDate"], data["endDate"]
	}
	return updates
}

var slotsOf = store.Select("slots of a poll", "slots", "")

const (
	// MaxSlots is how many slots people may ask for over the API. A poll may have some more: the
	// calendar adds one when it moves the session, which stays where its time is accepted.
	MaxSlots = 200
	// MaxSlotsAhead is how many LoadSlotsAhead gives. Clients of the web app may write any number.
	MaxSlotsAhead = MaxSlots + 50
)

// slotsFrom compares texts: start is one in UTC, with milliseconds.
var slotsFrom = store.Select("slots of a poll from a time on", "slots", "start", store.Where("start", store.GreaterOrEqual))

// LoadSlotsAhead reads the slots of a poll, earliest first; of one with more than MaxSlots those alone
// that start at a time or later. all is false where these are too many, too, and some are missing.
func LoadSlotsAhead(ctx context.Context, reader store.Reader, pollID string, from time.Time) (slots []Slot, all bool, err error) {
	docs, err := reader.Query(ctx, slotsOf.With().Below(Path(pollID)).First(MaxSlots+1))
	if err == nil && len(docs) > MaxSlots {
		docs, err = reader.Query(ctx, slotsFrom.With(rules.Instant(from)).Below(Path(pollID)).First(MaxSlotsAhead+1))
	}
	return decodeSlots(docs[:min(len(docs), MaxSlotsAhead)]), len(docs) <= MaxSlotsAhead, err
}

// HasSlotsFrom reports whether a slot of a poll starts at a time or later.
func HasSlotsFrom(ctx context.Context, reader store.Reader, pollID string, from time.Time) (bool, error) {
	docs, err := reader.Query(ctx, slotsFrom.With(rules.Instant(from)).Below(Path(pollID)).First(1))
	return len(docs) > 0, err
}

// mostSlots is how many slots of a poll are read at all: a stranger's client can name people in a poll
// and write any number below it, which their lists of polls would read.
const mostSlots = 10_000

// slotsIn asks for the slots of a poll.
func slotsIn(pollID string) store.Bound { return slotsOf.With().Below(Path(pollID)).First(mostSlots) }

// LoadSlots reads the slots of a poll, earliest first; of more than mostSlots the first by their ids.
func LoadSlots(ctx context.Context, reader store.Reader, pollID string) ([]Slot, error) {
	docs, err := reader.Query(ctx, slotsIn(pollID))
	return decodeSlots(docs), err
}

// decodeSlots reads slots' documents, earliest first.
func decodeSlots(docs []store.Document) []Slot {
	slots := make([]Slot, len(docs))
	for i, doc := range docs {
		slots[i] = DecodeSlot(doc)
	}
	slices.SortFunc(slots, func(a, b Slot) int {
		if c := a.Start.Compare(b.Start); c != 0 {
			return c
		}
		return strings.Compare(a.ID, b.ID)
	})
	return slots
}

// LoadSlot reads one slot; nil where there is none, or slotID can be no id.
func LoadSlot(ctx context.Context, reader store.Reader, pollID, slotID string) (*Slot, error) {
	path, isID := slotPath(pollID, slotID)
	if !isID {
		return nil, nil
	}
	return load(ctx, reader, path, DecodeSlot)
}
