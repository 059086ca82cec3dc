package discord

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"
)

// Discord's error codes that the simulator returns on its own or as the reason of
// a planted fault.
const (
	codeUnknownChannel     = 10003
	codeUnknownGuild       = 10004
	codeUnknownMessage     = 10008
	codeUnknownApplication = 10002
	codeUnknownWebhook     = 10015
	codeUnknownInteraction = 10062
	codeUnknownCommand     = 10063
	codeTooManyCommands    = 30032
	codeTooLarge           = 40005
	codeMissingAccess      = 50001
	codeOthersMessage      = 50005
	codeEmptyMessage       = 50006
	codeMissingPermissions = 50013
	codeInvalidToken       = 50027
	codeInvalidForm        = 50035
	codeThreadArchived     = 50083
	codeInvalidJSON        = 50109
)

var codes = map[int]struct {
	status  int
	message string
}{
	codeUnknownChannel:     {http.StatusNotFound, "Unknown Channel"},
	codeUnknownGuild:       {http.StatusNotFound, "Unknown Guild"},
	codeUnknownMessage:     {http.StatusNotFound, "Unknown Message"},
	codeUnknownApplication: {http.StatusNotFound, "Unknown Application"},
	codeUnknownWebhook:     {http.StatusNotFound, "Unknown Webhook"},
	codeUnknownInteraction: {http.StatusNotFound, "Unknown interaction"},
	codeUnknownCommand:     {http.StatusNotFound, "Unknown application command"},
	codeTooManyCommands:    {http.StatusBadRequest, "Maximum number of application commands reached (100)"},
	codeInvalidToken:       {http.StatusUnauthorized, "Invalid Webhook Token"},
	codeTooLarge:           {http.StatusRequestEntityTooLarge, "Request entity too large"},
	codeMissingAccess:      {http.StatusForbidden, "Missing Access"},
	codeOthersMessage:      {http.StatusForbidden, "Cannot edit a message authored by another user"},
	codeEmptyMessage:       {http.StatusBadRequest, "Cannot send an empty message"},
	codeMissingPermissions: {http.StatusForbidden, "Missing Permissions"},
	codeInvalidForm:        {http.StatusBadRequest, "Invalid Form Body"},
	codeThreadArchived:     {http.StatusBadRequest, "Thread is archived"},
	codeInvalidJSON:        {http.StatusBadRequest, "The request body contains invalid JSON."},
}

// problem is a refusal in Discord's shape.
type problem struct {
	status  int
	Message string     `json:"message"`
	Code    int        `json:"code"`
	Errors  formErrors `json:"errors,omitempty"`

	// Of a 429 alone.
	RetryAfter *float64 `json:"retry_after,omitempty"`
	Global     *bool    `json:"global,omitempty"`
}

// Error implements error.
func (p *problem) Error() string { return fmt.Sprintf("%d %s (%d)", p.status, p.Message, p.Code) }

// coded is the refusal that goes with one of the codes above.
func coded(code int) *problem {
	c := codes[code]
	return &problem{status: c.status, Message: c.message, Code: code}
}

// bare is a refusal that has no code of its own, such as 401.
func bare(status int) *problem {
	return &problem{status: status, Message: fmt.Sprintf("%d: %s", status, http.StatusText(status))}
}

func writeProblem(w http.ResponseWriter, p *problem) { writeJSON(w, p.status, p) }

// formErrors are the errors of a body, nested as the body is:
// {"embeds": {"0": {"title": {"_errors": [{"code": …, "message": …}]}}}}.
type formErrors map[string]any

type formError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// add adds one error at a path.
func (f formErrors) add(code, message string, path ...string) {
	at := f
	for _, name := range path {
		below, ok := at[name].(formErrors)
		if !ok {
			below = formErrors{}
			at[name] = below
		}
		at = below
	}
	list, _ := at["_errors"].([]formError)
	at["_errors"] = append(list, formError{code, message})
}

// problem is the refusal of a form with errors; nil if there are none.
func (f formErrors) problem() error {
	if len(f) == 0 {
		return nil
	}
	p := coded(codeInvalidForm)
	p.Errors = f
	return p
}

// tooLong is one of the errors that several fields share, in Discord's words.
func (f formErrors) tooLong(limit int, path ...string) {
	f.add("BASE_TYPE_MAX_LENGTH", fmt.Sprintf("Must be %d or fewer in length.", limit), path...)
}

func (f formErrors) between(n, least, most int, path ...string) {
	if n < least || n > most {
		f.add("BASE_TYPE_BAD_LENGTH", fmt.Sprintf("Must be between %d and %d in length.", least, most), path...)
	}
}

// text checks the length of a text, in characters.
func (f formErrors) text(text string, least, most int, path ...string) {
	f.between(utf8.RuneCountInString(text), least, most, path...)
}

// outside says that a number must lie between two.
func (f formErrors) outside(least, most int, path ...string) {
	f.add("NUMBER_TYPE_RANGE", fmt.Sprintf("int value should be between %d and %d.", least, most), path...)
}

func (f formErrors) choices(allowed string, path ...string) {
	f.add("BASE_TYPE_CHOICES", fmt.Sprintf("Value must be one of (%s).", allowed), path...)
}

func (f formErrors) required(path ...string) {
	f.add("BASE_TYPE_REQUIRED", "This field is required", path...)
}

func (f formErrors) notSnowflake(value string, path ...string) {
	f.add("NUMBER_TYPE_COERCE", fmt.Sprintf("Value %q is not snowflake.", value), path...)
}

// sentences are the errors, each with the place it is about.
func (f formErrors) sentences(path ...string) []string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(f)) {
		switch below := f[name].(type) {
		case formErrors:
			list = append(list, below.sentences(append(slices.Clone(path), name)...)...)
		case []formError:
			for _, e := range below {
				list = append(list, strings.Join(path, ".")+": "+e.Message)
			}
		}
	}
	return list
}
