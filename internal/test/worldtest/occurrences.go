package worldtest

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"questscheduler/internal/mirror"
)

// Occurrence is an event, or one occurrence of a series, as a calendar shows it.
type Occurrence struct {
	ID           string `json:"id"`
	ICalUID      string `json:"iCalUID"`
	Status       string `json:"status"`
	SeriesID     string `json:"recurringEventId"`
	Original     moment `json:"originalStartTime"`
	Summary      string `json:"summary"`
	Description  string `json:"description"`
	Location     string `json:"location"`
	Visibility   string `json:"visibility"`
	Transparency string `json:"transparency"`
	// Recurrence is that of a whole series, which only a listing without its occurrences has.
	Recurrence []string `json:"recurrence"`
	Start      moment   `json:"start"`
	End        moment   `json:"end"`
	Organizer  struct {
		Email string `json:"email"`
		Self  bool   `json:"self"`
	} `json:"organizer"`
	Attendees []struct {
		Email    string `json:"email"`
		Self     bool   `json:"self"`
		Response string `json:"responseStatus"`
	} `json:"attendees"`
	Marks struct {
		Private map[string]string `json:"private"`
	} `json:"extendedProperties"`
}

// IsMirror reports whether it is the event of a mirror.
func (o Occurrence) IsMirror() bool { return isMirror(o.ID) }

// isMirror reports whether an id is one of a mirror's, which a person did not choose.
func isMirror(eventID string) bool {
	return mirror.IsMirror(eventID) && !strings.HasPrefix(eventID, ForeignPrefix)
}

// Master is the id of the whole event.
func (o Occurrence) Master() string {
	if o.SeriesID != "" {
		return o.SeriesID
	}
	return o.ID
}

// declined reports whether the calendar's owner declined it.
func (o Occurrence) declined() bool {
	for _, a := range o.Attendees {
		if a.Self && a.Response == "declined" {
			return true
		}
	}
	return false
}

// Moved is a change that moves a timed occurrence; an all-day one moves to another day.
func (o Occurrence) Moved(by time.Duration) map[string]any {
	if o.Start.Date != "" {
		day, end := date(o.Start.Date), date(o.End.Date)
		days := int(by / time.Hour)
		return map[string]any{
			"start": map[string]any{"date": day.AddDate(0, 0, days).Format(time.DateOnly)},
			"end":   map[string]any{"date": end.AddDate(0, 0, days).Format(time.DateOnly)},
		}
	}
	at := func(m moment) map[string]any {
		shown, err := time.Parse(time.RFC3339Nano, m.DateTime)
		if err != nil {
			panic("worldtest: a time of an occurrence: " + err.Error()) // the simulator wrote it
		}
		return map[string]any{"dateTime": shown.Add(by).Format(time.RFC3339), "timeZone": m.TimeZone}
	}
	return map[string]any{"start": at(o.Start), "end": at(o.End)}
}

func date(text string) time.Time {
	day, err := time.Parse(time.DateOnly, text)
	if err != nil {
		panic("worldtest: a day of an occurrence: " + err.Error()) // the simulator wrote it
	}
	return day
}

// instant is a time or a day as text.
func instant(m moment) string {
	if m.Date != "" {
		return m.Date
	}
	at, err := time.Parse(time.RFC3339Nano, m.DateTime)
	if err != nil {
		return "?" + m.DateTime
	}
	return at.UTC().Format(time.RFC3339)
}

// text is what a calendar shows of it.
func (o Occurrence) text() string {
	transparency, visibility := o.Transparency, o.Visibility
	if transparency == "" {
		transparency = "opaque"
	}
	if visibility == "" {
		visibility = "default"
	}
	return fmt.Sprintf("%s to %s %q %q %q %s %s", instant(o.Start), instant(o.End), o.Summary, o.Description, o.Location,
		transparency, visibility)
}

// private reports whether its owner shows others nothing but its times.
func (o Occurrence) private() bool {
	return o.Visibility == "private" || o.Visibility == "confidential"
}

// projected is its mirror of a detail, and whether there is one at all.
func (o Occurrence) projected(detail mirror.Detail) (shown Occurrence, is bool) {
	if o.private() {
		detail = mirror.Busy
	}
	if o.declined() || o.Transparency == "transparent" && detail != mirror.Full {
		return shown, false
	}
	shown.Start, shown.End = o.Start, o.End
	switch detail {
	case mirror.Full:
		shown.Summary, shown.Description, shown.Location = strings.TrimSpace(o.Summary), strings.TrimSpace(o.Description),
			strings.TrimSpace(o.Location)
		shown.Transparency, shown.Visibility = o.Transparency, "private"
	case mirror.Title:
		shown.Summary, shown.Visibility = strings.TrimSpace(o.Summary), "private"
	default:
		shown.Summary = "Busy"
	}
	return shown, true
}

// Occurrences are what a calendar shows somebody from now on, each occurrence of a series
// alone; exists is false if there is no such calendar.
func (w *World) Occurrences(browser, calendarID string) (all []Occurrence, exists bool) {
	w.t.Helper()
	return w.eventsListed(browser, calendarID, url.Values{
		"singleEvents": {"true"},
		"timeMin":      {w.Clock.Now().Add(time.Hour).Format(time.RFC3339)},
		"timeMax":      {Start.Add(shownUntil).Format(time.RFC3339)},
	})
}

// eventsListed is what a calendar shows somebody who asks for it so.
func (w *World) eventsListed(browser, calendarID string, asked url.Values) (all []Occurrence, exists bool) {
	w.t.Helper()
	asked.Set("maxResults", "2500")
	w.own["events.list"]++
	status, text := w.browse(browser, calendarID, http.MethodGet, "?"+asked.Encode(), nil)
	if status == http.StatusNotFound {
		return nil, false
	}
	var list struct {
		Items []Occurrence `json:"items"`
	}
	if status != http.StatusOK {
		w.t.Fatalf("%s could not list %s: %d %s", browser, calendarID, status, text)
	}
	w.must(json.Unmarshal(text, &list))
	return list.Items, true
}

// shownUntil bounds what is listed: a series may have no end.
const shownUntil = 45 * 24 * time.Hour

// DeletedMirrors are the mirrors that the own calendar of one of Mirrorer's accounts had, by the ids of
// their events: not those of occurrences, which come and go with their series.
func (w *World) DeletedMirrors(name string) []string {
	w.t.Helper()
	return w.mirrorsIn(name, func(o Occurrence) bool { return o.Status == "cancelled" })
}

// UnnamedMirrors are the mirrors in the own calendars of Mirrorer's accounts that no document names,
// by the ids of their events.
func (w *World) UnnamedMirrors() (ids []string) {
	w.t.Helper()
	for _, name := range w.MirroredNames() {
		ids = append(ids, w.mirrorsIn(name, func(o Occurrence) bool { return o.Status != "cancelled" })...)
	}
	naming, err := mirror.NamingOf(w.ctx, w.Documents, ids...)
	w.must(err)
	return slices.DeleteFunc(ids, func(id string) bool { return naming.Anywhere(id) })
}

func (w *World) mirrorsIn(name string, fits func(o Occurrence) bool) (ids []string) {
	w.t.Helper()
	all, _ := w.eventsListed(name, Person(name).Email, url.Values{"showDeleted": {"true"}})
	for _, o := range all {
		if o.IsMirror() && o.SeriesID == "" && fits(o) {
			ids = append(ids, o.ID)
		}
	}
	return ids
}

// OccurrencesOf are those of the own calendar of one of Mirrorer's accounts.
func (w *World) OccurrencesOf(name string) []Occurrence {
	w.t.Helper()
	all, _ := w.Occurrences(name, Person(name).Email)
	return all
}
