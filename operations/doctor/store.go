package doctor

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"questscheduler/fault"
	"questscheduler/internal/config"
	"questscheduler/internal/store/firestore"
	"questscheduler/operations/transfer"
)

func checkStore(ctx context.Context, d Doctor) []finding {
	if d.Config.Store == config.StoreFirestore {
		return checkFirestore(ctx, d)
	}
	found := d.checkFile(ctx, "store")
	if len(found) == 1 && found[0].verdict == fine {
		found = append(found, finding{fine, "indexes", "the server makes them in that file"})
	}
	return found
}

// checkFile checks the data file of the store.
func (d Doctor) checkFile(ctx context.Context, what string) []finding {
	if !d.isSet("QS_SQLITE_PATH", d.Config.SQLitePath) {
		return nil
	}
	reader, err := d.Program.File(ctx)
	if fault.Is(err, fault.NotFound) {
		return []finding{{fine, what, "there is none yet; the server makes " + d.Config.SQLitePath + " at its first start"}}
	}
	if err != nil {
		return []finding{{wrong, what, err.Error()}}
	}
	if err := errors.Join(reader.QuickCheck(ctx), transfer.Unfinished(ctx, reader), reader.Close()); err != nil {
		return []finding{{wrong, what, reader.Path() + ": " + err.Error()}}
	}
	return []finding{{fine, what, fmt.Sprintf("%s is sound; schema version %d", reader.Path(), reader.SchemaVersion())}}
}

// checkFirestore runs each query once.
func checkFirestore(ctx context.Context, d Doctor) []finding {
	if !d.isSet("QS_FIRESTORE_PROJECT", d.Config.FirestoreProject) || d.faulty("QS_FIRESTORE_ENDPOINT") ||
		d.faulty(firestore.EmulatorVariable) {
		return nil
	}
	documents, err := d.Program.Firestore(ctx)
	if err != nil {
		return []finding{{wrong, "store", "Firestore: " + err.Error()}}
	}
	unindexed, err := documents.Unindexed(ctx, patience)
	if err == nil {
		err = transfer.Unfinished(ctx, documents)
	}
	err = errors.Join(err, documents.Close())
	if err != nil {
		return []finding{{wrong, "store", documents.Database() + ": " + err.Error()}}
	}
	found := []finding{{fine, "store", documents.Database() + " answers"}}
	if d.Config.FirestoreEndpoint != "" {
		return []finding{
			{warning, "store", "an emulator stands in for Firestore, and keeps nothing; unset QS_FIRESTORE_ENDPOINT to keep documents"},
		}
	}
	if len(unindexed) > 0 {
		return append(found, finding{wrong, "indexes", "there is none for: " + strings.Join(unindexed, "; ") +
			". Deploy firestore.indexes.json, or wait until it is built"})
	}
	return append(found, finding{fine, "indexes", "every query has its index"})
}
