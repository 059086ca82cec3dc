package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"net/url"
	"os"

	"questscheduler/fault"
	"questscheduler/internal/store"
	"questscheduler/internal/store/txn"
)

// Reader reads a data file that another process may have open as its Store. It takes no
// lock, changes nothing, and sees what is committed at each call. Where no process has the
// file open, it leaves an empty PATH-wal and a PATH-shm, which SQLite needs for reading.
// Call OpenReader.
type Reader struct {
	dataFile
	reading
	version int
}

var _ store.Reader = (*Reader)(nil)

// OpenReader opens a data file for reading alone. NotFound where it does not exist yet.
// Invalid: no path, no folder, no database, another program's, or one of another schema or
// without an index for one of the queries; Open brings an older file up to date.
// Options.Log is not used.
func OpenReader(ctx context.Context, options Options) (*Reader, error) {
	file, reads, err := options.check()
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(file.path); errors.Is(err, fs.ErrNotExist) {
		return nil, named(file.path, fault.New(fault.NotFound, "there is no data file yet; start the server once, or name another file"))
	}
	r := &Reader{dataFile: file, reading: reads}
	if err := r.open(ctx); err != nil {
		return nil, named(file.path, errors.Join(err, r.Close()))
	}
	return r, nil
}

func (r *Reader) open(ctx context.Context) (err error) {
	if err := r.openReaders(r.address(url.Values{"mode": {"ro"}})); err != nil {
		return err
	}
	r.version, err = currentVersion(ctx, r.readers)
	if err != nil {
		return err
	}
	r.indexes, err = r.findIndexes(ctx)
	if err != nil {
		return err
	}
	return r.prepareReads(ctx)
}

// findIndexes returns what prepareIndexes does, and makes no index. One that another process builds
// stays unfinished for this Reader.
func (r *Reader) findIndexes(ctx context.Context) ([]*fileIndex, error) {
	tx, err := r.readers.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return nil, explain("begin to read", err)
	}
	defer tx.Rollback() // there is nothing to commit, and nothing to lose
	there, err := storedIndexes(ctx, tx)
	if err != nil {
		return nil, explain("read the indexes", err)
	}
	var indexes []*fileIndex
	for _, index := range r.queries.Indexes() {
		row, known := there[index.Definition()]
		if !known {
			return nil, errOlder()
		}
		indexes = append(indexes, row.index())
	}
	return indexes, nil
}

// SchemaVersion is the number of migrations that were run on the file.
func (r *Reader) SchemaVersion() int { return r.version }

// QuickCheck has SQLite verify the pages of the file, which takes as long as reading it.
// Damage is Internal. Check verifies more.
func (r *Reader) QuickCheck(ctx context.Context) error {
	if err := txn.Check(ctx); err != nil {
		return err
	}
	return verdict(r.readers.QueryRowContext(ctx, `PRAGMA quick_check(1)`))
}

// Backup is Store.Backup beside another process's Store.
func (r *Reader) Backup(ctx context.Context, file string) error {
	if err := txn.Check(ctx); err != nil {
		return err
	}
	if err := r.readers.PingContext(ctx); err != nil {
		return explain("write a backup", err)
	}
	return r.backup(ctx, file)
}

// Close ends the reader; calls after it are Unavailable.
func (r *Reader) Close() error {
	if r.readers == nil {
		return nil
	}
	return explain("close the data file", r.readers.Close())
}
