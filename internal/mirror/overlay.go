package mirror

import (
	"strings"
	"time"

	"questscheduler/internal/store"
)

// OverlaySummary is the name of overlay calendars.
const OverlaySummary = "External Busy"

// overlayMark begins the mark of an overlay calendar in its description.
const overlayMark = "qs-overlay-"

// OverlayDescription is the description of an overlay calendar: a sentence for its owner,
// and the mark by which a lost answer to its creation is made up for. The mark is opaque.
func OverlayDescription(mark string) string {
	return "Times from your other calendars, kept up to date by Quest Scheduler. Please leave this line: " + mark
}

// OverlayMark is the mark of one generation of an account's overlay calendar.
func OverlayMark(installation, accountID string, generation int64) string {
	return overlayMark + EventID(installation, "overlay", accountID, "", generation)[len(EventPrefix):]
}

// MarksOverlay reports whether a calendar with that description is the one with a mark.
func MarksOverlay(description, mark string) bool {
	return mark != "" && strings.Contains(description, mark)
}

// Lost is the overlay after its owner deleted the calendar.
func (o OverlayCalendar) Lost() OverlayCalendar {
	return OverlayCalendar{Suppressed: true, Generation: o.Generation}
}

// Again is the overlay after edges to the account were set again: a calendar that its
// owner deleted is followed by one of the next generation.
func (o OverlayCalendar) Again() OverlayCalendar {
	if o.Suppressed {
		o = OverlayCalendar{Generation: o.Generation + 1}
	}
	return o
}

// WriteOverlay returns the updates that store an account's overlay calendar in its owner's
// document. The caller must merge them.
func WriteOverlay(ownerID, accountID string, o OverlayCalendar, now time.Time) []store.Update {
	return []store.Update{
		store.Set("ownerId", ownerID), {Path: store.Field("overlays", accountID), Value: EncodeOverlay(o)},
		store.Set("updatedAt", store.Instant(now)),
	}
}

// EncodeOverlay gives the fields of an overlay calendar.
func EncodeOverlay(o OverlayCalendar) map[string]any {
	return map[string]any{
		"calendarId": store.NullIfEmpty(o.CalendarID), "suppressed": o.Suppressed, "generation": o.Generation,
		"tryingUntil": store.NullIfZero(o.TryingUntil), "mark": store.NullIfEmpty(o.Mark),
	}
}

func decodeOverlay(f store.Fields) OverlayCalendar {
	return OverlayCalendar{
		CalendarID: f.String("calendarId"), Suppressed: f.Bool("suppressed"), Generation: f.Int("generation"), TryingUntil: f.Time("tryingUntil"),
		Mark: f.String("mark"),
	}
}
