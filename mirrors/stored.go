package mirrors

import (
	"context"
	"maps"
	"time"

	"questscheduler/calendarsync"
	"questscheduler/internal/mirror"
)

// mostKept and mostText are how many stored events of a calendar, and bytes of what they say, a
// full listing of it keeps in memory. Dozens of listings may run at once.
const (
	mostKept = 1000
	mostText = 256 << 10
)

// stored is what was stored of a calendar when a full listing of it began, so that each event is
// read once: for its page, and to find what no page shows.
type stored struct {
	// origins and copies are by the ids of their events. Beyond mostKept in all, or mostText, which cut
	// reports, origins lack the others and copies have nil.
	origins map[string]mirror.Event
	copies  map[string]*mirror.Event
	cut     bool
	text    int
	// expected are the ids of all that were not cancelled.
	expected []string
}

// storedOf is what was stored when the full listing of a run began; where no page was long, it is
// read now.
func (s *Service) storedOf(ctx context.Context, run calendarsync.Run) (*stored, error) {
	memo := run.Memo()
	if known, ok := (*memo).(*stored); ok {
		return known, nil
	}
	known := &stored{origins: map[string]mirror.Event{}, copies: map[string]*mirror.Event{}}
	for event, err := range mirror.OfCalendar(ctx, s.Store, run.Calendar.AccountID, run.Calendar.CalendarID) {
		if err != nil {
			return nil, err
		}
		known.add(event)
	}
	*memo = known
	return known, nil
}

func (k *stored) add(event mirror.Event) {
	if event.Status != cancelled {
		k.expected = append(k.expected, event.EventID)
	}
	isCopy := event.Source == mirror.SourceCopy
	k.text += len(event.Title) + len(event.Description) + len(event.Location)
	k.cut = k.cut || len(k.origins)+len(k.copies) >= mostKept || k.text > mostText
	switch {
	case isCopy && k.cut:
		k.copies[event.EventID] = nil
	case isCopy:
		k.copies[event.EventID] = &event
	case !k.cut:
		k.origins[event.EventID] = event
	}
}

// ofOrigins reads the canonical events of some events of a calendar, by their ids there. known is
// nil where a listing shows changes alone.
func (s *Service) ofOrigins(ctx context.Context, known *stored, at mirror.Place, ids []string) (map[string]mirror.Event, error) {
	if known == nil {
		return mirror.OfOrigins(ctx, s.Store, at.AccountID, at.CalendarID, ids)
	}
	if !known.cut {
		return known.origins, nil
	}
	found, unread := map[string]mirror.Event{}, []string{}
	for _, id := range ids {
		event, ok := known.origins[id]
		if ok {
			found[id] = event
		} else {
			unread = append(unread, id)
		}
	}
	others, err := mirror.OfOrigins(ctx, s.Store, at.AccountID, at.CalendarID, unread)
	maps.Copy(found, others)
	return found, err
}

// showsCopy reports whether the copy of a mirror's event was stored as the event is observed.
func (k *stored) showsCopy(o observation, of mirror.Mirror, now time.Time) bool {
	if k == nil || k.copies[o.event.ID] == nil {
		return false
	}
	_, changed := copyOf(*k.copies[o.event.ID], o, of, now)
	return !changed
}
