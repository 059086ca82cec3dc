// Package firestore is the store driver for production: Cloud Firestore in
// native mode.
//
// It stands on the generated client of Google's library (apiv1), not on the
// layer above it: a transaction here begins with its first read and is run
// again for as long as its caller waits, a commit whose answer was lost is
// never sent twice, values and field masks are exactly what the port says, and
// no environment variable sends production to an emulator.
//
// A transaction that reads takes locks or is checked at its commit, as the
// database is set up; either way it is serialisable. One that only writes is a
// single request. Reads outside transactions take no locks.
//
// Firestore answers a declared query only where an index for it was deployed;
// Indexes makes firestore.indexes.json from the declarations.
package firestore

import (
	"cmp"
	"context"
	"encoding/json"
	"math"
	"net"
	"os"
	"strings"
	"sync"
	"time"

	apiv1 "cloud.google.com/go/firestore/apiv1"
	"google.golang.org/api/option"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"

	"questscheduler/internal/fault"
	"questscheduler/internal/store"
	"questscheduler/internal/store/entries"
	"questscheduler/internal/store/txn"
)

// DefaultDatabase is the id of a project's first database.
const DefaultDatabase = "(default)"

// EmulatorVariable is the variable by which Google's own client is sent to an
// emulator. This driver does not follow it, and refuses to open production
// while it is set: somebody believes to be somewhere else.
const EmulatorVariable = "FIRESTORE_EMULATOR_HOST"

// Options say what to open.
type Options struct {
	// Project is the Google Cloud project.
	Project string
	// Database is the database's id; "": DefaultDatabase.
	Database string
	// Credentials are the JSON of a service account's key; none: those of the
	// machine (application default credentials). Emulators take none.
	Credentials []byte
	// Emulator is the host:port of an emulator in Firestore's place; "":
	// Firestore. It is for development and tests: it asks for no credentials
	// and keeps nothing.
	Emulator string
	// Queries are all the queries the store will be asked.
	Queries []*store.Query
	// Dial are further options of the connection, such as interceptors that
	// count its requests.
	Dial []grpc.DialOption
	// CallTimeout ends a single request; 0: 30 s. The effect of a commit that
	// it ends may take place all the same.
	CallTimeout time.Duration
	// Patience is how long a call goes on trying where its ctx has no deadline;
	// 0: 1 min. One that has a deadline is tried until then.
	Patience time.Duration
	// Silence is how long a call goes on trying while it gets no answer, or that the
	// quota is used up, counted from the end of the first such try; 0: 10 s.
	Silence time.Duration
}

// Store is the driver. Its zero value is of no use; call Open.
type Store struct {
	client   *apiv1.Client
	database string // projects/P/databases/D
	root     string // the name that begins those of all documents
	queries  *entries.Set
	declared []*store.Query
	timeout  time.Duration
	patience time.Duration
	silence  time.Duration
	turns    turns

	closing sync.Once
	closed  chan struct{}
	failure error // of Close
}

var _ store.Store = (*Store)(nil)

// Open makes a store of a database that exists. It sends nothing: a wrong
// project or missing rights show at the first call. Invalid: no project, a
// query that cannot be answered, credentials that are none, an emulator's
// address that is none, or EmulatorVariable set without Options.Emulator.
func Open(ctx context.Context, options Options) (*Store, error) {
	set, err := entries.Declare(options.Queries)
	if err != nil {
		return nil, err
	}
	if options.Project == "" {
		return nil, fault.New(fault.Invalid, "no Google Cloud project is named; set its id")
	}
	target, err := targetOf(options)
	if err != nil {
		return nil, err
	}
	client, err := apiv1.NewClient(ctx, target...)
	if err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "Firestore cannot be reached with these credentials; check them")
	}
	// Retries are ours (retry.go): they must not outlive what the caller
	// waits for, and a commit must not be sent twice.
	client.CallOptions = &apiv1.CallOptions{}
	database := "projects/" + options.Project + "/databases/" + cmp.Or(options.Database, DefaultDatabase)
	return &Store{
		client: client, database: database, root: database + "/documents", queries: set, declared: options.Queries,
		timeout: cmp.Or(options.CallTimeout, 30*time.Second), patience: cmp.Or(options.Patience, time.Minute),
		silence: cmp.Or(options.Silence, 10*time.Second),
		closed:  make(chan struct{}),
	}, nil
}

// targetOf says where the client goes, and as whom.
func targetOf(options Options) ([]option.ClientOption, error) {
	dial := append([]grpc.DialOption{
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(math.MaxInt32), grpc.MaxCallSendMsgSize(math.MaxInt32)),
	}, options.Dial...)
	if options.Emulator != "" {
		if _, port, err := net.SplitHostPort(options.Emulator); err != nil || port == "" || strings.Contains(options.Emulator, "/") {
			return nil, fault.New(fault.Invalid, "the emulator's address has to be host:port")
		}
		connection, err := grpc.NewClient("passthrough:///"+options.Emulator, append(dial,
			grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithPerRPCCredentials(owner{}))...)
		if err != nil {
			return nil, fault.Wrap(fault.Invalid, err, "the emulator's address cannot be used")
		}
		return []option.ClientOption{option.WithGRPCConn(connection)}, nil
	}
	if os.Getenv(EmulatorVariable) != "" {
		return nil, fault.New(fault.Invalid, EmulatorVariable+" is set, but this store is to be Firestore itself; unset it, or name the emulator in the settings")
	}
	var target []option.ClientOption
	for _, one := range dial {
		target = append(target, option.WithGRPCDialOption(one))
	}
	if len(options.Credentials) > 0 {
		var key struct{ Type string }
		if err := json.Unmarshal(options.Credentials, &key); err != nil || key.Type != string(option.ServiceAccount) {
			return nil, fault.New(fault.Invalid, "the credentials are not the JSON key of a service account; download it anew from the Google Cloud console")
		}
		target = append(target, option.WithAuthCredentialsJSON(option.ServiceAccount, options.Credentials))
	}
	return target, nil
}

// owner is what an emulator takes for somebody whom no rules hold.
type owner struct{}

// GetRequestMetadata implements credentials.PerRPCCredentials.
func (owner) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	return map[string]string{"authorization": "Bearer owner"}, nil
}

// RequireTransportSecurity implements credentials.PerRPCCredentials.
func (owner) RequireTransportSecurity() bool { return false }

// Database is the database's full name, projects/P/databases/D.
func (s *Store) Database() string { return s.database }

// Close ends the store: calls under way end, further ones are Unavailable.
// Calling it again gives the same answer.
func (s *Store) Close() error {
	s.closing.Do(func() {
		close(s.closed)
		if err := s.client.Close(); err != nil {
			s.failure = fault.Wrap(fault.Internal, err, "the connection to Firestore was not closed")
		}
	})
	return s.failure
}

// enter refuses a call from inside a transaction, after Close, of a ctx that
// has ended, or of a path that is none.
func (s *Store) enter(ctx context.Context, paths ...store.Path) error {
	for _, path := range paths {
		if err := path.Valid(); err != nil {
			return err
		}
	}
	if err := txn.Outside(ctx); err != nil {
		return err
	}
	return s.open(ctx)
}

func (s *Store) open(ctx context.Context) error {
	select {
	case <-s.closed:
		return txn.Closed()
	default:
		return txn.Stopped(ctx)
	}
}

// name is a document's full name.
func (s *Store) name(path store.Path) string { return s.root + "/" + string(path) }

// pathOf is the path of a document by its full name.
func (s *Store) pathOf(name string) store.Path {
	return store.Path(strings.TrimPrefix(name, s.root+"/"))
}

// request gives ctx the deadline of a single request, and the header by which
// Firestore routes it.
func (s *Store) request(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx = metadata.AppendToOutgoingContext(ctx, "google-cloud-resource-prefix", s.database)
	return context.WithTimeout(ctx, s.timeout)
}
