package sqlite_test

import (
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"questscheduler/internal/store"
)

// Each row is a document of an earlier program, and the fields that it has after the migration.
func TestOpen_AnEarlierProgramsFile_HasTheNamesOfToday(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	rows := map[string]struct {
		data string
		want map[string]any
	}{
		"calendars/synced": {
			`{"lookedAt":{"$time":"2026-03-01T09:00:00Z"},"parkedUntil":null,"pendingLooks":{"e":"held"},"holdUntold":true,"lookGen":1772355600000000,"begunGen":1,"lookDue":false}`,
			map[string]any{
				"startedAt": at, "pausedUntil": nil, "holdUnannounced": true,
				"deferred": map[string]any{"poll": map[string]any{"e": map[string]any{"at": at, "why": "held"}}},
				"linkedAt": at, "syncAsked": true, "syncAt": at,
			},
		},
		"calendars/deferring": {
			`{"lastSyncedAt":{"$time":"2026-03-01T09:00:00Z"},"deferredEvents":{"e":"command"},"deferred":{"mirror":{"f":{"$time":"2026-03-01T09:00:00Z"}}}}`,
			map[string]any{"lastSyncedAt": at, "deferred": map[string]any{
				"poll":   map[string]any{"e": map[string]any{"at": at, "why": "command"}},
				"mirror": map[string]any{"f": map[string]any{"at": at, "why": "apply_failed"}},
			}},
		},
		"calendars/linked": {
			`{"linkedAt":{"$time":"2026-03-01T09:00:00Z"},"lookGen":1}`,
			map[string]any{"linkedAt": at, "syncAsked": true, "syncAt": at},
		},
		"announcements/p": {
			`{"owed":true,"cardOwed":true,"telling":{"ref":"r"}}`,
			map[string]any{"pending": true, "cardPending": true, "delivering": map[string]any{"ref": "r"}},
		},
		"accounts/marked":  {`{"due":true,"updatedAt":{"$time":"2026-03-01T09:00:00Z"}}`, map[string]any{"due": at, "updatedAt": at}},
		"accounts/at_rest": {`{"due":false}`, map[string]any{"due": nil}},
		"schedulers/p":     {`{"owed":"ours not","due":true}`, map[string]any{"owed": "ours not", "due": true}},
	}
	path := filepath.Join(t.TempDir(), "data.db")
	if err := openFile(t, path, nil).Close(); err != nil {
		t.Fatal(err)
	}
	before := elsewhere(t, path)
	for name, row := range rows {
		if _, err := before.ExecContext(t.Context(), "INSERT INTO documents (path, data) VALUES (?, ?)", name, row.data); err != nil {
			t.Fatal(err)
		}
	}
	execute(t, before, "ALTER TABLE document_indexes DROP COLUMN built; PRAGMA user_version = 2")
	s := openFile(t, path, nil)
	for name, row := range rows {
		doc, err := s.Get(t.Context(), store.Path(name))
		if err != nil {
			t.Fatal(err)
		}
		for field, want := range row.want {
			got := doc.Data[field]
			if moment, is := got.(time.Time); is {
				got = moment.UTC()
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s: %s is %v, want %v", name, field, got, want)
			}
		}
		if len(doc.Data) != len(row.want) {
			t.Errorf("%s has %v", name, doc.Data)
		}
	}
}
