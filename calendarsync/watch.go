package calendarsync

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"time"

	"questscheduler/internal/fault"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
)

// Watch is a document of calendarWatches: a channel by which Google
// says that a calendar changed. Closed to clients. The secret token is kept as
// a hash: whoever reads the store cannot forge a push.
type Watch struct {
	ChannelID   string
	CalendarID  string
	AccountID   string
	CalendarKey string
	UserID      string
	ResourceID  string // "" until Google told it
	Address     string
	TokenHash   string
	// GrantedAt is when Google granted it, and Expiration when Google ends it,
	// which may be sooner than was asked. GrantedAt is zero of one that was not
	// granted, and of those from before it was kept.
	GrantedAt  time.Time
	Expiration time.Time
	Status     Status
	Reason     string // why it is in error
	// Failures counts the tries in a row that failed, this one included, and
	// NextTry is when another channel is tried in its place: where it failed, or,
	// of one that lives, when it is renewed. Zero: not of itself.
	Failures  int64
	NextTry   time.Time
	CreatedAt time.Time
	UpdatedAt time.Time
}

// watchPath is where a channel's document stands.
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

// hashToken is how a channel's token is kept.
func hashToken(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// authentic tells, in constant time, whether a push carries the channel's token
// and, where it is known, its resource id.
func (w Watch) authentic(token, resourceID string) bool {
	sameToken := subtle.ConstantTimeCompare([]byte(hashToken(token)), []byte(w.TokenHash)) == 1
	return sameToken && (w.ResourceID == "" || w.ResourceID == resourceID)
}

// accepted tells whether pushes of a channel count: before Google's answer was
// stored, while it lives, until it is stopped, and where it may be open though
// no answer came.
func (w Watch) accepted() bool {
	return w.Status == Pending || w.Status == Active || w.Status == Retiring || w.mayBeOpen()
}

// mayBeOpen tells whether Google may have opened a channel without our hearing
// what it is stopped by. Such a one is kept until its end: a push of it says how
// to stop it.
func (w Watch) mayBeOpen() bool {
	unanswered := w.Reason == fault.Unavailable.String() || w.Reason == fault.Internal.String()
	return w.ResourceID == "" && (w.Status == Pending || w.Status == Failed && unanswered)
}

var (
	watchesOfCalendar = &store.Query{
		Name: "watch channels of a calendar", Collection: "calendarWatches",
		Filters: []store.Filter{{Path: store.Field("calendarKey"), Op: store.Equal}},
	}
	watchesOfCalendars = &store.Query{
		Name: "watch channels of some calendars", Collection: "calendarWatches",
		Filters: []store.Filter{{Path: store.Field("calendarKey"), Op: store.In}},
	}
	watchesByStatus = &store.Query{
		Name: "watch channels by status and expiration", Collection: "calendarWatches",
		Filters: []store.Filter{{Path: store.Field("status"), Op: store.In}},
		Order:   []store.Order{{Path: store.Field("expiration")}},
	}
)

// watchesEnding are those of a status that end before a time, soonest first.
var watchesEnding = &store.Query{
	Name: "watch channels of a status that end soon", Collection: "calendarWatches",
	Filters: []store.Filter{{Path: store.Field("status"), Op: store.Equal}, {Path: store.Field("expiration"), Op: store.Less}},
	Order:   []store.Order{{Path: store.Field("expiration")}},
}

// watchesInOrder has no order of its own: that of the paths does not change
// while somebody goes through it.
var watchesInOrder = &store.Query{Name: "watch channels", Collection: "calendarWatches"}

// watchesToTry are those in whose place another is to be tried by a time.
var watchesToTry = &store.Query{
	Name: "watch channels to be tried again", Collection: "calendarWatches",
	Filters: []store.Filter{{Path: store.Field("nextTry"), Op: store.LessOrEqual}},
	Order:   []store.Order{{Path: store.Field("nextTry")}},
}

// watchesUntried are those of a status that wait for another to be tried.
var watchesUntried = &store.Query{
	Name: "watch channels of a status in whose place another is tried", Collection: "calendarWatches",
	Filters: []store.Filter{{Path: store.Field("status"), Op: store.Equal}, {Path: store.Field("nextTry"), Op: store.Greater}},
	Order:   []store.Order{{Path: store.Field("nextTry")}},
}

// watchesByEnd are those that ended before a time, oldest first.
var watchesByEnd = &store.Query{
	Name: "watch channels by their end", Collection: "calendarWatches",
	Filters: []store.Filter{{Path: store.Field("expiration"), Op: store.Less}},
	Order:   []store.Order{{Path: store.Field("expiration")}},
}

// watchesByExpiration are all there are, whatever became of them.
var watchesByExpiration = &store.Query{
	Name: "watch channels by expiration", Collection: "calendarWatches",
	Order: []store.Order{{Path: store.Field("expiration")}},
}

// Queries are all queries of this package, for opening a store.
var Queries = []*store.Query{
	watchesOfCalendar, watchesOfCalendars, watchesByStatus, watchesInOrder, watchesToTry, watchesUntried, watchesByEnd, watchesEnding, watchesByExpiration,
}

// DeadKept is how long the document of a channel is kept after the channel's
// end, for whoever asks what became of it.
const DeadKept = 30 * 24 * time.Hour

// RemoveDead removes the documents of channels that ended longer than DeadKept
// ago, limit at most, and tells how many and whether more may be left. It may be
// called again and again.
func RemoveDead(ctx context.Context, documents store.Store, now time.Time, limit int) (removed int, more bool, err error) {
	removed, err = store.DeletePage(ctx, documents, watchesByEnd.With(now.Add(-DeadKept)).First(limit), nil)
	return removed, removed == limit, err
}

// Watches lists the watch channels of a calendar, in any status.
func Watches(ctx context.Context, reader store.Reader, accountID, calendarID string) ([]Watch, error) {
	docs, err := reader.Query(ctx, watchesOfCalendar.With(poll.CalendarKey(accountID, calendarID)))
	return decodeWatches(docs), err
}
