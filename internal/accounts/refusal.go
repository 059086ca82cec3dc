package accounts

import (
	"errors"
	"net/http"
	"slices"
	"time"

	"golang.org/x/oauth2"

	"questscheduler/fault"
	"questscheduler/internal/refusal"
)

// refusals maps the token endpoint's errors about a person's grant. A
// problem with our own OAuth client must never be reported as a dead grant: all
// users would have to relink.
var refusals = slices.Concat(refusal.Table{
	{
		Reasons: []string{"invalid_grant"}, Kind: fault.Revoked, Code: CodeTokenExpired,
		Message: "Google Calendar authorization expired. Re-link in Settings.",
	},
	{ // of a token that another client was given
		Reasons: []string{"unauthorized_client"}, Kind: fault.Provider, Code: CodeClientRefused, Message: sayOwnClient,
		Operator: operatorOwnClient + "; what another client was given has to be linked again",
	},
	{Reasons: []string{"invalid_client"}, Kind: fault.Provider, Code: CodeClientRefused, Message: sayOwnClient, Operator: operatorOwnClient},
	{Status: http.StatusUnauthorized, Kind: fault.Provider, Code: CodeClientRefused, Message: sayOwnClient, Operator: operatorOwnClient},
}, usualRefusals)

// delegationRefusals are those about the service account. Its own problems, and an
// administrator's missing word, must never be reported as a dead grant: all delegated
// accounts would be revoked.
var delegationRefusals = slices.Concat(refusal.Table{
	{
		Reasons: []string{"invalid_grant"}, Text: "Invalid email or User ID", Kind: fault.Revoked, Code: CodeTokenExpired,
		Message: sayNoSuchPerson,
	},
	{Reasons: []string{"unauthorized_client", "access_denied"}, Kind: fault.Provider, Code: CodeDelegationRefused, Message: sayDelegate},
	{
		Reasons: []string{"invalid_grant"}, Text: "Invalid JWT: Token must be a short-lived token", Kind: fault.Provider,
		Code: CodeServiceAccountRefused, Message: sayServiceAccount, Operator: "check the clock of this server",
	},
	{
		Reasons: []string{"invalid_grant", "invalid_client"}, Kind: fault.Provider, Code: CodeServiceAccountRefused,
		Message: sayServiceAccount, Operator: operatorKey,
	},
	{
		Status: http.StatusUnauthorized, Kind: fault.Provider, Code: CodeServiceAccountRefused, Message: sayServiceAccount,
		Operator: operatorKey,
	},
}, usualRefusals)

// usualRefusals are the rows of both tables that concern no client.
var usualRefusals = slices.Concat(refusal.Table{
	{Status: http.StatusTooManyRequests, Kind: fault.RateLimited, Message: sayWait},
	{Reasons: []string{"rate_limit_exceeded", "slow_down"}, Kind: fault.RateLimited, Message: sayWait},
	{Reasons: []string{"temporarily_unavailable", "server_error", "internal_failure"}, Kind: fault.Unavailable, Message: sayLater},
}, refusal.Usual(sayWait, sayLater, "Google refused to renew the access to the calendar; see the server log."))

// revocationRefusals are those of the revocation endpoint. All are retried: a token must not
// be forgotten while it may still be valid.
var revocationRefusals = refusal.Table{
	{Status: http.StatusTooManyRequests, Kind: fault.RateLimited, Message: sayLater},
	{Kind: fault.Unavailable, Message: sayLater},
}

const revokeCall = "revoke a grant"

const (
	sayOwnClient = "Google does not accept this server, so it can reach no calendar. Tell its operator; the log says what to fix."
	// operatorOwnClient is logged, never shown to users.
	operatorOwnClient = "check QS_GOOGLE_CLIENT_ID and QS_GOOGLE_CLIENT_SECRET"
	operatorKey       = "check QS_ATTENDEES_KEY"
	sayServiceAccount = "Google does not accept this server's service account, so it can act as nobody. Tell its operator; the " +
		"log says what to fix."
	sayNoSuchPerson = "Google knows no account of this e-mail address. Correct the address, or create the account in the Admin console."
	// sayDelegate is followed by what to add (Delegation.sayDelegate).
	sayDelegate = "The administrator of the domain has to allow this server to act as its people: in the Admin console, under " +
		"Security, Access and data control, API controls, Domain-wide delegation, add the service account's client ID"
	sayWait  = "Google asks us to slow down; it is retried automatically."
	sayLater = "Google did not renew the access to the calendar in time; it is retried automatically."
)

// refusalOf gives a failed refresh a kind by a table. Its text holds only the status, and of
// the answer what the table knows, since another code could hold anything: no address, body
// or token.
func refusalOf(err error, table refusal.Table, now time.Time) *fault.Error {
	const call = "refresh an access token"
	refused, ok := errors.AsType[*oauth2.RetrieveError](err)
	if !ok {
		return table.Unanswered(call, err)
	}
	answer := refusal.Answer{Call: call, Text: refused.ErrorDescription}
	if table.Knows(refused.ErrorCode) { // RFC 6749's error
		answer.Reasons = []string{refused.ErrorCode}
	}
	if refused.Response != nil {
		answer.Status, answer.RetryAfter = refused.Response.StatusCode, fault.ParseRetryAfter(refused.Response.Header, now)
	}
	return table.Error(answer)
}
