package accounts

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	"golang.org/x/oauth2"

	"questscheduler/internal/fault"
)

// refusal is a row of the table of the token endpoint's errors. Empty conditions match
// everything; 500 stands for all of 5xx.
type refusal struct {
	codes   []string // RFC 6749's error
	status  int
	kind    fault.Kind
	code    string
	message string
}

// refusals maps the token endpoint's errors; the first matching row counts. A problem
// with our own OAuth client must never be reported as a dead grant: all users would have
// to relink.
var refusals = []refusal{
	{codes: []string{"invalid_grant", "unauthorized_client"}, kind: fault.Revoked, code: CodeTokenExpired, message: "Google Calendar authorization expired. Re-link in Settings."},
	{codes: []string{"invalid_client"}, kind: fault.Provider, code: CodeClientRefused, message: sayOwnClient},
	{status: http.StatusUnauthorized, kind: fault.Provider, code: CodeClientRefused, message: sayOwnClient},
	{status: http.StatusTooManyRequests, kind: fault.RateLimited, message: "Google asks us to slow down; it is retried automatically."},
	{codes: []string{"rate_limit_exceeded", "slow_down"}, kind: fault.RateLimited, message: "Google asks us to slow down; it is retried automatically."},
	{codes: []string{"temporarily_unavailable", "server_error", "internal_failure"}, kind: fault.Unavailable, message: sayLater},
	{status: http.StatusRequestTimeout, kind: fault.Unavailable, message: sayLater},
	{status: 500, kind: fault.Unavailable, message: sayLater},
	{kind: fault.Provider, message: "Google refused to renew the access to the calendar; see the server log."},
}

const (
	sayOwnClient = "Google does not accept this server, so it can reach no calendar. Tell its operator; the log says what to fix."
	// operatorOwnClient is logged, never shown to users.
	operatorOwnClient = "check QS_GOOGLE_CLIENT_ID and QS_GOOGLE_CLIENT_SECRET"
	sayLater          = "Google did not renew the access to the calendar in time; it is retried automatically."
)

// refusalOf gives a failed refresh a kind. Its text holds only the status and RFC 6749's
// error: no address, body or token.
func refusalOf(err error, now time.Time) *fault.Error {
	refused := new(oauth2.RetrieveError)
	if !errors.As(err, &refused) {
		if wrapped := new(url.Error); errors.As(err, &wrapped) {
			err = wrapped.Err
		}
		return fault.Wrap(fault.Unavailable, fmt.Errorf("refresh an access token: %w", err), sayLater)
	}
	status, header := 0, http.Header{}
	if refused.Response != nil {
		status, header = refused.Response.StatusCode, refused.Response.Header
	}
	row := refusals[slices.IndexFunc(refusals, func(r refusal) bool { return r.fits(status, refused.ErrorCode) })]
	// Only codes of the table are safe to log; another could hold anything.
	cause := fmt.Errorf("refresh an access token: %d", status)
	if slices.Contains(row.codes, refused.ErrorCode) {
		cause = fmt.Errorf("%w %s", cause, refused.ErrorCode)
	}
	if row.code == CodeClientRefused {
		cause = fmt.Errorf("%w; %s", cause, operatorOwnClient)
	}
	return &fault.Error{Kind: row.kind, Code: row.code, Message: row.message, RetryAfter: fault.ParseRetryAfter(header, now), Err: cause}
}

func (r refusal) fits(status int, code string) bool {
	if status >= 500 {
		status = 500
	}
	return (r.codes == nil || slices.Contains(r.codes, code)) && (r.status == 0 || r.status == status)
}
