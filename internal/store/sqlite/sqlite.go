// Package sqlite is the embedded store driver: documents in one SQLite file,
// in WAL mode with synchronous=FULL, so that acknowledged writes survive a
// crash of the process and of the machine, unless the file is disposable.
//
// There is one writing connection. Concurrent transactions are committed together
// (committer.go): they run one after the other inside one SQLite transaction and share
// one flush of the disk. Reads outside transactions have a pool of connections and wait
// for nothing.
//
// Queries are answered from the keys of package entries, which each write of a document
// updates. The indexes of newly declared queries are built step by step (build.go).
//
// One process opens the file as its Store; others may read it with a Reader.
package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	_ "modernc.org/sqlite" // registers the database/sql driver

	"questscheduler/fault"
	"questscheduler/internal/store"
	"questscheduler/internal/store/entries"
)

// Options say what to open.
type Options struct {
	// Path is the data file. Open creates it, but not its folder. PATH-wal and PATH-shm
	// belong to it; PATH.lock lies beside it.
	Path string
	// Queries are all the queries that the store will run.
	Queries []*store.Query
	// BusyWait is how long a statement waits for another program that locks the file,
	// such as a backup tool, before it is Unavailable; 0: 5 s.
	BusyWait time.Duration
	// Disposable says that the file need not outlive the machine: commits do not wait for
	// the disk. They survive a crash of the process, not one of the machine.
	Disposable bool
	// Log receives the building of indexes and failures at Close; nil: none.
	Log *slog.Logger
	// held leaves every step of the building of indexes to a test.
	held bool
}

// Store is the driver. Call Open.
type Store struct {
	dataFile
	reading
	log     *slog.Logger
	writer  *sql.DB
	commits *committer
	build   build
	release func() error
	closing sync.Once
	closed  error
}

var _ store.Store = (*Store)(nil)

// Open opens or creates a data file and locks it for this process: Unavailable where
// another Open holds it. Invalid: no path, no folder, no database, another program's or a
// newer questscheduler's file, a query that cannot be answered. The indexes of
// newly declared queries are built in the background, unless the file is small.
func Open(ctx context.Context, options Options) (*Store, error) {
	file, reads, err := options.check()
	if err != nil {
		return nil, err
	}
	release, err := lockFile(file.path)
	if err != nil {
		return nil, named(file.path, err)
	}
	s := &Store{dataFile: file, reading: reads, release: release, log: cmp.Or(options.Log, slog.New(slog.DiscardHandler))}
	if err := s.open(ctx, options.held); err != nil {
		return nil, named(file.path, errors.Join(err, s.abandon()))
	}
	return s, nil
}

// named adds the file to an error of opening it.
func named(path string, err error) error { return fmt.Errorf("%s: %w", path, err) }

func (s *Store) open(ctx context.Context, held bool) (err error) {
	if err := touch(s.path); err != nil {
		return explain("open the data file", err)
	}
	s.writer, err = sql.Open("sqlite", s.address(url.Values{"_txlock": {"immediate"}}))
	if err != nil {
		return explain("open the data file", err)
	}
	s.writer.SetMaxOpenConns(1)
	if err := s.writer.PingContext(ctx); err != nil {
		return explain("open the data file", err)
	}
	if err := migrate(ctx, s.writer); err != nil {
		return err
	}
	// The mode stays with the file, so it is set after the check that the file is ours.
	if _, err := s.writer.ExecContext(ctx, "PRAGMA journal_mode = WAL"); err != nil {
		return explain("switch the data file to a write-ahead log", err)
	}
	s.indexes, err = s.prepareIndexes(ctx)
	if err != nil {
		return explain("prepare the indexes", err)
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
	if err := s.startBuild(ctx, held); err != nil {
		s.commits.stop()
		return explain("build the indexes", err)
	}
	return nil
}

const busyWait = 5 * time.Second

type dataFile struct {
	path       string        // absolute
	wait       time.Duration // Options.BusyWait
	disposable bool
}

// Path is the data file's full path.
func (f dataFile) Path() string { return f.path }

// address is the data source name of the file, with the pragmas of every connection.
func (f dataFile) address(query url.Values) string {
	flush := "synchronous(FULL)"
	if f.disposable {
		flush = "synchronous(OFF)"
	}
	query["_pragma"] = []string{
		"busy_timeout(" + strconv.FormatInt(f.wait.Milliseconds(), 10) + ")",
		flush,
		"foreign_keys(1)",
		// Each transaction of a group is a savepoint, whose pages' earlier states would go to a file.
		"temp_store(MEMORY)",
	}
	return (&url.URL{Scheme: "file", Path: f.path, RawQuery: query.Encode()}).String()
}

// check refuses options that are Invalid.
func (o Options) check() (dataFile, reading, error) {
	set, err := entries.Declare(o.Queries)
	if err != nil {
		return dataFile{}, reading{}, err
	}
	path, err := resolve(o.Path)
	if err != nil && o.Path != "" {
		err = named(o.Path, err)
	}
	return dataFile{path, cmp.Or(o.BusyWait, busyWait), o.Disposable}, reading{queries: set, rest: make(chan struct{}, 1)}, err
}

// resolve makes the path absolute and follows links, so that a file has one lock under
// all its names.
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

// Close finishes the transactions under way, moves the write-ahead log into the data file
// and releases the lock; later calls are Unavailable. A
// second call returns the same error.
func (s *Store) Close() error {
	s.closing.Do(func() {
		s.endBuild()
		s.commits.stop()
		ctx := context.Background()
		if _, err := s.writer.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
			// Nothing is lost: the next Open reads the log.
			s.log.Warn("the write-ahead log stays beside the data file", "error", err)
		}
		s.closed = s.abandon()
	})
	return s.closed
}

// endBuild ends the building of indexes after the current step.
func (s *Store) endBuild() {
	s.build.stop()
	<-s.build.ended
}

// abandon closes the opened connections and releases the lock last.
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
