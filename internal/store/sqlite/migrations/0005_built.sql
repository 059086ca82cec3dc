-- An index that is being built has the documents up to this path; NULL: it has all.
ALTER TABLE document_indexes ADD COLUMN built TEXT;
