package notify

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/store"
)

// Notification is a document of users/{uid}/notifications. The web app writes
// others there.
type Notification struct {
	ID        string
	Type      string
	Title     string
	Body      string
	ActionURL string
	Resource  Resource
	Actor     *Actor // nil for nobody
	Read      bool
	Dismissed bool
	CreatedAt time.Time
}

// Resource is what a notification is about.
type Resource struct{ Type, ID, Title string }

// Actor is who caused the change.
type Actor struct{ UserID, Email, DisplayName string }

// batchSize is how many notifications are written in one transaction.
const batchSize = 100

func userPath(uid string) store.Path { return store.Doc("users", uid) }

// NotificationPath is the path of a person's notification.
func NotificationPath(uid, id string) store.Path { return store.Doc("users", uid, "notifications", id) }

var (
	notificationsByTime = &store.Query{
		Name: "notifications of a person that are not dismissed, newest first", Collection: "notifications",
		Filters: []store.Filter{{Path: store.Field("dismissed"), Op: store.Equal}},
		Order:   []store.Order{{Path: store.Field("createdAt"), Descending: true}},
	}
	unreadNotifications = &store.Query{
		Name: "unread notifications of a person", Collection: "notifications",
		Filters: []store.Filter{{Path: store.Field("read"), Op: store.Equal}},
	}
	oldNotifications = &store.Query{
		Name: "notifications by type and age", Collection: "notifications", Group: true,
		Filters: []store.Filter{{Path: store.Field("type"), Op: store.In}, {Path: store.Field("createdAt"), Op: store.Less}},
		Order:   []store.Order{{Path: store.Field("createdAt")}},
	}
)

// Queries are this package's queries, for opening a store.
var Queries = []*store.Query{notificationsByTime, unreadNotifications, oldNotifications}

// Walk passes a person's notifications that they have not dismissed to take, newest
// first, at most limit (0: all) after the cursor, as store.Walk does.
func Walk(
	ctx context.Context, reader store.Reader, uid string, part store.Paging, take func(Notification) (taken bool, err error),
) (next *store.Cursor, err error) {
	asked := notificationsByTime.With(false).Below(userPath(uid)).Paged(part)
	return store.Walk(ctx, reader, asked, decodeNotification, take)
}

// List reads a page of them into memory, whatever their size.
func List(ctx context.Context, reader store.Reader, uid string, part store.Paging) (list []Notification, next *store.Cursor, err error) {
	next, err = Walk(ctx, reader, uid, part, func(n Notification) (bool, error) {
		list = append(list, n)
		return true, nil
	})
	return list, next, err
}

func decodeNotification(doc store.Document) Notification {
	f := store.Fields(doc.Data)
	resource, actor := f.Map("resource"), f.Map("actor")
	n := Notification{
		ID: doc.Path.ID(), Type: f.String("type"), Title: f.String("title"), Body: f.String("body"),
		ActionURL: f.String("actionUrl"),
		Resource:  Resource{Type: resource.String("type"), ID: resource.String("id"), Title: resource.String("title")},
		Read:      f.Bool("read"), Dismissed: f.Bool("dismissed"), CreatedAt: f.Time("createdAt"),
	}
	if len(actor) > 0 {
		n.Actor = &Actor{UserID: actor.String("uid"), Email: actor.String("email"), DisplayName: actor.String("displayName")}
	}
	return n
}

// MarkRead marks one notification of a person as read; NotFound if they have none
// of that id. It is idempotent.
func MarkRead(ctx context.Context, documents store.Store, uid, id string) error {
	missing := fault.New(fault.NotFound, "You have no such notification. List your notifications for the ids there are.")
	path := NotificationPath(uid, id)
	if strings.Contains(id, "/") || path.Valid() != nil {
		return missing
	}
	err := documents.Run(ctx, func(_ context.Context, tx store.Tx) error {
		return tx.Update(path, store.Update{Path: store.Field("read"), Value: true})
	})
	if fault.Is(err, fault.NotFound) {
		return missing
	}
	return err
}

// MarkAllRead marks every notification of a person as read and returns how many
// were not. It goes in steps: a call after an error continues.
func MarkAllRead(ctx context.Context, documents store.Store, uid string) (marked int, err error) {
	for {
		asked := unreadNotifications.With(false).Below(userPath(uid)).First(batchSize)
		found, err := writeEach(ctx, documents, asked, func(tx store.Tx, path store.Path) error {
			return tx.Update(path, store.Update{Path: store.Field("read"), Value: true})
		})
		if err != nil {
			return marked, err
		}
		marked += found
		if found < batchSize {
			return marked, nil
		}
	}
}

// writeEach writes what a query finds in one transaction, and returns how many.
func writeEach(ctx context.Context, to store.Store, asked store.Bound, write func(store.Tx, store.Path) error) (found int, err error) {
	err = to.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		docs, err := tx.Query(ctx, asked)
		for _, doc := range docs {
			err = errors.Join(err, write(tx, doc.Path))
		}
		found = len(docs)
		return err
	})
	return found, err
}

// Kept is how long a notification of a transition is kept.
const Kept = 90 * 24 * time.Hour

// RemoveOld removes at most limit notifications of transitions older than Kept, of
// all people. It tells how many, and whether more may be left. Notifications of
// the web app stay, and so do those of owners, which keep them from being notified
// again.
func RemoveOld(ctx context.Context, documents store.Store, now time.Time, limit int) (removed int, more bool, err error) {
	var types []any
	for _, notice := range slices.Sorted(maps.Keys(spoken.Notices)) {
		types = append(types, string(notice))
	}
	removed, err = writeEach(ctx, documents, oldNotifications.With(types, now.Add(-Kept)).First(limit), store.Tx.Delete)
	return removed, removed == limit, err
}
