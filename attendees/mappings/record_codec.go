package mappings

import (
	"context"
	"encoding/base64"
	"fmt"
	"slices"

	"questscheduler/fault"
	"questscheduler/internal/store"
)

// ChunkSize is the most bytes of a version of the mappings in one document.
const ChunkSize = 384 << 10 // 512 KiB as base64

// RecordPath is where the state of the mappings is.
func RecordPath() store.Path { return store.Doc("attendeeMappings", "state") }

// ChunkPath is where a part of a version of the mappings is; n counts from 0.
func ChunkPath(version string, n int) store.Path {
	return store.Doc("attendeeMappings", fmt.Sprintf("%s-%d", version, n))
}

// EncodeRecord gives the fields of the state of the mappings.
func EncodeRecord(m Record) map[string]any {
	return map[string]any{
		"version": m.Version, "chunks": m.Chunks, "followed": m.Followed, "followedChunks": m.FollowedChunks,
		"delegated": m.Delegated, "released": m.Released, "pendingSince": store.NullIfZero(m.PendingSince),
		"loadedAt": store.NullIfZero(m.LoadedAt), "triedAt": store.NullIfZero(m.TriedAt), "failures": m.Failures, "error": m.Error,
		"count": m.Count, "withoutAccess": m.WithoutAccess,
		"skipped": store.ListOf(m.Skipped, encodeSkipped), "skippedCount": m.SkippedCount,
		"held": map[string]any{
			"version": m.Held.Version, "lost": m.Held.Lost, "added": m.Held.Added, "of": m.Held.Of,
			"at": store.NullIfZero(m.Held.At),
		},
	}
}

// DecodeRecord reads the state of the mappings. A document that does not exist reads as
// the zero state: no mappings were ever loaded.
func DecodeRecord(doc store.Document) Record {
	f := store.Fields(doc.Data)
	held := f.Map("held")
	return Record{
		Version: f.String("version"), Chunks: f.Int("chunks"), Followed: f.String("followed"),
		FollowedChunks: f.Int("followedChunks"), Delegated: f.Bool("delegated"), Released: f.Bool("released"),
		PendingSince: f.Time("pendingSince"),
		LoadedAt:     f.Time("loadedAt"), TriedAt: f.Time("triedAt"), Failures: f.Int("failures"), Error: f.String("error"),
		Count: f.Int("count"), WithoutAccess: f.Int("withoutAccess"),
		Skipped: store.DecodeList(f.List("skipped"), decodeSkipped), SkippedCount: f.Int("skippedCount"),
		Held: Held{Version: held.String("version"), Lost: held.Int("lost"), Added: held.Int("added"), Of: held.Int("of"), At: held.Time("at")},
	}
}

// LoadRecord reads the state of the mappings; the zero state if there is none.
func LoadRecord(ctx context.Context, reader store.Reader) (Record, error) {
	doc, err := reader.Get(ctx, RecordPath())
	if err != nil {
		return Record{}, err
	}
	return DecodeRecord(doc), nil
}

// EncodeChunks gives the fields of the documents that hold an encoded table, in order.
func EncodeChunks(encoded []byte) (chunks []map[string]any) {
	for part := range slices.Chunk(encoded, ChunkSize) {
		chunks = append(chunks, map[string]any{"part": base64.StdEncoding.EncodeToString(part)})
	}
	return chunks
}

// LoadTable reads a version of the mappings from its chunks. The version "" is the empty
// table. NotFound: a chunk is missing, as after the version was replaced and removed.
func LoadTable(ctx context.Context, reader store.Reader, version string, chunks int64) (Table, error) {
	if version == "" {
		return Table{}, nil
	}
	paths := make([]store.Path, chunks)
	for n := range paths {
		paths[n] = ChunkPath(version, n)
	}
	docs, err := reader.GetAll(ctx, paths)
	if err != nil {
		return Table{}, err
	}
	var encoded []byte
	for _, doc := range docs {
		if !doc.Exists() {
			return Table{}, fault.Newf(fault.NotFound, "read mappings %s: document %s is missing", version, doc.Path)
		}
		part, err := base64.StdEncoding.DecodeString(store.Fields(doc.Data).String("part"))
		if err != nil {
			return Table{}, fmt.Errorf("read mappings %s: %s: %w", version, doc.Path, err)
		}
		encoded = append(encoded, part...)
	}
	table, err := DecodeTable(encoded)
	if err != nil {
		return Table{}, fmt.Errorf("read mappings %s: %w", version, err)
	}
	return table, nil
}

func encodeSkipped(s Skipped) map[string]any {
	return map[string]any{"row": s.Row, "reason": s.Reason}
}

func decodeSkipped(f store.Fields) Skipped {
	return Skipped{Row: int(f.Int("row")), Reason: f.String("reason")}
}
