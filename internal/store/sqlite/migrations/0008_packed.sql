-- Documents are packed texts (pack.go); those of earlier programs are texts until they are written
-- again. A migration that changes documents needs more than SQL from now on.
CREATE TABLE packed (
    id   INTEGER PRIMARY KEY,
    path TEXT NOT NULL UNIQUE,
    data ANY  NOT NULL
) STRICT;
INSERT INTO packed SELECT id, path, data FROM documents;
DROP TABLE documents;
ALTER TABLE packed RENAME TO documents;
