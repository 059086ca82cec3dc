package api

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"questscheduler/calendarsync"
	"questscheduler/internal/calendars"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
)

// inspectedEntries is how many journal entries an inspection shows.
const inspectedEntries = 20

// inspectedAnswer is a poll for troubleshooting.
type inspectedAnswer struct {
	Poll         pollAnswer         `json:"poll"`
	Generation   int64              `json:"generation" doc:"Counts the finalisations and the changes that supersede one."`
	Baseline     string             `json:"baseline" doc:"The time that was agreed."`
	Calendar     *inspectedCalendar `json:"calendar" doc:"The calendar of the event that the poll follows; null if it follows none."`
	Intents      []intentAnswer     `json:"intents" doc:"Events that are not yet inserted or deleted."`
	Announcement announcementAnswer `json:"told" doc:"What was announced to people."`
	Journal      []entryAnswer      `json:"journal" doc:"The newest entries; the others are at /v1/polls/{id}/journal."`
}

// TransformSchema implements huma.SchemaTransformer.
func (inspectedAnswer) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return nullable(s, "calendar")
}

type inspectedCalendar struct {
	Key          string        `json:"key"`
	CalendarID   string        `json:"calendar_id"`
	AccountID    string        `json:"account_id"`
	OwnerID      string        `json:"owner_id"`
	LastSync     *time.Time    `json:"last_sync_ts" doc:"When a sync of it last ended."`
	LastSuccess  *time.Time    `json:"last_success_ts"`
	FailingSince *time.Time    `json:"failing_since"`
	LastError    *string       `json:"last_error"`
	PausedUntil  *time.Time    `json:"parked_until"`
	SyncPending  bool          `json:"look_due"`
	Fence        int64         `json:"fence" doc:"The number of its latest sync run."`
	Pending      *string       `json:"pending" doc:"Why the event of this poll is fetched individually; null if it is not."`
	Watches      []watchAnswer `json:"watches"`
}

type intentAnswer struct {
	ID        string     `json:"id"`
	Kind      string     `json:"kind" enum:"insert,delete,purge"`
	EventID   string     `json:"event_id"`
	AccountID string     `json:"account_id"`
	Due       *time.Time `json:"due"`
	Attempts  int64      `json:"attempts"`
	LastError *string    `json:"last_error"`
	Trace     string     `json:"trace"`
}

type announcementAnswer struct {
	Due        *time.Time       `json:"due" doc:"When the next delivery is attempted; null: none is pending."`
	Wanted     *messageAnswer   `json:"wanted" doc:"The state to announce."`
	Announced  *messageAnswer   `json:"announced" doc:"What was announced last."`
	Delivering *messageAnswer   `json:"telling" doc:"What is being delivered now."`
	Attempts   int64            `json:"attempts"`
	Channels   []deliveryAnswer `json:"channels"`
}

// TransformSchema implements huma.SchemaTransformer.
func (announcementAnswer) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return nullable(s, "wanted", "announced", "telling")
}

type messageAnswer struct {
	Ref         string     `json:"ref" doc:"The journal entry that it comes from."`
	Status      string     `json:"status"`
	Time        string     `json:"time"`
	Rescheduled bool       `json:"rescheduled"`
	Generation  int64      `json:"generation"`
	At          *time.Time `json:"at"`
	Trace       string     `json:"trace"`
}

type deliveryAnswer struct {
	Channel   string     `json:"channel"`
	Ref       string     `json:"ref" doc:"What was delivered there last."`
	MessageID *string    `json:"message_id"`
	Error     *string    `json:"error" doc:"Why it could not be delivered there."`
	At        *time.Time `json:"at"`
}

func (s *server) inspectPoll(ctx context.Context, by caller, in *onPoll) (answer inspectedAnswer, err error) {
	view, err := s.Scheduler.View(ctx, by.person, in.ID)
	if err != nil {
		return inspectedAnswer{}, err
	}
	answer = inspectedAnswer{Poll: answerPoll(view), Generation: view.Poll.Sync.Generation, Baseline: view.Poll.Sync.Baseline.String()}
	answer.Calendar, err = s.calendarOf(ctx, view.Poll)
	if err != nil {
		return inspectedAnswer{}, err
	}
	intents, err := poll.IntentsOf(ctx, s.Store, in.ID)
	if err != nil {
		return inspectedAnswer{}, err
	}
	announced, err := poll.LoadAnnouncement(ctx, s.Store, in.ID)
	if err != nil {
		return inspectedAnswer{}, err
	}
	if view.Poll.ReplacesAnnounced(announced) { // it belongs to an earlier poll of the same id
		announced = poll.Announcement{PollID: in.ID}
	}
	entries, _, err := poll.LoadJournal(ctx, s.Store, in.ID, store.Paging{Limit: inspectedEntries})
	entries = slices.DeleteFunc(entries, func(entry poll.JournalEntry) bool { return view.Poll.Replaces(entry) })
	answer.Intents, answer.Announcement, answer.Journal = each(intents, answerIntent), answerAnnouncement(announced),
		each(entries, answerEntry)
	return answer, err
}

// calendarOf is the calendar of a poll's event; nil without one.
func (s *server) calendarOf(ctx context.Context, p poll.Poll) (*inspectedCalendar, error) {
	entry, _, err := poll.IndexOf(ctx, s.Store, p)
	if err != nil || entry == nil {
		return nil, err
	}
	c, _, err := calendars.Load(ctx, s.Store, entry.AccountID, entry.CalendarID)
	if err != nil {
		return nil, err
	}
	watches, err := calendarsync.Watches(ctx, s.Store, entry.AccountID, entry.CalendarID)
	return &inspectedCalendar{
		Key: c.Key, CalendarID: c.CalendarID, AccountID: c.AccountID, OwnerID: c.OwnerID,
		LastSync: instant(c.SyncedAt), LastSuccess: instant(c.SuccessAt), FailingSince: instant(c.FailedSince),
		LastError: optional(c.LastError), PausedUntil: instant(c.PausedUntil), SyncPending: c.SyncPending, Fence: c.Fence,
		Pending: optional(c.Deferred(entry.EventID).Why), Watches: each(watches, answerWatch),
	}, err
}

func answerIntent(i poll.Intent) intentAnswer {
	return intentAnswer{
		ID: i.ID(), Kind: string(i.Kind), EventID: i.EventID, AccountID: i.AccountID, Due: instant(i.Due),
		Attempts: i.Attempts, LastError: optional(i.Error), Trace: i.Trace,
	}
}

func answerAnnouncement(a poll.Announcement) announcementAnswer {
	return announcementAnswer{
		Due: instant(a.Due), Attempts: a.Attempts,
		Wanted: answerMessage(a.Wanted), Announced: answerMessage(a.Announced), Delivering: answerMessage(a.Delivering),
		Channels: each(slices.Sorted(maps.Keys(a.Channels)), func(name string) deliveryAnswer {
			d := a.Channels[name]
			return deliveryAnswer{Channel: name, Ref: d.Ref, MessageID: optional(d.MessageID), Error: optional(d.Error), At: instant(d.At)}
		}),
	}
}

func answerMessage(t poll.Message) *messageAnswer {
	if t.Ref == "" {
		return nil
	}
	return &messageAnswer{
		Ref: t.Ref, Status: string(t.State.Status), Time: t.State.At.String(), Rescheduled: t.State.Rescheduled,
		Generation: t.State.Generation, At: instant(t.At), Trace: t.Trace,
	}
}
