package api

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/ids"
	"questscheduler/internal/store"
)

const (
	// keyLife is how long an answer is repeated.
	keyLife = 24 * time.Hour
	// commandTimeout is how long a command may take: longer than the minute for which
	// the store retries a contended transaction, and less than answerTimeout.
	commandTimeout = 65 * time.Second
	// keyLease is how long a running request holds its key: until its command has
	// ended and the answer is stored, with time for clocks that differ.
	keyLease = commandTimeout + 10*time.Second
	// maxStoredAnswer is well below what a document may hold.
	maxStoredAnswer = 512 << 10
)

// keyRecord is a document of idempotencyKeys: a key, the request that runs its
// command, and the answer once there is one. Clients cannot read it.
type keyRecord struct {
	id   string // hash of person, route and key
	body string // hash of the request's body
	// holder is the request that runs the command until leaseUntil, in the process
	// that began as start; "" if none does.
	holder, start        string
	leaseUntil           time.Time
	tries                int64 // requests that began to run it
	createdAt, expiresAt time.Time
	// status is that of the answer; 0: there is none. problem is an error, data any
	// other answer, both as JSON; data is "" if it is too long.
	status        int64
	problem, data string
}

const keyCollection = "idempotencyKeys"

func (k keyRecord) path() store.Path { return store.Doc(keyCollection, k.id) }

func decodeKey(doc store.Document) keyRecord {
	f := store.Fields(doc.Data)
	return keyRecord{
		id: doc.Path.ID(), body: f.String("body"), holder: f.String("holder"), start: f.String("start"),
		leaseUntil: f.Time("leaseUntil"), tries: f.Int("tries"), createdAt: f.Time("createdAt"), expiresAt: f.Time("expiresAt"),
		status: f.Int("status"), problem: f.String("problem"), data: f.String("data"),
	}
}

func (k keyRecord) encode() map[string]any {
	return map[string]any{
		"body": k.body, "holder": k.holder, "start": k.start, "leaseUntil": store.NullIfZero(k.leaseUntil), "tries": k.tries,
		"createdAt": k.createdAt, "expiresAt": k.expiresAt,
		"status": k.status, "problem": k.problem, "data": k.data,
	}
}

func (k keyRecord) answered() bool { return k.status != 0 }

// try is the try that the record was last claimed for. Its id is the same for all
// tries, and another if the key is used again after it expired.
func (k keyRecord) try() try {
	name := k.id + k.createdAt.UTC().Format(time.RFC3339Nano)
	return try{id: ids.UUIDOf(name), again: k.tries > 1, since: k.createdAt}
}

// answerKept repeats the stored answer; it reads it again if that was too large.
func answerKept[A any](ctx context.Context, asked command[A], kept keyRecord) (answer A, err error) {
	switch {
	case kept.problem != "":
		f := &failure{status: int(kept.status)}
		return answer, cmp.Or(json.Unmarshal([]byte(kept.problem), &f.Problem), error(f))
	case kept.data != "":
		err = json.Unmarshal([]byte(kept.data), &answer)
		return answer, err
	default:
		return asked.read(ctx, kept.try())
	}
}

// keyKnown reports whether the same command was sent with its key before.
func (s *server) keyKnown(ctx context.Context, by caller, asked command[pollAnswer]) (bool, error) {
	claim, err := s.newClaim(ctx, by, asked.route, asked.body)
	if err != nil || claim.id == "" {
		return false, err
	}
	doc, err := s.Store.Get(ctx, claim.path())
	if err != nil || !doc.Exists() {
		return false, err
	}
	kept := decodeKey(doc)
	return kept.body == claim.body && kept.expiresAt.After(s.Now()), nil
}

// claimKey lets a request run its command (mine), or returns the record of the one
// that runs it or did. Conflict: the key was used with another body.
func (s *server) claimKey(ctx context.Context, claim keyRecord) (kept keyRecord, mine bool, err error) {
	err = s.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		kept, mine = keyRecord{}, false
		doc, err := tx.Get(ctx, claim.path())
		if err != nil {
			return err
		}
		now := store.Instant(s.Now())
		kept = decodeKey(doc)
		if !doc.Exists() || !kept.expiresAt.After(now) {
			kept = keyRecord{id: claim.id, body: claim.body, createdAt: now, expiresAt: now.Add(keyLife)}
		}
		if kept.body != claim.body {
			return fault.New(fault.Conflict, "This Idempotency-Key was sent with another body. Use a new key for a new request.")
		}
		if kept.answered() || s.runs(kept, now) {
			return nil
		}
		mine = true
		kept.holder, kept.start, kept.leaseUntil = claim.holder, claim.start, now.Add(keyLease)
		kept.tries++
		return tx.Set(kept.path(), kept.encode())
	})
	return kept, mine, err
}

// runs reports whether a request still works on a key. In the only process, one
// that began before its start is dead.
func (s *server) runs(kept keyRecord, now time.Time) bool {
	return kept.holder != "" && kept.leaseUntil.After(now) && (kept.start == s.start || !s.SingleProcess)
}

// settleKey stores the outcome of a command, unless the claim was taken over.
func settleKey(ctx context.Context, documents store.Store, claim keyRecord, answer any, outcome error) error {
	settled, err := claim.settled(answer, outcome)
	if err != nil {
		return err
	}
	return documents.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		doc, err := tx.Get(ctx, claim.path())
		if err != nil || decodeKey(doc).holder != claim.holder {
			return err
		}
		if settled.status == http.StatusBadRequest {
			return tx.Delete(claim.path())
		}
		return tx.Set(claim.path(), settled.encode())
	})
}

// settled is the record after its command: with the answer, or with none if the
// same request may run again.
func (k keyRecord) settled(answer any, outcome error) (keyRecord, error) {
	k.holder, k.start, k.leaseUntil = "", "", time.Time{}
	if outcome == nil {
		data, err := json.Marshal(answer)
		if len(data) <= maxStoredAnswer {
			k.data = string(data)
		}
		k.status = http.StatusOK // the route knows its own; here it says that there is an answer
		return k, err
	}
	failed := asFailure(outcome)
	if failed.status == http.StatusTooManyRequests || failed.status >= http.StatusInternalServerError {
		return k, nil
	}
	problem, err := json.Marshal(failed.Problem)
	k.status, k.problem = int64(failed.status), string(problem)
	return k, err
}

// keysByEnd are the keys that expired before a time, oldest first.
var keysByEnd = &store.Query{
	Name: "idempotency keys by their end", Collection: keyCollection,
	Filters: []store.Filter{{Path: store.Field("expiresAt"), Op: store.Less}},
	Order:   []store.Order{{Path: store.Field("expiresAt")}},
}

// Queries are all queries of this package, for opening a store.
var Queries = []*store.Query{keysByEnd}

// RemoveExpiredKeys removes at most limit expired idempotency keys and returns how
// many it removed. A key that is used concurrently is not removed.
func RemoveExpiredKeys(ctx context.Context, documents store.Store, now time.Time, limit int) (removed int, err error) {
	err = documents.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		removed = 0
		expired, err := tx.Query(ctx, keysByEnd.With(now).First(limit))
		if err != nil {
			return err
		}
		for _, doc := range expired {
			if err := tx.Delete(doc.Path); err != nil {
				return err
			}
		}
		removed = len(expired)
		return nil
	})
	return removed, err
}
