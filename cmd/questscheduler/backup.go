package main

import (
	"context"
	"errors"
	"fmt"

	"questscheduler/internal/config"
)

type backupCommand struct {
	File string `arg:"" type:"path" help:"The file to write. An existing file is not overwritten."`
}

func (backupCommand) Help() string {
	return `The copy is one consistent file, and gets its name only once it is complete and on disk. To restore it, stop ` +
		`the server, put the copy at QS_SQLITE_PATH, and remove the files beside it that end in -wal and -shm.

With QS_STORE=firestore the command says how Firestore copies its documents.

The copy holds neither QS_ENC_KEYS nor the sign-in key (signin.key beside the store). Without QS_ENC_KEYS all accounts must be linked again.

Example:

    questscheduler backup "questscheduler-$(date +%F).db"`
}

func (c backupCommand) Run(ctx context.Context, process Process) (err error) {
	cfg, err := loadSome(process.Environ, storeSettings...)
	if err != nil {
		return err
	}
	if cfg.Store == config.StoreFirestore {
		return usageError{fmt.Errorf("the documents are in Firestore, which copies them itself: "+
			"gcloud firestore export gs://BUCKET --project=%s --database='%s' copies them now, and gcloud firestore backups schedules create "+
			"does it every day. The server rebuilds what the file at QS_SQLITE_PATH holds", cfg.FirestoreProject, cfg.FirestoreDatabase)}
	}
	reader, err := openFile(ctx, cfg, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, reader.Close()) }()
	if err := reader.Backup(ctx, c.File); err != nil {
		return err
	}
	_, err = fmt.Fprintf(process.Stdout, "%s is a copy of %s\n", c.File, reader.Path())
	return err
}
