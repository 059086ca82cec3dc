package mappings_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand"
	"path/filepath"
	"testing"

	"questscheduler/attendees/mappings"
	"questscheduler/fault"
	"questscheduler/internal/store"
	"questscheduler/internal/store/sqlite"
	"questscheduler/internal/test/memorystore"
	"questscheduler/internal/test/roundtrip"
)

func TestRecord_EveryField_IsStored(t *testing.T) {
	t.Parallel()
	roundtrip.Check(t, roundtrip.Codec[mappings.Record]{Through: func(m mappings.Record) mappings.Record {
		return mappings.DecodeRecord(roundtrip.Kept(t, mappings.RecordPath(), roundtrip.Whole(mappings.EncodeRecord(m))))
	}})
}

// stores are an empty store of each driver that a test can open.
func stores(t *testing.T) map[string]store.Store {
	t.Helper()
	memory, err := memorystore.Open(mappings.Queries)
	if err != nil {
		t.Fatal(err)
	}
	file, err := sqlite.Open(t.Context(), sqlite.Options{Path: filepath.Join(t.TempDir(), "store"), Queries: mappings.Queries})
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

func TestLoadRecord_BeforeTheFirstLoad_IsZero(t *testing.T) {
	t.Parallel()
	for name, documents := range stores(t) {
		if state, err := mappings.LoadRecord(t.Context(), documents); err != nil || state.Version != "" {
			t.Errorf("%s: %+v, %v", name, state, err)
		}
	}
}

// TestLoadTable_LargerThanADocument_IsWhole stores as many rows as are allowed, which
// hardly compress.
func TestLoadTable_LargerThanADocument_IsWhole(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewSource(1))
	list := make([]mappings.Mapping, mappings.MaxRows)
	for i := range list {
		list[i] = mappings.Mapping{
			Primary:     fmt.Sprintf("%x@first.example", random.Int63()),
			Secondaries: []string{fmt.Sprintf("%x%x@second.example", random.Int63(), random.Int63())},
		}
	}
	table := mappings.NewTable(list)
	encoded, err := table.Encode()
	if err != nil {
		t.Fatal(err)
	}
	chunks := mappings.EncodeChunks(encoded)
	if len(chunks) < 2 {
		t.Fatalf("%d bytes are %d chunks: not what this is to test", len(encoded), len(chunks))
	}
	for name, documents := range stores(t) {
		for n, chunk := range chunks {
			run(t, documents, func(tx store.Tx) error { return tx.Create(mappings.ChunkPath(table.Version(), n), chunk) })
		}
		read, err := mappings.LoadTable(t.Context(), documents, table.Version(), int64(len(chunks)))
		if err != nil || read.Version() != table.Version() || read.Len() != table.Len() {
			t.Errorf("%s: %d mappings of version %s: %v", name, read.Len(), read.Version(), err)
		}
		if _, err := mappings.LoadTable(t.Context(), documents, table.Version(), int64(len(chunks))+1); !fault.Is(err, fault.NotFound) {
			t.Errorf("%s: a chunk is missing: %v", name, err)
		}
		if none, err := mappings.LoadTable(t.Context(), documents, "", 0); err != nil || none.Len() != 0 {
			t.Errorf("%s: the empty version: %d, %v", name, none.Len(), err)
		}
	}
}

func TestLoadTable_SpoiledChunk_Fails(t *testing.T) {
	t.Parallel()
	documents := stores(t)["memory"]
	run(t, documents, func(tx store.Tx) error {
		return tx.Create(mappings.ChunkPath("v", 0), map[string]any{"part": "not base64!"})
	})
	run(t, documents, func(tx store.Tx) error {
		return tx.Create(mappings.ChunkPath("w", 0), mappings.EncodeChunks(bytes.Repeat([]byte("x"), 40))[0])
	})
	for _, version := range []string{"v", "w"} {
		if table, err := mappings.LoadTable(t.Context(), documents, version, 1); err == nil {
			t.Errorf("%s: %d mappings", version, table.Len())
		}
	}
}
