package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"
	"slices"

	"questscheduler/fault"
)

//go:embed migrations/*.sql
var migrations embed.FS

// applicationID ("QsDb") marks a data file as ours; others are never written to.
const applicationID = 0x51734462

// migrate runs the missing migrations, each in a transaction. The version is SQLite's
// user_version: the number of migrations that were run. Another program's file, or a newer
// questscheduler's, is Invalid and not touched.
func migrate(ctx context.Context, db *sql.DB) error {
	names, err := migrationNames()
	if err != nil {
		return err
	}
	version, err := schemaVersion(ctx, db)
	if err != nil {
		return err
	}
	if version > len(names) {
		return errNewer()
	}
	for i, name := range names[version:] {
		script, err := migrations.ReadFile(name)
		if err != nil {
			return fmt.Errorf("read %s: %w", name, err)
		}
		if err := migrateOne(ctx, db, string(script), version+i+1); err != nil {
			return explain("run "+name, err)
		}
	}
	return nil
}

// currentVersion is the version of an up-to-date file; an older or newer one is Invalid.
func currentVersion(ctx context.Context, db *sql.DB) (int, error) {
	names, err := migrationNames()
	if err != nil {
		return 0, err
	}
	version, err := schemaVersion(ctx, db)
	switch {
	case err != nil:
		return 0, err
	case version > len(names):
		return 0, errNewer()
	case version < len(names):
		return 0, errOlder()
	default:
		return version, nil
	}
}

func migrationNames() ([]string, error) {
	names, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		return nil, fmt.Errorf("list migrations: %w", err)
	}
	slices.Sort(names)
	return names, nil
}

func errNewer() error {
	return fault.New(fault.Invalid, "the data file was written by a newer questscheduler; run that version, or restore a backup of this one")
}

func errOlder() error {
	return fault.New(
		fault.Invalid,
		"the data file has not been opened by this version of questscheduler yet; start its server once, which brings the file up to date",
	)
}

func migrateOne(ctx context.Context, db *sql.DB, script string, version int) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // after the commit it does nothing
	if _, err := tx.ExecContext(ctx, script); err != nil {
		return err
	}
	// A pragma takes no arguments.
	stamp := fmt.Sprintf("PRAGMA user_version = %d; PRAGMA application_id = %d", version, applicationID)
	if _, err := tx.ExecContext(ctx, stamp); err != nil {
		return err
	}
	return tx.Commit()
}

func schemaVersion(ctx context.Context, db *sql.DB) (int, error) {
	var version, application, tables int
	row := db.QueryRowContext(ctx, `SELECT
		(SELECT user_version FROM pragma_user_version),
		(SELECT application_id FROM pragma_application_id),
		(SELECT count(*) FROM sqlite_master)`)
	if err := row.Scan(&version, &application, &tables); err != nil {
		return 0, explain("read the schema's version", err)
	}
	if application != applicationID && (tables > 0 || version != 0 || application != 0) {
		return 0, fault.New(fault.Invalid, "the data file is a database of another program; name another file")
	}
	return version, nil
}
