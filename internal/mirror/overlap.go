package mirror

import (
	"context"
	"strings"
	"time"

	"questscheduler/internal/store"
)

// The two parts of the list of Overlapping, as cursors name them.
const (
	longPart  = "long"
	shortPart = "short"
)

// Overlapping lists at most limit canonical events of a person of which some occurrence may
// overlap a time range, cancelled and declined ones included: first series and events
// longer than a day, by their end, then the others, by their start. take refuses events
// that the caller does not show; they do not count. at is where an earlier page ended (""
// is the beginning); next continues, and is "" at the end. Invalid: at is no such place.
//
// A store takes a range of one field. Events of at most a day that overlap start after one
// day before the range, so a range of their start reads few others.
func Overlapping(
	ctx context.Context, reader store.Reader, ownerID string, start, end time.Time, limit int, at string, take func(Event) bool,
) (page []Event, next string, err error) {
	part, behind, _ := strings.Cut(at, ":")
	after := store.DecodeCursor(behind, events)
	if part = orLong(part); part != longPart && part != shortPart || behind != "" && after == nil {
		return nil, "", errCursor()
	}
	for {
		asked := longEventsEnding.With(ownerID, true, start)
		if part == shortPart {
			asked = eventsStarting.With(ownerID, false, start.Add(-shortest), end)
		}
		var place *store.Cursor
		place, err = store.Walk(ctx, reader, asked.From(after), DecodeEvent, func(e Event) (bool, error) {
			if len(page) == limit {
				return false, nil
			}
			if e.From.Before(end) && e.Until.After(start) && take(e) {
				page = append(page, e)
			}
			return true, nil
		})
		switch {
		case err != nil:
			return nil, "", err
		case place != nil:
			next, err = store.EncodeCursor(place)
			return page, part + ":" + next, err
		case part == shortPart:
			return page, "", nil
		}
		part, after = shortPart, nil
		if len(page) == limit {
			return page, shortPart + ":", nil
		}
	}
}

func orLong(part string) string {
	if part == "" {
		return longPart
	}
	return part
}
