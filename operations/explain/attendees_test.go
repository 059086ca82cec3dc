package explain_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"questscheduler/attendees"
	"questscheduler/fault"
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
	documents, err := memorystore.Open(attendees.Queries)
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	series := attendees.EventRecord{
		ID: attendees.RecordID(meetingUID, recurrence.Moment{}), ICalUID: meetingUID, Version: 3, UpdatedAt: at,
		Copies: map[string]attendees.Copy{
			"k1": {AccountID: "acc_1", CalendarID: "dora@north.example", EventID: "abc123", Organized: true},
			"k2": {AccountID: "acc_2", CalendarID: "emil@north.example", EventID: "abc123", Gone: true},
		},
		Entries: map[string]attendees.Entry{
			"dora@south.example": {State: attendees.Added, Primary: "dora@north.example", At: at, Copy: "k1"},
			"emil@south.example": {State: attendees.Declined, Primary: "emil@north.example", At: at, Declined: true},
		},
		History: []attendees.Change{
			{At: at, Trigger: "push", Trace: "trc_1", Address: "dora@south.example", Primary: "dora@north.example", After: attendees.Adding},
			{
				At: at.Add(time.Second), Trigger: "push", Trace: "trc_1", Address: "dora@south.example", Primary: "dora@north.example",
				Before: attendees.Adding, After: attendees.Added,
			},
			{
				At: at.Add(time.Minute), Trigger: "timer", Address: "emil@south.example\x1b[31m", Before: attendees.Added,
				After: attendees.Withdrawing, Would: true,
			},
		},
	}
	moment := recurrence.Moment{Time: at.AddDate(0, 0, 7)}
	exception := attendees.EventRecord{
		ID: attendees.RecordID(meetingUID, moment), ICalUID: meetingUID, Original: moment.String(), SeriesID: series.ID, Version: 1,
		Due: at.Add(time.Hour), Failures: 5, FailedSince: at, Error: "Google refuses to change the guests.", UpdatedAt: at,
		History: []attendees.Change{
			{
				At: at.Add(30 * time.Second), Trigger: "push", Trace: "trc_2", Address: "dora@south.example",
				Primary: "dora@north.example", Before: attendees.Added, After: attendees.Removed,
			},
		},
	}
	err = documents.Run(t.Context(), func(_ context.Context, tx store.Tx) error {
		for _, record := range []attendees.EventRecord{exception, series} {
			if err := tx.Set(attendees.EventPath(record.ID), attendees.EncodeEvent(record)); err != nil {
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

func TestReport_OfSecondAddresses_HasWhatBecameOfEach(t *testing.T) {
	t.Parallel()
	documents := attendeesWorld(t)
	report, err := explain.New(t.Context(), documents, meetingUID, false)
	if err != nil {
		t.Fatal(err)
	}
	text := textOf(t, report)
	golden(t, "attendees.txt", text)
	golden(t, "attendees.json", jsonOf(t, report))
	if strings.Contains(text, "\x1b") {
		t.Error("the text holds a control character")
	}
	exception := attendees.RecordID(meetingUID, recurrence.Moment{Time: time.Date(2026, 3, 8, 9, 0, 0, 0, time.UTC)})
	one, err := explain.New(t.Context(), documents, exception, false)
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "attendees_record.txt", textOf(t, one))
}

func TestReport_OfUnknownSecondAddresses_IsNotFound(t *testing.T) {
	t.Parallel()
	documents := attendeesWorld(t)
	for _, id := range []string{"att_unknown", "att_", "att_a/b", "nobody@google.com", "@"} {
		if _, err := explain.New(t.Context(), documents, id, false); !fault.Is(err, fault.NotFound) ||
			!strings.Contains(err.Error(), "second addresses") {
			t.Errorf("%q: %v", id, err)
		}
	}
}

func TestIsPoll_OfIDs(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]bool{
		"7f3c1c52-8b5e-4f6e-9d6a-1f2e3d4c5b6a": true, "evt_1": false, "att_1": false, "a@b": false, "": true,
	} {
		if explain.IsPoll(id) != want {
			t.Errorf("%q: %t", id, !want)
		}
	}
}
