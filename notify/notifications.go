package notify

import (
	"context"
	"strings"
	"time"

	"questscheduler/internal/fault"
	"questscheduler/internal/store"
)

// Notification is a document of users/{uid}/notifications, shared with the web
// app, which writes others there.
type Notification struct {
	ID        string
	Type      string
	Title     string
	Body      string
	ActionURL string
	Resource  Resource
	Actor     *Actor // nil where nobody is named
	Read      bool
	Dismissed bool
	CreatedAt time.Time
}

// Resource is what a notification is about.
type Resource struct{ Type, ID, Title string }

// Actor is who caused what a notification tells.
type Actor struct{ UserID, Email, DisplayName string }

// NotificationPath is where a person's notification stands.
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
)

// Queries are all queries of this package, for opening a store.
var Queries = []*store.Query{notificationsByTime, unreadNotifications, oldNotifications}

// Walk gives a person's notifications that they have not dismissed to take, newest
// first, at most limit (0: all) behind after, as store.Walk does.
func Walk(ctx context.Context, reader store.Reader, uid string, limit int, after *store.Cursor, take func(Notification) (taken bool, err error)) (next *store.Cursor, err error) {
	asked := notificationsByTime.With(false).Below(store.Doc("users", uid)).First(limit).From(after)
	return store.Walk(ctx, reader, asked, decodeNotification, take)
}

// List reads a page of them into memory, whatever their size.
func List(ctx context.Context, reader store.Reader, uid string, limit int, after *store.Cursor) (list []Notification, next *store.Cursor, err error) {
	next, err = Walk(ctx, reader, uid, limit, after, func(n Notification) (bool, error) {
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

// MarkRead marks one notification of a person as read; NotFound where they have
// none of that id. Doing it twice changes nothing the second time.
func MarkRead(ctx context.Context, documents store.Store, uid, id string) error {
	path := NotificationPath(uid, id)
	if strings.Contains(id, "/") || path.Valid() != nil {
		return errNoNotification()
	}
	err := documents.Run(ctx, func(_ context.Context, tx store.Tx) error {
		return tx.Update(path, store.Update{Path: store.Field("read"), Value: true})
	})
	if fault.Is(err, fault.NotFound) {
		return errNoNotification()
	}
	return err
}

func errNoNotification() error {
	return fault.New(fault.NotFound, "You have no such notification. List your notifications for the ids there are.")
}

// readBatch is how many notifications are marked in one transaction.
const readBatch = 100

// MarkAllRead marks every notification of a person as read and tells how many
// were not. It goes in steps: after an error call it again, it goes on where it
// stopped.
func MarkAllRead(ctx context.Context, documents store.Store, uid string) (marked int, err error) {
	for {
		found := 0
		err := documents.Run(ctx, func(ctx context.Context, tx store.Tx) error {
			found = 0
			docs, err := tx.Query(ctx, unreadNotifications.With(false).Below(store.Doc("users", uid)).First(readBatch))
			if err != nil {
				return err
			}
			for _, doc := range docs {
				if err := tx.Update(doc.Path, store.Update{Path: store.Field("read"), Value: true}); err != nil {
					return err
				}
			}
			found = len(docs)
			return nil
		})
		if err != nil {
			return marked, err
		}
		marked += found
		if found < readBatch {
			return marked, nil
		}
	}
}
