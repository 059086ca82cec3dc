package google

import (
	"net/url"
	"slices"
	"strconv"
	"time"
)

// query reads parameters and keeps the first that is wrong.
type query struct {
	values url.Values
	err    error
}

func (q *query) fail(name, message string) {
	if q.err == nil {
		q.err = invalidParameter(name, message)
	}
}

// boolean is nil where the parameter is not given.
func (q *query) boolean(name string) *bool {
	text := q.values.Get(name)
	if text == "" {
		return nil
	}
	value, err := strconv.ParseBool(text)
	if err != nil {
		q.fail(name, "Invalid boolean value: '"+text+"'.")
		return nil
	}
	return &value
}

func (q *query) flag(name string) bool {
	value := q.boolean(name)
	return value != nil && *value
}

// number is at least 1, or 0 where the parameter is not given.
func (q *query) number(name string) int {
	text := q.values.Get(name)
	if text == "" {
		return 0
	}
	value, err := strconv.Atoi(text)
	if err != nil || value < 1 {
		q.fail(name, "Invalid integer value: '"+text+"'.")
		return 0
	}
	return value
}

// instant must carry an offset, as the reference says.
func (q *query) instant(name string) time.Time {
	text := q.values.Get(name)
	if text == "" {
		return time.Time{}
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		q.fail(name, "Bad Request")
	}
	return at
}

// oneOf is "" where the parameter is not given.
func (q *query) oneOf(name string, allowed ...string) string {
	text := q.values.Get(name)
	if text == "" {
		return ""
	}
	if slices.Contains(allowed, text) {
		return text
	}
	q.fail(name, "Invalid string value: '"+text+"'.")
	return ""
}

// zone is nil where the parameter is not given.
func (q *query) zone(name string) *time.Location {
	text := q.values.Get(name)
	if text == "" {
		return nil
	}
	zone, err := loadZone(text)
	if err != nil {
		q.fail(name, "Invalid time zone.")
		return nil
	}
	return zone
}

// eventView reads which form of an event the caller wants.
func (q *query) eventView(cal *calendar, m mask) view {
	zone := q.zone("timeZone")
	if zone == nil {
		zone = cal.location()
	}
	q.flag("alwaysIncludeEmail") // addresses are always shown; a wrong value is still refused
	return view{zone: zone, maxAttendees: q.number("maxAttendees"), mask: m}
}

// writeOptions checks the parameters of writes. They steer mail to guests,
// which the simulator does not send.
func (q *query) writeOptions() {
	q.oneOf("sendUpdates", "all", "externalOnly", "none")
	q.flag("sendNotifications")
	q.flag("supportsAttachments")
}
