package api

import (
	"context"
	"time"

	"questscheduler/calendarsync"
	"questscheduler/fault"
	"questscheduler/internal/store"
)

// Work is implemented by outbox.Outbox.
type Work interface {
	// Retry is NotFound if there is no such entry, or nothing is pending in it.
	Retry(ctx context.Context, id string) error
}

// registerTime is how long one request opens watch channels before it leaves the rest
// to the next. With a slow last calendar it is still below AnswerTime.
const registerTime = 20 * time.Second

// adminRoutes are the routes of those who run the server; the aliases are those of
// older deployments.
func (s *server) adminRoutes() {
	for _, alias := range [][2]string{{"list-watches", "GET /admin/watches"}, {"channel-status", "GET /admin/channel-status"}} {
		route(s, alias[1], alias[0], admins, "The watch channels on record, earliest end first", s.listWatches)
	}
	for _, alias := range [][2]string{
		{"register-watches", "POST /admin/watches/force-register"}, {"force-register-channels", "POST /admin/force-register-channels"},
	} {
		route(s, alias[1], alias[0], operators,
			"Open a new watch channel for every followed calendar, and stop the earlier ones; continue with meta.next_cursor while there is one",
			s.registerWatches)
	}
	route(s, "GET /admin/polls/{id}", "inspect-poll", admins,
		"Get a poll with its event, its calendar, its announcements and its latest journal entries", s.inspectPoll)
	route(s, "POST /admin/polls/{id}/sync", "admin-sync-poll", admins,
		"Sync the calendar of a poll now, and return the poll as it is then", byID(s.Scheduler.Sync))
	route(s, "POST /admin/tasks/{id}/retry", "retry-task", admins,
		"Try work that waits after a failure now", s.retryTask)
	route(s, "POST /admin/reload-mappings", "reload-mappings", operators,
		"Load the second addresses of attendees now, or confirm those that await it", s.reloadMappings)
	route(s, "POST /admin/announcements/{poll_id}/resend", "resend-announcement", admins,
		"Deliver the last announcement of a poll again; recipients who have it get no second one", s.resendAnnouncement)
}

// watchAnswer is a watch channel without the hash of its token.
type watchAnswer struct {
	ChannelID   string     `json:"channel_id"`
	ResourceID  *string    `json:"resource_id" doc:"The id by which Google stops it; null until Google has sent it."`
	CalendarID  string     `json:"calendar_id"`
	CalendarKey string     `json:"calendar_key"`
	AccountID   string     `json:"account_id"`
	UserID      string     `json:"user_id" doc:"The owner of the account."`
	Address     string     `json:"address" doc:"The address that receives its pushes."`
	Status      string     `json:"status" enum:"pending,active,retiring,expired,error"`
	Reason      *string    `json:"reason" doc:"Why it is in error."`
	GrantedAt   *time.Time `json:"granted_at" doc:"When Google granted it; null if unknown."`
	Expiration  *time.Time `json:"expiration" doc:"When Google ends it, which may be earlier than requested."`
	Failures    int64      `json:"failures" doc:"Failed attempts in a row."`
	NextTry     *time.Time `json:"next_try" doc:"When its replacement is attempted or, if it is active, when it is renewed; null: never automatically."`
	CreatedAt   *time.Time `json:"created_at"`
	UpdatedAt   *time.Time `json:"updated_at"`
}

func answerWatch(w calendarsync.Watch) watchAnswer {
	return watchAnswer{
		ChannelID: w.ChannelID, ResourceID: optional(w.ResourceID), CalendarID: w.CalendarID, CalendarKey: w.CalendarKey,
		AccountID: w.AccountID, UserID: w.UserID, Address: w.Address, Status: string(w.Status), Reason: optional(w.Reason),
		GrantedAt: instant(w.GrantedAt), Expiration: instant(w.Expiration), Failures: w.Failures, NextTry: instant(w.NextTry),
		CreatedAt: instant(w.CreatedAt), UpdatedAt: instant(w.UpdatedAt),
	}
}

type watchList struct {
	page
	Watches []watchAnswer `json:"watches"`
}

func (s *server) listWatches(ctx context.Context, _ caller, in *struct{ Paging }) (watchList, error) {
	place := listing{name: "watches", collection: "calendarWatches"}
	watches, is, err := listed(place, in.Paging, answerWatch,
		func(part store.Paging, take func(calendarsync.Watch) (bool, error)) (*store.Cursor, error) {
			return calendarsync.WalkByExpiration(ctx, s.Store, part, take)
		})
	return watchList{page: is, Watches: watches}, err
}

type registerWatches struct {
	Cursor string `query:"cursor" pattern:"^[0-9a-f]{32}$" patternDescription:"the next_cursor of an earlier answer" doc:"Where to continue: meta.next_cursor of the previous answer."`
}

type registeredAnswer struct {
	page
	Calendars int `json:"calendars" doc:"Followed calendars that were processed."`
	Opened    int `json:"opened" doc:"New channels."`
	Stopped   int `json:"stopped" doc:"Earlier channels that were stopped."`
	Failed    int `json:"failed" doc:"Calendars that keep their channels; the log says why."`
}

func (s *server) registerWatches(ctx context.Context, by caller, in *registerWatches) (answer registeredAnswer, err error) {
	answer.next = in.Cursor
	for until := s.Now().Add(registerTime); ; {
		var did calendarsync.Renewed
		did, answer.next, err = s.Calendars.Register(ctx, by.cause, answer.next, until)
		answer.Calendars += did.Calendars
		answer.Opened += did.Opened
		answer.Stopped += did.Stopped
		answer.Failed += did.Failed
		if err != nil || answer.next == "" || !s.Now().Before(until) {
			break
		}
	}
	s.Log.InfoContext(ctx, "watch channels are opened anew", "calendars", answer.Calendars, "opened", answer.Opened, "stopped", answer.Stopped,
		"failed", answer.Failed, "done", err == nil && answer.next == "", "user_id", by.person.ID, "trace", by.cause.Trace)
	return answer, err
}

type onTask struct {
	ID string `path:"id" doc:"The kind of the work and the id of its document, joined by a colon, as the dashboard shows it."`
}

type taskAnswer struct {
	ID string `json:"id"`
}

func (s *server) retryTask(ctx context.Context, by caller, in *onTask) (taskAnswer, error) {
	err := s.Work.Retry(ctx, in.ID)
	if fault.Is(err, fault.NotFound) {
		return taskAnswer{}, namesTask.missing()
	}
	if err == nil {
		s.Log.InfoContext(ctx, "work is tried again", "task", in.ID, "user_id", by.person.ID, "trace", by.cause.Trace)
	}
	return taskAnswer{ID: in.ID}, err
}

type onAnnouncedPoll struct {
	PollID string `path:"poll_id" doc:"The poll's id."`
}

type resentAnswer struct {
	PollID string  `json:"poll_id"`
	Notice *string `json:"notice" doc:"The announcement that is delivered again; null if a delivery is already in progress, which then continues at once."`
}

func (s *server) resendAnnouncement(ctx context.Context, by caller, in *onAnnouncedPoll) (resentAnswer, error) {
	notice, err := s.Scheduler.Resend(ctx, by.person, in.PollID, by.cause)
	return resentAnswer{PollID: in.PollID, Notice: optional(string(notice))}, err
}
