package worldtest

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"questscheduler/calendarsync"
	"questscheduler/fault"
	"questscheduler/internal/accounts"
	"questscheduler/internal/calendars"
	"questscheduler/internal/gcal"
	"questscheduler/internal/store"
	"questscheduler/rules"
	"questscheduler/scheduler"
)

// Consumer is a consumer of calendars beside polls, which keeps for each event what it
// read of it last. Follow gives it an interest.
type Consumer struct {
	Name string
	// Reads are the fields that it needs.
	Reads gcal.Mask
	// Fails, if set, is called before and after an event is applied, with "" before a
	// decision about what was not listed. Its error fails the attempt; it may panic.
	Fails func(eventID string) error
	// Applied are the events that it was given, in order, by the calendar's id and theirs.
	Applied []string
	// Relisted counts the full listings that came to an end.
	Relisted int
	// failed are events that it failed to apply at some time.
	failed map[string]bool
}

// consumerEvents is the collection of what consumers of the tests keep.
const consumerEvents = "consumerEvents"

var (
	allConsumerEvents = &store.Query{Name: "world: events of consumers", Collection: consumerEvents}
	eventsOfCalendar  = store.Select("world: events of a consumer's calendar", consumerEvents, "", store.Where("key", store.Equal))
)

// fail is Fails, if that is set.
func (c *Consumer) fail(eventID string) error {
	if c.Fails == nil {
		return nil
	}
	return c.Fails(eventID)
}

// consumer is a Consumer as one instance of the program runs it.
type consumer struct {
	*Consumer
	documents store.Store
}

func (c consumer) Name() string { return c.Consumer.Name }

func (c consumer) Reads() gcal.Mask { return c.Consumer.Reads }

func (c consumer) Concerns(calendars.Calendar, string) bool { return true }

func (c consumer) path(key, eventID string) store.Path {
	return store.Doc(consumerEvents, c.Name()+"~"+key+"~"+eventID)
}

// Apply implements calendarsync.Consumer.
func (c consumer) Apply(ctx context.Context, run calendarsync.Run, observed calendarsync.SyncedEvent) (err error) {
	event, key := observed.Event, run.Calendar.Key
	applied := false
	defer func() {
		if !applied || err != nil || event.Malformed {
			c.failed[c.id(key, event.ID)] = true
		}
	}()
	c.Applied = append(c.Applied, run.Calendar.CalendarID+" "+event.ID)
	gone := event.EventState == rules.Gone
	switch {
	case gone && !observed.Writable:
		return fault.New(fault.Unavailable, "the absence proves nothing")
	case c.Reads() > gcal.Times && !observed.Fresh && event.Details == nil:
		return fault.New(fault.Internal, "a listed event has no details")
	}
	if err := c.fail(event.ID); err != nil {
		return err
	}
	err = c.documents.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		if err := run.Holds(ctx, tx); err != nil {
			return err
		}
		return tx.Merge(c.path(key, event.ID), store.Set("consumer", c.Name()), store.Set("key", key), store.Set("event", event.ID),
			store.Set("etag", event.ETag), store.Set("gone", gone), store.Set("guests", guestsOf(event)))
	})
	if err == nil {
		err = c.fail(event.ID)
	}
	applied = true
	return err
}

// guestsOf are the addresses of an event's guests, as far as it shows them.
func guestsOf(event gcal.Event) string {
	var addresses []string
	if event.Details != nil {
		for _, guest := range event.Details.Guests {
			addresses = append(addresses, guest.Address)
		}
	}
	return strings.Join(addresses, " ")
}

// Unlisted implements calendarsync.Consumer.
func (c consumer) Unlisted(ctx context.Context, run calendarsync.Run, shown func(string) bool) error {
	if err := c.fail(""); err != nil {
		return err
	}
	known, err := c.documents.Query(ctx, eventsOfCalendar.With(run.Calendar.Key))
	if err != nil {
		return err
	}
	var missing []string
	for _, document := range known {
		f := store.Fields(document.Data)
		if f.String("consumer") == c.Name() && !f.Bool("gone") && !shown(f.String("event")) {
			missing = append(missing, f.String("event"))
		}
	}
	left, err := run.FetchMissing(ctx, missing, func(_ string, event gcal.Event, failure error) error {
		if failure != nil {
			return failure
		}
		return c.Apply(ctx, run, calendarsync.SyncedEvent{Event: event, Fresh: true, Writable: true})
	})
	switch {
	case err != nil:
		return err
	case len(left) > 0:
		return calendarsync.ErrLater
	}
	c.Relisted++
	return nil
}

func (c *Consumer) id(key, eventID string) string { return key + "~" + eventID }

// consumers are those of Options, for an instance of the program.
func (w *World) consumers(documents store.Store) (all []calendarsync.Consumer) {
	for _, c := range w.options.Consumers {
		if c.failed == nil {
			c.failed = map[string]bool{}
		}
		all = append(all, consumer{c, documents})
	}
	return all
}

// Follow gives a consumer a number of interests in a calendar of Calendars, as a part of
// the program does. Its owner must have linked an account once, and an interest needs it to
// be linked now.
func (w *World) Follow(c *Consumer, person string, count int64) error {
	w.t.Helper()
	owner, calendarID := calendarOf(person)
	return w.followIn(c, w.Account(owner), calendarID, owner, count)
}

func (w *World) followIn(c *Consumer, account, calendarID, owner string, count int64) error {
	err := w.Watcher.Store.Run(w.ctx, func(ctx context.Context, tx store.Tx) error {
		linked, err := accounts.Load(ctx, tx, account)
		if err != nil {
			return err
		}
		if err := linked.Usable(); err != nil && count > 0 {
			return err
		}
		calendar, _, err := calendars.Load(ctx, tx, account, calendarID)
		if err != nil {
			return err
		}
		updates := calendar.Want(c.Name, count, scheduler.Cause{Trigger: "follow", Trace: "follow"}.Request(w.Watcher.Now()), owner)
		if len(updates) == 0 {
			return nil
		}
		return tx.Merge(calendars.Path(calendar.Key), updates...)
	})
	if err != nil {
		return err
	}
	return w.Watcher.Follow(w.ctx, account, calendarID, scheduler.Cause{Trigger: "follow", Trace: "follow"})
}

// ConsumerProblems says which events were deferred for a consumer that never failed to
// apply them.
func (w *World) ConsumerProblems() (problems []string) {
	w.t.Helper()
	for _, c := range w.options.Consumers {
		for _, calendar := range decoded(w.all(allCalendars), calendars.Decode) {
			for eventID := range calendar.Backlogs[c.Name].Deferred {
				if !c.failed[c.id(calendar.Key, eventID)] {
					problems = append(problems,
						fmt.Sprintf("event %s of calendar %s is deferred for consumer %s, which did not fail", eventID, calendar.CalendarID, c.Name))
				}
			}
		}
	}
	slices.Sort(problems)
	return problems
}

// Unread says which events of the calendars that consumers follow they did not read as they
// are now, and what is still deferred for them. There are none when a world without faults
// has come to rest.
func (w *World) Unread() (problems []string) {
	w.t.Helper()
	for _, c := range w.options.Consumers {
		for _, person := range Calendars {
			owner, calendarID := calendarOf(person)
			account := w.accountOf(owner)
			calendar, _, err := calendars.Load(w.ctx, w.observed.stored, account, calendarID)
			w.must(err)
			if account == "" || calendar.Interests[c.Name] <= 0 {
				continue
			}
			if calendar.HasBacklog() {
				problems = append(problems, fmt.Sprintf("calendar %s has a backlog: %+v", calendarID, calendar.Backlogs))
			}
			problems = append(problems, w.unread(c, person, calendar)...)
		}
	}
	return problems
}

// unread compares one calendar with what a consumer read of it.
func (w *World) unread(c *Consumer, person string, calendar calendars.Calendar) (problems []string) {
	live, guests := map[string]string{}, map[string]string{}
	for _, event := range w.Events(person) {
		live[event.ID], guests[event.ID] = event.ETag, event.guests()
	}
	read := map[string]bool{}
	for _, document := range w.all(allConsumerEvents) {
		f := store.Fields(document.Data)
		if f.String("consumer") != c.Name || f.String("key") != calendar.Key {
			continue
		}
		id := f.String("event")
		read[id] = true
		if f.Bool("gone") != (live[id] == "") || live[id] != "" && live[id] != f.String("etag") {
			problems = append(problems, fmt.Sprintf("consumer %s last read event %s of calendar %s as %s (gone: %t), and it is %q",
				c.Name, id, calendar.CalendarID, f.String("etag"), f.Bool("gone"), live[id]))
		}
		if c.Reads == gcal.WithGuests && person != Club && f.String("guests") != guests[id] &&
			live[id] != "" { // a reader of the club sees no guests of private events
			problems = append(problems, fmt.Sprintf("consumer %s last read event %s of calendar %s with the guests %q, and they are %q",
				c.Name, id, calendar.CalendarID, f.String("guests"), guests[id]))
		}
	}
	for id := range live {
		if !read[id] {
			problems = append(problems, fmt.Sprintf("consumer %s never read event %s of calendar %s", c.Name, id, calendar.CalendarID))
		}
	}
	slices.Sort(problems)
	return problems
}
