// Package accounts keeps the Google accounts that people have linked: whose
// they are, what they granted, and the sealed refresh token that the grant
// consists of. It is the only place that ever holds a
// refresh token; others get HTTP clients that are
// authorised already.
//
//	              Link                      the grant is dead
//	(none) ────────────────▶ active ────────────────────────▶ revoked
//	                         ▲    │                             │
//	                         │    └── unlink ──▶ unlinked       │
//	                         └────────── Link, the same person ─┘
//
// A dead grant is learnt from Google once; after that every call for the
// account is refused here, without asking Google, until its owner links it
// again.
package accounts

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"questscheduler/internal/fault"
	"questscheduler/internal/store"
)

// Status says whether an account can be used.
type Status string

// The statuses, as they stand in documents.
const (
	Active   Status = "active"
	Revoked  Status = "revoked"  // Google refuses the grant
	Unlinked Status = "unlinked" // its owner took it out
)

// Google is the provider of Google accounts.
const Google = "google"

// KindOAuth is an account that its owner linked through OAuth. Service
// accounts with a subject are foreseen.
const KindOAuth = "oauth"

// Scopes that a person can grant. ScopeEvents is required, or ScopeCalendar
// that holds it; without ScopeCalendarList only the primary calendar is known.
const (
	ScopeEvents       = "https://www.googleapis.com/auth/calendar.events"
	ScopeCalendar     = "https://www.googleapis.com/auth/calendar"
	ScopeCalendarList = "https://www.googleapis.com/auth/calendar.calendarlist.readonly"
)

// Codes of this package's errors; the first two stand in calendarSync.error as
// well (rules.ErrorCode).
const (
	// CodeTokenExpired (Revoked): the grant is dead or too small.
	CodeTokenExpired = "token_expired"
	// CodeNotLinked (Revoked): no account is linked, or it was unlinked.
	CodeNotLinked = "calendar_unlinked"
	// CodeLinkedElsewhere (Conflict): another person has linked the account.
	CodeLinkedElsewhere = "account_already_linked"
	// CodeScopesInsufficient (Invalid): the calendar was not granted.
	CodeScopesInsufficient = "scopes_insufficient"
	// CodeStateMismatch (Invalid): a consent comes back that was not begun
	// here, is too old, or came back before.
	CodeStateMismatch = "state_mismatch"
	// CodeDeclined (Forbidden): the person declined at Google.
	CodeDeclined = "access_denied"
	// CodeExchangeFailed (Provider, Unavailable): Google gave no grant for the
	// consent, or one that the giving back of an older one may have ended.
	CodeExchangeFailed = "exchange_failed"
	// CodeOtherIdentity (Conflict): another Google account came back than the
	// one that was to be linked again; the person has to say that they mean it.
	CodeOtherIdentity = "other_account"
	// CodeUnsafeReturn (Invalid): the address to return to is not one of ours.
	CodeUnsafeReturn = "unsafe_return_address"
	// CodeClientRefused (Provider): Google does not know our OAuth client.
	CodeClientRefused = "oauth_client_refused"
)

// Account is a linked account, without its secret.
type Account struct {
	ID       string
	OwnerID  string // the person
	Provider string
	// Sub is who the account is at the provider. It identifies; the e-mail
	// address can change and be given to somebody else. "" for an account of
	// before this backend, until it is linked again.
	Sub    string
	Email  string // lower case
	Scopes []string
	Status Status
	Kind   string
	// Grant counts the grants of this account, so that the late refusal of an
	// old one does not revoke a newer one.
	Grant int64
	// PrimaryCalendarID is what "primary" stands for, "" until it is known;
	// CalendarIDs are the calendars that the account was seen to write to.
	PrimaryCalendarID string
	CalendarIDs       []string
	// Due tells that what became of the account last has not been carried to
	// its calendars and polls yet (calendarsync.Links).
	Due        bool
	UnlinkedAt time.Time // zero unless it is unlinked
	// LeavingUntil is until when the giving back of its grant may still reach
	// Google, or when that was over; zero: none was given back.
	LeavingUntil time.Time
	// CheckedAt is when the grant was found live, as far as is recorded.
	CheckedAt time.Time
	CreatedAt time.Time
	UpdatedAt time.Time
}

// SameAs tells whether nothing became of an account between two readings of it:
// it was not linked, Google did not refuse its grant, nobody took it out.
func (a Account) SameAs(other Account) bool {
	return a.Status == other.Status && a.Grant == other.Grant
}

// Primary is the real id of the account's primary calendar: as recorded, else
// its e-mail address, which it is as a rule.
func (a Account) Primary() string {
	return cmp.Or(a.PrimaryCalendarID, a.Email, "primary")
}

// Granted tells whether the account's owner granted a scope.
func (a Account) Granted(scope string) bool { return slices.Contains(a.Scopes, scope) }

// Owns tells whether a calendar is one of this account's.
func (a Account) Owns(calendarID string) bool {
	return calendarID != "" && (a.Primary() == calendarID || strings.EqualFold(a.Email, calendarID)) || slices.Contains(a.CalendarIDs, calendarID)
}

// Usable is nil for an account that calls can be made for, else the Revoked
// error that says what its owner has to do.
func (a Account) Usable() error {
	switch a.Status {
	case Active:
		return nil
	case Unlinked:
		return errNotLinked()
	default:
		return errRevoked()
	}
}

// usableFor is Usable, or for one that is leaving whether it may still say
// goodbye: it is unlinked, and that is not settled yet.
func (a Account) usableFor(leaving bool) error {
	if leaving && a.Status == Unlinked && a.Due {
		return nil
	}
	return a.Usable()
}

// The two sentences are known to the web app by their text.
func errRevoked() error {
	return &fault.Error{Kind: fault.Revoked, Code: CodeTokenExpired, Message: "Google Calendar authorization expired. Re-link in Settings."}
}

func errNotLinked() error {
	return &fault.Error{Kind: fault.Revoked, Code: CodeNotLinked, Message: "Google Calendar not linked"}
}

func errNotFound() error {
	return fault.New(fault.NotFound, "There is no such linked account.")
}

// Path is where an account's document stands.
func Path(id string) store.Path { return store.Doc("accounts", id) }

func decode(doc store.Document) Account {
	f := store.Fields(doc.Data)
	return Account{
		ID: doc.Path.ID(), OwnerID: f.String("ownerId"), Provider: f.String("provider"), Sub: f.String("sub"),
		Email: f.String("email"), Scopes: f.Strings("scopes"), Status: Status(f.String("status")), Kind: f.String("kind"),
		Grant: f.Int("grant"), PrimaryCalendarID: f.String("primaryCalendarId"), CalendarIDs: f.Strings("calendarIds"),
		Due: f.Bool("due"), UnlinkedAt: f.Time("unlinkedAt"), LeavingUntil: f.Time("leavingUntil"), CheckedAt: f.Time("checkedAt"),
		CreatedAt: f.Time("createdAt"), UpdatedAt: f.Time("updatedAt"),
	}
}

func encode(a Account) map[string]any {
	return map[string]any{
		"ownerId": a.OwnerID, "provider": a.Provider, "sub": a.Sub, "email": a.Email,
		"scopes": a.Scopes, "status": string(a.Status), "kind": a.Kind, "grant": a.Grant,
		"primaryCalendarId": store.NullIfEmpty(a.PrimaryCalendarID), "calendarIds": a.CalendarIDs,
		"due": a.Due, "unlinkedAt": store.NullIfZero(a.UnlinkedAt), "leavingUntil": store.NullIfZero(a.LeavingUntil), "checkedAt": a.CheckedAt,
		"createdAt": a.CreatedAt, "updatedAt": a.UpdatedAt,
	}
}
