package doctor

import (
	"context"
	"time"

	"questscheduler/attendees/mappings"
	"questscheduler/internal/store"
)

// Program opens what the settings name, as the program does. Each error is for a person.
type Program interface {
	// Firestore and File open the documents for reading, with all queries of the program. File
	// gives NotFound if there is no file yet.
	Firestore(ctx context.Context) (Database, error)
	File(ctx context.Context) (DataFile, error)
	// Tasks opens the queues of Cloud Tasks.
	Tasks(ctx context.Context) (Tasks, error)
	// SecondAddresses gives their source, and the service account that acts for their owners. No
	// linked account is used.
	SecondAddresses() (mappings.Source, Delegate, error)
}

// Documents are those of the store, open for reading.
type Documents interface {
	store.Reader
	Close() error
}

// Database is Firestore.
type Database interface {
	Documents
	// Database names it.
	Database() string
	// Unindexed lists queries without an index, each tried for so long.
	Unindexed(ctx context.Context, patience time.Duration) ([]string, error)
}

// DataFile is the file of SQLite.
type DataFile interface {
	Documents
	// QuickCheck is an error if the file is damaged.
	QuickCheck(ctx context.Context) error
	// Path is where it is, and SchemaVersion that of its tables.
	Path() string
	SchemaVersion() int
}

// Tasks are the queues of Cloud Tasks.
type Tasks interface {
	// Waiting counts the tasks of all queues, and Paused lists the kinds whose queue is paused or
	// disabled.
	Waiting(ctx context.Context) (int, error)
	Paused(ctx context.Context) ([]string, error)
	Close() error
}

// Delegate acts as people of a domain.
type Delegate interface {
	// CheckDelegation is an error if it cannot act as the owner of an address.
	CheckDelegation(ctx context.Context, email string) error
}
