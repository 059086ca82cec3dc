package mappings

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/gcal"
	"questscheduler/internal/refusal"
)

const sheetCall = "google spreadsheets.values.get"

// sheetTable maps refusals to kinds.
var sheetTable = slices.Concat(refusal.Table{
	{Status: 400, Text: "Unable to parse range", Kind: fault.Invalid,
		Message: fmt.Sprintf("The spreadsheet has no tab named %q; give the tab with the mappings this name.", Tab)},
	{Status: 400, Text: "not supported for this document", Kind: fault.Invalid,
		Message: "The document is no Google Sheet; open it in Google Sheets, save it as one, and set QS_ATTENDEES_SHEET to its id."},
	{Status: 401, Kind: fault.Revoked, Code: gcal.CodeTokenExpired,
		Message: "Google refuses the account that reads the spreadsheet; link it again, or replace the key in QS_ATTENDEES_KEY."},
	{Status: 403, Reasons: []string{"ACCESS_TOKEN_SCOPE_INSUFFICIENT", "insufficientPermissions"}, Kind: fault.Forbidden,
		Code:    gcal.CodeScopeMissing,
		Message: "The account that reads the spreadsheet did not grant it; link it again with the feature \"sheets\" and allow it."},
	{Status: 403, Reasons: []string{"SERVICE_DISABLED", "accessNotConfigured"}, Kind: fault.Forbidden,
		Message: "The Google Sheets API is off in the Google Cloud project of the account or key; enable it there."},
	{
		Status: 403, Reasons: []string{"RATE_LIMIT_EXCEEDED", "rateLimitExceeded", "userRateLimitExceeded"},
		Kind: fault.RateLimited, Message: saySheetWait,
	},
	{Status: 403, Kind: fault.Forbidden,
		Message: "The account that reads the spreadsheet has no access to it; share the spreadsheet with its e-mail address, as a viewer."},
	{Status: 404, Kind: fault.NotFound, Message: "There is no spreadsheet with this id; set QS_ATTENDEES_SHEET to the id in its address."},
}, refusal.Usual(saySheetWait, saySheetLater, "Google Sheets refuses to show the spreadsheet; check it, and QS_ATTENDEES_SHEET."))

const (
	saySheetWait  = "Google Sheets asks us to slow down; it is retried automatically."
	saySheetLater = "Google Sheets did not answer; it is retried automatically."
)

// failed gives an error a kind. What it wraps names the call, the status and the reason; it
// holds nothing of the answer or the address.
func (s Sheet) failed(err error) error {
	if tooLarge := new(http.MaxBytesError); errors.As(err, &tooLarge) {
		err = errTooLarge
	}
	now := s.Now
	if now == nil {
		now = time.Now
	}
	return sheetTable.Google(sheetCall, err, now())
}
