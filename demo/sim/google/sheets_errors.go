package google

import "net/http"

// The refusals of the Sheets API.
var (
	errNoSheet        = newError(http.StatusNotFound, "notFound", "Requested entity was not found.")
	errSheetForbidden = newError(http.StatusForbidden, "forbidden", "The caller does not have permission")
	errRowsOnly       = newError(http.StatusBadRequest, "badRequest", "The simulator knows majorDimension ROWS alone.")
	errSheetsQuota    = newError(
		http.StatusTooManyRequests, "rateLimitExceeded",
		"Quota exceeded for quota metric 'Read requests' and limit 'Read requests per minute per user' of service 'sheets.googleapis.com'",
	)
)

// sheetsReasons are the reasons of ErrorInfo, by those of the older APIs; other errors have
// none.
var sheetsReasons = map[string]string{
	"insufficientPermissions": "ACCESS_TOKEN_SCOPE_INSUFFICIENT", "rateLimitExceeded": "RATE_LIMIT_EXCEEDED",
	"accessNotConfigured": "SERVICE_DISABLED",
}

// statusNames are those of google.rpc.Code; the others are UNAVAILABLE.
var statusNames = map[int]string{
	http.StatusBadRequest: "INVALID_ARGUMENT", http.StatusUnauthorized: "UNAUTHENTICATED", http.StatusForbidden: "PERMISSION_DENIED",
	http.StatusNotFound: "NOT_FOUND", http.StatusConflict: "ABORTED", http.StatusTooManyRequests: "RESOURCE_EXHAUSTED",
	http.StatusInternalServerError: "INTERNAL",
}

// writeSheetsError answers in the shape of Google's newer APIs (google.rpc.Status), which
// have no list of errors.
func writeSheetsError(w http.ResponseWriter, e *apiError) {
	name := statusNames[e.status]
	if name == "" {
		name = "UNAVAILABLE"
	}
	body := object{{"code", e.status}, {"message", e.message}, {"status", name}}
	if reason := sheetsReasons[e.reason]; reason != "" {
		body = append(body, field{"details", []object{{
			{"@type", "type.googleapis.com/google.rpc.ErrorInfo"}, {"reason", reason}, {"domain", "googleapis.com"},
		}}})
	}
	writeJSON(w, e.status, object{{"error", body}})
}

func errRange(text string) error {
	return newError(http.StatusBadRequest, "badRequest", "Unable to parse range: "+text)
}
