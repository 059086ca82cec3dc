// Package sqlite is the embedded store driver: documents in one SQLite file,
// in WAL mode with synchronous=FULL, so that what was acknowledged survives
// the death of the process and of the machine.
//
// There is one writing connection. Transactions that wait for it together are
// committed together (committer.go), one after the other inside one SQLite
// transaction, so that sixty-four of them pay for one flush of the disk.
// Reads outside transactions have a pool of connections of their own and wait
// for nobody.
//
// Queries are answered from the entries of package entries, which are kept
// with each write of a document and made anew when the declared queries
// change.
//
// One process has the file as its Store; a Reader reads beside it.
package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	_ "modernc.org/sqlite" // registers the database/sql driver

	"questscheduler/internal/fault"
	"questscheduler/internal/store"
	"questscheduler/internal/store/entries"
)

// Options say what to open.
type Options struct {
	// Path is the data file. It is made where it is not there; its folder is
	// not. Beside it lie PATH-wal and PATH-shm, which belong to it, and
	// PATH.lock.
	Path string
	// Queries are all the queries the store will be asked.
	Queries []*store.Query
	// BusyWait is how long a statement waits for another program that locks
	// the file, such as a backup tool, before it is Unavailable; 0: 5 s.
	// Processes of ours are kept out by the lock file.
	BusyWait time.Duration
	// Log hears of rebuilt indexes and of failures at Close; nil: nobody.
	Log *slog.Logger
}

// Store is the driver. Its zero value is of no use; call Open.
type Store struct {
	dataFile
	reading
	log     *slog.Logger
	writer  *sql.DB
	commits *committer
	release func() error
	closing sync.Once
	closed  error
}

var _ store.Store = (*Store)(nil)

// Open opens or makes a data file and takes it for this process: a second
// process, or a second Open in this one, is Unavailable. Invalid: no path, no
// folder, no database, another program's or a newer questscheduler's file, a
// query that cannot be answered. It changes nothing where it fails but for the
// files it made. Indexes of newly declared queries are built before it returns.
func Open(ctx context.Context, options Options) (*Store, error) {
	set, err := entries.Declare(options.Queries)
	if err != nil {
		return nil, err
	}
	path, err := resolve(options.Path)
	if err != nil {
		return nil, err
	}
	release, err := lockFile(path)
	if err != nil {
		return nil, err
	}
	s := &Store{
		dataFile: dataFile{path, cmp.Or(options.BusyWait, busyWait)},
		reading:  reading{queries: set}, release: release,
		log: cmp.Or(options.Log, slog.New(slog.DiscardHandler)),
	}
	if err := s.open(ctx); err != nil {
		return nil, errors.Join(err, s.abandon())
	}
	return s, nil
}

func (s *Store) open(ctx context.Context) (err error) {
	if err := touch(s.path); err != nil {
		return explain("open the data file", err)
	}
	if s.writer, err = sql.Open("sqlite", s.address(url.Values{"_txlock": {"immediate"}})); err != nil {
		return explain("open the data file", err)
	}
	s.writer.SetMaxOpenConns(1)
	if err := s.writer.PingContext(ctx); err != nil {
		return explain("open the data file", err)
	}
	if err := migrate(ctx, s.writer); err != nil {
		return err
	}
	// The mode stays with the file. It is set only here, behind the check
	// that the file is ours.
	if _, err := s.writer.ExecContext(ctx, "PRAGMA journal_mode = WAL"); err != nil {
		return explain("switch the data file to a write-ahead log", err)
	}
	if s.indexIDs, err = s.prepareIndexes(ctx); err != nil {
		return explain("build the indexes", err)
	}
	if err := s.openReaders(s.address(url.Values{"_query_only": {"1"}})); err != nil {
		return err
	}
	if err := s.prepareReads(ctx); err != nil {
		return err
	}
	written, err := prepare(ctx, s.writer)
	if err != nil {
		return explain("prepare writes", err)
	}
	s.commits = startCommitter(s.writer, written)
	return nil
}

// busyWait is how long a statement waits for another program, where nothing
// else is said.
const busyWait = 5 * time.Second

// dataFile is where the documents are, by its full path.
type dataFile struct {
	path string
	wait time.Duration // BusyWait
}

// Path is the data file's full path.
func (f dataFile) Path() string { return f.path }

// address is the data source name of the file with what every connection has.
func (f dataFile) address(query url.Values) string {
	query["_pragma"] = []string{
		"busy_timeout(" + strconv.FormatInt(f.wait.Milliseconds(), 10) + ")",
		"synchronous(FULL)",
		"foreign_keys(1)",
	}
	return (&url.URL{Scheme: "file", Path: f.path, RawQuery: query.Encode()}).String()
}

// resolve makes the path absolute and follows links, so that one file has one
// lock whatever name it is opened by.
func resolve(path string) (string, error) {
	if path == "" {
		return "", fault.New(fault.Invalid, "no data file is named; set its path")
	}
	full, err := filepath.Abs(path)
	if err != nil {
		return "", fault.Wrap(fault.Invalid, err, "the path of the data file cannot be made absolute; give it in full")
	}
	if target, err := filepath.EvalSymlinks(full); err == nil {
		full = target
	} else if folder, err := filepath.EvalSymlinks(filepath.Dir(full)); err == nil {
		full = filepath.Join(folder, filepath.Base(full))
	} else {
		return "", fault.Wrap(fault.Invalid, err, "the folder of the data file does not exist; make it or name another file")
	}
	if info, err := os.Stat(full); err == nil && !info.Mode().IsRegular() {
		return "", fault.New(fault.Invalid, "the data file is a folder or a device; name a file")
	}
	return full, nil
}

// Writer is the one writing connection, for a library that keeps its own
// tables in the same file. Its transactions begin IMMEDIATE. Whoever holds it
// holds up every transaction of the store: take it briefly, and never inside
// a transaction's function.
func (s *Store) Writer() *sql.DB { return s.writer }

// Close ends the store: transactions that were begun are finished, further
// calls are Unavailable, the write-ahead log is moved into the data file, and
// the lock is given back. Whoever uses Writer ends before. Calling it again
// gives the same answer.
func (s *Store) Close() error {
	s.closing.Do(func() {
		s.commits.stop()
		ctx := context.Background() // closing is not cut short by a caller
		if _, err := s.writer.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
			// Nothing is lost: the next Open finds the log beside the file.
			s.log.Warn("the write-ahead log stays beside the data file", "error", err)
		}
		s.closed = s.abandon()
	})
	return s.closed
}

// abandon closes what was opened, in the order that lets the last connection
// tidy up and gives the lock back last.
func (s *Store) abandon() error {
	var first error
	for _, db := range []*sql.DB{s.readers, s.writer} {
		if db == nil {
			continue
		}
		if err := db.Close(); err != nil && first == nil {
			first = explain("close the data file", err)
		}
	}
	if err := s.release(); err != nil && first == nil {
		first = fault.Wrap(fault.Internal, err, "the data file's lock was not given back")
	}
	return first
}
