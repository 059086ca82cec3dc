package api

import (
	"regexp"
	"strings"
	"unicode"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humaecho"

	"questscheduler/internal/fault"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
)

// naming says what an id in a path names: by which parameter it is given,
// which ids there can be, and what is said of one that there cannot be, the
// same as of one that is not there.
type naming struct {
	parameter string
	fits      func(id string) bool
	missing   func() error
}

// What the ids in paths name.
var (
	namesPoll          = &naming{"id", uuidShape.MatchString, poll.ErrNotFound}
	namesGroup         = &naming{"id", idShape.MatchString, missing("There is no such group, or you do not belong to it.")}
	namesNotification  = &naming{"id", isDocumentID, missing("You have no such notification. List your notifications for the ids there are.")}
	namesAccount       = &naming{"id", idShape.MatchString, missing("There is no such linked account.")}
	namesSyncedAccount = &naming{"account_id", idShape.MatchString, missing("There is no such linked account.")}
	namesToldPoll      = &naming{"poll_id", uuidShape.MatchString, poll.ErrNotFound}
	namesTask          = &naming{"id", idShape.MatchString, missing("There is no such dead letter; it may be at work again already. The dashboard lists them.")}
	namesCalendar      = &naming{"key", keyShape.MatchString, missing("There is no such calendar among those you linked.")}
)

// The shapes of ids. Documents of the web app are named by UUIDs, by the
// store's own ids, or, notices, by any text; people by what their sign-in
// says. None holds a slash, and none is one of the names that the store keeps
// for itself (., .., __x__), so that none leads to another document.
var (
	uuidShape = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)
	keyShape  = regexp.MustCompile(`^[0-9a-f]{32}$`) // poll.CalendarKey
	idShape   = regexp.MustCompile(idPattern)
)

const (
	// maxDocumentID is the longest id of a document that is looked for, in bytes.
	maxDocumentID = 512

	idPattern       = `^[A-Za-z0-9][A-Za-z0-9_.:@|~+-]{0,127}$`
	personPattern   = `^[^/._\s\x00-\x1f\x7f][^/\x00-\x1f\x7f]{0,127}$`
	emailPattern    = `^[^@\s<>"\x00-\x1f\x7f]{1,64}@[^@\s<>"\x00-\x1f\x7f]{1,189}$`
	calendarPattern = `^[A-Za-z0-9#][^/\s\x00-\x1f\x7f]{0,253}$`
)

// isDocumentID tells whether a text can be the id of a document.
func isDocumentID(id string) bool {
	odd := func(r rune) bool { return r == '/' || unicode.IsControl(r) }
	return len(id) <= maxDocumentID && !strings.ContainsFunc(id, odd) && store.Doc("collection", id).Valid() == nil
}

func missing(message string) func() error {
	return func() error { return fault.New(fault.NotFound, message) }
}

// checkID answers 404 where the id in the path can name nothing.
func (s *server) checkID(names *naming) func(huma.Context, func(huma.Context)) {
	return func(ctx huma.Context, next func(huma.Context)) {
		if !names.fits(ctx.Param(names.parameter)) {
			s.answerError(names.missing(), humaecho.Unwrap(ctx))
			return
		}
		next(ctx)
	}
}

// documentID is an id in a body: of a slot, a group, an account.
type documentID string

// Schema implements huma.SchemaProvider.
func (documentID) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Pattern: idPattern, PatternDescription: "an id"}
}

// personID is a person's id in a body.
type personID string

// Schema implements huma.SchemaProvider.
func (personID) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Pattern: personPattern, PatternDescription: "a person's id"}
}

// email is an e-mail address in a body.
type email string

// Schema implements huma.SchemaProvider.
func (email) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Pattern: emailPattern, PatternDescription: "an e-mail address"}
}

// calendarID is Google's id of a calendar in a body.
type calendarID string

// Schema implements huma.SchemaProvider.
func (calendarID) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Pattern: calendarPattern, PatternDescription: "a calendar's id"}
}

// choice is what a person says of a slot.
type choice string

// Schema implements huma.SchemaProvider.
func (choice) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Enum: []any{poll.Feasible, poll.Preferred}}
}

// texts are ids or addresses as the packages below take them; nil stays nil.
func texts[T ~string](items []T) []string {
	if items == nil {
		return nil
	}
	return each(items, func(item T) string { return string(item) })
}
