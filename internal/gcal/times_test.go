package gcal_test

import (
	"fmt"
	"net/http"
	"reflect"
	"testing"

	"questscheduler/fault"
	"questscheduler/internal/gcal"
	"questscheduler/rules"
)

func TestTimes_AreReadInEveryForm(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		start, end string // EventDateTime
		want       string // "": unreadable
	}{
		"with an offset": {
			`{"dateTime":"2026-03-01T13:00:00+01:00"}`, `{"dateTime":"2026-03-01T14:30:00+01:00"}`,
			"2026-03-01T12:00:00.000Z|2026-03-01T13:30:00.000Z|false",
		},
		"in UTC with a fraction": {
			`{"dateTime":"2026-03-01T12:00:00.25Z"}`, `{"dateTime":"2026-03-01T13:30:00Z"}`,
			"2026-03-01T12:00:00.250Z|2026-03-01T13:30:00.000Z|false",
		},
		"the offset wins over the zone": {
			`{"dateTime":"2026-03-01T12:00:00Z","timeZone":"Asia/Tokyo"}`, `{"dateTime":"2026-03-01T13:00:00Z"}`,
			"2026-03-01T12:00:00.000Z|2026-03-01T13:00:00.000Z|false",
		},
		"start and end in two zones": {
			`{"dateTime":"2026-03-01T12:00:00","timeZone":"Asia/Tokyo"}`,
			`{"dateTime":"2026-03-01T12:00:00","timeZone":"Europe/London"}`,
			"2026-03-01T03:00:00.000Z|2026-03-01T12:00:00.000Z|false",
		},
		"no zone: the calendar's": {
			`{"dateTime":"2026-07-01T12:00:00"}`, `{"dateTime":"2026-07-01T13:00:00"}`,
			"2026-07-01T10:00:00.000Z|2026-07-01T11:00:00.000Z|false",
		},
		"over the start of summer time": {
			`{"dateTime":"2026-03-29T01:30:00","timeZone":"Europe/Zurich"}`,
			`{"dateTime":"2026-03-29T04:30:00","timeZone":"Europe/Zurich"}`,
			"2026-03-29T00:30:00.000Z|2026-03-29T02:30:00.000Z|false",
		},
		"within the hour that is skipped": {
			`{"dateTime":"2026-03-29T02:30:00","timeZone":"Europe/Zurich"}`,
			`{"dateTime":"2026-03-29T03:30:00","timeZone":"Europe/Zurich"}`,
			"2026-03-29T01:30:00.000Z|2026-03-29T01:30:00.000Z|false",
		},
		"within the hour that comes again": {`{"dateTime":"2026-10-25T02:30:00","timeZone":"Europe/Zurich"}`,
			`{"dateTime":"2026-10-25T03:00:00","timeZone":"Europe/Zurich"}`, "2026-10-25T00:30:00.000Z|2026-10-25T02:00:00.000Z|false"},
		"after the end of summer time": {
			`{"dateTime":"2026-10-25T09:00:00","timeZone":"Europe/Zurich"}`,
			`{"dateTime":"2026-10-25T10:00:00","timeZone":"Europe/Zurich"}`,
			"2026-10-25T08:00:00.000Z|2026-10-25T09:00:00.000Z|false",
		},
		"the evening before it ends": {
			`{"dateTime":"2026-10-24T20:00:00","timeZone":"Europe/Zurich"}`,
			`{"dateTime":"2026-10-24T23:00:00","timeZone":"Europe/Zurich"}`,
			"2026-10-24T18:00:00.000Z|2026-10-24T21:00:00.000Z|false",
		},
		"in New York's spring": {
			`{"dateTime":"2026-03-08T03:00:00","timeZone":"America/New_York"}`,
			`{"dateTime":"2026-03-08T04:00:00","timeZone":"America/New_York"}`,
			"2026-03-08T07:00:00.000Z|2026-03-08T08:00:00.000Z|false",
		},
		"east of every date line": {
			`{"dateTime":"2026-03-01T12:00:00","timeZone":"Pacific/Kiritimati"}`,
			`{"dateTime":"2026-03-01T13:00:00","timeZone":"Pacific/Kiritimati"}`,
			"2026-02-28T22:00:00.000Z|2026-02-28T23:00:00.000Z|false",
		},
		"with half an hour of summer": {
			`{"dateTime":"2026-04-05T01:45:00","timeZone":"Australia/Lord_Howe"}`,
			`{"dateTime":"2026-04-05T03:00:00","timeZone":"Australia/Lord_Howe"}`,
			"2026-04-04T14:45:00.000Z|2026-04-04T16:30:00.000Z|false",
		},
		"whole days": {`{"date":"2026-03-01"}`, `{"date":"2026-03-03"}`, "2026-03-01|2026-03-03|true"},
		"without any length": {
			`{"dateTime":"2026-03-01T12:00:00Z"}`, `{"dateTime":"2026-03-01T12:00:00Z"}`,
			"2026-03-01T12:00:00.000Z|2026-03-01T12:00:00.000Z|false",
		},
		"the end before the start": {`{"dateTime":"2026-03-01T12:00:00Z"}`, `{"dateTime":"2026-03-01T11:00:00Z"}`, ""},
		"a date and an instant":    {`{"date":"2026-03-01"}`, `{"dateTime":"2026-03-01T12:00:00Z"}`, ""},
		"a date that is an instant too": {
			`{"date":"2026-03-01","dateTime":"2026-03-01T12:00:00Z"}`, `{"date":"2026-03-02","dateTime":"2026-03-01T12:00:00Z"}`,
			"",
		},
		"a zone that there is not": {
			`{"dateTime":"2026-03-01T12:00:00","timeZone":"Mars/Base"}`,
			`{"dateTime":"2026-03-01T13:00:00","timeZone":"Mars/Base"}`, "",
		},
		"the zone of this very machine": {
			`{"dateTime":"2026-03-01T12:00:00","timeZone":"Local"}`, `{"dateTime":"2026-03-01T13:00:00","timeZone":"Local"}`, "",
		},
		"a date that there is not": {`{"date":"2026-02-30"}`, `{"date":"2026-03-02"}`, ""},
		"words":                    {`{"dateTime":"tomorrow"}`, `{"dateTime":"later"}`, ""},
		"nothing":                  {`{}`, `{}`, ""},
		"no end":                   {`{"date":"2026-03-01"}`, `null`, ""},
		"a zone and no time":       {`{"timeZone":"Europe/Zurich"}`, `{"timeZone":"Europe/Zurich"}`, ""},
		"a zone that is a path of files": {
			`{"dateTime":"2026-03-01T12:00:00","timeZone":"../../etc/passwd"}`,
			`{"dateTime":"2026-03-01T13:00:00","timeZone":"UTC"}`, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := answering(t, fmt.Sprintf(`{"id":"abcde1","status":"confirmed","start":%s,"end":%s}`, tc.start, tc.end))
			page, err := client.List(t.Context(), mine, gcal.Times, "", "")
			if err != nil || len(page.Events) != 1 {
				t.Fatalf("got %+v, %v", page, err)
			}
			event, wantState := page.Events[0], rules.Present
			if tc.want == "" {
				wantState = rules.Unreadable
			}
			if event.EventState != wantState || event.Fingerprint.String() != tc.want {
				t.Errorf("read as %v at %s, want %v at %s", event.EventState, event.Fingerprint, wantState, tc.want)
			}
			wide, err := client.List(t.Context(), mine, gcal.WithDetails, "", "")
			if err != nil || len(wide.Events) != 1 {
				t.Fatalf("got %+v, %v", wide, err)
			}
			alone, err := client.Get(t.Context(), mine, "abcde1")
			if err != nil || !reflect.DeepEqual(alone, wide.Events[0]) {
				t.Errorf("the listing shows %+v, and get %+v, %v", wide.Events[0], alone, err)
			}
			details := alone.Details
			if details.Start.IsZero() != (tc.want == "") || details.Start.AllDay() != alone.Fingerprint.AllDay ||
				tc.want != "" && !details.Start.AllDay() && (!details.End.Time.Equal(alone.Fingerprint.EndTime()) || details.Start.Zone == "") {
				t.Errorf("the times are %+v to %+v of %s", details.Start, details.End, alone.Fingerprint)
			}
			alone.Details = nil
			if !reflect.DeepEqual(alone, event) {
				t.Errorf("the narrow listing shows %+v, and get %+v", event, alone)
			}
		})
	}
}

// What answers a write is read as what answers a reading is; where the zone of
// the calendar is not to be had, the write may have had its effect.
func TestInsert_FloatingTimes_AreInCalendarZone(t *testing.T) {
	t.Parallel()
	const inserted = `{"id":"abcde1","status":"confirmed","start":{"dateTime":"2026-07-01T12:00:00"},"end":{"dateTime":"2026-07-01T13:00:00"}}`
	zoned := true
	client := scripted(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch {
		case r.Method != http.MethodGet:
			fmt.Fprint(w, inserted)
		case zoned:
			fmt.Fprint(w, `{"accessRole":"owner","timeZone":"Europe/Zurich"}`)
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	})
	event, err := client.Insert(t.Context(), mine, session("abcde1"))
	if want := "2026-07-01T10:00:00.000Z|2026-07-01T11:00:00.000Z|false"; err != nil || event.Fingerprint.String() != want {
		t.Errorf("inserted at %s, %v, want %s", event.Fingerprint, err, want)
	}
	zoned = false
	_, err = client.Insert(t.Context(), mine, session("abcde1"))
	wantKind(t, err, fault.Unavailable, "")
}
