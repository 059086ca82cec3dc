package gcal

import (
	"errors"
	"net/http"
	"slices"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/refusal"
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
	sayRelink    = "Google Calendar authorization expired. Re-link in Settings."
	sayWait      = "Google asks us to slow down; it is retried automatically."
	sayLater     = "Google Calendar did not answer; it is retried automatically."
	sayRefused   = "Google Calendar refused this; check the event and the calendar there."
	sayNotThere  = "It is not in this calendar, or this account has no access to it."
	sayReadAgain = "The event changed in the meantime; reload it and try again."
	sayTaken     = "The calendar already has an event with this id."
	sayFullSync  = "The calendar needs a full sync."
	sayQuota     = "The calendar's quota at Google is used up for some hours; no action is needed."
	sayScope     = "The list of calendars was not granted; link the account again and allow it, or use the primary calendar."
	sayMirrors   = "This account did not grant that Quest Scheduler creates calendars; link it again with the feature " +
		"\"mirrors\" and allow it."
	sayFreeBusy = "This account did not grant its free and busy times; link it again with the feature \"availability\" and allow it."
	sayWebhook  = "Google refuses to push to this server, so changes in the calendar are found some hours late. Tell its " +
		"operator; the log says what to fix."
	sayOrganizer  = "Only the organiser's calendar can change this event."
	sayGuestsCut  = "Google Calendar shows only a part of this event's guests, so they cannot be changed."
	sayConcurrent = "Google was busy with another change of the same event; try again."
)

// operatorWebhook is logged, never shown to users.
const operatorWebhook = "check QS_PUBLIC_URL: it has to be an HTTPS address that Google can reach"

// table maps Google's answers to kinds.
var table = slices.Concat(refusal.Table{
	{
		Call: opWatch.call(), Reasons: []string{"push.webhookUrlUnauthorized"}, Kind: fault.Provider, Code: CodeWebhookRefused,
		Message: sayWebhook, Operator: operatorWebhook,
	},
	{Status: 401, Kind: fault.Revoked, Code: CodeTokenExpired, Message: sayRelink}, // the client refreshed and tried twice
	{Call: opCalendars.call(), Status: 403, Reasons: scopeReasons, Kind: fault.Forbidden, Code: CodeScopeMissing, Message: sayScope},
	{Call: opInsertCalendar.call(), Status: 403, Reasons: scopeReasons, Kind: fault.Forbidden, Code: CodeScopeMissing, Message: sayMirrors},
	{Call: opFreeBusy.call(), Status: 403, Reasons: scopeReasons, Kind: fault.Forbidden, Code: CodeScopeMissing, Message: sayFreeBusy},
	{Status: 403, Reasons: scopeReasons, Kind: fault.Revoked, Code: CodeTokenExpired, Message: sayRelink},
	{Status: 403, Reasons: []string{"rateLimitExceeded", "userRateLimitExceeded"}, Kind: fault.RateLimited, Message: sayWait},
	{Status: 403, Reasons: []string{"quotaExceeded", "dailyLimitExceeded"}, Kind: fault.Exhausted, Code: CodeQuota, Message: sayQuota},
	{Status: 403, Reasons: []string{"forbiddenForNonOrganizer"}, Kind: fault.Provider, Code: CodeNotOrganizer, Message: sayOrganizer},
	{Status: 404, Kind: fault.NotFound, Message: sayNotThere},
	{Call: opList.call(), Status: 410, Kind: fault.Conflict, Code: CodeSyncTokenExpired, Message: sayFullSync},
	{Status: 410, Kind: fault.NotFound, Code: CodeGone, Message: sayNotThere},
	{Call: opInsert.call(), Status: 409, Kind: fault.Conflict, Code: CodeDuplicate, Message: sayTaken},
	{Status: 409, Kind: fault.Unavailable, Message: sayConcurrent},
	{Status: 412, Kind: fault.Conflict, Code: CodeStale, Message: sayReadAgain},
}, refusal.Usual(sayWait, sayLater, sayRefused))

// busyTable maps the reasons why one calendar's busy times were not given.
var busyTable = refusal.Table{
	{Reasons: []string{"notFound"}, Kind: fault.NotFound, Message: sayNotThere},
	{Reasons: []string{"internalError", "backendError"}, Kind: fault.Unavailable, Message: sayLater},
	{Kind: fault.Provider, Message: sayRefused},
}

var scopeReasons = []string{"insufficientPermissions", "ACCESS_TOKEN_SCOPE_INSUFFICIENT"}

// call is the operation's name in errors.
func (o operation) call() string { return "google " + string(o) }

// classify gives an error a kind. Anything but an answer (a timeout, a refused or
// closed connection) is Unavailable: the call may have taken effect.
func (c *Client) classify(op operation, err error) error {
	return table.Google(op.call(), err, c.options.Now())
}

// refusedByGoogle reports whether Google itself, not the account's client, called the
// grant dead or too small.
func refusedByGoogle(op operation, err error) bool {
	a, answered := refusal.OfGoogle(op.call(), err, time.Time{})
	return answered && table.Row(a).Kind == fault.Revoked
}

// RefusesCalendar reports whether an error of List says that the account has no such
// calendar, or no access to it: 404, or 403 for another reason than a rate, a quota or a
// scope.
func RefusesCalendar(err error) bool {
	a, answered := errors.AsType[refusal.Answer](err)
	if !answered || a.Call != opList.call() {
		return false
	}
	kind := table.Row(a).Kind
	return kind == fault.NotFound || kind == fault.Provider && a.Status == http.StatusForbidden
}
