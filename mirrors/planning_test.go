package mirrors_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"questscheduler/internal/calendars"
	"questscheduler/internal/gcal"
	"questscheduler/internal/mirror"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/mirrors/plan"
	"questscheduler/rules"
)

func toPrimary(from, to string) mirror.Edge {
	return mirror.Edge{FromAccountID: from, ToAccountID: to, Detail: mirror.Full, Target: mirror.PrimaryTarget}
}

// The event is known already, since mirrors go into its calendar, so no listing shows it
// again; and no mirror leads to it.
func TestSetEdges_OneMore_MirrorsWhatIsKnown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.insert(work, "Stand-up", thursday)
	policy := w.mirrorWork(toPrimary(home, work))
	w.settle()
	_, err := w.policies.SetEdges(w.ctx, gm, policy.ID, []mirror.Edge{toPrimary(home, work), toPrimary(work, club)}, cause)
	w.must(err)
	w.settle()
	w.wantTitles(club, "Stand-up")
	w.wantTitles(home)
}

func TestSetEdges_OfADeletedOverlay_MakesAnother(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.insert(work, "Stand-up", thursday)
	edge := mirror.Edge{FromAccountID: work, ToAccountID: home, Detail: mirror.Full}
	policy := w.mirrorWork(edge)
	w.run(5 * time.Minute)
	first := w.overlay()
	if first.CalendarID == "" || len(w.shown(home, first.CalendarID)) != 1 {
		t.Fatalf("the overlay is %+v\n%s", first, w.log.String())
	}
	w.set(mirror.PersonPath(gm), mirror.WriteOverlay(gm, home, first.Lost(), w.clock.Now())...)
	_, err := w.policies.SetEdges(w.ctx, gm, policy.ID, []mirror.Edge{edge}, cause)
	w.must(err)
	if again := w.overlay(); again.Suppressed || again.Generation != first.Generation+1 {
		t.Errorf("the overlay is %+v after %+v", again, first)
	}
}

func TestSetEdges_FromAnOverlayToThePrimary_FollowsTheOverlayNoMore(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	policy := w.mirrorWork(mirror.Edge{FromAccountID: work, ToAccountID: home, Detail: mirror.Full})
	w.insert(work, "Stand-up", thursday)
	w.sync(work)
	w.run(5 * time.Minute)
	overlay := w.overlay().CalendarID
	interests := func() int64 {
		calendar, _, err := calendars.Load(w.ctx, w.memory, home, overlay)
		w.must(err)
		return calendar.Interests[mirror.Consumer]
	}
	if overlay == "" || interests() != 1 {
		t.Fatalf("the overlay %q has %d interests", overlay, interests())
	}
	_, err := w.policies.SetEdges(w.ctx, gm, policy.ID, []mirror.Edge{toPrimary(work, home)}, cause)
	w.must(err)
	w.settle()
	w.wantTitles(home, "Stand-up")
	if interests() != 0 {
		t.Error("the overlay is followed still")
	}
}

func (w *world) overlay() mirror.OverlayCalendar {
	w.Helper()
	person, err := mirror.LoadPerson(w.ctx, w.memory, gm)
	w.must(err)
	return person.Overlays[home]
}

func TestSync_EventsMadeInAnOverlay_AreNobodysOrigin(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.insert(work, "Stand-up", thursday)
	w.mirrorWork(mirror.Edge{FromAccountID: work, ToAccountID: home, Detail: mirror.Full})
	w.run(5 * time.Minute)
	overlay := gcal.Ref{Account: home, Calendar: w.overlay().CalendarID}
	_, err := w.full.InsertContent(w.ctx, overlay, "event99", gcal.Content{
		Summary: "Mine", Start: at(thursday), End: at(friday), Transparency: "opaque", Visibility: "default",
	}, nil)
	w.must(err)
	w.must(w.queueSyncOf(overlay))
	w.settle()
	if known := w.canonical(home); len(known) > 0 {
		t.Errorf("known are %+v", known)
	}
	if shown := w.shown(home, overlay.Calendar); len(shown) != 2 {
		t.Errorf("the overlay shows %d events, want both", len(shown))
	}
}

// The calendar reports the end of the series alone.
func TestSync_ASeriesIsDeleted_ItsExceptionsGoWithIt(t *testing.T) {
	t.Parallel()
	w := newMirroringWorld(t)
	series := w.insert(work, "Weekly", thursday, "RRULE:FREQ=WEEKLY;COUNT=4")
	w.sync(work)
	exception := w.canonical(work)[0]
	exception.ID, exception.EventID, exception.SeriesID, exception.Title = "evt_exception", series.ID+"_unreported", series.ID, "With cake"
	exception.OriginalStart, exception.Recurrence = at("2026-03-12T09:00:00Z"), nil
	exception.Start, exception.End = at("2026-03-12T11:00:00Z"), at("2026-03-12T12:00:00Z")
	exception.From, exception.Until = plan.Bounds(exception)
	w.put(exception)
	w.must(w.service.PlanUID(w.ctx, gm, exception.ICalUID, cause))
	w.run(5 * time.Minute)
	w.wantTitles(home, "Weekly", "With cake")

	_, err := w.full.DeleteQuietly(w.ctx, refTo(work), series.ID, "")
	w.must(err)
	w.sync(work)
	w.run(5 * time.Minute)
	w.wantTitles(home)
}

func TestSync_AMirroredSeriesIsDeleted_ExceptionsComeBackToo(t *testing.T) {
	t.Parallel()
	w := newMirroringWorld(t)
	series := w.insert(work, "Weekly", thursday, "RRULE:FREQ=WEEKLY;COUNT=4")
	second, err := w.full.Instance(w.ctx, refTo(work), series.ID, at("2026-03-12T09:00:00Z"))
	w.must(err)
	content := plan.Shown(*second.Details)
	content.Summary = "With cake"
	_, err = w.full.PatchContent(w.ctx, refTo(work), second.ID, "", content)
	w.must(err)
	w.sync(work)
	w.run(5 * time.Minute)
	w.wantTitles(home, "Weekly", "With cake")
	w.delete(w.masterAtHome())
	w.sync(home)
	w.run(10 * time.Minute)
	w.wantTitles(home, "Weekly", "With cake")
}

// A newer run of the calendar begins between two events of a listing.
func TestSync_ARunThatWasSuperseded_AppliesNothingMore(t *testing.T) {
	t.Parallel()
	w := newMirroringWorld(t)
	w.insert(work, "One", thursday)
	w.insert(work, "Two", thursday)
	w.must(w.clock.Advance(2 * time.Second))
	w.must(w.queueSync(work))
	w.onWake = func() {
		w.onWake = nil
		c, _, err := calendars.LoadKey(w.ctx, w.memory, w.key(work))
		w.must(err)
		w.set(calendars.Path(c.Key), c.Invalidate()...)
	}
	run, ok := w.wakes.Take(w.wakes.Due(w.clock.Now())[0].ID)
	if !ok {
		t.Fatal("there is no task")
	}
	run.Settle(w.outbox.Run(w.ctx, run.Kind, run.Entry))
	if known := w.canonical(work); len(known) != 1 {
		t.Errorf("%d events are known, want the one before", len(known))
	}
	w.sync(work)
	w.wantTitles(home, "One", "Two")
}

func TestRequestPlan_ConnectionsThatChanged_AreFollowed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	session := w.canonicalSession()
	w.put(session)
	w.connect(club, gm)
	w.must(w.service.Rewrite(w.ctx, gm, cause))
	w.settle()
	w.wantTitles(club, "Session")
	w.must(w.memory.Run(w.ctx, func(_ context.Context, tx store.Tx) error {
		return tx.Delete(mirror.ConnectionPath("party", club))
	}))
	w.must(w.service.Rewrite(w.ctx, gm, cause))
	w.settle()
	w.wantTitles(club)
}

func TestPlanEvent_OfSomebodyRemovedFromTheGroup_ShowsNothingNew(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*mirror.Event){
		"changed":   func(e *mirror.Event) { e.Title = "Secret" },
		"cancelled": func(e *mirror.Event) { e.Status = "cancelled" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			session := w.canonicalSession()
			w.put(session)
			w.connect(club, gm)
			w.must(w.service.PlanEvent(w.ctx, session.ID, cause))
			w.settle()
			w.wantTitles(club, "Session")

			w.party(ana) // and the connection is not ended yet
			change(&session)
			session.Version++
			w.put(session)
			fresh := session
			fresh.ID, fresh.ICalUID, fresh.Title, fresh.Status = "evt_other", "evt_other", "Another", "confirmed"
			w.put(fresh)
			for _, event := range []mirror.Event{session, fresh} {
				w.must(w.service.PlanEvent(w.ctx, event.ID, cause))
			}
			w.must(w.service.Rewrite(w.ctx, gm, cause))
			w.settle()
			w.wantTitles(club)
		})
	}
}

func TestPlanPerson_OfSomebodyRemovedFromTheGroup_EndsTheirConnection(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	session := w.canonicalSession()
	other := session
	other.ID, other.ICalUID, other.Title = "evt_other", "evt_other", "Another"
	w.connect(club, gm)
	for _, event := range []mirror.Event{session, other} {
		w.put(event)
		w.must(w.service.PlanEvent(w.ctx, event.ID, cause))
	}
	w.settle()
	w.wantTitles(club, "Another", "Session")

	w.party(ana)
	w.replan()
	w.run(time.Minute)
	w.wantTitles(club)
	connections, err := mirror.ConnectionsOf(w.ctx, w.memory, gm)
	w.must(err)
	if len(connections) != 0 {
		t.Errorf("the connections are %+v", connections)
	}
}

// returning is a store in which somebody comes back to the group behind its next transaction.
type returning struct {
	store.Store
	back func()
}

func (r *returning) Run(ctx context.Context, fn func(context.Context, store.Tx) error) error {
	err := r.Store.Run(ctx, fn)
	if back := r.back; back != nil {
		r.back = nil
		back()
	}
	return err
}

func TestPlanUID_OfSomebodyBackInTheGroup_IsRepeated(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	session := w.canonicalSession()
	w.put(session)
	w.connect(club, gm)
	w.party(ana)
	w.service.Store = &returning{w.service.Store, func() { w.party(gm, ana) }}
	w.must(w.service.PlanUID(w.ctx, gm, session.ICalUID, cause))
	w.settle()
	w.wantTitles(club, "Session")
}

// pollsSession is the event of a poll in work's calendar.
func (w *world) pollsSession(change func(e *mirror.Event)) mirror.Event {
	w.Helper()
	event := w.canonicalSession()
	event.OwnerID, event.AccountID, event.CalendarID = gm, work, workMail
	event.EventID, event.ICalUID = poll.EventPrefix+"1", poll.EventPrefix+"1@google.com"
	event.Source, event.PollID = mirror.SourcePoll, "the-poll"
	change(&event)
	w.put(event)
	return event
}

// A session that its group does not share any more may be cancelled before the others' copies went.
func TestSync_ACancelledSession_StaysWhileOthersShowIt(t *testing.T) {
	t.Parallel()
	for name, stays := range map[string]bool{ana: true, gm: false, "": false} {
		t.Run("shown to "+name, func(t *testing.T) {
			t.Parallel()
			w := newMirroringWorld(t)
			session := w.pollsSession(func(e *mirror.Event) { e.GroupID = "" })
			if name != "" {
				m := mirror.Mirror{
					ID: "mir_left", OwnerID: name, CanonicalID: session.ID, ICalUID: "other", TargetAccountID: annes, State: mirror.Suppressed,
				}
				w.must(w.memory.Run(w.ctx, func(_ context.Context, tx store.Tx) error { return tx.Set(mirror.Path(m.ID), mirror.Encode(m)) }))
			}
			_, _, err := w.service.Observe(w.ctx, refTo(work), gcal.Event{
				ID: session.EventID, EventState: rules.Gone, Updated: w.clock.Now(), Details: &gcal.Details{Status: "cancelled"},
			}, true, cause)
			w.must(err)
			left := w.canonical(work)
			if (len(left) == 1) != stays || stays && !left[0].PlanAt.Equal(w.clock.Now().Add(time.Hour)) {
				t.Errorf("left are %+v", left)
			}
		})
	}
}

// Who leaves a group keeps their own session, and its copies in their other accounts.
func TestPlanEvent_OfTheOwnerWhoLeftTheGroup_StaysMirrored(t *testing.T) {
	t.Parallel()
	w := newMirroringWorld(t)
	w.connect(club, gm)
	session := w.pollsSession(func(*mirror.Event) {})
	w.must(w.service.PlanEvent(w.ctx, session.ID, cause))
	w.settle()
	w.wantTitles(home, "Session")
	w.wantTitles(club, "Session")
	w.members(ana)
	w.must(w.service.PlanEvent(w.ctx, session.ID, cause))
	w.settle()
	w.wantTitles(home, "Session")
	w.wantTitles(club)
}

// A calendar that nothing wants any more is forgotten, but not the sessions that a group shares:
// the group's work looks after them.
func TestPlanPerson_ForgottenCalendar_KeepsSharedSessions(t *testing.T) {
	t.Parallel()
	w := newMirroringWorld(t)
	w.insert(work, "Stand-up", thursday)
	w.sync(work)
	const sessions = 21 // more than a page
	var session mirror.Event
	for i := range sessions {
		session = w.pollsSession(func(e *mirror.Event) { e.ID = fmt.Sprintf("evt_session%02d", i) })
	}
	all, err := w.policies.List(w.ctx, gm)
	w.must(err)
	w.must(w.policies.Delete(w.ctx, gm, all[0].ID, cause))
	w.settle()
	left := w.canonical(work)
	if len(left) != sessions || slices.ContainsFunc(left, func(e mirror.Event) bool { return e.GroupID == "" }) {
		t.Errorf("left are %+v", left)
	}
	if due := w.personPlan().PlanDue; !due.IsZero() {
		t.Errorf("the planning is due again at %v", due)
	}
	doc, err := w.memory.Get(w.ctx, poll.GroupWorkPath(poll.SessionWorkID(session.PollID)))
	w.must(err)
	if !doc.Exists() {
		t.Error("the group has no work")
	}
}

// Two accounts of one person are invited to one meeting, which a third shows once.
func TestSync_OneOfTwoInvitationsGoes_TheOtherIsShown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.mirrorWork(
		mirror.Edge{FromAccountID: work, ToAccountID: home, Detail: mirror.Full, Target: mirror.PrimaryTarget},
		mirror.Edge{FromAccountID: club, ToAccountID: home, Detail: mirror.Full, Target: mirror.PrimaryTarget},
	)
	w.settle()
	_, err := w.full.Insert(w.ctx, refTo(annes), gcal.NewEvent{
		ID: "guest0", Summary: "Party", Start: at(thursday).Time, End: at(thursday).Time.Add(time.Hour),
		Attendees: []string{workMail, "club@example.test"},
	})
	w.must(err)
	w.sync(work)
	w.sync(club)
	w.wantTitles(home, "Party")
	for i, account := range []string{work, club} {
		_, err := w.full.DeleteQuietly(w.ctx, refTo(account), "guest0", "")
		w.must(err)
		w.sync(account)
		w.run(2 * time.Minute)
		if shown, left := w.titles(home), w.mirrors(); len(shown) != 1-i || len(left) != 1-i {
			t.Errorf("without the one at %s home shows %v; the mirrors are %+v", account, shown, left)
		}
	}
}

// Connections to a group that is gone are left to the cleanup, and hold up nothing.
func TestPlanUID_OfAGroupThatIsGone_EndsWell(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	session := w.canonicalSession()
	w.put(session)
	w.connect(club, gm)
	w.must(w.memory.Run(w.ctx, func(_ context.Context, tx store.Tx) error { return tx.Delete(poll.GroupPath("party")) }))
	w.must(w.service.PlanUID(w.ctx, gm, session.ICalUID, cause))
	w.settle()
	w.wantTitles(club)
}
