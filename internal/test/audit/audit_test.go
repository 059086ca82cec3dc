package audit_test

import (
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"questscheduler/internal/store"
	"questscheduler/internal/test/audit"
	"questscheduler/internal/test/memorystore"
)

var now = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

type (
	fields = map[string]any
	// served answers addresses that end as its keys do.
	served map[string]string
)

// RoundTrip implements http.RoundTripper.
func (s served) RoundTrip(r *http.Request) (*http.Response, error) {
	answer := &http.Response{StatusCode: http.StatusNotFound, Body: io.NopCloser(strings.NewReader("{}"))}
	for path, text := range s {
		if strings.HasSuffix(r.URL.Path, path) {
			answer = &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(text))}
		}
	}
	return answer, nil
}

// poll is a poll that was moved to noon, with what some of its fields have instead.
func poll(change ...string) fields {
	const moved = "2026-03-10T12:00:00.000Z|2026-03-10T13:00:00.000Z|false"
	sync := fields{
		"state": "RESCHEDULED", "lastEventFingerprint": moved,
		"baseline":    fields{"fingerprint": "2026-03-10T10:00:00.000Z|2026-03-10T11:00:00.000Z|false"},
		"rescheduled": fields{"fromSlotId": "s1", "toSlotId": "s2", "movedAt": now},
		"recorded":    fields{"at": now, "status": "FINALIZED", "winningSlotId": "s2", "eventId": "questsched1"},
	}
	p := fields{
		"status": "FINALIZED", "title": "Session", "creatorId": "gm", "participantIds": []any{"gm"},
		"winningSlotId": "s2", "googleEventId": "questsched1", "googleCalendarId": "gm@example.com", "calendarSync": sync,
	}
	for i := 0; i < len(change); i += 2 {
		if sync[change[i]] != nil || change[i] == "error" {
			sync[change[i]] = any(change[i+1])
		} else {
			p[change[i]] = change[i+1]
		}
	}
	if code, set := sync["error"]; set {
		sync["error"] = fields{"code": code}
	}
	return p
}

const feed = "BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nUID:p1@questscheduler.app\r\nSUMMARY:Session\r\nSTATUS:CONFIRMED\r\n" +
	"DTSTART:20260310T120000Z\r\nDTEND:20260310T130000Z\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"

// world is one where nothing is wrong: gm's poll, the event, the feed and the copy of another meeting.
func world(t *testing.T, p fields, google served, feed string) audit.World {
	t.Helper()
	documents, err := memorystore.Open(audit.Queries)
	if err != nil {
		t.Fatal(err)
	}
	err = documents.Run(context.Background(), func(_ context.Context, tx store.Tx) error {
		for path, data := range map[store.Path]fields{
			"schedulers/p1":                  p,
			"schedulers/p1/slots/s1":         {"start": "2026-03-10T10:00:00.000Z", "end": "2026-03-10T11:00:00.000Z"},
			"schedulers/p1/slots/s2":         {"start": "2026-03-10T12:00:00.000Z", "end": "2026-03-10T13:00:00.000Z", "source": "calendar"},
			"calendarEventIndex/questsched1": {"schedulerId": "p1", "accountId": "a1"},
			"accounts/a1":                    {"ownerId": "gm", "status": "active", "email": "gm@example.com"},
			"accounts/a2":                    {"ownerId": "gm", "status": "active", "email": "work@example.com"},
			"mirrorPolicies/m1": {"ownerId": "gm", "edges": []any{
				fields{"fromAccountId": "a2", "toAccountId": "a1", "detail": "BUSY", "target": "primary"},
			}},
		} {
			if err := tx.Create(path, data); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return audit.World{
		Now: now, Store: documents, Google: google, People: []string{"gm"},
		Readers: map[string]string{"gm@example.com": "token", "work@example.com": "token"},
		Feed:    func(string, time.Duration) (string, error) { return feed, nil },
		Answer: func(account string, from, to time.Time) (busy, unknown []audit.Interval, err error) {
			if account == "a2" {
				return nil, []audit.Interval{{Start: from, End: to}}, nil
			}
			hours := func(from, to int) audit.Interval {
				day := time.Date(2026, 3, 10, 0, 0, 0, 0, time.UTC)
				return audit.Interval{Start: day.Add(time.Duration(from) * time.Hour), End: day.Add(time.Duration(to) * time.Hour)}
			}
			return []audit.Interval{hours(12, 13), hours(15, 16)}, nil, nil
		},
	}
}

func event(id, title, from, to string) string {
	return `{"id":"` + id + `","iCalUID":"` + id + `","status":"confirmed","summary":"` + title +
		`","start":{"dateTime":"2026-03-10T` + from + `:00Z"},"end":{"dateTime":"2026-03-10T` + to + `:00Z"}}`
}

// calendars are gm's two, as the simulator serves them.
func calendars(session string, others ...string) served {
	list := func(all ...string) string {
		return `{"timeZone":"Europe/Berlin","items":[` + strings.Join(all, ",") + `]}`
	}
	return served{
		"/gm@example.com/events/questsched1": session,
		"/gm@example.com/events":             list(slices.Concat([]string{session}, others)...),
		"/work@example.com/events":           list(event("w1", "Secret", "15:00", "16:00")),
	}
}

func TestFindings_EachFault_IsNamed(t *testing.T) {
	t.Parallel()
	session, copied := event("questsched1", "Session", "12:00", "13:00"), event("questmirror1", "Busy", "15:00", "16:00")
	sound := calendars(session, copied)
	for name, c := range map[string]struct {
		poll   fields
		google served
		feed   string
		want   string // of a finding; "": there is none
	}{
		"nothing is wrong":         {poll(), sound, feed, ""},
		"another state":            {poll("state", "OK"), sound, feed, "its state must be RESCHEDULED"},
		"an error without a cause": {poll("state", "ERROR", "error", "token_expired"), sound, feed, `shows the error "token_expired"`},
		"an event that was moved": {
			poll(), calendars(event("questsched1", "Session", "13:00", "14:00"), copied), feed, "applied",
		},
		"an event that is gone": {
			poll(),
			served{"/gm@example.com/events": sound["/gm@example.com/events"], "/work@example.com/events": sound["/work@example.com/events"]},
			feed, "is gone",
		},
		"a feed with another time":   {poll(), sound, strings.ReplaceAll(feed, "T12", "T10"), "with the DTSTART"},
		"a feed without the session": {poll(), sound, "", "they take part in it"},
		"another busy time": {
			poll(), calendars(session, copied, event("g1", "Dentist", "17:00", "18:00")), feed, "is answered to be busy",
		},
		"a copy that shows a title": {
			poll(), calendars(session, event("questmirror1", "Secret", "15:00", "16:00")), feed,
			"that no edge and no group calls for",
		},
		"a copy that is missing": {
			poll(), calendars(session, event("g1", "Dentist", "15:00", "16:00")), feed, "lacks a copy of event w1",
		},
		"a poll that was edited by hand": {poll("status", "OPEN"), sound, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			findings, err := audit.Findings(context.Background(), world(t, c.poll, c.google, c.feed))
			if err != nil {
				t.Fatal(err)
			}
			named := slices.ContainsFunc(findings, func(finding string) bool { return strings.Contains(finding, c.want) })
			if c.want == "" && len(findings) > 0 || c.want != "" && !named {
				t.Errorf("it finds %q, want one with %q", findings, c.want)
			}
		})
	}
}

func TestFindings_StoppedEvent_NeedsNoCopy(t *testing.T) {
	t.Parallel()
	without := calendars(event("questsched1", "Session", "12:00", "13:00"), event("g1", "Dentist", "15:00", "16:00"))
	for stopped, want := range map[string]int{"w1": 0, "w2": 1} {
		of := world(t, poll(), without, feed)
		of.Stopped = map[string]bool{stopped: true}
		if findings, err := audit.Findings(context.Background(), of); err != nil || len(findings) != want {
			t.Errorf("with %s stopped it finds %q, %v, want %d findings", stopped, findings, err, want)
		}
	}
}
