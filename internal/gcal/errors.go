package gcal

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/oauth2"
	"google.golang.org/api/googleapi"

	"questscheduler/internal/fault"
	"questscheduler/rules"
)

// Codes of the errors that callers tell apart by more than their kind. Errors
// of kind Provider that have no code here carry Google's own reason, such as
// "timeRangeEmpty".
const (
	// CodeTokenExpired (Revoked): the grant is dead or too small.
	CodeTokenExpired = string(rules.TokenExpired)
	// CodeScopeMissing (Forbidden): the list of calendars was not granted.
	CodeScopeMissing = "scope_missing"
	// CodeSyncTokenExpired (Conflict): the sync token expired, or Google rejects it.
	CodeSyncTokenExpired = "full_sync_required"
	// CodeDuplicate (Conflict): the event id is taken in that calendar.
	CodeDuplicate = "duplicate"
	// CodeStale (Conflict): the event is not the one the etag was read from.
	CodeStale = "stale"
	// CodeGone (NotFound): it was there and was deleted.
	CodeGone = "gone"
	// CodeQuota (Exhausted): the calendar is read-only for hours.
	CodeQuota = "quota_exceeded"
	// CodeWebhookRefused (Provider): Google will not push to our address.
	CodeWebhookRefused = "webhook_refused"
	// CodeNotOrganizer (Provider): only the organiser's copy can be changed.
	CodeNotOrganizer = "forbidden_for_non_organizer"
	// CodeClientRefused (Provider): Google does not know our OAuth client.
	CodeClientRefused = "oauth_client_refused"
)

// What people read. The first is known to the web app by its text.
const (
	sayRelink     = "Google Calendar authorization expired. Re-link in Settings."
	sayWait       = "Google asks to slow down; it is tried again by itself."
	sayLater      = "Google Calendar did not answer; it is tried again by itself."
	sayRefused    = "Google Calendar refused this; check the event and the calendar there."
	sayNotThere   = "It is not in this calendar, or this account has no access to it."
	sayReadAgain  = "The event was changed meanwhile; look at it again and repeat."
	sayTaken      = "An event with this id is in the calendar already."
	sayFullSync   = "The calendar has to be read from the beginning."
	sayQuota      = "The calendar's quota at Google is used up for some hours; nothing has to be done."
	sayScope      = "The list of calendars was not granted; link the account again and allow it, or use the primary calendar."
	sayWebhook    = "Google refuses to push to this server, so changes in the calendar are found some hours late. Tell whoever runs it; its log says what to mend."
	sayOrganizer  = "Only the organiser's calendar can change this event."
	sayOwnClient  = "Google does not accept this server, so no calendar can be reached by it. Tell whoever runs it; its log says what to mend."
	sayConcurrent = "Google was busy with another change of the same thing; repeat it."
)

// What those read who run the server: causes, which stand in the log alone.
const (
	mendWebhook   = "check QS_PUBLIC_URL: it has to be an HTTPS address that Google can reach"
	mendOwnClient = "check QS_GOOGLE_CLIENT_ID and QS_GOOGLE_CLIENT_SECRET"
)

// row is one row of the error table. An empty condition holds for everything;
// status 500 stands for all of 5xx.
type row struct {
	ops     []operation
	status  int
	reasons []string
	kind    fault.Kind
	code    string // "": Google's reason, for Provider
	say     string
	mend    string // what whoever runs the server can do; "": nothing
}

// table turns an answer of Google into a kind; the first row that fits counts.
var table = []row{
	{ops: ops(opToken), reasons: []string{"invalid_grant", "unauthorized_client"}, kind: fault.Revoked, code: CodeTokenExpired, say: sayRelink},
	{ops: ops(opToken), reasons: []string{"invalid_client"}, kind: fault.Provider, code: CodeClientRefused, say: sayOwnClient, mend: mendOwnClient},
	{ops: ops(opToken), status: 401, kind: fault.Provider, code: CodeClientRefused, say: sayOwnClient, mend: mendOwnClient},
	{ops: ops(opWatch), reasons: []string{"push.webhookUrlUnauthorized"}, kind: fault.Provider, code: CodeWebhookRefused, say: sayWebhook, mend: mendWebhook},
	{status: 401, kind: fault.Revoked, code: CodeTokenExpired, say: sayRelink}, // the client refreshed and tried twice
	{ops: ops(opCalendars), status: 403, reasons: scopeReasons, kind: fault.Forbidden, code: CodeScopeMissing, say: sayScope},
	{status: 403, reasons: scopeReasons, kind: fault.Revoked, code: CodeTokenExpired, say: sayRelink},
	{status: 403, reasons: []string{"rateLimitExceeded", "userRateLimitExceeded"}, kind: fault.RateLimited, say: sayWait},
	{status: 429, kind: fault.RateLimited, say: sayWait},
	{status: 403, reasons: []string{"quotaExceeded", "dailyLimitExceeded"}, kind: fault.Exhausted, code: CodeQuota, say: sayQuota},
	{status: 403, reasons: []string{"forbiddenForNonOrganizer"}, kind: fault.Provider, code: CodeNotOrganizer, say: sayOrganizer},
	{status: 404, kind: fault.NotFound, say: sayNotThere},
	{ops: ops(opList), status: 410, kind: fault.Conflict, code: CodeSyncTokenExpired, say: sayFullSync},
	{status: 410, kind: fault.NotFound, code: CodeGone, say: sayNotThere},
	{ops: ops(opInsert), status: 409, kind: fault.Conflict, code: CodeDuplicate, say: sayTaken},
	{status: 409, kind: fault.Unavailable, say: sayConcurrent},
	{status: 412, kind: fault.Conflict, code: CodeStale, say: sayReadAgain},
	{status: 408, kind: fault.Unavailable, say: sayLater},
	{status: 500, kind: fault.Unavailable, say: sayLater},
	{kind: fault.Provider, say: sayRefused},
}

var scopeReasons = []string{"insufficientPermissions", "ACCESS_TOKEN_SCOPE_INSUFFICIENT"}

func ops(list ...operation) []operation { return list }

// fits tells whether the row is about an answer.
func (r row) fits(a answer) bool {
	status := min(a.status, 500) // one row is for all that Google's servers could not do
	return (r.ops == nil || slices.Contains(r.ops, a.op)) &&
		(r.status == 0 || r.status == status) &&
		(r.reasons == nil || slices.ContainsFunc(a.reasons, func(reason string) bool { return slices.Contains(r.reasons, reason) }))
}

// answer is what Google said, without anything that could be secret: no
// address, no header, no body, no message. It is the cause in the error.
type answer struct {
	op      operation
	status  int
	reasons []string
	header  http.Header
}

// Error names the call, the status and the reasons.
func (a answer) Error() string {
	return strings.TrimSpace(fmt.Sprintf("google %s: %d %s", a.op, a.status, strings.Join(a.reasons, ",")))
}

// classify gives an error of a call a kind. Everything that is not an answer,
// such as a time-out, a refused connection, or one that closed before an
// answer, is Unavailable: the effect may have taken place.
func (c *Client) classify(op operation, err error) error {
	if kinded := new(fault.Error); errors.As(err, &kinded) {
		return fmt.Errorf("google %s: %w", op, kinded)
	}
	a, answered := read(op, err)
	if !answered {
		return fault.Wrap(fault.Unavailable, fmt.Errorf("google %s: %w", op, withoutAddress(err)), sayLater)
	}
	r := rowFor(a)
	classified := &fault.Error{Kind: r.kind, Message: r.say, Code: r.code, Err: a, RetryAfter: c.retryAfter(a.header)}
	if r.mend != "" {
		classified.Err = fmt.Errorf("%w; %s", a, r.mend)
	}
	if r.code == "" && r.kind == fault.Provider && len(a.reasons) > 0 {
		classified.Code = a.reasons[0]
	}
	return classified
}

func rowFor(a answer) row {
	i := slices.IndexFunc(table, func(r row) bool { return r.fits(a) })
	return table[i] // the last row fits everything
}

// refusedByGoogle tells whether Google itself, and not the account's client,
// said that the grant is dead or too small.
func refusedByGoogle(op operation, err error) bool {
	a, answered := read(op, err)
	return answered && rowFor(a).kind == fault.Revoked
}

// read takes out of an error what Google answered; false where it did not.
func read(op operation, err error) (answer, bool) {
	if refused := new(oauth2.RetrieveError); errors.As(err, &refused) {
		a := answer{op: opToken, reasons: clean(refused.ErrorCode)}
		if refused.Response != nil {
			a.status, a.header = refused.Response.StatusCode, refused.Response.Header
		}
		return a, true
	}
	refused := new(googleapi.Error)
	if !errors.As(err, &refused) {
		return answer{}, false
	}
	a := answer{op: op, status: refused.Code, header: refused.Header}
	for _, item := range refused.Errors {
		a.reasons = append(a.reasons, clean(item.Reason)...)
	}
	for _, detail := range refused.Details {
		if fields, ok := detail.(map[string]any); ok {
			reason, _ := fields["reason"].(string)
			a.reasons = append(a.reasons, clean(reason)...)
		}
	}
	return a, true
}

// clean lets through what looks like one of Google's reasons, and nothing that
// could carry a value.
func clean(reason string) []string {
	const most = 64
	odd := func(r rune) bool {
		return r != '.' && r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	}
	if reason == "" || len(reason) > most || strings.ContainsFunc(reason, odd) {
		return nil
	}
	return []string{reason}
}

// withoutAddress takes the address off an error of net/http: it holds sync and
// page tokens.
func withoutAddress(err error) error {
	if wrapped := new(url.Error); errors.As(err, &wrapped) {
		return wrapped.Err
	}
	return err
}

// retryAfter reads the header of that name, in seconds or as a date; 0 where
// it is absent or past.
func (c *Client) retryAfter(header http.Header) time.Duration {
	text := header.Get("Retry-After")
	if seconds, err := strconv.Atoi(text); err == nil {
		return max(0, time.Duration(min(seconds, int(24*time.Hour/time.Second)))*time.Second)
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(0, at.Sub(c.options.Now()))
	}
	return 0
}
