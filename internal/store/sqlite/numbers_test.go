package sqlite_test

import (
	"testing"

	"questscheduler/internal/store"
)

// pathsInEntries makes a file of this program one whose entries name their documents by path.
const pathsInEntries = `
	ALTER TABLE entries RENAME TO numbers;
	ALTER TABLE documents RENAME TO numbered;
	CREATE TABLE documents (path TEXT NOT NULL PRIMARY KEY, data TEXT NOT NULL) STRICT;
	INSERT INTO documents SELECT path, data FROM numbered; -- texts, by w.unpack
	CREATE TABLE entries (
		index_id INTEGER NOT NULL REFERENCES document_indexes (id), parent TEXT NOT NULL, key BLOB NOT NULL, path TEXT NOT NULL,
		PRIMARY KEY (index_id, parent, key)
	) STRICT, WITHOUT ROWID;
	INSERT OR IGNORE INTO entries SELECT index_id, parent, key, path FROM numbers JOIN numbered ON id = document;
	DROP TABLE numbers;
	DROP TABLE numbered;
	PRAGMA user_version = 5`

// A file whose entries had paths answers as before from its first moment, and its indexes are built.
func TestOpen_EntriesWithPaths_GetNumbers(t *testing.T) {
	t.Parallel()
	large(t)
	path := newFile(t)
	w := filled(t, path, 1400)
	w.change(1400)
	w.unpack()
	execute(t, w.file.Writer(), pathsInEntries)
	if err := w.file.Close(); err != nil {
		t.Fatal(err)
	}
	w.reopen(path, true, nil)
	w.compare("at once")
	for more := true; more; {
		w.change(1400)
		var err error
		more, err = w.file.BuildStep(t.Context())
		if err != nil {
			t.Fatal(err)
		}
	}
	w.compare("built")
}

// A backup is compacted: the numbers of documents stay what the entries say, also behind gaps.
func TestBackup_BehindDeletedDocuments_AnswersTheSame(t *testing.T) {
	t.Parallel()
	w := filled(t, newFile(t), 40)
	for _, path := range []store.Path{"notes/a-note-of-number-0000", "books/b1/notes/a-note-of-number-0001", "notes/a-note-of-number-0008"} {
		w.write(func(tx store.Tx) error { return tx.Delete(path) })
	}
	path := newFile(t)
	at := w.file.Path()
	if err := w.file.Close(); err != nil {
		t.Fatal(err)
	}
	w.reopen(at, false, nil)
	if err := w.file.Backup(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	w.reopen(path, false, nil)
	w.compare("from the backup")
}
