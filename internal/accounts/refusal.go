package accounts

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"questscheduler/fault"
)

// refusal is a row of the table of the token endpoint's errors. Empty conditions match
// everything; 500 stands for all of 5xx.
type refusal struct {
	codes   []string // RFC 6749's error
	says    string   // how its description begins
	status  int
	kind    fault.Kind
	code    string
	message string
	// operator is what the operator can do; it is logged, never shown to users.
	operator string
}

// refusals maps the token endpoint's errors about a person's grant; the first matching row
// counts. A problem with our own OAuth client must never be reported as a dead grant: all
// users would have to relink.
var refusals = slices.Concat([]refusal{
	{codes: []string{"invalid_grant", "unauthorized_client"}, kind: fault.Revoked, code: CodeTokenExpired, message: "Google Calendar authorization expired. Re-link in Settings."},
	{codes: []string{"invalid_client"}, kind: fault.Provider, code: CodeClientRefused, message: sayOwnClient, operator: operatorOwnClient},
	{status: http.StatusUnauthorized, kind: fault.Provider, code: CodeClientRefused, message: sayOwnClient, operator: operatorOwnClient},
}, usualRefusals)

// delegationRefusals are those about the service account. Its own problems, and an
// administrator's missing word, must never be reported as a dead grant: all delegated
// accounts would be revoked.
var delegationRefusals = slices.Concat([]refusal{
	{codes: []string{"invalid_grant"}, says: "Invalid email or User ID", kind: fault.Revoked, code: CodeTokenExpired, message: sayNoSuchPerson},
	{codes: []string{"unauthorized_client", "access_denied"}, kind: fault.Provider, code: CodeDelegationRefused, message: sayDelegate},
	{codes: []string{"invalid_grant"}, says: "Invalid JWT: Token must be a short-lived token", kind: fault.Provider, code: CodeServiceAccountRefused, message: sayServiceAccount, operator: "check the clock of this server"},
	{codes: []string{"invalid_grant", "invalid_client"}, kind: fault.Provider, code: CodeServiceAccountRefused, message: sayServiceAccount, operator: operatorKey},
	{status: http.StatusUnauthorized, kind: fault.Provider, code: CodeServiceAccountRefused, message: sayServiceAccount, operator: operatorKey},
}, usualRefusals)

// usualRefusals are the rows of both tables that concern no client.
var usualRefusals = []refusal{
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
	operatorKey       = "check QS_ATTENDEES_KEY"
	sayServiceAccount = "Google does not accept this server's service account, so it can act as nobody. Tell its operator; the log says what to fix."
	sayNoSuchPerson   = "Google knows no account of this e-mail address. Correct the address, or create the account in the Admin console."
	// sayDelegate is followed by what to add (Delegation.sayDelegate).
	sayDelegate = "The administrator of the domain has to allow this server to act as its people: in the Admin console, under Security, Access and data control, API controls, Domain-wide delegation, add the service account's client ID"
	sayLater    = "Google did not renew the access to the calendar in time; it is retried automatically."
)

// refusalOf gives a failed refresh a kind by a table. Its text holds only the status, and of
// the answer what the table knows: no address, body or token.
func refusalOf(err error, rows []refusal, now time.Time) *fault.Error {
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
	row := rows[slices.IndexFunc(rows, func(r refusal) bool { return r.fits(status, refused) })]
	// Only codes of the table are safe to log; another could hold anything.
	cause := fmt.Errorf("refresh an access token: %d", status)
	if slices.Contains(row.codes, refused.ErrorCode) {
		cause = fmt.Errorf("%w %s", cause, refused.ErrorCode)
	}
	if row.says != "" {
		cause = fmt.Errorf("%w (%s)", cause, row.says)
	}
	if row.operator != "" {
		cause = fmt.Errorf("%w; %s", cause, row.operator)
	}
	return &fault.Error{Kind: row.kind, Code: row.code, Message: row.message, RetryAfter: fault.ParseRetryAfter(header, now), Err: cause}
}

func (r refusal) fits(status int, refused *oauth2.RetrieveError) bool {
	if status >= 500 {
		status = 500
	}
	return (r.codes == nil || slices.Contains(r.codes, refused.ErrorCode)) && (r.status == 0 || r.status == status) &&
		strings.HasPrefix(strings.ToLower(refused.ErrorDescription), strings.ToLower(r.says))
}
