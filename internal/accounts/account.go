// Package accounts keeps the linked Google accounts: their owners, scopes and sealed refresh
// tokens. Only this package handles refresh tokens; others get authorised HTTP clients.
//
//	              Link                      the grant is dead
//	(none) ────────────────▶ active ────────────────────────▶ revoked
//	                         ▲    │                             │
//	                         │    └── unlink ──▶ unlinked       │
//	                         └────────── Link, the same person ─┘
//
// Once Google has refused a grant, every call for the account is refused here, without asking
// Google, until its owner links it again.
package accounts

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/store"
)

// Status says whether an account can be used.
type Status string

// The statuses, as stored in documents.
const (
	Active   Status = "active"
	Revoked  Status = "revoked"  // Google refuses the grant
	Unlinked Status = "unlinked" // its owner unlinked it
)

// Google is the provider of Google accounts.
const Google = "google"

// The kinds of accounts.
const (
	// KindOAuth is an account that its owner linked through OAuth.
	KindOAuth = "oauth"
	// KindServiceAccount is a person of a Workspace domain as whom a service account acts, by
	// domain-wide delegation (Delegation). It has no owner here (OwnerID is ""): it is in no
	// person's list, and nobody is notified about it. It has no refresh token.
	KindServiceAccount = "service_account"
)

// Scopes that a person can grant. ScopeEvents is required, or ScopeCalendar, which includes
// it; without ScopeCalendarList only the primary calendar is known. The last three are those
// of features (feature.go).
const (
	ScopeEvents       = "https://www.googleapis.com/auth/calendar.events"
	ScopeCalendar     = "https://www.googleapis.com/auth/calendar"
	ScopeCalendarList = "https://www.googleapis.com/auth/calendar.calendarlist.readonly"
	// ScopeAppCreated creates calendars, and reaches events of these alone.
	ScopeAppCreated = "https://www.googleapis.com/auth/calendar.app.created"
	ScopeFreeBusy   = "https://www.googleapis.com/auth/calendar.freebusy"
	// ScopeSheets reads all of the person's spreadsheets.
	ScopeSheets = "https://www.googleapis.com/auth/spreadsheets.readonly"
)

// Codes of this package's errors; calendarSync.error may hold the first two (rules.ErrorCode).
const (
	// CodeTokenExpired (Revoked): the grant is dead or too small.
	CodeTokenExpired = "token_expired"
	// CodeNotLinked (Revoked, NotFound): no account is linked, or it was unlinked.
	CodeNotLinked = "calendar_unlinked"
	// CodeLinkedElsewhere (Conflict): another person has linked the account.
	CodeLinkedElsewhere = "account_already_linked"
	// CodeScopesInsufficient (Invalid): access to the calendar was not granted.
	CodeScopesInsufficient = "scopes_insufficient"
	// CodeStateMismatch (Invalid): a consent that did not begin here, expired, or was
	// already used.
	CodeStateMismatch = "state_mismatch"
	// CodeDeclined (Forbidden): the person declined at Google.
	CodeDeclined = "access_denied"
	// CodeExchangeFailed (Provider, Unavailable): Google gave no grant for the consent,
	// or one that the revocation of an older grant may have ended.
	CodeExchangeFailed = "exchange_failed"
	// CodeOtherIdentity (Conflict): the person chose another Google account than the one
	// to relink, and has to confirm that.
	CodeOtherIdentity = "other_account"
	// CodeScopeMissing (Forbidden): the account's owner did not grant what a feature needs.
	CodeScopeMissing = "scope_missing"
	// CodeUnsafeReturn (Invalid): the return address is not one of ours.
	CodeUnsafeReturn = "unsafe_return_address"
	// CodeClientRefused (Provider): Google rejects our OAuth client.
	CodeClientRefused = "oauth_client_refused"
	// CodeNoServiceAccount (Provider): an account needs the service account, and there is
	// none.
	CodeNoServiceAccount = "service_account_missing"
	// CodeServiceAccountRefused (Provider): Google rejects the service account or its key.
	CodeServiceAccountRefused = "service_account_refused"
	// CodeDelegationRefused (Provider): the administrator of the domain did not grant the
	// service account the scope.
	CodeDelegationRefused = "delegation_refused"
)

// Account is a linked account, without its secret.
type Account struct {
	ID       string
	OwnerID  string // the person; "" for KindServiceAccount
	Provider string
	// Sub identifies the account at the provider; the e-mail address can change hands. ""
	// for an account from before this backend, until it is linked again.
	Sub    string
	Email  string // lower case
	Scopes []string
	Status Status
	Kind   string
	// Grant counts the account's grants, so that a late refusal of an old one does not
	// revoke a newer one.
	Grant int64
	// PrimaryCalendarID is what "primary" stands for, "" until known; CalendarIDs are the
	// calendars that the account is known to write to.
	PrimaryCalendarID string
	CalendarIDs       []string
	// Due is when calendarsync.Links carries a change of status, grant or primary calendar to the
	// account's calendars and polls; zero: that is done.
	Due        time.Time
	UnlinkedAt time.Time // zero unless it is unlinked
	// LeavingUntil is until when a revocation of its grant may still reach Google, or
	// when the last one ended; zero if none was sent.
	LeavingUntil time.Time
	// CheckedAt is when the grant was last known to work, or the later time to which
	// Grants.CheckUntouched put an account off.
	CheckedAt time.Time
	CreatedAt time.Time
	UpdatedAt time.Time
}

// Change names the last change of status or grant.
func (a Account) Change() string { return string(a.Status) + "/" + strconv.FormatInt(a.Grant, 10) }

// SameAs reports whether status, grant and primary calendar are unchanged between two readings.
func (a Account) SameAs(other Account) bool {
	return a.Change() == other.Change() && a.Primary() == other.Primary()
}

// Primary is the real id of the primary calendar: as recorded, else the e-mail address,
// which it usually is.
func (a Account) Primary() string {
	return cmp.Or(a.PrimaryCalendarID, a.Email, "primary")
}

// Granted reports whether the account's owner granted a scope.
func (a Account) Granted(scope string) bool { return slices.Contains(a.Scopes, scope) }

// Owns reports whether a calendar is one of this account's.
func (a Account) Owns(calendarID string) bool {
	return calendarID != "" && (a.Primary() == calendarID || strings.EqualFold(a.Email, calendarID)) ||
		slices.Contains(a.CalendarIDs, calendarID)
}

// Usable is nil if the account can be used, else the Revoked error that tells its owner
// what to do.
func (a Account) Usable() error {
	switch a.Status {
	case Active:
		return nil
	case Unlinked:
		return errNotLinked()
	default:
		return a.errRevoked()
	}
}

// errRevoked tells who can repair a dead grant what to do.
func (a Account) errRevoked() error {
	if a.Kind == KindServiceAccount {
		return &fault.Error{Kind: fault.Revoked, Code: CodeTokenExpired, Message: sayNoSuchPerson}
	}
	return errRevoked()
}

// usableFor is Usable, but with leaving also accepts an account that is unlinked and Due,
// for its last calls.
func (a Account) usableFor(leaving bool) error {
	if leaving && a.Status == Unlinked && !a.Due.IsZero() {
		return nil
	}
	return a.Usable()
}

// errRevoked is of a grant that ended. The web app knows its message, and that of
// errNotLinked, by the text.
func errRevoked() error {
	return &fault.Error{Kind: fault.Revoked, Code: CodeTokenExpired, Message: "Google Calendar authorization expired. Re-link in Settings."}
}

func errNotLinked() error {
	return &fault.Error{Kind: fault.Revoked, Code: CodeNotLinked, Message: "Google Calendar not linked"}
}

// errRemoved is for the calendars of an account that was unlinked and removed: nothing but linking
// helps, as before.
func errRemoved() error {
	return &fault.Error{Kind: fault.NotFound, Code: CodeNotLinked, Message: "The account was unlinked and removed."}
}

func errNotFound() error {
	return fault.New(fault.NotFound, "There is no such linked account.")
}

// Path is the path of an account's document.
func Path(id string) store.Path { return store.Doc("accounts", id) }

// Decode reads an account's document.
func Decode(doc store.Document) Account {
	f := store.Fields(doc.Data)
	return Account{
		ID: doc.Path.ID(), OwnerID: f.String("ownerId"), Provider: f.String("provider"), Sub: f.String("sub"),
		Email: f.String("email"), Scopes: f.Strings("scopes"), Status: Status(f.String("status")), Kind: f.String("kind"),
		Grant: f.Int("grant"), PrimaryCalendarID: f.String("primaryCalendarId"), CalendarIDs: f.Strings("calendarIds"),
		Due: f.Time("due"), UnlinkedAt: f.Time("unlinkedAt"), LeavingUntil: f.Time("leavingUntil"), CheckedAt: f.Time("checkedAt"),
		CreatedAt: f.Time("createdAt"), UpdatedAt: f.Time("updatedAt"),
	}
}

// encode gives all fields of an account, of whose change nothing failed yet.
func encode(a Account) map[string]any {
	return map[string]any{
		"ownerId": a.OwnerID, "provider": a.Provider, "sub": a.Sub, "email": a.Email,
		"scopes": a.Scopes, "status": string(a.Status), "kind": a.Kind, "grant": a.Grant,
		"primaryCalendarId": store.NullIfEmpty(a.PrimaryCalendarID), "calendarIds": a.CalendarIDs,
		"due": store.NullIfZero(a.Due), "attempts": 0, "failedSince": nil, "error": nil,
		"unlinkedAt": store.NullIfZero(a.UnlinkedAt), "leavingUntil": store.NullIfZero(a.LeavingUntil), "checkedAt": a.CheckedAt,
		"createdAt": a.CreatedAt, "updatedAt": a.UpdatedAt,
	}
}
