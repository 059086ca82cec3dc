package gcal

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"regexp"
	"slices"
	"testing"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/recurrence"
	"questscheduler/internal/refusal"
	"questscheduler/rules"
)

// FuzzTimes: a start and an end of whatever form are no time, or one that does
// not end before it begins and that is written to Google as the same again.
func FuzzTimes(f *testing.F) {
	f.Add("2026-03-01", "", "", "2026-03-03", "", "", "Europe/Zurich")
	f.Add("", "2026-03-01T13:00:00+01:00", "", "", "2026-03-01T14:30:00.123456789Z", "", "")
	f.Add("", "2026-03-29T02:30:00", "Europe/Zurich", "", "2026-10-25T02:30:00", "Europe/Zurich", "UTC")
	f.Add("", "0000-01-01T00:00:00+23:59", "", "", "9999-12-31T23:59:59-23:59", "", "")
	f.Add("", "9999-12-31T23:59:59", "Pacific/Niue", "", "9999-12-31T23:59:59", "Pacific/Niue", "Local")
	f.Add("2026-03-01", "2026-03-01T12:00:00Z", "../x", "", "", "", "\x00")
	f.Fuzz(func(t *testing.T, startDate, startTime, startZone, endDate, endTime, endZone, zone string) {
		read, ok := readTimes(
			wireTime{Date: startDate, DateTime: startTime, TimeZone: startZone},
			wireTime{Date: endDate, DateTime: endTime, TimeZone: endZone}, zone)
		if !ok {
			if !read.IsZero() {
				t.Fatalf("no time, and %s", read)
			}
			return
		}
		if read.End < read.Start {
			t.Fatalf("%s ends before it begins", read)
		}
		start, end := writeTimes(read, "UTC")
		again, ok := readTimes(timeFromClient(start), timeFromClient(end), "America/New_York")
		if !ok || again != read {
			t.Fatalf("%s is written as %+v, %+v and read again as %s, %t", read, start, end, again, ok)
		}
		if parsed, err := rules.ParseFingerprint(read.String()); !read.IsZero() && (err != nil || parsed != read) {
			t.Fatalf("%s is kept as a text and read again as %s, %v", read, parsed, err)
		}
	})
}

// saying gives every call one answer.
type saying struct {
	status int
	header http.Header
	body   []byte
}

// RoundTrip implements http.RoundTripper.
func (s saying) RoundTrip(request *http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: s.status, Header: s.header, Body: io.NopCloser(bytes.NewReader(s.body)), Request: request,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, ContentLength: int64(len(s.body)),
	}, nil
}

func clientOf(answer saying) *Client {
	return New(Options{
		Endpoint: "http://google.test", Now: func() time.Time { return time.Unix(1e9, 0) },
		Client: func(context.Context, string) (*http.Client, error) { return &http.Client{Transport: answer}, nil },
	})
}

// allowedError matches an error that quotes no more of Google's answer than the call, the
// status and words of the form of Google's reasons.
var allowedError = regexp.MustCompile(`^google events\.get: \d+( [A-Za-z0-9._]{1,64}(,[A-Za-z0-9._]{1,64})*)?$`)

// FuzzErrorAnswer checks the error for any answer in the place of an event: it has a kind
// and a message of ours, it is NotFound or Revoked only if Google's status says so, and it
// quotes nothing of the body.
func FuzzErrorAnswer(f *testing.F) {
	f.Add(404, "", []byte(`{"error":{"code":404,"errors":[{"reason":"notFound","message":"secret text"}]}}`))
	f.Add(403, "5", []byte(`{"error":{"errors":[{"reason":"rateLimitExceeded"}],"details":[{"reason":"RATE_LIMIT_EXCEEDED"}]}}`))
	f.Add(403, "", []byte(`{"error":{"details":["x",{"reason":7}]}}`))
	f.Add(410, "-1", []byte(`{"error":{"errors":[{"reason":"no such/reason"}]}}`))
	f.Add(500, "Wed, 21 Oct 2037 07:28:00 GMT", []byte(`<html>`))
	f.Add(401, "99999999999999999999", []byte("\xff"))
	f.Add(302, "", []byte(`{}`))
	f.Fuzz(func(t *testing.T, status int, after string, body []byte) {
		if status < 300 || status > 599 {
			return
		}
		header := http.Header{"Content-Type": {"application/json"}, "Retry-After": {after}}
		_, err := clientOf(saying{status, header, body}).Get(t.Context(), Ref{Account: "a", Calendar: "c"}, "event")
		if err == nil {
			t.Fatalf("status %d is no error", status)
		}
		kinded, ok := errors.AsType[*fault.Error](err)
		if !ok || kinded.Kind == fault.Internal || !slices.ContainsFunc(table, func(r refusal.Row) bool { return r.Message == kinded.Message }) {
			t.Fatalf("status %d: %v", status, err)
		}
		answered, ok := errors.AsType[refusal.Answer](err)
		if ok { // the client library believes a code in the body before the status
			status = answered.Status
		}
		kind := kinded.Kind
		if kind == fault.NotFound && status != 404 && status != 410 || kind == fault.Revoked && status != 401 && status != 403 {
			t.Fatalf("status %d is treated as %v", status, kind)
		}
		if wait := fault.RetryAfter(err); wait < 0 {
			t.Fatalf("wait %v", wait)
		}
		if ok && !allowedError.MatchString(answered.Error()) {
			t.Fatalf("the error says %q", answered.Error())
		}
	})
}

// FuzzAnswer: whatever Google answers with success is an error that passes, or
// events of which each is one of four things, and only one that is there has a
// time.
func FuzzAnswer(f *testing.F) {
	f.Add([]byte(`{"accessRole":"owner","timeZone":"Europe/Zurich","nextSyncToken":"s","items":[{"id":"a","status":"cancelled"},
	{"id":"b","recurrence":["RRULE:FREQ=DAILY"]},{"id":"c","start":{"date":"2026-03-01"},"end":{"date":"2026-03-02"},"updated":"2026-03-01T10:00:00.123Z",
	"extendedProperties":{"private":{"questschedulerPoll":"p"}}}]}`))
	f.Add([]byte(`{"items":[null,{}]}`))
	f.Add([]byte(`{"items":{},"nextPageToken":7}`))
	f.Add([]byte(`{"items":[null],"nextPageToken":"again"}`))
	f.Add([]byte(`{"items":[{"id":"a","attendees":[null,{"self":1}],"organizer":7,"originalStartTime":{"date":"2026-03-01"}}]}`))
	f.Add([]byte(`{"calendars":{"b":{"busy":[null,{"start":"x"}],"errors":[null]}},"id":""}`))
	f.Add([]byte(`[]`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, body []byte) {
		client, ref := clientOf(saying{200, http.Header{"Content-Type": {"application/json"}}, body}), Ref{Account: "a", Calendar: "c"}
		page, err := client.List(t.Context(), ref, Times, "", "")
		passes(t, err)
		event, err := client.Get(t.Context(), ref, "e")
		passes(t, err)
		wide, err := client.List(t.Context(), ref, WithDetails, "", "")
		passes(t, err)
		whole, err := client.List(t.Context(), ref, WithGuests, "", "")
		passes(t, err)
		list, err := client.GuestList(t.Context(), ref, "e")
		passes(t, err)
		if err == nil && !list.Event.Malformed && len(list.entries) != len(list.Event.Details.Guests) {
			t.Fatalf("%d entries of %d guests", len(list.entries), len(list.Event.Details.Guests))
		}
		_, err = client.PatchGuests(t.Context(), ref, list, GuestChange{Add: []string{"a@b.test"}}, "none")
		if !fault.Is(err, fault.Invalid) {
			passes(t, err)
		}
		instance, err := client.Instance(t.Context(), ref, "e", recurrence.Moment{Date: "2026-03-01"})
		if !fault.Is(err, fault.NotFound) {
			passes(t, err)
		}
		for _, event := range append(append(wide.Events, whole.Events...), event, list.Event, instance) {
			details := event.Details
			if details != nil && (details.Start.IsZero() != details.End.IsZero() || details.Start.AllDay() != details.End.AllDay() ||
				details.End.Time.Before(details.Start.Time)) {
				t.Fatalf("%+v", *details)
			}
		}
		busy, err := client.FreeBusy(t.Context(), "a", []string{"b"}, time.Unix(0, 0), time.Unix(3600, 0))
		passes(t, err)
		if err == nil && len(busy) != 1 {
			t.Fatalf("%+v", busy)
		}
		_, err = client.InsertCalendar(t.Context(), "a", NewCalendar{Summary: "s"})
		passes(t, err)
		for _, event := range append(page.Events, event) {
			if event.EventState > rules.Unreadable || event.EventState != rules.Present && !event.Fingerprint.IsZero() {
				t.Fatalf("%+v", event)
			}
		}
		channel, err := client.Watch(t.Context(), ref, WatchRequest{ID: "w", Token: "t", Address: "https://x.test", TTL: time.Hour})
		passes(t, err)
		if err == nil && channel.Expiration.IsZero() {
			t.Fatal("a channel without an end")
		}
		_, err = client.Calendars(t.Context(), "a")
		passes(t, err)
	})
}

// passes fails unless an unreadable answer is treated as an outage.
func passes(t *testing.T, err error) {
	t.Helper()
	if err != nil && !fault.Is(err, fault.Unavailable) {
		t.Fatalf("an answer that cannot be read is treated as %v: %v", fault.KindOf(err), err)
	}
}
