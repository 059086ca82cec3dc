package sqlite

import "database/sql"

// Writer is the writing connection. Its transactions block every transaction of the store.
func (s *Store) Writer() *sql.DB { return s.writer }
