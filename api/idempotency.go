package api

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"regexp"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humaecho"

	"questscheduler/internal/fault"
)

// headerKey is the header by which a caller names a request, so that sending it
// again is the same request and not another.
const headerKey = "Idempotency-Key"

// How long a request waits for the first with its key, and how long it waits
// before it checks again: most end soon, and each check is a transaction on the
// document that the first one is to write its answer to.
const (
	keyPatience   = 10 * time.Second
	keyCheckFirst = 50 * time.Millisecond
	keyCheckMost  = time.Second
)

// settlePatience is how long it may take to keep the answer to a key.
const settlePatience = 5 * time.Second

var keyPattern = regexp.MustCompile(`^[!-~]{1,255}$`)

type idempotencyKey struct{}

// describeKey says of a route that it takes an idempotency key.
func describeKey() *huma.Param {
	least, most := 1, 255
	return &huma.Param{
		Name: headerKey, In: "header",
		Description: "Names the request: sent again within 24 hours, it is answered as the first and done once. With another body it is 409.",
		Schema:      &huma.Schema{Type: huma.TypeString, MinLength: &least, MaxLength: &most, Pattern: keyPattern.String()},
	}
}

// takeKey reads the idempotency key, if there is one.
func (s *server) takeKey(ctx huma.Context, next func(huma.Context)) {
	c := humaecho.Unwrap(ctx)
	keys := c.Request().Header.Values(headerKey)
	switch {
	case len(keys) == 0:
		next(ctx)
	case len(keys) > 1 || !keyPattern.MatchString(keys[0]):
		s.answerError(fault.Field(headerKey, "must be one text of 1 to 255 visible ASCII characters"), c)
	default:
		next(huma.WithValue(ctx, idempotencyKey{}, keys[0]))
	}
}

// command is a request that is carried out once for its key.
type command struct {
	// route and body are what it asks for: the same key on another route is
	// another key, and with another body it is refused.
	route string
	body  any
	// do carries it out.
	do func(ctx context.Context, t try) (pollAnswer, error)
	// reread gives the answer where it was too large to be kept.
	reread func(ctx context.Context, t try) (pollAnswer, error)
}

// try is one of the tries at a command that has a key. The zero try is the only
// one, of a command without.
type try struct {
	// id is a UUID for what the command makes, the same for each of its tries.
	id string
	// again tells that an earlier try began and has no answer: whatever it did
	// may have taken place, or take place yet.
	again bool
	// since is when the first one began.
	since time.Time
}

// once carries a command out, or answers as the first request with its key was
// answered. Where that one still runs, it waits for it.
//
// What is kept is what was decided: success, and refusals. What went wrong on
// our side, or is to be tried again later, is not kept: the same request then
// runs again, as it does where the first one died. Neither is a 400: nothing
// began, and the key may be sent again with what was meant.
func (s *server) once(ctx context.Context, by caller, asked command) (pollAnswer, error) {
	key, _ := ctx.Value(idempotencyKey{}).(string)
	if key == "" {
		return asked.do(ctx, try{})
	}
	claim, err := s.newClaim(by, asked, key)
	if err != nil {
		return pollAnswer{}, err
	}
	pause := keyCheckFirst / 2
	for left := keyPatience; left > 0; left -= pause {
		kept, mine, err := s.claimKey(ctx, claim)
		switch {
		case err != nil:
			return pollAnswer{}, err
		case mine:
			return s.carryOut(ctx, kept, asked.do)
		case kept.answered():
			return kept.answer(ctx, asked.reread)
		}
		pause = min(2*pause, keyCheckMost, left)
		if err := s.Wait(ctx, pause); err != nil {
			return pollAnswer{}, err
		}
	}
	return pollAnswer{}, &fault.Error{
		Kind: fault.Unavailable, RetryAfter: time.Second,
		Message: "The first request with this Idempotency-Key still runs. Send it again shortly.",
	}
}

// newClaim is what a request writes to be the one that runs.
func (s *server) newClaim(by caller, asked command, key string) (keyRecord, error) {
	name, err := json.Marshal([]string{by.person.ID, asked.route, key})
	if err != nil {
		return keyRecord{}, err
	}
	body, err := json.Marshal(asked.body) // of the parsed body: however it was written
	if err != nil {
		return keyRecord{}, err
	}
	return keyRecord{id: hash(name), body: hash(body), holder: by.cause.Trace, start: s.start}, nil
}

func hash(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// errCutOff stands for the outcome of a command that panicked.
var errCutOff = fault.New(fault.Internal, "the command did not come to its end")

// carryOut runs a command under its claim, which ends it before another request
// may take its place, and keeps what came of it. Keeping goes on after the caller
// has left. Where it fails, the same request runs again, once the claim has run
// out.
func (s *server) carryOut(ctx context.Context, claim keyRecord, do func(context.Context, try) (pollAnswer, error)) (answer pollAnswer, err error) {
	outcome := error(errCutOff)
	defer func() {
		kept, end := context.WithTimeout(context.WithoutCancel(ctx), settlePatience)
		defer end()
		if err := s.settleKey(kept, claim, answer, outcome); err != nil {
			s.Log.WarnContext(ctx, "the answer to an idempotency key is not kept", "trace", claim.holder, "error", err)
		}
	}()
	// From when the claim was made, which may have taken a while itself.
	left := claim.leaseUntil.Sub(s.Now()) - (keyLease - keyTime)
	inTime, end := context.WithTimeout(ctx, left)
	defer end()
	if answer, err = do(inTime, claim.try()); errors.Is(err, context.DeadlineExceeded) && inTime.Err() != nil {
		err = &fault.Error{
			Kind: fault.Unavailable, RetryAfter: time.Second, Err: err,
			Message: "This took too long and was ended. Send it again with the same Idempotency-Key: what is done already is not done twice.",
		}
	}
	outcome = err
	return answer, err
}

// fate is what becomes of a key after its command.
type fate uint8

const (
	fateKeep   fate = iota // its answer is given again
	fateFree               // the same request may run again
	fateForget             // as though it had never been sent
)

func fateOf(status int) fate {
	switch {
	case status == http.StatusBadRequest:
		return fateForget
	case status == http.StatusTooManyRequests || status >= http.StatusInternalServerError:
		return fateFree
	default:
		return fateKeep
	}
}
