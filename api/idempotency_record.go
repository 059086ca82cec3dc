package api

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"net/http"
	"time"

	"github.com/google/uuid"

	"questscheduler/internal/fault"
	"questscheduler/internal/store"
)

// How long keys live.
const (
	// keyKeep is how long an answer is given again.
	keyKeep = 24 * time.Hour
	// keyTime is how long a command may take: longer than the minute for which the
	// store tries a transaction that others keep meeting, and less than a request
	// may (answerPatience).
	keyTime = 65 * time.Second
	// keyLease is how long a request that runs is waited for: until its command
	// has ended and its answer is kept, and somewhat longer, since clocks differ and what is cut off
	// does not end that instant.
	keyLease = keyTime + 10*time.Second
	// maxKept is the longest answer that is kept, well below what a document
	// may hold.
	maxKept = 512 << 10
)

// keyRecord is a document of idempotencyKeys: a key, who runs its command, and
// the answer once there is one. Closed to clients.
type keyRecord struct {
	id   string // hash of person, route and key
	body string // hash of what was asked for
	// holder is the request that runs the command until leaseUntil, in the
	// process that began as start; "" where none does.
	holder, start string
	leaseUntil    time.Time
	// tries counts the requests that began to run it.
	tries int64
	// createdAt is when the key was first met; it lives until expiresAt.
	createdAt, expiresAt time.Time
	// status is that of the answer; 0 while there is none. problem is an
	// error, data anything else, both as JSON; data is "" where it is too long.
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

// subjects is the name space of the ids that are made of keys.
var subjects = uuid.MustParse("6f1d2b0e-54a7-4c0b-9a5e-3c8a1f6f2d47")

// try is the try at the command that the record was claimed for last. What the
// command makes has the same id however often it is tried, and another where the
// key is met again after its end.
func (k keyRecord) try() try {
	name := k.id + k.createdAt.UTC().Format(time.RFC3339Nano)
	return try{id: uuid.NewHash(sha256.New(), subjects, []byte(name), 8).String(), again: k.tries > 1, since: k.createdAt}
}

// answer is what was answered the first time.
func (k keyRecord) answer(ctx context.Context, reread func(context.Context, try) (pollAnswer, error)) (pollAnswer, error) {
	var kept pollAnswer
	switch {
	case k.problem != "":
		f := &failure{status: int(k.status)}
		if err := json.Unmarshal([]byte(k.problem), &f.Problem); err != nil {
			return pollAnswer{}, err
		}
		return pollAnswer{}, f
	case k.data != "":
		err := json.Unmarshal([]byte(k.data), &kept)
		return kept, err
	default:
		return reread(ctx, k.try())
	}
}

// keyKnown tells whether a command was sent with its key before.
func (s *server) keyKnown(ctx context.Context, by caller, asked command, key string) (bool, error) {
	claim, err := s.newClaim(by, asked, key)
	if err != nil {
		return false, err
	}
	doc, err := s.Store.Get(ctx, claim.path())
	if err != nil || !doc.Exists() {
		return false, err
	}
	kept := decodeKey(doc)
	return kept.body == claim.body && kept.expiresAt.After(s.Now()), nil
}

// claimKey makes a request the one that runs its command, unless another does
// or did: then what is known of that one is given. Conflict where the key was
// met with another body.
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
			kept = keyRecord{id: claim.id, body: claim.body, createdAt: now, expiresAt: now.Add(keyKeep)}
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

// runs tells whether a request is at work on a key. One that began before this
// process is dead where no other process answers requests.
func (s *server) runs(kept keyRecord, now time.Time) bool {
	return kept.holder != "" && kept.leaseUntil.After(now) && (kept.start == s.start || !s.Alone)
}

// settleKey writes what came of a command that ran under a claim, unless the
// claim was taken over meanwhile.
func (s *server) settleKey(ctx context.Context, claim keyRecord, answer pollAnswer, outcome error) error {
	settled, end, err := claim.settled(answer, outcome)
	if err != nil {
		return err
	}
	return s.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		doc, err := tx.Get(ctx, claim.path())
		if err != nil || decodeKey(doc).holder != claim.holder {
			return err
		}
		if end == fateForget {
			return tx.Delete(claim.path())
		}
		return tx.Set(claim.path(), settled.encode())
	})
}

// settled is the record after the command.
func (k keyRecord) settled(answer pollAnswer, outcome error) (keyRecord, fate, error) {
	k.holder, k.start, k.leaseUntil = "", "", time.Time{}
	end, failed := fateKeep, (*failure)(nil)
	if outcome != nil {
		failed = asFailure(outcome)
		end = fateOf(failed.status)
	}
	switch {
	case end != fateKeep:
		return k, end, nil
	case failed != nil:
		problem, err := json.Marshal(failed.Problem)
		k.status, k.problem = int64(failed.status), string(problem)
		return k, end, err
	}
	data, err := json.Marshal(answer)
	k.status = http.StatusOK // the route knows its own; here it says that there is an answer
	if len(data) <= maxKept {
		k.data = string(data)
	}
	return k, end, err
}

// keysByEnd are the keys that expired before a time, oldest first.
var keysByEnd = &store.Query{
	Name: "idempotency keys by their end", Collection: keyCollection,
	Filters: []store.Filter{{Path: store.Field("expiresAt"), Op: store.Less}},
	Order:   []store.Order{{Path: store.Field("expiresAt")}},
}

// Queries are all queries of this package, for opening a store.
var Queries = []*store.Query{keysByEnd}

// RemoveExpiredKeys removes the idempotency keys that are past their end, limit
// at most, and gives how many it removed. It may be called again and again; a
// key that is met meanwhile is not removed.
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
