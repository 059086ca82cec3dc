package attendees_test

import (
	"context"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"questscheduler/attendees"
	"questscheduler/internal/recurrence"
	"questscheduler/internal/store"
	"questscheduler/internal/store/sqlite"
	"questscheduler/internal/test/memorystore"
	"questscheduler/internal/test/roundtrip"
)

func TestEvent_EveryField_IsStored(t *testing.T) {
	t.Parallel()
	roundtrip.Check(t, roundtrip.Codec[attendees.EventRecord]{Through: func(e attendees.EventRecord) attendees.EventRecord {
		return attendees.DecodeEvent(roundtrip.Kept(t, attendees.EventPath(e.ID), roundtrip.Whole(attendees.EncodeEvent(e))))
	}})
}

// stores are an empty store of each driver that a test can open.
func stores(t *testing.T) map[string]store.Store {
	t.Helper()
	memory, err := memorystore.Open(attendees.Queries)
	if err != nil {
		t.Fatal(err)
	}
	file, err := sqlite.Open(t.Context(), sqlite.Options{Path: filepath.Join(t.TempDir(), "store"), Queries: attendees.Queries})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := file.Close(); err != nil {
			t.Error(err)
		}
	})
	return map[string]store.Store{"memory": memory, "sqlite": file}
}

func run(t *testing.T, documents store.Store, write func(tx store.Tx) error) {
	t.Helper()
	if err := documents.Run(t.Context(), func(_ context.Context, tx store.Tx) error { return write(tx) }); err != nil {
		t.Fatal(err)
	}
}

// Each address is one name of a field, whatever it is made of.
func TestEvent_AddressesWithDots_AreOneNameEach(t *testing.T) {
	t.Parallel()
	entries := map[string]attendees.Entry{
		"ana.b.c@second.example.com": {
			State: attendees.Added, Primary: "ana@first.example", At: time.Date(2026, 3, 1, 9, 0, 0, 5e6, time.UTC), Copy: "k",
		},
		"ana@second.example.com":     {State: attendees.Declined, Primary: "ana@first.example", Declined: true},
		"o'x+`tag`/1@second.example": {State: attendees.Theirs, Primary: "öx@first.example"},
	}
	for name, documents := range stores(t) {
		written := attendees.EventRecord{
			ID: "att_1", ICalUID: "uid@google.com", Entries: entries, Inherited: entries,
			Copies: map[string]attendees.Copy{"k.1": {EventID: "e"}}, Version: 1,
		}
		run(t, documents, func(tx store.Tx) error {
			return tx.Create(attendees.EventPath("att_1"), attendees.EncodeEvent(written))
		})
		read, ok, err := attendees.Load(t.Context(), documents, "att_1")
		if err != nil || !ok || !reflect.DeepEqual(read, written) {
			t.Errorf("%s: read %+v, %t, %v; want %+v", name, read, ok, err, written)
		}
		run(t, documents, func(tx store.Tx) error {
			return tx.Update(attendees.EventPath("att_1"), store.Update{
				Path: store.Field("entries", "ana.b.c@second.example.com", "state"), Value: "removed",
			})
		})
		read, _, err = attendees.Load(t.Context(), documents, "att_1")
		if err != nil || len(read.Entries) != 3 || read.Entries["ana.b.c@second.example.com"].State != attendees.Removed {
			t.Errorf("%s: after an update of one state: %+v, %v", name, read.Entries, err)
		}
	}
}

func TestLoad_NoRecord_IsNone(t *testing.T) {
	t.Parallel()
	for name, documents := range stores(t) {
		for _, id := range []string{"att_1", "", "a/b"} {
			if _, ok, err := attendees.Load(t.Context(), documents, id); ok || err != nil {
				t.Errorf("%s: %q: %t, %v", name, id, ok, err)
			}
		}
		records, err := attendees.LoadEvents(t.Context(), documents, []string{"att_2"})
		if err != nil || len(records) != 1 || records[0].ID != "att_2" || records[0].Version != 0 || len(records[0].Entries) > 0 {
			t.Errorf("%s: %+v, %v", name, records, err)
		}
	}
}

func TestID_OfEventAndException_Differ(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	here := recurrence.Moment{Time: at}
	elsewhere := recurrence.Moment{Time: at.In(time.FixedZone("", 3600)), Zone: "Europe/Berlin"}
	if attendees.RecordID("u", here) != attendees.RecordID("u", elsewhere) {
		t.Error("one moment in two zones has two ids")
	}
	known := map[string]bool{}
	for _, id := range []string{
		attendees.RecordID("u", recurrence.Moment{}), attendees.RecordID("u", here), attendees.RecordID("v", here),
		attendees.RecordID("u", recurrence.Moment{Date: "2026-03-01"}), attendees.RecordID("u", recurrence.Moment{Time: at.Add(time.Hour)}),
	} {
		if known[id] {
			t.Errorf("%s twice", id)
		}
		known[id] = true
	}
}
