package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	driver "modernc.org/sqlite"
	code "modernc.org/sqlite/lib"

	"questscheduler/fault"
	"questscheduler/internal/store/txn"
)

// explanations tell the operator what SQLite's primary result codes mean and what to do.
var explanations = map[int]struct {
	kind    fault.Kind
	message string
}{
	code.SQLITE_FULL:     {fault.Unavailable, "the disk that holds the data file is full; free some space and try again"},
	code.SQLITE_NOTADB:   {fault.Invalid, "the data file is not a questscheduler database; name another file or restore a backup"},
	code.SQLITE_CORRUPT:  {fault.Internal, "the data file is damaged; stop the program and restore a backup"},
	code.SQLITE_BUSY:     {fault.Unavailable, "the data file is locked by another program; close that program and try again"},
	code.SQLITE_LOCKED:   {fault.Unavailable, "the data file is locked by another program; close that program and try again"},
	code.SQLITE_READONLY: {fault.Unavailable, "the data file cannot be written; give this user the right to write it and its folder"},
	code.SQLITE_PERM:     {fault.Unavailable, "the data file may not be opened; give this user the right to read and write it and its folder"},
	code.SQLITE_CANTOPEN: {
		fault.Unavailable, "the data file cannot be opened; check that its folder exists and that this user may write there",
	},
	code.SQLITE_IOERR:  {fault.Unavailable, "the disk that holds the data file failed; check it and try again"},
	code.SQLITE_TOOBIG: {fault.TooLarge, "a document is larger than the data file can hold; store less in it"},
	code.SQLITE_NOMEM:  {fault.Unavailable, "there is not enough memory for the data file; try again later"},
}

// explain gives an error of SQLite or database/sql its kind and message; doing names the
// step for the log. It returns nil, and errors that have a kind, unchanged.
func explain(doing string, err error) error {
	var kinded *fault.Error
	if err == nil || errors.As(err, &kinded) {
		return err
	}
	cause := fmt.Errorf("%s: %w", doing, err)
	var failed *driver.Error
	switch {
	case errors.As(err, &failed):
		if explanation, ok := explanations[failed.Code()&0xff]; ok {
			return fault.Wrap(explanation.kind, cause, explanation.message)
		}
	case errors.Is(err, sql.ErrConnDone), err.Error() == "sql: database is closed":
		return txn.Closed()
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return fault.Wrap(fault.Unavailable, cause, "the store was not waited for")
	}
	return fault.Wrap(fault.Internal, cause, "the store failed in a way that was not foreseen")
}
