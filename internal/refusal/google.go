package refusal

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"google.golang.org/api/googleapi"

	"questscheduler/fault"
)

// Google makes the error of a call of one of Google's APIs. An error that has a kind already
// keeps it.
func (t Table) Google(call string, err error, now time.Time) error {
	if kinded, ok := errors.AsType[*fault.Error](err); ok {
		return fmt.Errorf("%s: %w", call, kinded)
	}
	if answer, ok := OfGoogle(call, err, now); ok {
		return t.Error(answer)
	}
	return t.Unanswered(call, err)
}

// OfGoogle reads the answer from an error of Google's client; false if there was none. Its
// reasons are those of google.rpc.ErrorInfo and of the older form of an error.
func OfGoogle(call string, err error, now time.Time) (Answer, bool) {
	refused, ok := errors.AsType[*googleapi.Error](err)
	if !ok {
		return Answer{}, false
	}
	answer := Answer{Call: call, Status: refused.Code, Text: refused.Message, RetryAfter: fault.ParseRetryAfter(refused.Header, now)}
	for _, item := range refused.Errors {
		answer.Reasons = append(answer.Reasons, Clean(item.Reason)...)
	}
	for _, detail := range refused.Details {
		if fields, ok := detail.(map[string]any); ok {
			reason, _ := fields["reason"].(string)
			answer.Reasons = append(answer.Reasons, Clean(reason)...)
		}
	}
	return answer, true
}

// Clean keeps a word that has the form of Google's reasons and drops all else, so that no
// value passes.
func Clean(reason string) []string {
	const most = 64
	odd := func(r rune) bool {
		return r != '.' && r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	}
	if reason == "" || len(reason) > most || strings.ContainsFunc(reason, odd) {
		return nil
	}
	return []string{reason}
}
