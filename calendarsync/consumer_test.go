package calendarsync_test

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/calendars"
	"questscheduler/internal/gcal"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/internal/test/storetest"
	"questscheduler/internal/test/worldtest"
	"questscheduler/notify"
	"questscheduler/rules"
)

// listening is a world with consumers that follow gm's calendar, which has one poll's
// event, and have read all of it.
func listening(t *testing.T, consumers ...*worldtest.Consumer) (w *worldtest.World, pollID, eventID string) {
	t.Helper()
	w = worldtest.New(t, worldtest.Options{Consumers: consumers})
	pollID, _, eventID = w.Finalised()
	w.Run(time.Minute)
	for _, c := range consumers {
		follow(t, w, c, "gm", 1)
	}
	w.Run(time.Minute)
	read(t, w)
	for _, c := range consumers {
		c.Applied = nil
	}
	return w, pollID, eventID
}

func follow(t *testing.T, w *worldtest.World, c *worldtest.Consumer, person string, count int64) {
	t.Helper()
	if err := w.Follow(c, person, count); err != nil {
		t.Fatal(err)
	}
}

// read fails where a consumer has not read the last state of an event.
func read(t *testing.T, w *worldtest.World) {
	t.Helper()
	for _, problem := range append(w.Unread(), w.ConsumerProblems()...) {
		t.Error(problem)
	}
	if t.Failed() {
		t.Log(w.Log())
	}
}

// insert makes events that are no poll's.
func insert(w *worldtest.World, person string, count int) (ids []string) {
	for range count {
		ids = append(ids, w.InsertEvent(person, map[string]any{
			"start": map[string]any{"date": "2026-03-10"}, "end": map[string]any{"date": "2026-03-11"},
		}).ID)
	}
	return ids
}

// failing fails some events as often as it says.
func failing(times int, eventIDs ...string) func(string) error {
	left := map[string]int{}
	for _, id := range eventIDs {
		left[id] = times
	}
	return func(eventID string) error {
		if left[eventID] == 0 {
			return nil
		}
		left[eventID]--
		return errors.New("planned")
	}
}

func given(w *worldtest.World, person, eventID string, c *worldtest.Consumer) (times int) {
	at := w.Calendar(person).CalendarID + " " + eventID
	for _, id := range c.Applied {
		if id == at {
			times++
		}
	}
	return times
}

func TestConsumer_GetsEachChangeOnce(t *testing.T) {
	t.Parallel()
	c := &worldtest.Consumer{Name: "one"}
	w, pollID, eventID := listening(t, c)
	other := insert(w, "gm", 1)[0]
	w.MoveEvent("gm", eventID, noon)
	w.RunDue()
	equal(t, "of the poll's event", given(w, "gm", eventID, c), 1)
	equal(t, "of another event", given(w, "gm", other, c), 1)
	w.DeleteEvent("gm", other)
	w.Run(2 * worldtest.MinGap)
	equal(t, "with its deletion", given(w, "gm", other, c), 2)
	same(t, "journal", w.Decisions(pollID), []string{"finalise", "reschedule"})
	read(t, w)
	atRest(t, w)
}

// An interest in a calendar that polls follow lists everything for the consumer alone.
func TestFollow_OfAKnownCalendar_ListsAllForTheConsumer(t *testing.T) {
	t.Parallel()
	c := &worldtest.Consumer{Name: "one"}
	w := worldtest.New(t, worldtest.Options{Consumers: []*worldtest.Consumer{c}})
	_, _, eventID := w.Finalised()
	w.Run(time.Minute)
	insert(w, "gm", 7)
	w.Run(time.Minute)
	token := w.Calendar("gm").SyncToken
	if len(c.Applied) != 0 {
		t.Errorf("without an interest it was given %v", c.Applied)
	}
	gets := w.Calls("events.get")
	follow(t, w, c, "gm", 1)
	w.RunDue()
	equal(t, "events", len(c.Applied), 8)
	equal(t, "listings that came to an end", c.Relisted, 1)
	equal(t, "polls fetch no event for it", w.Calls("events.get"), gets)
	if token == "" || w.Calendar("gm").HasBacklog() {
		t.Errorf("the backlog is %+v", w.Calendar("gm").Backlogs)
	}
	follow(t, w, c, "gm", 0)
	w.MoveEvent("gm", eventID, noon)
	w.RunDue()
	equal(t, "events after its interest ended", len(c.Applied), 8)
	atRest(t, w)
}

// A calendar that no poll follows is watched and synced while a consumer wants it.
func TestFollow_OfAnUnknownCalendar_OpensAndReleasesItsChannel(t *testing.T) {
	t.Parallel()
	c := &worldtest.Consumer{Name: "one", Reads: gcal.WithDetails}
	w := worldtest.New(t, worldtest.Options{Consumers: []*worldtest.Consumer{c}})
	insert(w, "ana", 4)
	follow(t, w, c, "ana", 2)
	w.RunDue()
	equal(t, "events", len(c.Applied), 4)
	same(t, "channels", w.ChannelProblems(), nil)
	equal(t, "channels of it", len(w.Watches()), 1)
	insert(w, "ana", 1)
	w.Run(2 * worldtest.MinGap)
	equal(t, "events after a push", len(c.Applied), 5)
	read(t, w)
	follow(t, w, c, "ana", 1)
	equal(t, "channels with one interest left", len(w.Watches()), 1)
	follow(t, w, c, "ana", 0)
	equal(t, "channels without interest", len(w.Watches()), 0)
	atRest(t, w)
}

// The program dies between the interest and all that follows from it.
func TestFollow_ThatIsCutOff_IsMadeUpForByDrainAndSweep(t *testing.T) {
	t.Parallel()
	c := &worldtest.Consumer{Name: "one"}
	w := worldtest.New(t, worldtest.Options{Consumers: []*worldtest.Consumer{c}})
	insert(w, "ana", 4)
	w.Crash("after store.run")
	if lived, _ := w.Survives(func() { _ = w.Follow(c, "ana", 1) }); lived {
		t.Fatal("the program lived")
	}
	w.Restart()
	w.Run(2 * time.Minute)
	equal(t, "events", len(c.Applied), 4)
	w.Sweep()
	w.RunDue()
	same(t, "channels", w.ChannelProblems(), nil)
	read(t, w)
}

func TestConsumer_ThatFails_DefersItsOwnEventAlone(t *testing.T) {
	t.Parallel()
	for name, fails := range map[string]func(string) error{
		"an error":                             func(string) error { return errors.New("planned") },
		"a panic":                              func(string) error { panic("planned") },
		"an account that answers nothing more": func(string) error { return fault.New(fault.Exhausted, "planned") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			steady, broken := &worldtest.Consumer{Name: "steady"}, &worldtest.Consumer{Name: "broken"}
			w, pollID, eventID := listening(t, broken, steady)
			others := insert(w, "gm", 5)
			broken.Fails = func(id string) error {
				if id == eventID {
					return fails(id)
				}
				return nil
			}
			w.MoveEvent("gm", eventID, noon)
			before := w.Calendar("gm").SyncToken
			w.RunDue()
			same(t, "journal", w.Decisions(pollID), []string{"finalise", "reschedule"})
			for _, id := range append(others, eventID) {
				equal(t, "given to the steady one", given(w, "gm", id, steady), 1)
				equal(t, "given to the broken one", given(w, "gm", id, broken), 1)
			}
			calendar := w.Calendar("gm")
			equal(t, "deferred", len(calendar.Backlogs["broken"].Deferred), 1)
			if calendar.Backlogs["broken"].Deferred[eventID].At.IsZero() || len(calendar.Backlogs["steady"].Deferred) > 0 ||
				len(calendar.DeferredEvents()) > 0 {
				t.Errorf("deferred: %+v, and for polls %v", calendar.Backlogs, calendar.DeferredEvents())
			}
			if calendar.SyncToken == before || !calendar.FailedSince.IsZero() {
				t.Error("the run failed")
			}
			w.Run(5 * time.Minute) // it stays deferred while it fails
			equal(t, "deferred", len(w.Calendar("gm").Backlogs["broken"].Deferred), 1)
			equal(t, "given to the steady one again", given(w, "gm", eventID, steady), 1)
			broken.Fails = nil
			w.LosePushes()
			w.Run(time.Hour)
			read(t, w)
			atRest(t, w)
		})
	}
}

// No push comes. The retries become rare, and end with the last deferred event.
func TestDeferred_IsRetriedEverMoreRarely(t *testing.T) {
	t.Parallel()
	c := &worldtest.Consumer{Name: "one", Fails: func(string) error { return nil }}
	w, _, eventID := listening(t, c)
	c.Fails = func(string) error { return errors.New("planned") }
	w.PatchEvent("gm", eventID, map[string]any{"summary": "Another title"})
	w.RunDue()
	w.LosePushes()
	count := func(d time.Duration) int {
		before := len(c.Applied)
		w.Run(d)
		return len(c.Applied) - before
	}
	if first := count(3 * time.Minute); first < 5 || first > 10 {
		t.Errorf("%d attempts in the first minutes", first)
	}
	if day := count(24 * time.Hour); day < 20 || day > 40 {
		t.Errorf("%d attempts in the next day", day)
	}
	c.Fails = nil
	equal(t, "attempts that succeed", count(24*time.Hour), 1)
	read(t, w)
	for _, depth := range w.Depths() {
		equal(t, "due of "+depth.Kind, depth.Due, 0)
	}
}

// A sweep makes up for a lost task, and does not count such a calendar as fresh.
func TestDeferred_WhoseTaskIsLost_IsFetchedByTheSweep(t *testing.T) {
	t.Parallel()
	c := &worldtest.Consumer{Name: "one"}
	w, _, eventID := listening(t, c)
	c.Fails = failing(1, eventID)
	w.PatchEvent("gm", eventID, map[string]any{"summary": "Another title"})
	w.RunDue()
	w.Wakes.Forget()
	if err := w.SweepPages(worldtest.Cause); err != nil {
		t.Fatal(err)
	}
	w.Run(time.Second)
	read(t, w)
}

func TestPolls_ThatFail_StopNoOtherConsumer(t *testing.T) {
	t.Parallel()
	c := &worldtest.Consumer{Name: "one"}
	w, pollID, eventID := listening(t, c)
	fill(t, w, pollID) // so that nothing can be written to the poll
	w.MoveEvent("gm", eventID, noon)
	others := insert(w, "gm", 8) // on further pages
	before := w.Calendar("gm").SyncToken
	w.RunDue()
	for _, id := range append(others, eventID) {
		if given(w, "gm", id, c) == 0 {
			t.Errorf("event %s was not given to the consumer", id)
		}
	}
	equal(t, "the token moves on", w.Calendar("gm").SyncToken != before, true)
	equal(t, "the calendar fails", !w.Calendar("gm").FailedSince.IsZero(), false)
	w.Run(10 * time.Minute)
	equal(t, "deferred for polls", w.Calendar("gm").Deferred(eventID).Why, calendars.DeferredFailed)
	equal(t, "deferred for the consumer", len(w.Calendar("gm").Backlogs["one"].Deferred), 0)
	w.Write(poll.Path(pollID), store.Set("fieldOfTheWebApp", "x"))
	w.Sweep()
	w.Run(time.Minute)
	stands(t, w, pollID, rules.StateRescheduled, noon.Start)
	read(t, w)
}

func TestToken_WhoseDeferralFails_IsNotStored(t *testing.T) {
	t.Parallel()
	c := &worldtest.Consumer{Name: "one"}
	w, _, eventID := listening(t, c)
	w.PatchEvent("gm", eventID, map[string]any{"summary": "Another title"})
	before := w.Calendar("gm").SyncToken
	c.Fails = func(string) error {
		w.Fail("before store.run", fault.New(fault.Unavailable, "the store does not answer")) // what is next is the end of the run
		c.Fails = nil
		return errors.New("planned")
	}
	for w.Calendar("gm").FailedSince.IsZero() {
		if !w.Step() {
			break
		}
	}
	equal(t, "the token", w.Calendar("gm").SyncToken, before)
	equal(t, "deferred", len(w.Calendar("gm").Backlogs["one"].Deferred), 0)
	w.Run(time.Minute)
	equal(t, "given", given(w, "gm", eventID, c), 2)
	read(t, w)
}

func TestBacklog_OfTooManyEvents_BecomesAFullListing(t *testing.T) {
	t.Parallel()
	for _, count := range []int{calendars.MaxBacklog, calendars.MaxBacklog + 1} {
		t.Run(fmt.Sprint(count), func(t *testing.T) {
			t.Parallel()
			c, steady := &worldtest.Consumer{Name: "one"}, &worldtest.Consumer{Name: "steady"}
			w := worldtest.New(t, worldtest.Options{PageSize: 250, Consumers: []*worldtest.Consumer{c, steady}})
			w.Finalised()
			follow(t, w, c, "gm", 1)
			follow(t, w, steady, "gm", 1)
			w.Run(time.Minute)
			listed, steadily := c.Relisted, steady.Relisted
			ids := insert(w, "gm", count)
			c.Fails = failing(1, ids...)
			for len(w.Google.PendingPushes()) > 1 {
				w.LosePushes()
			}
			w.DeleteEvent("gm", ids[0])
			w.RunDue()
			backlog := w.Calendar("gm").Backlogs["one"]
			over := count > calendars.MaxBacklog
			if !over {
				equal(t, "deferred", len(backlog.Deferred), count)
				equal(t, "to be listed", backlog.Relist.IsZero(), true)
			} else {
				equal(t, "deferred", len(backlog.Deferred), 0)
				equal(t, "to be listed", backlog.Relist.IsZero(), false)
			}
			same(t, "problems", w.ConsumerProblems(), nil)
			w.LosePushes()
			w.Run(15 * time.Minute) // what recovers is fetched by the minute
			read(t, w)
			equal(t, "full listings", c.Relisted-listed, map[bool]int{true: 1}[over])
			equal(t, "full listings of the other", steady.Relisted-steadily, 0)
			atRest(t, w)
		})
	}
}

// The listing does not show the deleted event, and the consumer never applied it.
func TestBacklog_BesideAFullListing_IsFetchedInTheSameRun(t *testing.T) {
	t.Parallel()
	c := &worldtest.Consumer{Name: "one"}
	w, _, _ := listening(t, c)
	id := insert(w, "gm", 1)[0]
	c.Fails = failing(1000, id)
	w.RunDue()
	w.DeleteEvent("gm", id)
	w.Run(5 * time.Minute)
	equal(t, "deferred", len(w.Calendar("gm").Backlogs["one"].Deferred), 1)
	c.Fails = nil
	listed := c.Relisted
	calendar := w.Calendar("gm")
	w.Write(calendars.Path(calendar.Key), calendar.RequestRelist("one", worldtest.Cause.Request(w.Clock.Now()))...)
	for runs := calendar.Fence; w.Calendar("gm").Fence == runs; {
		w.Run(10 * time.Second)
	}
	equal(t, "full listings", c.Relisted-listed, 1)
	equal(t, "deferred after it", len(w.Calendar("gm").Backlogs["one"].Deferred), 0)
	read(t, w)
}

// Ids may have 1024 characters: a calendar's document has room for few of those.
func TestBacklog_OfLongIDs_BecomesAFullListing(t *testing.T) {
	t.Parallel()
	c := calendars.Calendar{Interests: map[string]int64{"one": 1}}
	var ids []string
	for i := range 100 {
		ids = append(ids, fmt.Sprintf("%04d", i)+strings.Repeat("x", 1020))
	}
	updates, _ := c.Progressed(c, "one", calendars.Progress{Deferred: ids}, worldtest.Start)
	equal(t, "updates", len(updates), 1)
	same(t, "mark", updates[0].Path, []string{"relist", "one"})
}

// The mask follows the interests of each calendar alone.
func TestWideConsumer_ChangesTheMaskOfItsCalendarAlone(t *testing.T) {
	t.Parallel()
	c := &worldtest.Consumer{Name: "wide", Reads: gcal.WithDetails}
	w := worldtest.New(t, worldtest.Options{Consumers: []*worldtest.Consumer{c}})
	pollID, _, eventID := w.Finalised()
	insert(w, "ana", 1)
	narrow := &worldtest.Consumer{Name: "unknown"}
	follow(t, w, narrow, "ana", 1)
	w.Run(time.Minute)
	mask := func(person string, want int64) {
		t.Helper()
		w.RunDue()
		equal(t, "mask of "+person, w.Calendar(person).MaskVersion, want)
	}
	mask("gm", gcal.Times.Version())
	follow(t, w, c, "gm", 1)
	w.LosePushes()
	w.DeleteEvent("gm", eventID) // found by nothing but what follows a full listing
	w.LosePushes()
	mask("gm", gcal.WithDetails.Version())
	mask("ana", gcal.Times.Version())
	equal(t, "status", w.View(pollID).Poll.Status, rules.Cancelled)
	read(t, w)
	follow(t, w, c, "gm", 0)
	w.Run(time.Minute)
	pollID, _, eventID = w.Finalised()
	mask("gm", gcal.Times.Version())
	w.MoveEvent("gm", eventID, noon)
	w.RunDue()
	stands(t, w, pollID, rules.StateRescheduled, noon.Start)
	atRest(t, w)
}

// A consumer of mirrors' sort and one of guests in one calendar: it is listed for the wider
// of both. Another calendar stays as it is, and so do the token and the events of its
// consumers.
func TestMask_IsTheWidestOfTheCalendarsConsumers(t *testing.T) {
	t.Parallel()
	details := &worldtest.Consumer{Name: "details", Reads: gcal.WithDetails}
	guests := &worldtest.Consumer{Name: "guests", Reads: gcal.WithGuests}
	w := worldtest.New(t, worldtest.Options{Consumers: []*worldtest.Consumer{details, guests}})
	w.Finalised()
	meeting := invited(w, "gm", "ana", "ben")
	follow(t, w, details, "gm", 1)
	follow(t, w, details, "ana", 1)
	w.Run(time.Minute)
	masks := func(gm, ana gcal.Mask) {
		t.Helper()
		w.Run(2 * worldtest.MinGap)
		equal(t, "mask of gm", w.Calendar("gm").MaskVersion, gm.Version())
		equal(t, "mask of ana", w.Calendar("ana").MaskVersion, ana.Version())
		read(t, w)
	}
	masks(gcal.WithDetails, gcal.WithDetails)

	others, listings := w.Calendar("ana"), w.Calls("events.list")
	details.Applied = nil
	follow(t, w, guests, "gm", 1)
	masks(gcal.WithGuests, gcal.WithDetails)
	if now := w.Calendar("ana"); !reflect.DeepEqual(now, others) {
		t.Errorf("ana's calendar was %+v, and is %+v", others, now)
	}
	equal(t, "full listings of gm's calendar", w.Calls("events.list")-listings, 1)
	equal(t, "of the meeting, for guests", given(w, "gm", meeting, guests), 1)
	equal(t, "of the meeting, for details", given(w, "gm", meeting, details), 1)

	token := w.Calendar("gm").SyncToken
	w.PatchEvent("gm", meeting, map[string]any{"attendees": attendees("gm", "ana", "cho")})
	masks(gcal.WithGuests, gcal.WithDetails)
	if w.Calendar("gm").SyncToken == token {
		t.Error("the wide token does not move on")
	}

	follow(t, w, guests, "gm", 0)
	w.PatchEvent("gm", meeting, map[string]any{"attendees": attendees("gm", "ana")})
	masks(gcal.WithDetails, gcal.WithDetails)
	follow(t, w, details, "gm", 0)
	w.PatchEvent("gm", meeting, map[string]any{"summary": "Only polls read this"})
	masks(gcal.Times, gcal.WithDetails)
	atRest(t, w)
}

// invited makes an event of one person with others as guests.
func invited(w *worldtest.World, person string, others ...string) (eventID string) {
	return w.InsertEvent(person, map[string]any{
		"start": map[string]any{"date": "2026-03-10"}, "end": map[string]any{"date": "2026-03-11"},
		"attendees": attendees(append([]string{person}, others...)...),
	}).ID
}

func attendees(persons ...string) (list []map[string]any) {
	for _, person := range persons {
		list = append(list, map[string]any{"email": worldtest.Person(person).Email, "responseStatus": "accepted"})
	}
	return list
}

// QS_SYNC=observe has a token of its own, for wide masks too.
func TestWideConsumer_WhileObserving_HasItsOwnToken(t *testing.T) {
	t.Parallel()
	c := &worldtest.Consumer{Name: "wide", Reads: gcal.WithDetails}
	w, _, _ := listening(t, c)
	w.Observe(true)
	insert(w, "gm", 1)
	w.Run(time.Minute)
	equal(t, "mask", w.Calendar("gm").MaskVersion, -gcal.WithDetails.Version())
	w.Observe(false)
	w.Run(time.Minute)
	equal(t, "mask", w.Calendar("gm").MaskVersion, gcal.WithDetails.Version())
	read(t, w)
}

func TestConsumer_AfterALostToken_FindsDeletions(t *testing.T) {
	t.Parallel()
	c := &worldtest.Consumer{Name: "one", Reads: gcal.WithDetails}
	w, _, _ := listening(t, c)
	ids := insert(w, "gm", 5)
	w.RunDue()
	if err := w.Google.ExpireSyncTokens(); err != nil {
		t.Fatal(err)
	}
	c.Fails = failing(1, "") // the decision about what was not listed fails once
	w.DeleteEvent("gm", ids[1])
	w.DeleteEvent("gm", ids[3])
	w.Run(2 * worldtest.MinGap)
	if w.Calendar("gm").Backlogs["one"].Relist.IsZero() {
		t.Error("no other listing is requested")
	}
	w.Run(10 * time.Minute)
	read(t, w)
	atRest(t, w)
}

// An event without a readable id may be any: the listing is repeated until it can be read.
func TestConsumer_OfAnEventWithoutID_GetsAnotherListing(t *testing.T) {
	t.Parallel()
	c := &worldtest.Consumer{Name: "one"}
	w := worldtest.New(t, worldtest.Options{Consumers: []*worldtest.Consumer{c}})
	ids := insert(w, "gm", 2)
	w.Malform("gm", ids[0], `{"id": 7}`)
	follow(t, w, c, "gm", 1)
	w.Run(time.Minute)
	equal(t, "read without the id", given(w, "gm", ids[0], c), 0)
	equal(t, "read with one", given(w, "gm", ids[1], c) > 0, true)
	if w.Calendar("gm").Backlogs["one"].Relist.IsZero() {
		t.Error("no other listing is requested")
	}
	w.Google.ClearMalformed()
	w.LosePushes()
	w.Run(time.Hour)
	read(t, w)
}

// The account is unlinked and linked again.
func TestConsumer_OfARelinkedAccount_GoesOn(t *testing.T) {
	t.Parallel()
	c := &worldtest.Consumer{Name: "one"}
	w := worldtest.New(t, worldtest.Options{Consumers: []*worldtest.Consumer{c}})
	follow(t, w, c, "ana", 1)
	w.Run(time.Minute)
	w.Revoke("ana")
	insert(w, "ana", 2)
	w.Run(10 * time.Minute)
	if len(c.Applied) > 0 || !slices.ContainsFunc(w.Notices("ana"), func(notice string) bool { return notice == notify.NoticeSyncError }) {
		t.Errorf("applied %v, notices %v", c.Applied, w.Notices("ana"))
	}
	w.Link("ana")
	w.Run(time.Minute)
	read(t, w)
	same(t, "channels", w.ChannelProblems(), nil)
}

// The cost of a calendar that polls alone follow is that of a program without consumers.
func TestConsumerWithoutInterest_CostsNothing(t *testing.T) {
	t.Parallel()
	cost := func(consumers ...*worldtest.Consumer) storetest.Cost {
		var meter *storetest.Counter
		w := worldtest.New(t, worldtest.Options{Consumers: consumers, Wrap: func(inner store.Store) store.Store {
			meter = storetest.Count(inner)
			return meter
		}})
		_, _, eventID := w.Finalised()
		w.MoveEvent("gm", eventID, noon)
		insert(w, "gm", 20)
		w.Run(10 * time.Minute)
		equal(t, "mask", w.Calendar("gm").MaskVersion, gcal.Times.Version())
		return meter.Total()
	}
	c := &worldtest.Consumer{Name: "one", Reads: gcal.WithDetails}
	equal(t, "cost", cost(c), cost())
	equal(t, "events", len(c.Applied), 0)
}

// Fifty events that keep failing take no run from those behind them.
func TestDeferred_BehindFiftyThatFail_AreApplied(t *testing.T) {
	t.Parallel()
	c := &worldtest.Consumer{Name: "one"}
	w, _, _ := listening(t, c)
	events := insert(w, "gm", 60)
	slices.Sort(events)
	c.Fails = failing(1, events[50:]...)
	always := failing(1<<30, events[:50]...)
	once := c.Fails
	c.Fails = func(eventID string) error { return errors.Join(always(eventID), once(eventID)) }
	w.RunDue()
	equal(t, "deferred", len(w.Calendar("gm").Backlogs["one"].Deferred), 60)
	w.Run(time.Hour)
	left := w.Calendar("gm").Backlogs["one"].Deferred
	for _, eventID := range events[50:] {
		if !left[eventID].At.IsZero() {
			t.Errorf("event %s is deferred still", eventID)
		}
	}
	equal(t, "deferred", len(left), 50)
}

// Each run fetches fifty, so one that applied some is followed by another a minute later.
func TestDeferred_ThatAreAppliedAgain_AreFetchedFiftyAMinute(t *testing.T) {
	t.Parallel()
	c := &worldtest.Consumer{Name: "one"}
	w, _, _ := listening(t, c)
	c.Fails = failing(1, insert(w, "gm", 60)...)
	w.RunDue()
	before := w.Calls("events.get")
	w.Run(30 * time.Second)
	equal(t, "fetched at once", w.Calls("events.get")-before, 50)
	w.Run(time.Minute)
	equal(t, "fetched in all", w.Calls("events.get")-before, 60)
	read(t, w)
}
