package api

import (
	"regexp"
	"strings"
	"unicode"

	"github.com/danielgtaylor/huma/v2"

	"questscheduler/fault"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
)

// pathID says what an id in a path can be, and the error of one that cannot be: the
// same as if there were no such document.
type pathID struct {
	fits    func(id string) bool
	missing func() error
}

var (
	namesTask = pathID{
		isDocumentID,
		missing("There is no such work that waits after a failure; it may be at work again already. The dashboard lists what fails."),
	}
	namesCalendar = pathID{keyShape.MatchString, missing("There is no such calendar among those you linked.")}
)

// pathIDs are the ids in paths, by the part of the path before them.
var pathIDs = map[string]pathID{
	"polls":         {uuidShape.MatchString, poll.ErrNotFound},
	"announcements": {uuidShape.MatchString, poll.ErrNotFound},
	"groups":        {idShape.MatchString, missing("There is no such group, or you do not belong to it.")},
	"notifications": {isDocumentID, missing("You have no such notification. List your notifications for the ids there are.")},
	"accounts":      {idShape.MatchString, missing("There is no such linked account.")},
	"status":        {idShape.MatchString, missing("There is no such linked account.")},
	"events": {
		eventShape.MatchString,
		missing("There is no such event among those of your calendars. List your events for the ids there are."),
	},
	"policies":  {policyShape.MatchString, missing("There is no such policy of yours. List your policies for the ids there are.")},
	"tasks":     namesTask,
	"calendars": namesCalendar,
}

// The shapes of ids. The web app's documents are named by UUIDs, by the store's own
// ids or, notices, by any text; people by what their sign-in says. No shape allows
// a slash or a name that the store reserves (., .., __x__), so no id leads to
// another document.
var (
	uuidShape = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)
	keyShape  = regexp.MustCompile(`^[0-9a-f]{32}$`) // poll.CalendarKey
	idShape   = regexp.MustCompile(idPattern)

	eventShape  = regexp.MustCompile(`^evt_[0-9A-HJKMNP-TV-Z]{26}(_\d{8}T\d{6}Z)?$`) // or the address of an occurrence
	policyShape = regexp.MustCompile(`^pol_[0-9A-HJKMNP-TV-Z]{26}$`)
)

const (
	maxDocumentID = 512 // bytes

	idPattern       = `^[A-Za-z0-9][A-Za-z0-9_.:@|~+-]{0,127}$`
	personPattern   = `^[^/._\s\x00-\x1f\x7f][^/\x00-\x1f\x7f]{0,127}$`
	emailPattern    = `^[^@\s<>"\x00-\x1f\x7f]{1,64}@[^@\s<>"\x00-\x1f\x7f]{1,189}$`
	calendarPattern = `^[A-Za-z0-9#][^/\s\x00-\x1f\x7f]{0,253}$`
)

func isDocumentID(id string) bool {
	odd := func(r rune) bool { return r == '/' || unicode.IsControl(r) }
	return len(id) <= maxDocumentID && !strings.ContainsFunc(id, odd) && store.Doc("collection", id).Valid() == nil
}

func missing(message string) func() error {
	return func() error { return fault.New(fault.NotFound, message) }
}

// checkID answers 404 if the id in a path can name nothing.
func checkID(path string) func(huma.Context) (huma.Context, error) {
	before, after, _ := strings.Cut(path, "/{")
	parameter, _, _ := strings.Cut(after, "}")
	shape, known := pathIDs[before[strings.LastIndexByte(before, '/')+1:]]
	if !known {
		panic("api: no shape for the id in " + path)
	}
	return func(ctx huma.Context) (huma.Context, error) {
		if !shape.fits(ctx.Param(parameter)) {
			return nil, shape.missing()
		}
		return ctx, nil
	}
}

func patterned(pattern, description string) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Pattern: pattern, PatternDescription: description}
}

// documentID is the id of a slot, a group or an account in a body.
type documentID string

// Schema implements huma.SchemaProvider.
func (documentID) Schema(huma.Registry) *huma.Schema { return patterned(idPattern, "an id") }

// personID is a person's id in a body.
type personID string

// Schema implements huma.SchemaProvider.
func (personID) Schema(huma.Registry) *huma.Schema { return patterned(personPattern, "a person's id") }

// email is an e-mail address in a body.
type email string

// Schema implements huma.SchemaProvider.
func (email) Schema(huma.Registry) *huma.Schema { return patterned(emailPattern, "an e-mail address") }

// calendarID is Google's id of a calendar in a body.
type calendarID string

// Schema implements huma.SchemaProvider.
func (calendarID) Schema(huma.Registry) *huma.Schema {
	return patterned(calendarPattern, "a calendar's id")
}

// choice is a vote for a slot.
type choice string

// Schema implements huma.SchemaProvider.
func (choice) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Enum: []any{poll.Feasible, poll.Preferred}}
}

// texts converts ids or addresses to strings; nil stays nil.
func texts[T ~string](items []T) []string {
	if items == nil {
		return nil
	}
	return each(items, func(item T) string { return string(item) })
}
