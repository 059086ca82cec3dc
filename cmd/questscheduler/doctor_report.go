package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	"questscheduler/attendees/mappings"
	"questscheduler/internal/config"
	"questscheduler/internal/store"
)

// The verdicts of a check. A warning works, but may not be intended.
const (
	fine    = "ok"
	warning = "warning"
	wrong   = "wrong"
)

// finding is one line: what was checked, its state, and what to do about it.
type finding struct{ verdict, what, says string }

// doctor checks settings and what they name.
type doctor struct {
	Config   config.Config
	Problems config.Problems // what is wrong with the settings
	Now      func() time.Time
	Program  doctorProgram
	// Redirect is the address to which Google sends browsers back, and PushPath the path of its
	// pushes below the public address.
	Redirect, PushPath string
}

// doctorProgram opens what the settings name, as the program does. Each error is for a person.
type doctorProgram interface {
	// Firestore and File open the documents for reading, with all queries of the program. File
	// gives NotFound if there is no file yet.
	Firestore(ctx context.Context) (database, error)
	File(ctx context.Context) (dataFile, error)
	// Tasks opens the queues of Cloud Tasks.
	Tasks(ctx context.Context) (tasks, error)
	// SecondAddresses gives their source, and the service account that acts for their owners. No
	// linked account is used.
	SecondAddresses() (mappings.Source, delegate, error)
}

// documents are those of the store, open for reading.
type documents interface {
	store.Reader
	Close() error
}

// database is Firestore.
type database interface {
	documents
	// Database names it.
	Database() string
	// Unindexed lists queries without an index, each tried for so long.
	Unindexed(ctx context.Context, patience time.Duration) ([]string, error)
}

// dataFile is the file of SQLite.
type dataFile interface {
	documents
	// QuickCheck is an error if the file is damaged.
	QuickCheck(ctx context.Context) error
	// Path is where it is, and SchemaVersion that of its tables.
	Path() string
	SchemaVersion() int
}

// tasks are the queues of Cloud Tasks.
type tasks interface {
	// Waiting counts the tasks of all queues, and Paused lists the kinds whose queue is paused or
	// disabled.
	Waiting(ctx context.Context) (int, error)
	Paused(ctx context.Context) ([]string, error)
	Close() error
}

// delegate acts as people of a domain.
type delegate interface {
	// CheckDelegation is an error if it cannot act as the owner of an address.
	CheckDelegation(ctx context.Context, email string) error
}

// doctorPatience is how long one call may take.
const doctorPatience = 5 * time.Second

// localClient makes calls on this machine.
var localClient = &http.Client{
	Timeout:       doctorPatience,
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// checks are in the order of their lines.
var checks = []func(ctx context.Context, d doctor) []finding{
	checkSettings, checkStore, checkWork, checkCloudTasks, checkMachines, checkClock, checkSignInKey, checkFirebase,
	checkEncryptionKeys, checkGoogle,
	checkRedirect, checkSync, checkPublicURL, checkProxies, checkDiscord, checkInteractions, checkAttendees, checkAdmins,
}

// Report writes a line for each finding as it is made. It is an error if something is wrong.
func (d doctor) Report(ctx context.Context, out io.Writer) error {
	bad := 0
	for _, check := range checks {
		for _, found := range check(ctx, d) {
			if found.verdict == wrong {
				bad++
			}
			if _, err := fmt.Fprintf(out, "%-8s %-15s %s\n", found.verdict, found.what, found.says); err != nil {
				return err
			}
		}
	}
	if bad > 0 {
		return fmt.Errorf("%d of these lines say what is wrong; correct that and run it again", bad)
	}
	return nil
}

// faulty reports whether a setting has a problem. checkSettings prints it.
func (d doctor) faulty(name string) bool {
	return slices.ContainsFunc(d.Problems, func(p config.Problem) bool { return p.Name == name || p.Name == name+"_FILE" })
}

// isSet reports whether a setting has a usable value.
func (d doctor) isSet(name, value string) bool { return value != "" && !d.faulty(name) }

// get returns the status of an address. authorization "" sends none.
func (d doctor) get(ctx context.Context, address, authorization string) (status int, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return 0, err
	}
	if authorization != "" {
		request.Header.Set("Authorization", authorization)
	}
	response, err := localClient.Do(request)
	if err != nil {
		return 0, err
	}
	return response.StatusCode, response.Body.Close()
}
