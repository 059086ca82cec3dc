package outbox

import (
	"cmp"
	"context"
	"iter"
	"strings"
	"time"

	"questscheduler/internal/store"
)

// State is what makes a document an entry.
type State struct {
	// Due is when the next run is due; zero: there is nothing to do.
	Due time.Time
	// Ref names the change that the work is for. A change that calls for the work again writes
	// another one, and a run for the earlier one then settles nothing.
	Ref string
	// Attempts counts the failures since the last success, or with Kind.CountFirst all runs.
	Attempts int64
	// FailedSince is when runs began to fail; zero: the last one did not.
	FailedSince time.Time
	// Error is the kind of the last failure (fault.Kind), "" for none. No text of another
	// program is stored.
	Error string
	// Trace correlates the work with what called for it.
	Trace string
}

// Codec maps a State to the fields of a kind's documents.
type Codec struct {
	Decode func(doc store.Document) State
	// Encode gives the fields that a run writes: those of Due, Attempts, FailedSince and
	// Error, each by its name. Ref and Trace belong to the change that calls for the work.
	// In an unclaimed kind only Retry writes, and it gives the field of Due alone.
	Encode func(State) []store.Update
}

// Fields is the Codec of documents that are work alone: the fields have the names of the
// State's.
var Fields = Codec{
	Decode: func(doc store.Document) State {
		f := store.Fields(doc.Data)
		return State{
			Due: f.Time("due"), Ref: f.String("ref"), Attempts: f.Int("attempts"),
			FailedSince: f.Time("failedSince"), Error: f.String("error"), Trace: f.String("trace"),
		}
	},
	Encode: func(s State) []store.Update {
		return []store.Update{
			store.Set("due", store.NullIfZero(s.Due)), store.Set("attempts", s.Attempts),
			store.Set("failedSince", store.NullIfZero(s.FailedSince)), store.Set("error", store.NullIfEmpty(s.Error)),
		}
	},
}

// Item is an entry as a run took it.
type Item struct {
	Kind, ID string
	// State and Document are as the claim left them; zero in an unclaimed kind.
	State    State
	Document store.Document
	// Observing reports that the kind observes: the handler says what it would do and changes
	// nothing outside the store.
	Observing bool
}

// Mode says whether work of a kind is done.
type Mode uint8

// The modes. Work that rests stays due, and is taken up once it does not rest any more.
const (
	Works Mode = iota
	// Observes has handlers say what they would do. Only a change wakes them, and no drain, so
	// that it is said once.
	Observes
	Rests
)

// Kind is one sort of work.
type Kind struct {
	// Name is the kind's own, of lower-case words joined by hyphens; tasks and metrics have it.
	Name string
	// Does is the work in a few words, for people.
	Does string
	// Path is where the document of an id is.
	Path func(id string) store.Path
	// Due yields the documents that are due at a time, earliest due time first. nil: the work
	// is recorded nowhere, and a lost wake loses it (a changed document that a sweep checks
	// anyway).
	Due func(ctx context.Context, reader store.Reader, now time.Time) iter.Seq2[store.Document, error]
	// DueBehind, where set, is Due behind a cursor of due time and path (nil: from the first), for a
	// kind of which more may rest than a drain reads.
	DueBehind func(ctx context.Context, reader store.Reader, now time.Time, behind *store.Cursor) iter.Seq2[store.Document, error]
	// ID is the id of a document that Due yields; nil: the last part of its path.
	ID    func(doc store.Document) string
	Codec Codec
	// Planned: entries wait for times that a plan gave them, so those that are not due yet
	// say nothing about failures, and Depths leaves them out.
	Planned bool
	// Handle does the work of an entry. It returns when ctx ends.
	Handle func(ctx context.Context, item Item) Result
	// Mode is asked whenever work is taken; nil: it works.
	Mode func() Mode
	// Timeout ends Handle's context, LongestRun at most; 0: RunTimeout.
	Timeout time.Duration
	// Workers is how many entries a process runs at once; 0: DefaultWorkers.
	Workers int
	// Lease is how long a claim holds unless Keep renews it; 0: DefaultLease.
	Lease time.Duration
	Retry Retry
	// Remove: the document is work alone, and goes when the work is done.
	Remove bool
	// CountFirst commits the count of a run with its claim, before anything is called: then no
	// attempt on record proves that nothing was called.
	CountFirst bool
	// Unclaimed: Handle reads and settles the documents itself, by a version of its own.
	Unclaimed bool
	// Account is whose quota the work of a document uses; nil or "": nobody's. What an account
	// refuses for its quota rests all work of the kind for that account.
	Account func(doc store.Document) string
	// Rests, where set, reports whether the work of a document would only be refused now, as the
	// kind knows: it is neither woken by a drain nor counted.
	Rests func(doc store.Document, now time.Time) bool
}

func (k *Kind) timeout() time.Duration { return min(cmp.Or(k.Timeout, RunTimeout), LongestRun) }

// Timeout is how long a run of a kind takes at most; RunTimeout for an unknown kind.
func (o *Outbox) Timeout(kind string) time.Duration {
	if k := o.kind(kind); k != nil {
		return k.timeout()
	}
	return RunTimeout
}

// recorded reports whether the kind has what finds, reads and writes its entries.
func (k *Kind) recorded() bool {
	return k.Due != nil && k.Path != nil && k.Codec.Decode != nil && k.Codec.Encode != nil
}

// named reports whether an id can be that of a document, as any that a commit recorded is.
func (k *Kind) named(id string) bool {
	return id != "" && !strings.Contains(id, "/") && (k.Path == nil || k.Path(id).Valid() == nil)
}

func (k *Kind) mode() Mode {
	if k.Mode == nil {
		return Works
	}
	return k.Mode()
}

// drains reports whether drains wake the kind's entries.
func (k *Kind) drains() bool { return k.Due != nil && k.mode() == Works }

func (k *Kind) lease() time.Duration {
	if k.Lease == 0 {
		return DefaultLease
	}
	return k.Lease
}

// account names what rests with the document: the kind's part of an account's quota. "": nothing.
func (k *Kind) account(doc store.Document) string {
	if k.Account == nil || k.Account(doc) == "" {
		return ""
	}
	return k.Name + "/" + k.Account(doc)
}

func (k *Kind) id(doc store.Document) string {
	if k.ID == nil {
		return doc.Path.ID()
	}
	return k.ID(doc)
}

// DueAt is the Codec of an unclaimed kind whose failures are shown elsewhere: it has the due time
// and the trace alone, in these fields.
func DueAt(due, trace string) Codec {
	return Codec{
		Decode: func(doc store.Document) State {
			f := store.Fields(doc.Data)
			return State{Due: f.Time(due), Trace: f.String(trace)}
		},
		Encode: func(s State) []store.Update { return []store.Update{store.Set(due, store.NullIfZero(s.Due))} },
	}
}

// Query is a Kind.Due by a query that has the present as its last argument, after others.
func Query(declared *store.Query, before ...any) func(context.Context, store.Reader, time.Time) iter.Seq2[store.Document, error] {
	return func(ctx context.Context, reader store.Reader, now time.Time) iter.Seq2[store.Document, error] {
		args := append(append([]any(nil), before...), now)
		return store.All(ctx, reader, declared.With(args...), func(doc store.Document) store.Document { return doc })
	}
}
