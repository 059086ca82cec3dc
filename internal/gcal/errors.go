package gcal

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"google.golang.org/api/googleapi"

	"questscheduler/fault"
	"questscheduler/rules"
)

// Codes of errors whose kind alone does not tell callers enough. Other errors of kind
// Provider carry Google's own reason, such as "timeRangeEmpty".
const (
	// CodeTokenExpired (Revoked): the grant is dead or too small.
	CodeTokenExpired = string(rules.TokenExpired)
	// CodeScopeMissing (Forbidden): the account's owner did not grant what this call
	// needs. Other calls still work.
	CodeScopeMissing = "scope_missing"
	// CodeSyncTokenExpired (Conflict): the sync token expired or was rejected.
	CodeSyncTokenExpired = "full_sync_required"
	// CodeDuplicate (Conflict): the calendar already has an event with this id.
	CodeDuplicate = "duplicate"
	// CodeStale (Conflict): the event changed since its etag was read.
	CodeStale = "stale"
	// CodeGone (NotFound): it existed and was deleted.
	CodeGone = "gone"
	// CodeQuota (Exhausted): the calendar is read-only for hours.
	CodeQuota = "quota_exceeded"
	// CodeWebhookRefused (Provider): Google will not push to our address.
	CodeWebhookRefused = "webhook_refused"
	// CodeNotOrganizer (Provider): only the organiser's copy can be changed.
	CodeNotOrganizer = "forbidden_for_non_organizer"
)

// Messages for users. The web app knows the first by its text.
const (
	sayRelink     = "Google Calendar authorization expired. Re-link in Settings."
	sayWait       = "Google asks us to slow down; it is retried automatically."
	sayLater      = "Google Calendar did not answer; it is retried automatically."
	sayRefused    = "Google Calendar refused this; check the event and the calendar there."
	sayNotThere   = "It is not in this calendar, or this account has no access to it."
	sayReadAgain  = "The event changed in the meantime; reload it and try again."
	sayTaken      = "The calendar already has an event with this id."
	sayFullSync   = "The calendar needs a full sync."
	sayQuota      = "The calendar's quota at Google is used up for some hours; no action is needed."
	sayScope      = "The list of calendars was not granted; link the account again and allow it, or use the primary calendar."
	sayMirrors    = "This account did not grant that Quest Scheduler creates calendars; link it again with the feature \"mirrors\" and allow it."
	sayFreeBusy   = "This account did not grant its free and busy times; link it again with the feature \"availability\" and allow it."
	sayWebhook    = "Google refuses to push to this server, so changes in the calendar are found some hours late. Tell its operator; the log says what to fix."
	sayOrganizer  = "Only the organiser's calendar can change this event."
	sayGuestsCut  = "Google Calendar shows only a part of this event's guests, so they cannot be changed."
	sayConcurrent = "Google was busy with another change of the same event; try again."
)

// operatorWebhook is logged, never shown to users.
const operatorWebhook = "check QS_PUBLIC_URL: it has to be an HTTPS address that Google can reach"

// row is one row of the error table. An empty condition matches everything; status 500
// stands for all of 5xx.
type row struct {
	op      operation
	status  int
	reasons []string
	kind    fault.Kind
	code    string // "": Google's reason, for Provider
	message string
	// operator is what the operator can do; it is logged, never shown to users.
	operator string
}

// table maps Google's answers to kinds; the first matching row counts.
var table = []row{
	{op: opWatch, reasons: []string{"push.webhookUrlUnauthorized"}, kind: fault.Provider, code: CodeWebhookRefused, message: sayWebhook, operator: operatorWebhook},
	{status: 401, kind: fault.Revoked, code: CodeTokenExpired, message: sayRelink}, // the client refreshed and tried twice
	{op: opCalendars, status: 403, reasons: scopeReasons, kind: fault.Forbidden, code: CodeScopeMissing, message: sayScope},
	{op: opInsertCalendar, status: 403, reasons: scopeReasons, kind: fault.Forbidden, code: CodeScopeMissing, message: sayMirrors},
	{op: opFreeBusy, status: 403, reasons: scopeReasons, kind: fault.Forbidden, code: CodeScopeMissing, message: sayFreeBusy},
	{status: 403, reasons: scopeReasons, kind: fault.Revoked, code: CodeTokenExpired, message: sayRelink},
	{status: 403, reasons: []string{"rateLimitExceeded", "userRateLimitExceeded"}, kind: fault.RateLimited, message: sayWait},
	{status: 429, kind: fault.RateLimited, message: sayWait},
	{status: 403, reasons: []string{"quotaExceeded", "dailyLimitExceeded"}, kind: fault.Exhausted, code: CodeQuota, message: sayQuota},
	{status: 403, reasons: []string{"forbiddenForNonOrganizer"}, kind: fault.Provider, code: CodeNotOrganizer, message: sayOrganizer},
	{status: 404, kind: fault.NotFound, message: sayNotThere},
	{op: opList, status: 410, kind: fault.Conflict, code: CodeSyncTokenExpired, message: sayFullSync},
	{status: 410, kind: fault.NotFound, code: CodeGone, message: sayNotThere},
	{op: opInsert, status: 409, kind: fault.Conflict, code: CodeDuplicate, message: sayTaken},
	{status: 409, kind: fault.Unavailable, message: sayConcurrent},
	{status: 412, kind: fault.Conflict, code: CodeStale, message: sayReadAgain},
	{status: 408, kind: fault.Unavailable, message: sayLater},
	{status: 500, kind: fault.Unavailable, message: sayLater},
	{kind: fault.Provider, message: sayRefused},
}

var scopeReasons = []string{"insufficientPermissions", "ACCESS_TOKEN_SCOPE_INSUFFICIENT"}

func (r row) fits(a answer) bool {
	status := min(a.status, 500) // one row stands for all server errors
	return (r.op == "" || r.op == a.op) &&
		(r.status == 0 || r.status == status) &&
		(r.reasons == nil || slices.ContainsFunc(a.reasons, func(reason string) bool { return slices.Contains(r.reasons, reason) }))
}

// answer is what Google said, without address, header, body or message, which could hold
// secrets. It is the cause inside the error.
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

// classify gives an error a kind. Anything but an answer (a timeout, a refused or
// closed connection) is Unavailable: the call may have taken effect.
func (c *Client) classify(op operation, err error) error {
	if kinded := new(fault.Error); errors.As(err, &kinded) {
		return fmt.Errorf("google %s: %w", op, kinded)
	}
	a, answered := read(op, err)
	if !answered {
		return fault.Wrap(fault.Unavailable, fmt.Errorf("google %s: %w", op, withoutAddress(err)), sayLater)
	}
	r := rowFor(a)
	classified := &fault.Error{Kind: r.kind, Message: r.message, Code: r.code, Err: a, RetryAfter: fault.ParseRetryAfter(a.header, c.options.Now())}
	if r.operator != "" {
		classified.Err = fmt.Errorf("%w; %s", a, r.operator)
	}
	if r.code == "" && r.kind == fault.Provider && len(a.reasons) > 0 {
		classified.Code = a.reasons[0]
	}
	return classified
}

func rowFor(a answer) row {
	i := slices.IndexFunc(table, func(r row) bool { return r.fits(a) })
	return table[i] // the last row matches everything
}

// refusedByGoogle reports whether Google itself, not the account's client, called the
// grant dead or too small.
func refusedByGoogle(op operation, err error) bool {
	a, answered := read(op, err)
	return answered && rowFor(a).kind == fault.Revoked
}

// RefusesCalendar reports whether an error of List says that the account has no such
// calendar, or no access to it: 404, or 403 for another reason than a rate, a quota or a
// scope.
func RefusesCalendar(err error) bool {
	a, answered := errors.AsType[answer](err)
	if !answered || a.op != opList {
		return false
	}
	kind := rowFor(a).kind
	return kind == fault.NotFound || kind == fault.Provider && a.status == http.StatusForbidden
}

// read extracts Google's answer from an error; false if there was none.
func read(op operation, err error) (answer, bool) {
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

// clean keeps the words that have the form of Google's reasons and drops all else, so that
// no value passes.
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

// withoutAddress strips the URL, which holds sync and page tokens, from a net/http error.
func withoutAddress(err error) error {
	if wrapped := new(url.Error); errors.As(err, &wrapped) {
		return wrapped.Err
	}
	return err
}
