package explain_test

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/attendee"
	"questscheduler/internal/recurrence"
	"questscheduler/internal/store"
	"questscheduler/internal/test/memorystore"
	"questscheduler/operations/explain"
)

const meetingUID = "abc123@google.com"

// attendeesWorld has a series with one exception, and an event whose guests cannot be
// written.
func attendeesWorld(t *testing.T) store.Store {
	t.Helper()
	documents, err := memorystore.Open(attendee.Queries)
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	series := attendee.Event{
		ID: attendee.ID(meetingUID, recurrence.Moment{}), ICalUID: meetingUID, Version: 3, UpdatedAt: at,
		Copies: map[string]attendee.Copy{
			"k1": {AccountID: "acc_1", CalendarID: "dora@north.example", EventID: "abc123", Organized: true},
			"k2": {AccountID: "acc_2", CalendarID: "emil@north.example", EventID: "abc123", Gone: true},
		},
		Entries: map[string]attendee.Entry{
			"dora@south.example": {State: attendee.Added, Primary: "dora@north.example", At: at, Copy: "k1"},
			"emil@south.example": {State: attendee.Declined, Primary: "emil@north.example", At: at, Declined: true},
		},
		History: []attendee.Change{
			{At: at, Trigger: "push", Trace: "trc_1", Address: "dora@south.example", Primary: "dora@north.example", After: attendee.Adding},
			{At: at.Add(time.Second), Trigger: "push", Trace: "trc_1", Address: "dora@south.example", Primary: "dora@north.example", Before: attendee.Adding, After: attendee.Added},
			{At: at.Add(time.Minute), Trigger: "timer", Address: "emil@south.example\x1b[31m", Before: attendee.Added, After: attendee.Withdrawing, Would: true},
		},
	}
	moment := recurrence.Moment{Time: at.AddDate(0, 0, 7)}
	exception := attendee.Event{
		ID: attendee.ID(meetingUID, moment), ICalUID: meetingUID, Original: attendee.Original(moment), SeriesID: series.ID, Version: 1,
		Due: at.Add(time.Hour), Failures: 5, FailedSince: at, Error: "Google refuses to change the guests.", UpdatedAt: at,
	}
	err = documents.Run(t.Context(), func(_ context.Context, tx store.Tx) error {
		for _, record := range []attendee.Event{exception, series} {
			if err := tx.Set(attendee.EventPath(record.ID), attendee.EncodeEvent(record)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return documents
}

func TestAttendees_ByUIDOrID_ShowWhatBecameOfAddresses(t *testing.T) {
	t.Parallel()
	documents := attendeesWorld(t)
	records, err := explain.LoadAttendees(t.Context(), documents, meetingUID)
	if err != nil || len(records) != 2 || records[0].Original != "" {
		t.Fatalf("got %+v, %v, want the series and then its exception", records, err)
	}
	report := explain.NewAttendeesReport(records)
	var text bytes.Buffer
	if err := report.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"stands     as wanted\n", "copy       abc123 in dora@north.example of acc_1: organizer\n", ": gone\n",
		"address    dora@south.example for dora@north.example: added by us, confirmed 2026-03-01 09:00:00.000\n",
		"address    emil@south.example for emil@north.example: taken back after it had declined, and not added again, had declined",
		"history    the last 3, oldest first", "2026-03-01 09:00:00.000  dora@south.example: being added\n", "state      none → adding, second address of dora@north.example\n",
		"observed, not done: emil@south.example�[31m: being taken back", "trigger    push, trace trc_1\n",
		"originally at 2026-03-08T09:00:00Z", "exception of " + records[0].ID, "failing since 2026-03-01 09:00:00.000: Google refuses to change the guests.; next try 2026-03-01 10:00:00.000",
		"history    empty",
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the text does not hold %q:\n%s", want, text.String())
		}
	}
	if strings.Contains(text.String(), "\x1b") {
		t.Error("the text holds a control character")
	}
	one, err := explain.LoadAttendees(t.Context(), documents, records[1].ID)
	if err != nil || len(one) != 1 || one[0].ID != records[1].ID {
		t.Errorf("by its id: %+v, %v", one, err)
	}
}

func TestAttendees_AsJSON_HaveEveryPart(t *testing.T) {
	t.Parallel()
	records, err := explain.LoadAttendees(t.Context(), attendeesWorld(t), meetingUID)
	if err != nil {
		t.Fatal(err)
	}
	var encoded bytes.Buffer
	if err := explain.NewAttendeesReport(records).WriteJSON(&encoded); err != nil {
		t.Fatal(err)
	}
	var got explain.AttendeesReport
	if err := json.Unmarshal(encoded.Bytes(), &got); err != nil || len(got.Records) != 2 {
		t.Fatalf("%v: %s", err, encoded.String())
	}
	series, exception := got.Records[0], got.Records[1]
	if len(series.Copies) != 2 || len(series.Entries) != 2 || len(series.Timeline) != 3 || !series.Timeline[2].Observed || series.Timeline[1].Before != "adding" {
		t.Errorf("the series is %+v", series)
	}
	if exception.Due == nil || exception.Failing == nil || exception.Failures != 5 || exception.SeriesID != series.ID || exception.Copies == nil {
		t.Errorf("the exception is %+v", exception)
	}
}

func TestAttendees_Unknown_AreNotFound(t *testing.T) {
	t.Parallel()
	documents := attendeesWorld(t)
	for _, argument := range []string{"att_unknown", "att_", "att_a/b", "nobody@google.com", "@"} {
		if _, err := explain.LoadAttendees(t.Context(), documents, argument); !fault.Is(err, fault.NotFound) || !explain.IsAttendees(argument) {
			t.Errorf("%q: %v", argument, err)
		}
	}
	if explain.IsAttendees("evt_1") || explain.IsAttendees("7f3c1c52-8b5e-4f6e-9d6a-1f2e3d4c5b6a") {
		t.Error("an event or a poll is treated as second addresses")
	}
}
