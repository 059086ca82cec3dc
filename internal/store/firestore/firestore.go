// Package firestore is the store driver for production: Cloud Firestore in
// native mode.
//
// It uses the generated client of Google's library (apiv1), not the layer above: a
// transaction begins with its first read and is retried for as long as its caller waits,
// a commit whose answer was lost is never resent, and no environment variable redirects
// production to an emulator.
//
// A transaction that reads takes locks or is checked at its commit, depending on the
// database's setup; either way it is serialisable. One that only writes is a single
// request. Reads outside transactions take no locks.
//
// Firestore answers a query only where its index was deployed; Indexes makes
// firestore.indexes.json from the declared queries.
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

	"questscheduler/fault"
	"questscheduler/internal/store"
	"questscheduler/internal/store/entries"
	"questscheduler/internal/store/txn"
)

// DefaultDatabase is the id of a project's first database.
const DefaultDatabase = "(default)"

// EmulatorVariable redirects Google's own client to an emulator. This driver refuses to
// open production while it is set, since its user probably expects an emulator.
const EmulatorVariable = "FIRESTORE_EMULATOR_HOST"

// Options say what to open.
type Options struct {
	// Project is the Google Cloud project.
	Project string
	// Database is the database's id; "": DefaultDatabase.
	Database string
	// Credentials are the JSON of a service account's key; empty: application default
	// credentials.
	Credentials []byte
	// Emulator is the host:port of an emulator, for development and tests; "":
	// Firestore.
	Emulator string
	// Queries are all the queries that the store will run.
	Queries []*store.Query
	// Dial are further options of the connection, such as interceptors.
	Dial []grpc.DialOption
	// CallTimeout ends a single request; 0: 30 s. A commit that it ends may take effect
	// all the same.
	CallTimeout time.Duration
	// Patience is how long a call without a deadline is retried; 0: 1 min.
	Patience time.Duration
	// Silence is how long a call is retried while there is no answer, or the quota is
	// used up, counted from the end of the first such attempt; 0: 10 s.
	Silence time.Duration
}

// Store is the driver. Call Open.
type Store struct {
	client   *apiv1.Client
	database string // projects/P/databases/D
	root     string // the prefix of all documents' names
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

// Open makes the store of an existing database. It sends nothing: a wrong project or
// missing rights show at the first call. Invalid: no project, a query that cannot be
// answered, malformed credentials or emulator address, or EmulatorVariable set without
// Options.Emulator.
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
	// Retries are ours (retry.go): they end with the caller's patience, and no commit is
	// sent twice.
	client.CallOptions = &apiv1.CallOptions{}
	database := "projects/" + options.Project + "/databases/" + cmp.Or(options.Database, DefaultDatabase)
	return &Store{
		client: client, database: database, root: database + "/documents", queries: set, declared: options.Queries,
		timeout: cmp.Or(options.CallTimeout, 30*time.Second), patience: cmp.Or(options.Patience, time.Minute),
		silence: cmp.Or(options.Silence, 10*time.Second),
		closed:  make(chan struct{}),
	}, nil
}

// targetOf returns the client's address and credentials.
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
		return nil, fault.New(fault.Invalid,
			EmulatorVariable+" is set, but no emulator is configured; unset it, or name the emulator in the settings")
	}
	var target []option.ClientOption
	for _, one := range dial {
		target = append(target, option.WithGRPCDialOption(one))
	}
	if len(options.Credentials) > 0 {
		var key struct{ Type string }
		if err := json.Unmarshal(options.Credentials, &key); err != nil || key.Type != string(option.ServiceAccount) {
			return nil, fault.New(
				fault.Invalid,
				"the credentials are not the JSON key of a service account; download it anew from the Google Cloud console",
			)
		}
		target = append(target, option.WithAuthCredentialsJSON(option.ServiceAccount, options.Credentials))
	}
	return target, nil
}

// owner authenticates at an emulator as a client that rules do not apply to.
type owner struct{}

// GetRequestMetadata implements credentials.PerRPCCredentials.
func (owner) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	return map[string]string{"authorization": "Bearer owner"}, nil
}

// RequireTransportSecurity implements credentials.PerRPCCredentials.
func (owner) RequireTransportSecurity() bool { return false }

// Database is the database's full name, projects/P/databases/D.
func (s *Store) Database() string { return s.database }

// Close ends the store and its calls; later ones are Unavailable. A second call returns
// the same error.
func (s *Store) Close() error {
	s.closing.Do(func() {
		close(s.closed)
		if err := s.client.Close(); err != nil {
			s.failure = fault.Wrap(fault.Internal, err, "the connection to Firestore was not closed")
		}
	})
	return s.failure
}

// enter refuses a call as txn.Check does, and after Close.
func (s *Store) enter(ctx context.Context, paths ...store.Path) error {
	if err := txn.Check(ctx, paths...); err != nil {
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

func (s *Store) name(path store.Path) string { return s.root + "/" + string(path) }

func (s *Store) pathOf(name string) store.Path {
	return store.Path(strings.TrimPrefix(name, s.root+"/"))
}

// request adds the timeout of a single request, and the header that routes it.
func (s *Store) request(ctx context.Context) (context.Context, context.CancelFunc) {
	return s.requestFor(ctx, s.timeout)
}

func (s *Store) requestFor(ctx context.Context, timeout time.Duration) (context.Context, context.CancelFunc) {
	ctx = metadata.AppendToOutgoingContext(ctx, "google-cloud-resource-prefix", s.database)
	return context.WithTimeout(ctx, timeout)
}
