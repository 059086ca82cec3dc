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

// Options are what a Repository is made of; all are needed.
type Options struct {
	Store store.Store
	// Keys seal the refresh tokens.
	Keys seal.Keys
	Now  func() time.Time
	// NewID gives a new ULID, without prefix.
	NewID func() string
}

// Repository keeps accounts and their secrets. It is safe for concurrent use.
type Repository struct {
	store store.Store
	keys  seal.Keys
	now   func() time.Time
	newID func() string
}

// New makes a repository. The store must know Queries.
func New(options Options) *Repository {
	return &Repository{store: options.Store, keys: options.Keys, now: options.Now, newID: options.NewID}
}

// Get reads an account, whoever owns it; NotFound where there is none.
func (r *Repository) Get(ctx context.Context, id string) (Account, error) {
	return Load(ctx, r.store, id)
}

// Owned reads an account of a person. Another person's is NotFound, as one that
// is not there.
func (r *Repository) Owned(ctx context.Context, ownerID, id string) (Account, error) {
	account, err := r.Get(ctx, id)
	if err == nil && account.OwnerID != ownerID {
		return Account{}, errNotFound()
	}
	return account, err
}

// List gives a person's accounts in the order in which they were linked, the
// revoked and unlinked ones included.
func (r *Repository) List(ctx context.Context, ownerID string) ([]Account, error) {
	return OfOwner(ctx, r.store, ownerID)
}

// Default is the account that is used where a person names none: the first
// that they linked and did not unlink. A revoked one stays the default, so that
// its owner is asked to link it again and no event is made somewhere else
// unasked. Revoked with CodeNotLinked where there is none.
func (r *Repository) Default(ctx context.Context, ownerID string) (Account, error) {
	return r.choose(ctx, ownerID, "", "")
}

// Choose gives the account and the calendar's real id for what a person asked
// for; "" leaves the choice: the account
// named, else the one that owns the calendar, else the default; and of that
// account the calendar named, else its primary one. NotFound for an account of
// another person, Revoked where none is linked or its grant is dead.
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

// RecordCalendars remembers which calendars an account writes to and which is
// its primary one ("": as known before), so that ByCalendar and Choose find it
// by them. It writes only what changed.
func (r *Repository) RecordCalendars(ctx context.Context, id, primaryID string, writableIDs []string) error {
	writable := slices.Clone(writableIDs)
	slices.Sort(writable)
	writable, now := slices.Compact(writable), r.now()
	return r.store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		account, err := Load(ctx, tx, id)
		if err != nil {
			return err
		}
		primary := cmp.Or(primaryID, account.PrimaryCalendarID)
		if account.PrimaryCalendarID == primary && slices.Equal(account.CalendarIDs, writable) {
			return nil
		}
		return tx.Update(Path(id),
			store.Update{Path: store.Field("primaryCalendarId"), Value: store.NullIfEmpty(primary)},
			store.Update{Path: store.Field("calendarIds"), Value: writable},
			store.Update{Path: store.Field("updatedAt"), Value: now})
	})
}

// MarkRevoked records that Google refused a grant of an account; changed tells
// whether that is news; then the account is Due. The refusal of an older grant
// changes nothing.
func (r *Repository) MarkRevoked(ctx context.Context, id string, grant int64) (changed bool, err error) {
	now := r.now()
	err = r.store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		changed = false
		account, err := Load(ctx, tx, id)
		if err != nil {
			return err
		}
		if account.Status != Active || account.Grant != grant {
			return nil
		}
		changed = true
		return tx.Update(Path(id),
			store.Update{Path: store.Field("status"), Value: string(Revoked)},
			store.Update{Path: store.Field("due"), Value: true},
			store.Update{Path: store.Field("updatedAt"), Value: now})
	})
	return changed && err == nil, err
}

// linked are a person's accounts that were not unlinked.
func (r *Repository) linked(ctx context.Context, ownerID string) ([]Account, error) {
	all, err := r.List(ctx, ownerID)
	return slices.DeleteFunc(all, func(a Account) bool { return a.Status == Unlinked }), err
}

func isPrimary(calendarID string) bool { return calendarID == "" || calendarID == "primary" }

// Load reads an account, in a transaction or outside; NotFound where there is none.
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
	return decode(doc), nil
}
