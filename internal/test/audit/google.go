package audit

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// event is an event, or an occurrence of a series, as a calendar shows it to its owner.
type event struct {
	ID           string    `json:"id"`
	UID          string    `json:"iCalUID"`
	Status       string    `json:"status"`
	Series       string    `json:"recurringEventId"`
	Summary      string    `json:"summary"`
	Description  string    `json:"description"`
	Location     string    `json:"location"`
	Visibility   string    `json:"visibility"`
	Transparency string    `json:"transparency"`
	Kind         string    `json:"eventType"`
	Start        eventTime `json:"start"`
	End          eventTime `json:"end"`
	Recurrence   []string  `json:"recurrence"`
	Attendees    []struct {
		Self     bool   `json:"self"`
		Response string `json:"responseStatus"`
	} `json:"attendees"`
}

type eventTime struct {
	Date     string `json:"date"`
	DateTime string `json:"dateTime"`
}

// listing is what a calendar shows from now on, each occurrence of a series alone.
type listing struct {
	Zone  string  `json:"timeZone"`
	Items []event `json:"items"`
	there bool
}

func (e event) live() bool { return e.ID != "" && e.Status != "cancelled" }

func (e event) declined() bool {
	for _, guest := range e.Attendees {
		if guest.Self && guest.Response == "declined" {
			return true
		}
	}
	return false
}

func (e event) private() bool { return e.Visibility == "private" || e.Visibility == "confidential" }

// copyPrefix begins the ids of the program's copies.
const copyPrefix = "questmirror"

// isCopy reports whether an event is a copy that the program made.
func (a *audit) isCopy(e event) bool {
	return strings.HasPrefix(e.ID, copyPrefix) && (a.Chosen == "" || !strings.HasPrefix(e.ID, a.Chosen))
}

// text is a time as the program keeps times: start, end and whether it is all-day.
func (e event) text() string {
	if e.Start.Date != "" {
		return e.Start.Date + "|" + e.End.Date + "|true"
	}
	return stamp(instant(e.Start.DateTime)) + "|" + stamp(instant(e.End.DateTime)) + "|false"
}

func stamp(at time.Time) string { return at.UTC().Format("2006-01-02T15:04:05.000Z") }

// times are when an event is, by a calendar's zone.
func (e event) times(zone *time.Location) Interval {
	day := func(text string) time.Time { at, _ := time.ParseInLocation(time.DateOnly, text, zone); return at.UTC() }
	if e.Start.Date != "" {
		return Interval{day(e.Start.Date), day(e.End.Date)}
	}
	return Interval{instant(e.Start.DateTime), instant(e.End.DateTime)}
}

// get reads an address of the simulators into a value; there is false where it answers 404.
func (a *audit) get(by http.RoundTripper, address, token string, into any) (there bool, err error) {
	request, err := http.NewRequestWithContext(a.ctx, http.MethodGet, address, nil)
	if err != nil {
		return false, err
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := (&http.Client{Transport: by}).Do(request)
	if err != nil {
		return false, err
	}
	defer response.Body.Close() //nolint:errcheck // it was read
	switch response.StatusCode {
	case http.StatusOK:
		return true, json.NewDecoder(response.Body).Decode(into)
	case http.StatusNotFound, http.StatusGone:
		return false, nil
	default:
		return false, fmt.Errorf("GET %s answers %d", address, response.StatusCode)
	}
}

// calendarsURL is where the simulator serves calendars.
const calendarsURL = "http://google.sim/calendar/v3/calendars/"

// eventOf is an event of a calendar; the zero one where there never was one.
func (a *audit) eventOf(calendar, id string) (e event, err error) {
	_, err = a.get(a.Google, calendarsURL+url.PathEscape(calendar)+"/events/"+url.PathEscape(id), a.Readers[calendar], &e)
	return e, err
}

// list is what a calendar shows in the time that is compared, cancelled events left out.
func (a *audit) list(calendar string) (listing, error) {
	if known, is := a.shown[calendar]; is {
		return known, nil
	}
	within := a.compared()
	query := url.Values{
		"singleEvents": {"true"}, "maxResults": {"2500"}, "timeMin": {within.Start.Format(time.RFC3339)},
		"timeMax": {within.End.Format(time.RFC3339)},
	}
	var shown listing
	there, err := a.get(a.Google, calendarsURL+url.PathEscape(calendar)+"/events?"+query.Encode(), a.Readers[calendar], &shown)
	shown.there = there
	shown.Items = slices.DeleteFunc(shown.Items, func(e event) bool { return !e.live() })
	a.shown[calendar] = shown
	return shown, err
}

// compared is the time in which calendars are compared: what begins within the hour may be
// past once the program reads it.
func (a *audit) compared() Interval {
	from := a.Now.Add(time.Hour).UTC().Truncate(time.Second)
	return Interval{from, from.Add(Horizon)}
}
