package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"

	"questscheduler/fault"
	"questscheduler/internal/store/txn"
)

// Backup writes the committed state to a new data file, while others read and write.
// Conflict where the file exists. It appears under its name only when it is complete and
// on the disk; a failed backup leaves nothing behind.
func (s *Store) Backup(ctx context.Context, file string) error {
	if err := txn.Check(ctx); err != nil {
		return err
	}
	if s.commits.closing.Err() != nil {
		return txn.Closed()
	}
	return s.backup(ctx, file)
}

func (f dataFile) backup(ctx context.Context, file string) error {
	if file == "" {
		return fault.New(fault.Invalid, "no backup file is named; give its path")
	}
	taken := named(file, fault.New(fault.Conflict, "the backup file is there already; name another one"))
	if _, err := os.Lstat(file); err == nil {
		return taken
	}
	partial, err := os.MkdirTemp(filepath.Dir(file), ".questscheduler-backup-*")
	if err != nil {
		return fault.Wrap(fault.Invalid, err, "the backup file's folder cannot be written; make it, or name another file")
	}
	whole := filepath.Join(partial, "data")
	err = f.copyInto(ctx, whole)
	if err == nil {
		// A link, unlike a rename, does not replace a file made in the meantime.
		err = os.Link(whole, file)
		if errors.Is(err, fs.ErrExist) {
			err = taken
		}
	}
	if err == nil {
		err = syncFile(filepath.Dir(file))
	}
	err = errors.Join(err, os.RemoveAll(partial))
	if errors.As(err, new(*fs.PathError)) || errors.As(err, new(*os.LinkError)) {
		return fault.Wrap(fault.Unavailable, err, "the backup could not be written; check the folder it goes to and the space on its disk")
	}
	return explain("write a backup", err)
}

// copyInto writes the state to a new file and flushes it. It has a read-only connection of
// its own, since it may take long.
func (f dataFile) copyInto(ctx context.Context, file string) (err error) {
	db, err := sql.Open("sqlite", f.address(url.Values{"mode": {"ro"}}))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := touch(file); err != nil {
		return err
	}
	if _, err := db.ExecContext(ctx, "VACUUM INTO ?", file); err != nil {
		return err
	}
	return syncFile(file)
}

// touch makes an empty file where there is none. Its owner alone may read it, since it
// will hold sealed tokens and addresses; SQLite gives the files beside it the same rights.
func touch(path string) error {
	file, err := os.OpenFile(path, os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return file.Close()
}

// syncFile flushes a file, or a folder's names, to the disk.
func syncFile(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}
