-- Keys of ordered indexes end with the beginning of their document's place, so that two documents
-- may have the same.
DROP TABLE entries;
DELETE FROM document_indexes; -- they are built from the documents once the file is open
CREATE TABLE entries (
    index_id INTEGER NOT NULL REFERENCES document_indexes (id),
    parent   TEXT    NOT NULL,
    key      BLOB    NOT NULL,
    document INTEGER NOT NULL,
    PRIMARY KEY (index_id, parent, key, document)
) STRICT, WITHOUT ROWID;
