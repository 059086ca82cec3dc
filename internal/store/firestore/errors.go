package firestore

import (
	"context"
	"errors"
	"regexp"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"questscheduler/fault"
	"questscheduler/internal/store"
)

// errCutShort is an incomplete answer.
var errCutShort = status.Error(codes.Unavailable, "the answer was cut short")

// commitError is the error of a commit with writes, which may have taken effect.
type commitError struct{ error }

// Unwrap returns Firestore's error.
func (c *commitError) Unwrap() error { return c.error }

// Is matches store.ErrUnanswered unless Firestore refused the commit.
func (c *commitError) Is(target error) bool {
	return target == store.ErrUnanswered && unanswered(status.Code(c.error))
}

// unanswered reports whether a call with this code may have taken effect.
func unanswered(code codes.Code) bool {
	switch code {
	case codes.Unavailable, codes.DeadlineExceeded, codes.Canceled, codes.Internal, codes.Unknown:
		return true
	default:
		return false
	}
}

// final is an error that Run returns unchanged: fn's own, or a misuse.
type final struct{ error }

// explanations tell the operator what Firestore's codes mean and what to do.
var explanations = map[codes.Code]struct {
	kind    fault.Kind
	message string
}{
	codes.Aborted:           {fault.Unavailable, "others change the same documents; try again later"},
	codes.AlreadyExists:     {fault.Conflict, "the document to create is there already"},
	codes.NotFound:          {fault.NotFound, "the document to update is not there"},
	codes.ResourceExhausted: {fault.Unavailable, "Firestore's quota is used up; try again later, or raise it in the Google Cloud console"},
	codes.Unavailable:       {fault.Unavailable, "Firestore does not answer; try again later"},
	codes.Canceled:          {fault.Unavailable, "Firestore broke a call off; try again later"}, // not by the caller
	codes.DeadlineExceeded:  {fault.Unavailable, "Firestore did not answer in time; try again later"},
	codes.Internal:          {fault.Unavailable, "Firestore failed; try again later"},
	codes.Unknown:           {fault.Unavailable, "Firestore failed; try again later"},
	codes.Unauthenticated:   {fault.Unavailable, "Firestore does not take the credentials; check the service account and its key"},
	codes.PermissionDenied: {
		fault.Unavailable,
		"Firestore is closed to these credentials; give their account the role roles/datastore.user, and check the project",
	},
	codes.FailedPrecondition: {
		fault.Unavailable,
		"Firestore cannot answer as it is set up; deploy firestore.indexes.json and check that the database is in native mode",
	},
}

// explain gives an error of Firestore its kind and message. It returns nil, and errors
// that have a kind, unchanged.
func (s *Store) explain(ctx context.Context, err error) error {
	var kinded *fault.Error
	if err == nil || errors.As(err, &kinded) {
		return err
	}
	if stopped := s.open(ctx); stopped != nil {
		return stopped
	}
	answer, _ := status.FromError(err)
	message := strings.ToLower(answer.Message())
	switch {
	case answer.Code() == codes.NotFound && strings.Contains(message, "database"):
		return fault.Wrap(fault.Unavailable, err, "there is no such Firestore database; make it, or correct project and database in the settings")
	case isTooLarge(answer):
		return fault.Wrap(fault.TooLarge, err, "a document or a transaction is over Firestore's limits; store less in it")
	}
	explanation, ok := explanations[answer.Code()]
	if !ok {
		return fault.Wrap(fault.Internal, err, "Firestore refused in a way that was not foreseen")
	}
	return fault.Wrap(explanation.kind, err, explanation.message)
}

// isTooLarge matches Firestore's messages about sizes, which have no code of their own.
func isTooLarge(answer *status.Status) bool {
	if answer.Code() != codes.InvalidArgument && answer.Code() != codes.ResourceExhausted {
		return false
	}
	return sizeMessage.MatchString(answer.Message())
}

var sizeMessage = regexp.MustCompile(`(?i)exceeds( the)? maximum|maximum (allowed|entity) size|too (large|big)|(longer|larger) than`)

// again reports whether a call may be retried: it had no effect and may succeed later.
func again(err error) bool {
	var commit *commitError
	answer, isAnswer := status.FromError(err)
	if !isAnswer {
		return false // our own refusal
	}
	switch answer.Code() {
	case codes.Aborted:
		return true // refused before it had any effect
	case codes.ResourceExhausted:
		return !isTooLarge(answer) // likewise
	case codes.InvalidArgument:
		// The transaction expired.
		return strings.Contains(answer.Message(), "transaction") && strings.Contains(answer.Message(), "no longer valid")
	}
	return unanswered(answer.Code()) && !errors.As(err, &commit)
}

// contended reports whether a temporary error is contention rather than silence.
func contended(err error) bool {
	code := status.Code(err)
	return code == codes.Aborted || code == codes.InvalidArgument
}
