package scheduler_test

import (
	"testing"
	"time"

	"questscheduler/internal/calendars"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/internal/test/worldtest"
	"questscheduler/rules"
	"questscheduler/scheduler"
)

// Following says what a repair would do about a poll's event, and what is in its way.
func TestFollowing_SaysWhatARepairWouldDo(t *testing.T) {
	t.Parallel()
	unindexed := func(w *worldtest.World, s fixture) { w.Remove(poll.IndexPath(s.event)) }
	for name, c := range map[string]struct {
		begin func(*worldtest.World) fixture
		then  func(w *worldtest.World, s fixture)
		want  scheduler.Following
	}{
		"one that is followed": {finalised, func(*worldtest.World, fixture) {}, scheduler.Following{
			Followed: true, Repair: rules.RepairNothing,
		}},
		"one without an event":             {fresh, func(*worldtest.World, fixture) {}, scheduler.Following{Repair: rules.RepairNothing}},
		"one that the index does not know": {finalised, unindexed, scheduler.Following{Repair: rules.RepairLink}},
		"one whose account is unlinked": {finalised, func(w *worldtest.World, s fixture) {
			unindexed(w, s)
			w.Unlink("gm")
		}, scheduler.Following{Repair: rules.RepairNothing, Obstacle: scheduler.NoAccount}},
		"one that another poll follows": {finalised, func(w *worldtest.World, s fixture) {
			w.Write(poll.IndexPath(s.event), poll.Set("schedulerId", "other"))
		}, scheduler.Following{Repair: rules.RepairNothing, Obstacle: scheduler.NotTheirs, Other: "other"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{})
			s := c.begin(w)
			c.then(w, s)
			for range 2 { // it writes nothing
				got, err := w.Scheduler.Following(t.Context(), s.poll)
				if err != nil {
					t.Fatal(err)
				}
				equal(t, "following", got, c.want)
			}
		})
	}
}

// held is the deletion of an event of nobody's, which a run took until then.
func held(id string, until time.Time) poll.Intent {
	return poll.Intent{Kind: poll.IntentDelete, PollID: id, AccountID: "account", CalendarID: "calendar", EventID: "event-" + id, Due: until}
}

// A program that dies holds leases, intents and deliveries, of which all are taken back.
func TestRecover_TakesBackAllThatWasHeld(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	later := w.Clock.Now().Add(20 * time.Second)
	for _, id := range []string{"a", "b"} {
		w.Write(calendars.Path(id), store.Set("leaseUntil", later), store.Set("fence", 3),
			store.Update{Path: store.Field("interests", poll.ConsumerPoll), Value: int64(1)})
		w.Write(poll.AnnouncementPath(id), poll.DeliveryUpdates(poll.Message{Ref: "state-" + id}, 1, later)...)
		w.Write(poll.AnnouncementPath(id), poll.Set("pending", true), poll.Set("due", w.Clock.Now()))
		for name, value := range poll.EncodeIntent(held(id, later)) {
			w.Write(held(id, later).Path(), poll.Set(name, value))
		}
	}
	if err := w.Scheduler.Recover(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"a", "b"} {
		calendar := calendars.Decode(w.Document(calendars.Path(id)))
		equal(t, "lease of "+id, calendar.LeaseUntil.IsZero(), true)
		equal(t, "due is the sync of "+id, calendar.SyncAt, w.Clock.Now())
		announcement, err := poll.LoadAnnouncement(t.Context(), w.Documents, id)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, "delivery of "+id+" may begin", announcement.AgainAt.After(w.Clock.Now()), false)
		equal(t, "intent of "+id, poll.DecodeIntent(w.Document(held(id, later).Path())).Due, w.Clock.Now())
		w.Remove(held(id, later).Path())
		w.Remove(poll.AnnouncementPath(id))
		w.Remove(calendars.Path(id))
	}
}
