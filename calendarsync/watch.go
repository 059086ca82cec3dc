package calendarsync

import (
	"context"
	"crypto/subtle"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/ids"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
)

// Watch is a document of calendarWatches, closed to clients: a channel by which Google
// announces changes of a calendar. It stores only a hash of the secret token, so that
// reading the store does not allow forging pushes.
type Watch struct {
	ChannelID   string
	CalendarID  string
	AccountID   string
	CalendarKey string
	UserID      string
	ResourceID  string // "" until known
	Address     string
	TokenHash   string
	// GrantedAt is when Google granted it, zero if it did not or the document is older
	// than this field; Expiration is when Google ends it, perhaps sooner than requested.
	GrantedAt  time.Time
	Expiration time.Time
	Status     Status
	Reason     string // of an error
	// Failures counts failed attempts in a row, this one included. NextTry is when the
	// channel is replaced: after a failure, or to renew a live one. Zero: never.
	Failures  int64
	NextTry   time.Time
	CreatedAt time.Time
	UpdatedAt time.Time
}

func watchPath(channelID string) store.Path { return store.Doc("calendarWatches", channelID) }

func decodeWatch(doc store.Document) Watch {
	f := store.Fields(doc.Data)
	return Watch{
		ChannelID: doc.Path.ID(), CalendarID: f.String("calendarId"), AccountID: f.String("accountId"),
		CalendarKey: f.String("calendarKey"), UserID: f.String("userId"), ResourceID: f.String("resourceId"),
		Address: f.String("address"), TokenHash: f.String("tokenHash"),
		GrantedAt: f.Time("grantedAt"), Expiration: f.Time("expiration"),
		Status: Status(f.String("status")), Reason: f.String("reason"),
		Failures: f.Int("failures"), NextTry: f.Time("nextTry"),
		CreatedAt: f.Time("createdAt"), UpdatedAt: f.Time("updatedAt"),
	}
}

func encodeWatch(w Watch) map[string]any {
	return map[string]any{
		"channelId": w.ChannelID, "calendarId": w.CalendarID, "accountId": w.AccountID,
		"calendarKey": w.CalendarKey, "userId": w.UserID, "resourceId": store.NullIfEmpty(w.ResourceID),
		"address": w.Address, "tokenHash": w.TokenHash,
		"grantedAt": store.NullIfZero(w.GrantedAt), "expiration": w.Expiration,
		"status": string(w.Status), "reason": store.NullIfEmpty(w.Reason),
		"failures": w.Failures, "nextTry": store.NullIfZero(w.NextTry),
		"createdAt": w.CreatedAt, "updatedAt": w.UpdatedAt,
	}
}

func hashToken(token string) string { return ids.Of(token).Hex(32) }

// authentic reports, in constant time, whether a push has the channel's token and
// resource id, if known.
func (w Watch) authentic(token, resourceID string) bool {
	sameToken := subtle.ConstantTimeCompare([]byte(hashToken(token)), []byte(w.TokenHash)) == 1
	return sameToken && (w.ResourceID == "" || w.ResourceID == resourceID)
}

// accepted reports whether to accept a channel's pushes: until it is stopped, even if it
// was not answered.
func (w Watch) accepted() bool {
	return w.Status == Pending || w.Status == Active || w.Status == Retiring || w.mayBeOpen()
}

// mayBeOpen reports whether Google may have opened the channel without our learning its
// resource id. It is kept until its end, since a push names that id.
func (w Watch) mayBeOpen() bool {
	unanswered := w.Reason == fault.Unavailable.String() || w.Reason == fault.Internal.String()
	return w.ResourceID == "" && (w.Status == Pending || w.Status == Failed && unanswered)
}

var (
	watchesOfCalendar = store.Select("watch channels of a calendar", "calendarWatches", "",
		store.Where("calendarKey", store.Equal))
	watchesOfCalendars = store.Select("watch channels of some calendars", "calendarWatches", "",
		store.Where("calendarKey", store.In))
	watchesByStatus = store.Select("watch channels by status and expiration", "calendarWatches", "expiration",
		store.Where("status", store.In))
	watchesEnding = store.Select("watch channels of a status that end soon", "calendarWatches", "expiration",
		store.Where("status", store.Equal), store.Where("expiration", store.Less))
	// watchesInOrder has the order of paths, which does not change while a caller pages
	// through it.
	watchesInOrder = store.Select("watch channels", "calendarWatches", "")
	watchesToTry   = store.Select("watch channels by their next try", "calendarWatches", "nextTry",
		store.Where("nextTry", store.LessOrEqual))
	watchesUntried = store.Select("watch channels of a status by their next try", "calendarWatches", "nextTry",
		store.Where("status", store.Equal), store.Where("nextTry", store.Greater))
	watchesByEnd = store.Select("watch channels by their end", "calendarWatches", "expiration",
		store.Where("expiration", store.Less))
	watchesByExpiration = store.Select("watch channels by expiration", "calendarWatches", "expiration")
)

// Queries are the package's queries, for opening a store.
var Queries = []*store.Query{
	watchesOfCalendar, watchesOfCalendars, watchesByStatus, watchesInOrder, watchesToTry, watchesUntried, watchesByEnd,
	watchesEnding, watchesByExpiration,
}

// DeadKept is how long the document of an ended channel is kept.
const DeadKept = 30 * 24 * time.Hour

// RemoveDead removes the documents of at most limit channels that ended longer than
// DeadKept ago, and reports how many and whether more may be left.
func RemoveDead(ctx context.Context, documents store.Store, now time.Time, limit int) (removed int, more bool, err error) {
	removed, err = store.DeletePage(ctx, documents, watchesByEnd.With(now.Add(-DeadKept)).First(limit), nil)
	return removed, removed == limit, err
}

// Watches lists the watch channels of a calendar, in any status.
func Watches(ctx context.Context, reader store.Reader, accountID, calendarID string) ([]Watch, error) {
	docs, err := reader.Query(ctx, watchesOfCalendar.With(poll.CalendarKey(accountID, calendarID)))
	return decodeWatches(docs), err
}
