package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/config"
	"questscheduler/internal/poll"
	"questscheduler/operations/transfer"
)

type exportCommand struct {
	File string `arg:"" type:"path" help:"The file to write. An existing file is not overwritten."`
}

func (exportCommand) Help() string {
	return `Everything that the store holds goes into one file, from which "questscheduler import" fills another store: ` +
		`the way from the embedded store to Firestore, and back. docs/operations.md has the steps.

The file is of one state, also while the server runs; what happens later is not in it, so stop the server first if you want to move. ` +
		`It holds sealed tokens and e-mail addresses, and only its owner may read it. It holds neither QS_ENC_KEYS nor the sign-in key ` +
		`(signin.key beside the store): without QS_ENC_KEYS all accounts must be linked again.

Example:

    questscheduler export questscheduler.export`
}

func (c exportCommand) Run(ctx context.Context, process Process) (err error) {
	cfg, err := loadSome(process.Environ, storeSettings...)
	if err != nil {
		return err
	}
	from, err := openSource(ctx, cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	line := newProgress(process.Stderr, "export")
	var contents transfer.Contents
	err = writeNew(c.File, func(file io.Writer) (err error) {
		contents, err = transfer.Export(ctx, from, file, time.Now(), line.step)
		return err
	})
	line.end()
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(process.Stdout,
		"%s holds all documents (%d). Set QS_STORE and its settings for the other store, and run \"questscheduler import %s\"\n",
		c.File, contents.Documents, c.File)
	return err
}

// source is a store that is open to be exported.
type source interface {
	transfer.Source
	Close() error
}

func openSource(ctx context.Context, cfg config.Config) (source, error) {
	if cfg.Store == config.StoreFirestore {
		return openFirestore(ctx, cfg, nil)
	}
	return openFile(ctx, cfg, nil)
}

// writeNew writes a file that only its owner may read, and removes it after a failure.
func writeNew(path string, write func(io.Writer) error) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return usageError{fmt.Errorf("%s is there already; name another file", path)}
	}
	if err != nil {
		return notWritten(err)
	}
	err = write(file)
	if err == nil {
		err = file.Sync()
	}
	err = errors.Join(err, file.Close())
	if err != nil {
		err = errors.Join(err, os.Remove(path))
	}
	return notWritten(err)
}

// notWritten says what to do about an error of the file; others say so themselves.
func notWritten(err error) error {
	if errors.As(err, new(*fs.PathError)) {
		return fmt.Errorf("the file cannot be written; check its folder and the space on its disk: %w", err)
	}
	return err
}

// step shows a step of a transfer.
func (p *progress) step(step string, documents int) {
	p.show(fmt.Sprintf("%d documents %s", documents, step))
}

type importCommand struct {
	File string `arg:"" type:"existingfile" help:"The file that \"questscheduler export\" wrote."`
}

func (importCommand) Help() string {
	return `The documents of the file are written into the store of QS_STORE, which must be empty: a Firestore database, or a ` +
		`data file that does not exist yet. Nothing is overwritten. At the end everything is read back and compared with the file.

It can be interrupted at any time and continues when it is run again with the same file. Do not start the server until it has ended.

Example:

    QS_STORE=firestore QS_FIRESTORE_PROJECT=my-project questscheduler import questscheduler.export`
}

func (c importCommand) Run(ctx context.Context, process Process) (err error) {
	cfg, err := loadSome(process.Environ, storeSettings...)
	if err != nil {
		return err
	}
	// It is read several times; a pipe gives its content once.
	if info, err := os.Stat(c.File); err == nil && !info.Mode().IsRegular() {
		return usageError{fmt.Errorf("%s is a pipe or a device; name a regular file", c.File)}
	}
	line := newProgress(process.Stderr, "import")
	defer line.end()
	job := &transfer.Import{
		Open: func() (io.ReadCloser, error) { return os.Open(c.File) }, First: poll.Path("any").Collection(), Progress: line.step,
	}
	if err := job.Check(ctx); err != nil {
		return fmt.Errorf("%s: %w", c.File, err)
	}
	into, err := openStores(ctx, cfg, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, into.close()) }()
	job.Into = into.store
	contents, before, err := job.Run(ctx)
	line.end()
	switch {
	case fault.Is(err, fault.Unavailable):
		return fmt.Errorf("import into %s: %w; run it again to continue", into.place(), err)
	case err != nil:
		return fmt.Errorf("import into %s: %w", into.place(), err)
	case before:
		_, err = fmt.Fprintf(process.Stdout, "%s was imported into %s before; nothing was written\n", c.File, into.place())
	default:
		_, err = fmt.Fprintf(process.Stdout, "%d documents are in %s and were read back as they are in %s. "+
			"Next, run \"questscheduler doctor\" with all settings of the new server, and start it with the same QS_ENC_KEYS. "+
			"Do not start the old one again\n", contents.Documents, into.place(), c.File)
	}
	return err
}
