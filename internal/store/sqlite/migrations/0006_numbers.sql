-- Entries name their document by its number: their keys hold its path already. Numbers that SQLite
-- chooses by itself may change when the file is compacted or backed up; these do not.
DROP TABLE entries;
DELETE FROM document_indexes; -- they are built from the documents once the file is open
CREATE TABLE numbered (
    id   INTEGER PRIMARY KEY,
    path TEXT NOT NULL UNIQUE,
    data TEXT NOT NULL
) STRICT;
INSERT INTO numbered (path, data) SELECT path, data FROM documents;
DROP TABLE documents;
ALTER TABLE numbered RENAME TO documents;
CREATE TABLE entries (
    index_id INTEGER NOT NULL REFERENCES document_indexes (id),
    parent   TEXT    NOT NULL,
    key      BLOB    NOT NULL,
    document INTEGER NOT NULL,
    PRIMARY KEY (index_id, parent, key)
) STRICT, WITHOUT ROWID;
