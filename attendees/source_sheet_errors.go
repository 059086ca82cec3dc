package attendees

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"google.golang.org/api/googleapi"

	"questscheduler/fault"
	"questscheduler/internal/gcal"
)

const sheetCall = "google spreadsheets.values.get"

// sheetRow is a row of the table of Google's refusals. An empty condition matches
// everything; status 500 stands for all of 5xx.
type sheetRow struct {
	status  int
	reasons []string
	text    string // a part of Google's message
	kind    fault.Kind
	code    string
	message string
}

// sheetTable maps refusals to kinds; the first matching row counts.
var sheetTable = []sheetRow{
	{status: 400, text: "Unable to parse range", kind: fault.Invalid,
		message: fmt.Sprintf("The spreadsheet has no tab named %q; give the tab with the mappings this name.", Tab)},
	{status: 400, text: "not supported for this document", kind: fault.Invalid,
		message: "The document is no Google Sheet; open it in Google Sheets, save it as one, and set QS_ATTENDEES_SHEET to its id."},
	{status: 401, kind: fault.Revoked, code: gcal.CodeTokenExpired,
		message: "Google refuses the account that reads the spreadsheet; link it again, or replace the key in QS_ATTENDEES_KEY."},
	{status: 403, reasons: []string{"ACCESS_TOKEN_SCOPE_INSUFFICIENT", "insufficientPermissions"}, kind: fault.Forbidden, code: gcal.CodeScopeMissing,
		message: "The account that reads the spreadsheet did not grant it; link it again with the feature \"sheets\" and allow it."},
	{status: 403, reasons: []string{"SERVICE_DISABLED", "accessNotConfigured"}, kind: fault.Forbidden,
		message: "The Google Sheets API is off in the Google Cloud project of the account or key; enable it there."},
	{status: 403, reasons: []string{"RATE_LIMIT_EXCEEDED", "rateLimitExceeded", "userRateLimitExceeded"}, kind: fault.RateLimited, message: saySheetWait},
	{status: 403, kind: fault.Forbidden,
		message: "The account that reads the spreadsheet has no access to it; share the spreadsheet with its e-mail address, as a viewer."},
	{status: 404, kind: fault.NotFound, message: "There is no spreadsheet with this id; set QS_ATTENDEES_SHEET to the id in its address."},
	{status: 408, kind: fault.Unavailable, message: saySheetLater},
	{status: 429, kind: fault.RateLimited, message: saySheetWait},
	{status: 500, kind: fault.Unavailable, message: saySheetLater},
	{kind: fault.Provider, message: "Google Sheets refuses to show the spreadsheet; check it, and QS_ATTENDEES_SHEET."},
}

const (
	saySheetWait  = "Google Sheets asks us to slow down; it is retried automatically."
	saySheetLater = "Google Sheets did not answer; it is retried automatically."
)

// failed gives an error a kind. What it wraps names the call, the status and the reason; it
// holds nothing of the answer or the address.
func (s Sheet) failed(err error) error {
	if kinded := new(fault.Error); errors.As(err, &kinded) {
		return fmt.Errorf("%s: %w", sheetCall, kinded)
	}
	if tooLarge := new(http.MaxBytesError); errors.As(err, &tooLarge) {
		return fmt.Errorf("%s: %w", sheetCall, errTooLarge)
	}
	refused := new(googleapi.Error)
	if !errors.As(err, &refused) {
		if wrapped := new(url.Error); errors.As(err, &wrapped) {
			err = wrapped.Err // without the address
		}
		return fault.Wrap(fault.Unavailable, fmt.Errorf("%s: %w", sheetCall, err), saySheetLater)
	}
	reasons := reasonsOf(refused)
	r := sheetTable[slices.IndexFunc(sheetTable, func(r sheetRow) bool { return r.fits(refused, reasons) })]
	now := s.Now
	if now == nil {
		now = time.Now
	}
	return &fault.Error{
		Kind: r.kind, Code: r.code, Message: r.message, RetryAfter: fault.ParseRetryAfter(refused.Header, now()),
		Err: fmt.Errorf("%s: %d", sheetCall, refused.Code),
	}
}

func (r sheetRow) fits(refused *googleapi.Error, reasons []string) bool {
	return (r.status == 0 || r.status == min(refused.Code, 500)) &&
		(r.text == "" || strings.Contains(refused.Message, r.text)) &&
		(r.reasons == nil || slices.ContainsFunc(reasons, func(reason string) bool { return slices.Contains(r.reasons, reason) }))
}

// reasonsOf are those of google.rpc.ErrorInfo, and of the older form of an error.
func reasonsOf(refused *googleapi.Error) (reasons []string) {
	for _, item := range refused.Errors {
		reasons = append(reasons, item.Reason)
	}
	for _, detail := range refused.Details {
		if fields, ok := detail.(map[string]any); ok {
			reason, _ := fields["reason"].(string)
			reasons = append(reasons, reason)
		}
	}
	return reasons
}
