-- A document's data is JSON with typed values (internal/store/typedjson).
CREATE TABLE documents (
    path TEXT NOT NULL PRIMARY KEY,
    data TEXT NOT NULL
) STRICT;

-- The indexes of the declared queries, by what they are made of.
CREATE TABLE document_indexes (
    id         INTEGER PRIMARY KEY,
    definition TEXT NOT NULL UNIQUE
) STRICT;

-- Each document's place in each index that it is in. Keys sort as bytes in the
-- order of the queries (internal/store/entries).
CREATE TABLE entries (
    index_id INTEGER NOT NULL REFERENCES document_indexes (id),
    parent   TEXT    NOT NULL,
    key      BLOB    NOT NULL,
    path     TEXT    NOT NULL,
    PRIMARY KEY (index_id, parent, key)
) STRICT, WITHOUT ROWID;
