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
	return o.notifyOfAccount(ctx, ownerID, accountID, "", Notification{Title: spoken.Owners.SyncErrorTitle, Body: spoken.Owners.SyncErrorBody})
}

// NotifyUnlinked says that sessions are no longer followed since their account was
// unlinked, once for each grant.
func (o Owners) NotifyUnlinked(ctx context.Context, ownerID, accountID string) error {
	shown := Notification{Title: spoken.Owners.UnlinkedTitle, Body: spoken.Owners.UnlinkedBody}
	return o.notifyOfAccount(ctx, ownerID, accountID, ":unlinked", shown)
}

// notifyOfAccount writes a notification about an account, once for each of its grants and suffixes.
func (o Owners) notifyOfAccount(ctx context.Context, ownerID, accountID, suffix string, shown Notification) error {
	if !canNotify(ownerID) {
		return nil
	}
	occasion, err := o.Occasion(ctx, accountID)
	if err != nil {
		return err
	}
	shown.Type, shown.Resource = NoticeSyncError, Resource{Type: "calendar_account", ID: accountID}
	return o.notify(ctx, ownerID, accountID+":"+occasion+suffix, shown)
}

// NotifyLost says that a calendar with sessions is gone or no longer shared, once for each
// loss, which since tells apart.
func (o Owners) NotifyLost(ctx context.Context, ownerID, calendarKey string, since time.Time) error {
	key := calendarKey + ":lost:" + strconv.FormatInt(since.UnixMicro(), 10)
	return o.notify(ctx, ownerID, key, Notification{
		Type: NoticeSyncError, Title: spoken.Owners.LostTitle, Body: spoken.Owners.LostBody,
		Resource: Resource{Type: "calendar", ID: calendarKey},
	})
}

// NotifyHeld says that cancellations in a calendar await their owner's confirmation,
// once for the same events.
func (o Owners) NotifyHeld(ctx context.Context, ownerID, calendarKey string, eventIDs []string) error {
	sorted := slices.Sorted(slices.Values(eventIDs))
	digest := ids.Of(strings.Join(sorted, "\n")).Hex(8)
	return o.notify(ctx, ownerID, calendarKey+":"+digest, Notification{
		Type: NoticeHeld, Title: spoken.Owners.HeldTitle, Body: spoken.count(spoken.Owners.HeldBody, len(eventIDs)),
		Resource: Resource{Type: "calendar", ID: calendarKey},
	})
}

// notify writes a notification about a resource, unless the owner has one of its type and key.
// It leads to the settings. An owner whose id cannot be a person's is left out.
func (o Owners) notify(ctx context.Context, ownerID, key string, shown Notification) error {
	if !canNotify(ownerID) {
		return nil
	}
	key = shown.Type + ":" + key
	shown.ActionURL = strings.TrimSuffix(o.InApp.AppURL, "/") + "/settings"
	shown.Resource.Title = spoken.Owners.Resource
	return o.InApp.createMissing(ctx, []string{ownerID}, key, o.InApp.newDocument(key, shown))
}
