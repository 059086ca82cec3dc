package notify

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"questscheduler/internal/store"
)

// The notices that are for the owner of a calendar alone.
const (
	NoticeSyncError = "CALENDAR_SYNC_ERROR"
	NoticeHeld      = "CANCELLATIONS_HELD"
)

// Occasions gives what tells one failing of an account from the next: the
// number of its grant. It is asked once for each notice.
type Occasions func(ctx context.Context, accountID string) (string, error)

// Owners tells people what only they can mend about their calendars. Each thing
// is one document under an id of its own, so telling it twice is telling it
// once. All fields are needed.
type Owners struct {
	Announcer *Announcer
	Occasion  Occasions
}

// TellSyncError says that the grant of an account is dead or too small, once
// for each grant.
func (o Owners) TellSyncError(ctx context.Context, ownerID, accountID string) error {
	occasion, err := o.Occasion(ctx, accountID)
	if err != nil {
		return err
	}
	return o.tell(ctx, ownerID, notice{
		kind: NoticeSyncError, key: accountID + ":" + occasion,
		title:    "Calendar sync paused",
		body:     "Calendar sync paused. Re-link your calendar in Settings to resume.",
		resource: map[string]any{"type": "calendar_account", "id": accountID, "title": "Google Calendar"},
	})
}

// TellUnlinked says that sessions are not followed any more since their account
// was unlinked, once for each grant.
func (o Owners) TellUnlinked(ctx context.Context, ownerID, accountID string) error {
	occasion, err := o.Occasion(ctx, accountID)
	if err != nil {
		return err
	}
	return o.tell(ctx, ownerID, notice{
		kind: NoticeSyncError, key: accountID + ":" + occasion + ":unlinked",
		title:    "Calendar unlinked",
		body:     "Your calendar is unlinked, and the sessions in it are not followed any more. Link it again in Settings to resume.",
		resource: map[string]any{"type": "calendar_account", "id": accountID, "title": "Google Calendar"},
	})
}

// TellHeld says that cancellations in a calendar wait for their owner's word,
// once for the same events.
func (o Owners) TellHeld(ctx context.Context, ownerID, calendarKey string, eventIDs []string) error {
	sorted := slices.Sorted(slices.Values(eventIDs))
	sum := sha256.Sum256([]byte(strings.Join(sorted, "\n")))
	return o.tell(ctx, ownerID, notice{
		kind: NoticeHeld, key: calendarKey + ":" + hex.EncodeToString(sum[:8]),
		title: "Cancellations held",
		body: fmt.Sprintf("%d calendar events of your sessions are gone at once. No session was cancelled. "+
			"Confirm in Settings that they are cancelled, or restore the events.", len(eventIDs)),
		resource: map[string]any{"type": "calendar", "id": calendarKey, "title": "Google Calendar"},
	})
}

// notice is one document for an owner.
type notice struct {
	kind, key, title, body string
	resource               map[string]any
}

func (o Owners) tell(ctx context.Context, ownerID string, n notice) error {
	dedupeKey := n.kind + ":" + n.key
	path := NotificationPath(ownerID, "dedupe:"+dedupeKey)
	if known := ownerID != "" && path.Valid() == nil; !known {
		return nil // nobody can be told
	}
	document := map[string]any{
		"type": n.kind, "title": n.title, "body": n.body, "actionUrl": o.Announcer.settingsAddress(),
		"resource": n.resource, "actor": nil, "metadata": map[string]any{}, "dedupeKey": dedupeKey,
		"read": false, "dismissed": false, "createdAt": store.Instant(o.Announcer.Now()),
	}
	return o.Announcer.createMissing(ctx, []string{ownerID}, "dedupe:"+dedupeKey, document)
}

// settingsAddress is the page of the web app where calendars are linked.
func (a *Announcer) settingsAddress() string { return strings.TrimSuffix(a.AppURL, "/") + "/settings" }
