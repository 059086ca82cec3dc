package google

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"questscheduler/demo/sim/control"
)

// apiError is an error answer of the Calendar API.
type apiError struct {
	status  int
	reason  string
	message string
	// location and locationType name what is wrong in the request, such as
	// "If-Match" and "header".
	location, locationType string
}

// Error implements error.
func (e *apiError) Error() string {
	return fmt.Sprintf("%d %s: %s", e.status, e.reason, e.message)
}

func newError(status int, reason, message string) *apiError {
	return &apiError{status: status, reason: reason, message: message}
}

func invalid(format string, args ...any) *apiError {
	return newError(http.StatusBadRequest, "invalid", fmt.Sprintf(format, args...))
}

func required(message string) *apiError {
	return newError(http.StatusBadRequest, "required", message)
}

func invalidParameter(name, message string) *apiError {
	return &apiError{http.StatusBadRequest, "invalidParameter", message, name, "parameter"}
}

// The answers that take no words of the request. They are never changed.
var (
	errNotFound  = newError(http.StatusNotFound, "notFound", "Not Found")
	errDeleted   = newError(http.StatusGone, "deleted", "Resource has been deleted")
	errDuplicate = newError(http.StatusConflict, "duplicate", "The requested identifier already exists.")
	errForbidden = newError(http.StatusForbidden, "forbidden", "Forbidden")
	errNoWriter  = newError(http.StatusForbidden, "requiredAccessLevel",
		"You need to have writer access to this calendar.")
	errNoOwner = newError(http.StatusForbidden, "requiredAccessLevel",
		"You need to be an owner of this calendar.")
	errNotOrganizer = newError(http.StatusForbidden, "forbiddenForNonOrganizer",
		"Shared properties can only be changed by the organizer of the event.")
	errFullSync = &apiError{http.StatusGone, "fullSyncRequired",
		"Sync token is no longer valid, a full sync is required.", "syncToken", "parameter"}
	errTooLongAgo = &apiError{http.StatusGone, "updatedMinTooLongAgo",
		"The requested minimum modification time lies too far in the past.", "updatedMin", "parameter"}
	errSyncToken    = invalidParameter("syncToken", "Invalid sync token value.")
	errPrecondition = &apiError{http.StatusPreconditionFailed, "conditionNotMet",
		"Precondition Failed", "If-Match", "header"}
	errLogin = &apiError{http.StatusUnauthorized, "required",
		"Login Required.", "Authorization", "header"}
	errCredentials = &apiError{http.StatusUnauthorized, "authError",
		"Invalid Credentials", "Authorization", "header"}
	errScopes = newError(http.StatusForbidden, "insufficientPermissions",
		"Request had insufficient authentication scopes.")
)

// usualReason is the reason of a planted fault that names none.
var usualReason = map[int]string{
	http.StatusBadRequest:         "badRequest",
	http.StatusUnauthorized:       "authError",
	http.StatusForbidden:          "rateLimitExceeded",
	http.StatusNotFound:           "notFound",
	http.StatusConflict:           "duplicate",
	http.StatusGone:               "fullSyncRequired",
	http.StatusPreconditionFailed: "conditionNotMet",
	http.StatusTooManyRequests:    "rateLimitExceeded",
}

// planted is the answer of a call that a fault refuses.
func planted(f control.Fault) *apiError {
	reason := f.Reason
	if reason == "" {
		reason = usualReason[f.Status]
	}
	if reason == "" {
		reason = "backendError"
	}
	return newError(f.Status, reason, "planted fault: "+http.StatusText(f.Status))
}

// domains of reasons; the others lie in "global".
var domains = map[string]string{
	"rateLimitExceeded": "usageLimits", "userRateLimitExceeded": "usageLimits",
	"quotaExceeded": "usageLimits", "dailyLimitExceeded": "usageLimits",
	"fullSyncRequired": "calendar", "updatedMinTooLongAgo": "calendar", "timeRangeEmpty": "calendar",
	"forbiddenForNonOrganizer": "calendar", "requiredAccessLevel": "calendar", "notACalendarUser": "calendar",
	"cannotChangeOrganizerOfInstance": "calendar", "eventTypeRestriction": "calendar",
}

// writeError answers in Google's shape, which googleapi.CheckResponse reads.
func (s *Server) writeError(w http.ResponseWriter, r *http.Request, err error) {
	var e *apiError
	if !errors.As(err, &e) {
		s.opt.Log.ErrorContext(r.Context(), "google simulator", "path", r.URL.Path, "error", err)
		e = newError(http.StatusInternalServerError, "backendError", "Backend Error")
	}
	if strings.HasPrefix(r.URL.Path, sheetsBase) {
		writeSheetsError(w, e)
		return
	}
	domain := cmp.Or(domains[e.reason], "global")
	one := object{{"domain", domain}, {"reason", e.reason}, {"message", e.message}}
	if e.location != "" {
		one = append(one, field{"locationType", e.locationType}, field{"location", e.location})
	}
	if e.status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", `Bearer realm="https://accounts.google.com/", error="invalid_token"`)
	}
	writeJSON(w, e.status, object{{"error", object{
		{"errors", []object{one}}, {"code", e.status}, {"message", e.message},
	}}})
}
