package api

import (
	"context"
	"encoding/json"
	"errors"
	"regexp"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humaecho"

	"questscheduler/fault"
	"questscheduler/internal/ids"
)

// headerKey is the header that names a request, so that a retry is the same
// request and not another.
const headerKey = "Idempotency-Key"

// How long a request waits for the first one with its key, and between two checks:
// each check is a transaction on the document that the first one writes to.
const (
	keyWait       = 10 * time.Second
	firstKeyCheck = 50 * time.Millisecond
	maxKeyCheck   = time.Second
)

// settleTimeout is how long storing the answer to a key may take.
const settleTimeout = 5 * time.Second

var keyPattern = regexp.MustCompile(`^[!-~]{1,255}$`)

type idempotencyKey struct{}

func describeKey() *huma.Param {
	least, most := 1, 255
	return &huma.Param{
		Name: headerKey, In: "header",
		Description: "Names the request: sent again within 24 hours, it is answered as the first and done once. With another body it is 409.",
		Schema:      &huma.Schema{Type: huma.TypeString, MinLength: &least, MaxLength: &most, Pattern: keyPattern.String()},
	}
}

// takeKey reads the idempotency key, if there is one.
func takeKey(ctx huma.Context) (huma.Context, error) {
	keys := humaecho.Unwrap(ctx).Request().Header.Values(headerKey)
	switch {
	case len(keys) == 0:
		return ctx, nil
	case len(keys) > 1 || !keyPattern.MatchString(keys[0]):
		return nil, fault.Field(headerKey, "must be one text of 1 to 255 visible ASCII characters")
	default:
		return huma.WithValue(ctx, idempotencyKey{}, keys[0]), nil
	}
}

// command is a request that is carried out once for its key, and its answer.
type command[A any] struct {
	// route and body identify the request: the same key on another route is another
	// key, and with another body it is refused.
	route string
	body  any
	do    func(ctx context.Context, t try) (A, error)
	// read gives the answer as it is by now, where the stored one was too large.
	read func(ctx context.Context, t try) (A, error)
}

// try is one of the tries at a command with a key; the zero try is that of a
// command without.
type try struct {
	// id is a UUID for what the command makes, the same for each try.
	id string
	// again means that an earlier try began and has no answer: its effects may have
	// happened, or happen yet.
	again bool
	// since is when the first try began.
	since time.Time
}

// once carries a command out, or gives the answer of the first request with its
// key. While that one runs, it waits.
//
// Successes and refusals are stored. A failure on our side, or one to be retried
// later, is not: the same request then runs again, as it does if the first one
// died. Neither is a 400: nothing began, and the key may be sent again with a
// corrected body.
func once[A any](ctx context.Context, s *server, by caller, asked command[A]) (none A, err error) {
	claim, err := s.newClaim(ctx, by, asked.route, asked.body)
	if err != nil {
		return none, err
	}
	if claim.id == "" {
		return asked.do(ctx, try{})
	}
	pause := firstKeyCheck / 2
	for left := keyWait; left > 0; left -= pause {
		kept, mine, err := s.claimKey(ctx, claim)
		switch {
		case err != nil:
			return none, err
		case mine:
			return carryOut(ctx, s, kept, asked.do)
		case kept.answered():
			return answerKept(ctx, asked, kept)
		}
		pause = min(2*pause, maxKeyCheck, left)
		if err := s.Wait(ctx, pause); err != nil {
			return none, err
		}
	}
	return none, errRetryKey("The first request with this Idempotency-Key still runs. Send it again shortly.", nil)
}

func errRetryKey(message string, cause error) error {
	return &fault.Error{Kind: fault.Unavailable, RetryAfter: time.Second, Message: message, Err: cause}
}

// newClaim is the record by which a request claims its key; its id is "" without a
// key.
func (s *server) newClaim(ctx context.Context, by caller, route string, body any) (keyRecord, error) {
	key, _ := ctx.Value(idempotencyKey{}).(string)
	if key == "" {
		return keyRecord{}, nil
	}
	name, err := json.Marshal([]string{by.person.ID, route, key})
	if err != nil {
		return keyRecord{}, err
	}
	sent, err := json.Marshal(body) // of the parsed body: formatting does not count
	return keyRecord{id: hash(name), body: hash(sent), holder: by.cause.Trace, start: s.start}, err
}

func hash(text []byte) string { return ids.Of(string(text)).Hex(32) }

// carryOut runs a command under its claim and stores the outcome. The command ends
// before another request may take the claim over. Storing goes on after the caller
// has disconnected; if it fails, the same request runs again once the claim has
// expired.
func carryOut[A any](ctx context.Context, s *server, claim keyRecord, do func(context.Context, try) (A, error)) (answer A, err error) {
	outcome := error(fault.New(fault.Internal, "the command panicked"))
	defer func() {
		settling, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTimeout)
		defer cancel()
		if err := settleKey(settling, s.Store, claim, answer, outcome); err != nil {
			s.Log.WarnContext(ctx, "the answer to an idempotency key is not kept", "trace", claim.holder, "error", err)
		}
	}()
	// Counted from the claim, which may have taken a while itself.
	left := claim.leaseUntil.Sub(s.Now()) - (keyLease - commandTimeout)
	running, cancel := context.WithTimeout(ctx, left)
	defer cancel()
	answer, err = do(running, claim.try())
	if errors.Is(err, context.DeadlineExceeded) && running.Err() != nil {
		err = errRetryKey(
			"This took too long and was ended. Send it again with the same Idempotency-Key: what is done already is not done twice.",
			err,
		)
	}
	outcome = err
	return answer, err
}
