package accounts

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"questscheduler/internal/accounts/seal"
	"questscheduler/internal/store"
)

// Options configure a Repository; all are required.
type Options struct {
	Store store.Store
	// Keys seal the refresh tokens.
	Keys seal.Keys
	Now  func() time.Time
	// NewID returns a new ULID.
	NewID func() string
}

// Repository stores accounts and their secrets. Safe for concurrent use.
type Repository struct {
	store store.Store
	keys  seal.Keys
	now   func() time.Time
	newID func() string
}

// New returns a repository. The store must know Queries.
func New(options Options) *Repository {
	return &Repository{store: options.Store, keys: options.Keys, now: options.Now, newID: options.NewID}
}

// Get reads an account of any owner; NotFound if there is none.
func (r *Repository) Get(ctx context.Context, id string) (Account, error) {
	return Load(ctx, r.store, id)
}

// Owned reads a person's account. Another person's is NotFound.
func (r *Repository) Owned(ctx context.Context, ownerID, id string) (Account, error) {
	account, err := r.Get(ctx, id)
	if err == nil && (ownerID == "" || account.OwnerID != ownerID) {
		return Account{}, errNotFound()
	}
	return account, err
}

// ByEmail lists the active accounts of an e-mail address that people linked, oldest link
// first; several people may have linked the same.
func (r *Repository) ByEmail(ctx context.Context, email string) ([]Account, error) {
	all, err := list(ctx, r.store, ofEmail.With(normalAddress(email), string(Active)))
	return slices.DeleteFunc(all, func(a Account) bool { return a.Kind == KindServiceAccount }), err
}

// List is OfOwner.
func (r *Repository) List(ctx context.Context, ownerID string) ([]Account, error) {
	return OfOwner(ctx, r.store, ownerID)
}

// Default is the account to use when a person names none: the first one linked and not
// unlinked. A revoked account stays the default, so that its owner is asked to relink it
// rather than events appear in another calendar. Revoked with CodeNotLinked: there is
// none.
func (r *Repository) Default(ctx context.Context, ownerID string) (Account, error) {
	return r.choose(ctx, ownerID, "", "")
}

// Choose resolves a person's choice of account and calendar, "" for either leaving it
// open. The account is the one named, else the calendar's, else the default; the calendar
// is the one named, else the account's primary. NotFound: another person's account.
// Revoked: none is linked, or its grant is dead.
func (r *Repository) Choose(ctx context.Context, ownerID, accountID, calendarID string) (account, calendar string, err error) {
	chosen, err := r.choose(ctx, ownerID, accountID, calendarID)
	if err != nil {
		return "", "", err
	}
	if err := chosen.Usable(); err != nil {
		return "", "", err
	}
	if isPrimary(calendarID) || strings.EqualFold(calendarID, chosen.Email) {
		calendarID = chosen.Primary()
	}
	return chosen.ID, calendarID, nil
}

func (r *Repository) choose(ctx context.Context, ownerID, accountID, calendarID string) (Account, error) {
	if accountID != "" {
		return r.Owned(ctx, ownerID, accountID)
	}
	linked, err := r.linked(ctx, ownerID)
	if err != nil {
		return Account{}, err
	}
	i := slices.IndexFunc(linked, func(a Account) bool { return !isPrimary(calendarID) && a.Owns(calendarID) })
	if len(linked) == 0 {
		return Account{}, errNotLinked()
	}
	return linked[max(0, i)], nil
}

// RecordCalendars records which calendars an account writes to and its primary calendar
// ("" keeps the known one), for Choose. It writes only changes. An account of unknown
// e-mail address gets that of its primary calendar, so that Link gives it no other identity. An
// active account whose Primary becomes another one is Due, so that what followed that follows this.
func (r *Repository) RecordCalendars(ctx context.Context, id, primaryID string, writableIDs []string) error {
	writable := slices.Clone(writableIDs)
	slices.Sort(writable)
	writable, now := slices.Compact(writable), r.now()
	return r.update(ctx, id, func(account Account) []store.Update {
		primary := cmp.Or(primaryID, account.PrimaryCalendarID)
		email := account.Email
		if email == "" && strings.Contains(primary, "@") {
			email = normalAddress(primary)
		}
		if account.PrimaryCalendarID == primary && account.Email == email && slices.Equal(account.CalendarIDs, writable) {
			return nil
		}
		updates := []store.Update{
			store.Set("email", email),
			store.Set("primaryCalendarId", store.NullIfEmpty(primary)), store.Set("calendarIds", writable), store.Set("updatedAt", now),
		}
		if account.Status == Active && primary != "" && primary != account.Primary() {
			updates = append(updates, changed(now)...)
		}
		return updates
	})
}

// update writes what change returns for the account as it is now, if anything.
func (r *Repository) update(ctx context.Context, id string, change func(now Account) []store.Update) error {
	return r.store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		account, err := Load(ctx, tx, id)
		if err != nil {
			return err
		}
		if updates := change(account); len(updates) > 0 {
			return tx.Update(Path(id), updates...)
		}
		return nil
	})
}

// MarkRevoked records that Google refused a grant; the account becomes Due. revoked is
// false if that was known or an older grant was refused.
func (r *Repository) MarkRevoked(ctx context.Context, id string, grant int64) (revoked bool, err error) {
	now := r.now()
	err = r.update(ctx, id, func(account Account) []store.Update {
		revoked = account.Status == Active && account.Grant == grant
		if !revoked {
			return nil
		}
		return append(changed(now), store.Set("status", string(Revoked)), store.Set("updatedAt", now))
	})
	return revoked && err == nil, err
}

// linked lists a person's accounts that are not unlinked.
func (r *Repository) linked(ctx context.Context, ownerID string) ([]Account, error) {
	all, err := r.List(ctx, ownerID)
	return slices.DeleteFunc(all, func(a Account) bool { return a.Status == Unlinked }), err
}

func isPrimary(calendarID string) bool { return calendarID == "" || calendarID == "primary" }

// Load reads an account, in or outside a transaction; NotFound if there is none.
func Load(ctx context.Context, reader store.Reader, id string) (Account, error) {
	if Path(id).Valid() != nil {
		return Account{}, errNotFound() // an id with a slash names no account
	}
	doc, err := reader.Get(ctx, Path(id))
	if err != nil {
		return Account{}, err
	}
	if !doc.Exists() {
		return Account{}, errNotFound()
	}
	return Decode(doc), nil
}
