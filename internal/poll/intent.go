package poll

import (
	"context"
	"fmt"
	"iter"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/ids"
	"questscheduler/internal/store"
	"questscheduler/rules"
)

// EventPrefix begins the id of every event that we make for a poll, so changes of other events
// cost no store read. Mirrors and events made over REST have prefixes of their own. Google takes the characters a to v and 0 to 9.
const EventPrefix = "questsched"

// EventID is the id of the event of a poll's generation: always the same, so an insert whose
// answer was lost is found again.
func EventID(pollID string, generation int64) string {
	return EventPrefix + ids.Of(fmt.Sprintf("%s/%d", pollID, generation)).Google()
}

// CalendarKey names a calendar as one account sees it: the key of its document in calendars.
func CalendarKey(accountID, calendarID string) string {
	return ids.Of(accountID, calendarID).Hex(16)
}

// IntentKind is what an intent does to an event.
type IntentKind string

// The kinds of intents.
const (
	IntentInsert IntentKind = "insert"
	IntentDelete IntentKind = "delete"
	// IntentPurge removes what is below a deleted poll; it names no event.
	IntentPurge IntentKind = "purge"
)

// Intent is a document of intents, the outbox of the calendar: an insert or a deletion of an
// event, written before Google is called and removed when it is done. Closed to clients.
type Intent struct {
	Kind       IntentKind
	PollID     string
	Generation int64
	AccountID  string
	CalendarID string
	EventID    string
	// Due is the earliest time for the drain to take it up; until then the request that wrote
	// it works on it.
	Due time.Time
	// Until, for the deletion of what an insert may make, is when nobody can work on that
	// insert any more: the event has to be deleted again then. Zero: nobody did.
	Until time.Time
	// Asked counts how often a deletion was asked for again. A run that began before that does
	// not end it.
	Asked int64
	// Attempts counts the attempts after that of the request that wrote the intent, each before
	// it is made.
	Attempts int64
	// FailedSince is when attempts of the outbox began to fail; zero: the last one did not.
	FailedSince time.Time
	// Failures counts the outbox's attempts that failed since FailingSince. Where the account has to be
	// linked again, they are counted anew.
	Failures     int64
	FailingSince time.Time
	// Error is the kind of the last failure (fault.Kind).
	Error     string
	CreatedAt time.Time
	Trace     string
	// Session holds the content of the event; for inserts alone.
	Session Session
	// Made is when the document was made (store.Document.Made); no field holds it.
	Made int64
}

// Session is the event that a finalisation asks for.
type Session struct {
	SlotID      string
	Start, End  time.Time
	AllDay      bool
	Title       string
	Description string
	Timezone    string
	Attendees   []string
	// KeepOld leaves the event of an earlier finalisation in the calendar.
	KeepOld bool
	// OldAccount is the account of an older event that the index does not know; "" for none.
	OldAccount string
	// Actor is the person who finalises.
	Actor string
	// Request names the request, so that the same one again is known; "" for none.
	Request string
}

// Fingerprint is the time that is asked for.
func (s Session) Fingerprint() rules.Fingerprint {
	f := rules.Timed(s.Start, s.End)
	f.AllDay = s.AllDay
	return f
}

// Place is where the event of the intent is, or will be inserted.
func (i Intent) Place() Place { return Place{i.AccountID, i.CalendarID} }

// ID is the intent's document id.
func (i Intent) ID() string {
	if i.Kind == IntentPurge {
		return "purge." + i.PollID
	}
	return IntentID(i.AccountID, i.CalendarID, i.EventID)
}

// Untried is the intent before its first attempt.
func (i Intent) Untried() Intent {
	i.Attempts, i.FailedSince, i.Failures, i.FailingSince, i.Error = 0, time.Time{}, 0, time.Time{}, ""
	return i
}

// Path is where the intent is.
func (i Intent) Path() store.Path { return IntentPath(i.ID()) }

// IntentID names the intent about an event: an event has one at most.
func IntentID(accountID, calendarID, eventID string) string {
	return eventID + "." + CalendarKey(accountID, calendarID)[:8]
}

// IntentPath is where an intent is.
func IntentPath(id string) store.Path { return store.Doc("intents", id) }

// EncodeIntent gives the fields of an intent.
func EncodeIntent(i Intent) map[string]any {
	data := map[string]any{
		"kind": string(i.Kind), "pollId": i.PollID, "generation": i.Generation,
		"accountId": i.AccountID, "calendarId": i.CalendarID, "eventId": i.EventID,
		"due": i.Due, "asked": i.Asked, "attempts": i.Attempts, "failedSince": store.NullIfZero(i.FailedSince),
		"error": store.NullIfEmpty(i.Error), "failures": i.Failures, "failingSince": store.NullIfZero(i.FailingSince),
		"until": store.NullIfZero(i.Until), "createdAt": i.CreatedAt, "trace": store.NullIfEmpty(i.Trace),
	}
	if i.Kind == IntentInsert {
		s := i.Session
		data["session"] = map[string]any{
			"slotId": s.SlotID, "start": s.Start, "end": s.End, "allDay": s.AllDay, "title": s.Title,
			"description": s.Description, "timezone": s.Timezone, "attendees": listOf(s.Attendees),
			"keepOld": s.KeepOld, "oldAccount": s.OldAccount, "actor": s.Actor,
			"request": store.NullIfEmpty(s.Request),
		}
	}
	return data
}

// FailingUpdates records how often attempts of an intent failed, and since when.
func FailingUpdates(failures int64, since time.Time) []store.Update {
	return []store.Update{store.Set("failures", failures), store.Set("failingSince", store.NullIfZero(since))}
}

// SetSessionRequest writes the name of an insert's request; "" for none.
func SetSessionRequest(name string) store.Update {
	return store.Update{Path: store.Field("session", "request"), Value: store.NullIfEmpty(name)}
}

// DecodeIntent reads an intent.
func DecodeIntent(doc store.Document) Intent {
	f := store.Fields(doc.Data)
	s := f.Map("session")
	return Intent{
		Kind: IntentKind(f.String("kind")), PollID: f.String("pollId"), Generation: f.Int("generation"),
		AccountID: f.String("accountId"), CalendarID: f.String("calendarId"), EventID: f.String("eventId"),
		Due: f.Time("due"), Until: f.Time("until"), Asked: f.Int("asked"), Attempts: f.Int("attempts"),
		FailedSince: f.Time("failedSince"), Failures: f.Int("failures"), FailingSince: f.Time("failingSince"),
		Error: f.String("error"), CreatedAt: f.Time("createdAt"), Trace: f.String("trace"), Made: doc.Made,
		Session: Session{
			SlotID: s.String("slotId"), Start: s.Time("start"), End: s.Time("end"), AllDay: s.Bool("allDay"),
			Title: s.String("title"), Description: s.String("description"), Timezone: s.String("timezone"),
			Attendees: s.Strings("attendees"), KeepOld: s.Bool("keepOld"), OldAccount: s.String("oldAccount"), Actor: s.String("actor"),
			Request: s.String("request"),
		},
	}
}

// LoadIntent reads an intent; nil where there is none.
func LoadIntent(ctx context.Context, reader store.Reader, id string) (*Intent, error) {
	return load(ctx, reader, IntentPath(id), DecodeIntent)
}

// IntentsDue selects what is due at its argument, those due longest first.
var IntentsDue = store.Select("intents by due", "intents", "due", store.Where("due", store.LessOrEqual))

var (
	intentsOfPoll    = store.Select("intents of a poll", "intents", "", store.Where("pollId", store.Equal))
	intentsOfAccount = store.Select("intents of an account", "intents", "", store.Where("accountId", store.Equal))
)

// PendingIntents yields intents that are due at now.
func PendingIntents(ctx context.Context, reader store.Reader, now time.Time) iter.Seq2[Intent, error] {
	return store.All(ctx, reader, IntentsDue.With(now), DecodeIntent)
}

// IntentsOf lists the intents of a poll that are not done, by id.
func IntentsOf(ctx context.Context, reader store.Reader, pollID string) ([]Intent, error) {
	intents, _, err := store.Page(ctx, reader, intentsOfPoll.With(pollID), DecodeIntent)
	return intents, err
}

// IntentsOfAccount yields the intents of an account's calendars that are not done, by id.
func IntentsOfAccount(ctx context.Context, reader store.Reader, accountID string) iter.Seq2[Intent, error] {
	return store.All(ctx, reader, intentsOfAccount.With(accountID), DecodeIntent)
}

// RetryRevoked makes at most 1000 intents due that wait until their account's grant is given
// again, and lists their ids.
func RetryRevoked(ctx context.Context, documents store.Store, accountID string, now time.Time) (ids []string, err error) {
	docs, err := documents.Query(ctx, intentsOfAccount.With(accountID).First(maxCounted))
	if err != nil {
		return nil, err
	}
	for _, doc := range docs {
		if !revoked(doc) {
			continue
		}
		ids = append(ids, doc.Path.ID())
		err := documents.Run(ctx, func(ctx context.Context, tx store.Tx) error {
			if now, err := tx.Get(ctx, doc.Path); err != nil || !revoked(now) {
				return err
			}
			return tx.Update(doc.Path, Set("due", store.Instant(now)))
		})
		if err != nil {
			return nil, err
		}
	}
	return ids, nil
}

// revoked reports whether an intent waits until its account's grant is given again.
func revoked(doc store.Document) bool {
	return store.Fields(doc.Data).String("error") == fault.Revoked.String()
}

// maxCounted is how far CountIntents counts.
const maxCounted = 1000

// CountIntents counts the pending intents of an account's calendars, up to 1000.
func CountIntents(ctx context.Context, reader store.Reader, accountID string) (int, error) {
	docs, err := reader.Query(ctx, intentsOfAccount.With(accountID).First(maxCounted))
	return len(docs), err
}
