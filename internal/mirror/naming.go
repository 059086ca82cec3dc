package mirror

import (
	"context"
	"slices"
	"strings"

	"questscheduler/internal/store"
)

var (
	mirrorsByEvent = store.Select("mirrors that name some events", mirrors, "", store.Where("eventId", store.In))
	keptByEvent    = store.Select("kept copies that name some events", keptCopies, "", store.Where("eventId", store.In))
)

// StrayEvent is the CanonicalID of strays; no canonical event has it.
const StrayEvent = "evt_stray"

// IsStray reports whether the mirror only has an event deleted that no document names. It may
// never succeed, since its account may not be able to, so it keeps nobody else from that.
func (m Mirror) IsStray() bool { return m.CanonicalID == StrayEvent }

// Naming are the documents of all people that name some events: what proves that an event is
// ours. Its id, and marks of another installation, prove nothing, since anybody can choose or
// copy them; what a mark of this installation proves is for plan.Classify to say. A stray
// (IsStray) is none of them.
type Naming struct {
	Mirrors []Mirror
	// Kept are kept copies (KeptPath), with the fields of the mirrors that they were.
	Kept []Mirror
}

// NamingOf reads the documents of anybody that name some events, in whatever calendar: the
// mirrors, and the kept copies of events that no mirror names. A mirror names its event before
// it is created, so an event of ours that was listed before the call is named, unless its
// document went already.
func NamingOf(ctx context.Context, reader store.Reader, eventIDs ...string) (found Naming, err error) {
	asked := slices.DeleteFunc(slices.Clone(eventIDs), func(id string) bool { return id == "" })
	found.Mirrors, err = thatName(ctx, reader, mirrorsByEvent, asked)
	if err != nil {
		return Naming{}, err
	}
	found.Mirrors = slices.DeleteFunc(found.Mirrors, Mirror.IsStray)
	asked = slices.DeleteFunc(asked, func(id string) bool { return found.Anywhere(id) })
	found.Kept, err = thatName(ctx, reader, keptByEvent, asked)
	return found, err
}

func thatName(ctx context.Context, reader store.Reader, query *store.Query, eventIDs []string) (all []Mirror, err error) {
	for some := range slices.Chunk(eventIDs, maxIn) {
		found, _, err := store.Page(ctx, reader, query.With(some), Decode)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

// Anywhere reports whether a document names one of the events.
func (n Naming) Anywhere(eventIDs ...string) bool {
	return n.some(func(m Mirror) bool { return m.EventID != "" && slices.Contains(eventIDs, m.EventID) })
}

// In reports whether a document names one of the events in a calendar, by whichever account.
func (n Naming) In(calendarID string, eventIDs ...string) bool {
	return n.some(func(m Mirror) bool {
		return m.EventID != "" && m.In(calendarID) && slices.Contains(eventIDs, m.EventID)
	})
}

func (n Naming) some(fits func(m Mirror) bool) bool {
	return slices.ContainsFunc(n.Mirrors, fits) || slices.ContainsFunc(n.Kept, fits)
}

// In reports whether the mirror's event is in a calendar, by whichever account that is
// reached. The calendar of an account whose address is unknown may be any.
func (m Mirror) In(calendarID string) bool {
	return m.TargetCalendarID == "primary" || strings.EqualFold(m.TargetCalendarID, calendarID)
}
