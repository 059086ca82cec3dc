package notify

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"questscheduler/internal/ids"
)

// The notices that are for the owner of a calendar alone.
const (
	NoticeSyncError = "CALENDAR_SYNC_ERROR"
	NoticeHeld      = "CANCELLATIONS_HELD"
)

// Owners tells people in the app about problems of their calendars that only they
// can solve, each problem once. Both fields are needed. An account without an owner has
// nobody to notify.
type Owners struct {
	InApp *InApp
	// Occasion tells one failure of an account from the next: it returns the number
	// of the account's grant.
	Occasion func(ctx context.Context, accountID string) (string, error)
}

// NotifySyncError says that an account's grant is revoked or insufficient, once for
// each grant.
func (o Owners) NotifySyncError(ctx context.Context, ownerID, accountID string) error {
	return o.notifyOfAccount(ctx, ownerID, accountID, "", spoken.Owners.SyncErrorTitle, spoken.Owners.SyncErrorBody)
}

// NotifyUnlinked says that sessions are no longer followed since their account was
// unlinked, once for each grant.
func (o Owners) NotifyUnlinked(ctx context.Context, ownerID, accountID string) error {
	return o.notifyOfAccount(ctx, ownerID, accountID, ":unlinked", spoken.Owners.UnlinkedTitle, spoken.Owners.UnlinkedBody)
}

func (o Owners) notifyOfAccount(ctx context.Context, ownerID, accountID, suffix, title, body string) error {
	if !canNotify(ownerID) {
		return nil
	}
	occasion, err := o.Occasion(ctx, accountID)
	if err != nil {
		return err
	}
	return o.notify(ctx, ownerID, NoticeSyncError, accountID+":"+occasion+suffix, title, body, "calendar_account", accountID)
}

// NotifyLost says that a calendar with sessions is gone or no longer shared, once for each
// loss, which since tells apart.
func (o Owners) NotifyLost(ctx context.Context, ownerID, calendarKey string, since time.Time) error {
	key := calendarKey + ":lost:" + strconv.FormatInt(since.UnixMicro(), 10)
	return o.notify(ctx, ownerID, NoticeSyncError, key, spoken.Owners.LostTitle, spoken.Owners.LostBody, "calendar", calendarKey)
}

// NotifyHeld says that cancellations in a calendar await their owner's confirmation,
// once for the same events.
func (o Owners) NotifyHeld(ctx context.Context, ownerID, calendarKey string, eventIDs []string) error {
	sorted := slices.Sorted(slices.Values(eventIDs))
	digest := ids.Of(strings.Join(sorted, "\n")).Hex(8)
	body := spoken.count(spoken.Owners.HeldBody, len(eventIDs))
	return o.notify(ctx, ownerID, NoticeHeld, calendarKey+":"+digest, spoken.Owners.HeldTitle, body, "calendar", calendarKey)
}

// notify writes a notification about a resource, unless the owner has one under
// its key. An owner whose id cannot be a person's is left out.
func (o Owners) notify(ctx context.Context, ownerID, kind, key, title, body, resource, resourceID string) error {
	if !canNotify(ownerID) {
		return nil
	}
	key = kind + ":" + key
	link := strings.TrimSuffix(o.InApp.AppURL, "/") + "/settings"
	document := o.InApp.newDocument(key, kind, title, body, link, Resource{resource, resourceID, spoken.Owners.Resource})
	return o.InApp.createMissing(ctx, []string{ownerID}, key, document)
}
