package mirrors_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"questscheduler/internal/calendars"
	"questscheduler/internal/mirror"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/mirrors"
)

// unmirror deletes the only policy of gm, so that nothing wants their calendars.
func (w *world) unmirror() {
	w.Helper()
	all, err := w.policies.List(w.ctx, gm)
	w.must(err)
	w.must(w.policies.Delete(w.ctx, gm, all[0].ID, cause))
}

// Several calendars with more events than a page, each of which has the same names of events.
func TestPlanPerson_SeveralForgottenCalendars_AreEmptied(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.mirrorWork(toPrimary(work, home), toPrimary(club, home))
	w.settle()
	for i := range 45 {
		for _, account := range []string{work, home, club} {
			w.stored(fmt.Sprintf("%s%02d", account, i), "Old", func(e *mirror.Event) {
				e.AccountID, e.CalendarID = account, refTo(account).Calendar
			})
		}
	}
	w.unmirror()
	w.settle()
	if left := len(w.canonical(work)) + len(w.canonical(home)) + len(w.canonical(club)); left != 0 || !w.personPlan().PlanDue.IsZero() {
		t.Errorf("%d events are left; it is due again at %v", left, w.personPlan().PlanDue)
	}
}

// Nothing else would find them: they ended long ago.
func TestPlanPerson_ForgottenEventsThatEnded_GoWithTheirCopies(t *testing.T) {
	t.Parallel()
	w := newMirroringWorld(t)
	w.insert(work, "Stand-up", thursday)
	w.sync(work)
	w.wantTitles(home, "Stand-up")
	w.must(w.clock.Advance(30 * 24 * time.Hour))
	w.unmirror()
	w.settle()
	w.wantTitles(home)
}

// Only what a group compares with its poll may stay.
func TestPlanPerson_ForgottenCalendar_KeepsWhatAGroupSharesOfAPoll(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		change func(e *mirror.Event)
		stays  bool
	}{
		"a shared session": {func(*mirror.Event) {}, true},
		"one of a poll":    {func(e *mirror.Event) { e.GroupID = "" }, false},
		"one of a group":   {func(e *mirror.Event) { e.PollID = "" }, false},
		"neither":          {func(e *mirror.Event) { e.GroupID, e.PollID = "", "" }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newMirroringWorld(t)
			session := w.pollsSession(row.change)
			w.unmirror()
			w.settle()
			if left := w.canonical(work); (len(left) == 1) != row.stays {
				t.Errorf("left are %+v", left)
			}
			doc, err := w.memory.Get(w.ctx, poll.GroupWorkPath(poll.SessionWorkID(session.PollID)))
			w.must(err)
			if doc.Exists() != row.stays || row.stays && (doc.Data["pollId"] != session.PollID || doc.Data["groupId"] != session.GroupID) {
				t.Errorf("the work of the group is %v", doc.Data)
			}
		})
	}
}

// overtaken does something behind a query outside a transaction.
type overtaken struct {
	store.Store
	query string
	then  func()
}

func (o *overtaken) Query(ctx context.Context, query store.Bound) ([]store.Document, error) {
	docs, err := o.Store.Query(ctx, query)
	if then := o.then; then != nil && query.Query.Name == o.query {
		o.then = nil
		then()
	}
	return docs, err
}

func TestPlanPerson_CalendarFollowedAgain_IsNotForgotten(t *testing.T) {
	t.Parallel()
	w := newMirroringWorld(t)
	w.insert(work, "Stand-up", thursday)
	w.sync(work)
	w.unmirror()
	o := &overtaken{Store: w.service.Store, query: "calendars of a person"}
	o.then = func() {
		calendar, _, err := calendars.LoadKey(w.ctx, w.memory, w.key(work))
		w.must(err)
		w.set(calendars.Path(calendar.Key), calendar.Want(mirror.Consumer, 1, cause.Request(w.clock.Now()), gm)...)
	}
	w.service.Store = o
	w.runWork(mirrors.PlanKind, gm)
	if o.then != nil || len(w.canonical(work)) != 1 {
		t.Errorf("known are %+v", w.canonical(work))
	}
}
