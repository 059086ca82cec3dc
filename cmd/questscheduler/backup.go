package main

import (
	"context"
	"errors"
	"fmt"

	"questscheduler/internal/config"
)

// backupCommand copies the store.
type backupCommand struct {
	File string `arg:"" type:"path" help:"The file to write. One that is there already is not overwritten."`
}

func (backupCommand) Help() string {
	return `The copy is one whole file of one moment, and has its name only when it is complete and on the disk. To restore it, stop ` +
		`the server and put it in the place of QS_SQLITE_PATH; remove the files beside that end in -wal and -shm.

With QS_STORE=firestore this says how Firestore copies its documents.

Neither QS_ENC_KEYS nor the sign-in key (signin.key beside the store) is in it. Without QS_ENC_KEYS the linked calendars have to be linked anew.

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
			"does it every day. What the file at QS_SQLITE_PATH holds is found anew by the server", cfg.FirestoreProject, cfg.FirestoreDatabase)}
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
