package attendee_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/attendee"
	"questscheduler/internal/mapping"
	"questscheduler/internal/recurrence"
	"questscheduler/internal/store"
	"questscheduler/internal/store/sqlite"
	"questscheduler/internal/test/memorystore"
	"questscheduler/internal/test/roundtrip"
)

func TestEvent_EveryField_IsStored(t *testing.T) {
	t.Parallel()
	roundtrip.Check(t, roundtrip.Codec[attendee.EventRecord]{Through: func(e attendee.EventRecord) attendee.EventRecord {
		return attendee.DecodeEvent(roundtrip.Kept(t, attendee.EventPath(e.ID), roundtrip.Whole(attendee.EncodeEvent(e))))
	}})
}

func TestMappings_EveryField_IsStored(t *testing.T) {
	t.Parallel()
	roundtrip.Check(t, roundtrip.Codec[attendee.Mappings]{Through: func(m attendee.Mappings) attendee.Mappings {
		return attendee.DecodeMappings(roundtrip.Kept(t, attendee.StatePath(), roundtrip.Whole(attendee.EncodeMappings(m))))
	}})
}

// stores are an empty store of each driver that a test can open.
func stores(t *testing.T) map[string]store.Store {
	t.Helper()
	memory, err := memorystore.Open(attendee.Queries)
	if err != nil {
		t.Fatal(err)
	}
	file, err := sqlite.Open(t.Context(), sqlite.Options{Path: filepath.Join(t.TempDir(), "store"), Queries: attendee.Queries})
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
	entries := map[string]attendee.Entry{
		"ana.b.c@second.example.com": {
			State: attendee.Added, Primary: "ana@first.example", At: time.Date(2026, 3, 1, 9, 0, 0, 5e6, time.UTC), Copy: "k",
		},
		"ana@second.example.com":     {State: attendee.Declined, Primary: "ana@first.example", Declined: true},
		"o'x+`tag`/1@second.example": {State: attendee.Theirs, Primary: "öx@first.example"},
	}
	for name, documents := range stores(t) {
		written := attendee.EventRecord{
			ID: "att_1", ICalUID: "uid@google.com", Entries: entries, Inherited: entries,
			Copies: map[string]attendee.Copy{"k.1": {EventID: "e"}}, Version: 1,
		}
		run(t, documents, func(tx store.Tx) error { return tx.Create(attendee.EventPath("att_1"), attendee.EncodeEvent(written)) })
		read, ok, err := attendee.Load(t.Context(), documents, "att_1")
		if err != nil || !ok || !reflect.DeepEqual(read, written) {
			t.Errorf("%s: read %+v, %t, %v; want %+v", name, read, ok, err, written)
		}
		run(t, documents, func(tx store.Tx) error {
			return tx.Update(attendee.EventPath("att_1"), store.Update{
				Path: store.Field("entries", "ana.b.c@second.example.com", "state"), Value: "removed",
			})
		})
		read, _, err = attendee.Load(t.Context(), documents, "att_1")
		if err != nil || len(read.Entries) != 3 || read.Entries["ana.b.c@second.example.com"].State != attendee.Removed {
			t.Errorf("%s: after an update of one state: %+v, %v", name, read.Entries, err)
		}
	}
}

func TestLoad_NoRecord_IsNone(t *testing.T) {
	t.Parallel()
	for name, documents := range stores(t) {
		for _, id := range []string{"att_1", "", "a/b"} {
			if _, ok, err := attendee.Load(t.Context(), documents, id); ok || err != nil {
				t.Errorf("%s: %q: %t, %v", name, id, ok, err)
			}
		}
		records, err := attendee.LoadEvents(t.Context(), documents, []string{"att_2"})
		if err != nil || len(records) != 1 || records[0].ID != "att_2" || records[0].Version != 0 || len(records[0].Entries) > 0 {
			t.Errorf("%s: %+v, %v", name, records, err)
		}
		if state, err := attendee.LoadMappings(t.Context(), documents); err != nil || state.Version != "" {
			t.Errorf("%s: %+v, %v", name, state, err)
		}
	}
}

// TestLoadTable_LargerThanADocument_IsWhole stores as many rows as are allowed, which
// hardly compress.
func TestLoadTable_LargerThanADocument_IsWhole(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewSource(1))
	mappings := make([]mapping.Mapping, mapping.MaxRows)
	for i := range mappings {
		mappings[i] = mapping.Mapping{
			Primary:     fmt.Sprintf("%x@first.example", random.Int63()),
			Secondaries: []string{fmt.Sprintf("%x%x@second.example", random.Int63(), random.Int63())},
		}
	}
	table := mapping.New(mappings)
	encoded, err := table.Encode()
	if err != nil {
		t.Fatal(err)
	}
	chunks := attendee.EncodeChunks(encoded)
	if len(chunks) < 2 {
		t.Fatalf("%d bytes are %d chunks: not what this is to test", len(encoded), len(chunks))
	}
	for name, documents := range stores(t) {
		for n, chunk := range chunks {
			run(t, documents, func(tx store.Tx) error { return tx.Create(attendee.ChunkPath(table.Version(), n), chunk) })
		}
		read, err := attendee.LoadTable(t.Context(), documents, table.Version(), int64(len(chunks)))
		if err != nil || read.Version() != table.Version() || read.Len() != table.Len() {
			t.Errorf("%s: %d mappings of version %s: %v", name, read.Len(), read.Version(), err)
		}
		if _, err := attendee.LoadTable(t.Context(), documents, table.Version(), int64(len(chunks))+1); !fault.Is(err, fault.NotFound) {
			t.Errorf("%s: a chunk is missing: %v", name, err)
		}
		if none, err := attendee.LoadTable(t.Context(), documents, "", 0); err != nil || none.Len() != 0 {
			t.Errorf("%s: the empty version: %d, %v", name, none.Len(), err)
		}
	}
}

func TestLoadTable_SpoiledChunk_Fails(t *testing.T) {
	t.Parallel()
	documents := stores(t)["memory"]
	run(t, documents, func(tx store.Tx) error {
		return tx.Create(attendee.ChunkPath("v", 0), map[string]any{"part": "not base64!"})
	})
	run(t, documents, func(tx store.Tx) error {
		return tx.Create(attendee.ChunkPath("w", 0), attendee.EncodeChunks(bytes.Repeat([]byte("x"), 40))[0])
	})
	for _, version := range []string{"v", "w"} {
		if table, err := attendee.LoadTable(t.Context(), documents, version, 1); err == nil {
			t.Errorf("%s: %d mappings", version, table.Len())
		}
	}
}

func TestID_OfEventAndException_Differ(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	here := recurrence.Moment{Time: at}
	elsewhere := recurrence.Moment{Time: at.In(time.FixedZone("", 3600)), Zone: "Europe/Berlin"}
	if attendee.ID("u", here) != attendee.ID("u", elsewhere) {
		t.Error("one moment in two zones has two ids")
	}
	known := map[string]bool{}
	for _, id := range []string{
		attendee.ID("u", recurrence.Moment{}), attendee.ID("u", here), attendee.ID("v", here),
		attendee.ID("u", recurrence.Moment{Date: "2026-03-01"}), attendee.ID("u", recurrence.Moment{Time: at.Add(time.Hour)}),
	} {
		if known[id] {
			t.Errorf("%s twice", id)
		}
		known[id] = true
	}
}
