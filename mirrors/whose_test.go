package mirrors_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"questscheduler/demo/sim/google"
	"questscheduler/internal/calendars"
	"questscheduler/internal/gcal"
	"questscheduler/internal/mirror"
	"questscheduler/internal/store"
	"questscheduler/mirrors"
	"questscheduler/mirrors/plan"
	"questscheduler/rules"
)

// reader has an account follow home's calendar, which is shared with it.
func (w *world) reader(account, owner string) calendars.Calendar {
	w.Helper()
	w.must(w.google.Share(homeMail, account, google.Writer))
	shared := calendars.Calendar{Key: w.keyOf(account, homeMail), AccountID: account, CalendarID: homeMail}
	w.set(calendars.Path(shared.Key), shared.Want(mirror.Consumer, 1, cause.Request(w.clock.Now()), owner)...)
	return shared
}

func (w *world) keyOf(account, calendarID string) string {
	found := calendars.Calendar{}
	w.must(w.memory.Run(w.ctx, func(ctx context.Context, tx store.Tx) (err error) {
		found, _, err = calendars.Load(ctx, tx, account, calendarID)
		return err
	}))
	return found.Key
}

// syncShared syncs home's calendar as another account sees it.
func (w *world) syncShared(account string) {
	w.Helper()
	w.must(w.clock.Advance(2 * time.Second))
	w.must(w.queueSyncOf(gcal.Ref{Account: account, Calendar: homeMail}))
	w.settle()
}

// others are the accounts that may reach home's calendar, by who has them.
var others = map[string]string{annes: ana, club: gm}

// Two people share a calendar, or two accounts of one person reach it: each reads there what
// the other's mirrors have.
func TestReconcile_ASharedCalendar_KeepsAnothersMirrors(t *testing.T) {
	t.Parallel()
	for account, owner := range others {
		for _, byHand := range []bool{false, true} {
			t.Run(fmt.Sprint(account, byHand), func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				w.mirrorWork()
				series := w.insert(work, "Weekly", thursday, "RRULE:FREQ=WEEKLY;COUNT=4")
				w.insert(work, "Stand-up", thursday)
				w.settle()
				w.reader(account, owner)
				second, err := w.full.Instance(w.ctx, refTo(work), series.ID, at("2026-03-12T09:00:00Z"))
				w.must(err)
				content := plan.Shown(*second.Details)
				content.Summary = "Weekly, with cake"
				_, err = w.full.PatchContent(w.ctx, refTo(work), second.ID, "", content)
				w.must(err)
				w.sync(work)
				w.sync(home)
				w.run(10 * time.Minute)
				for range 3 {
					w.must(w.clock.Advance(24 * time.Hour))
					if did := w.reconcile(byHand); did.Strays > 0 || did.Guarded > 0 || did.Corrected > 0 || did.Failed > 0 {
						t.Errorf("it did %+v", did)
					}
					w.sync(home)
					w.syncShared(account)
				}
				w.wantTitles(home, "Stand-up", "Weekly", "Weekly, with cake")
				for _, m := range w.mirrors() {
					if m.State != mirror.Active || m.Generation > 1 || len(m.Reverts) > 0 || !m.DeletedAt.IsZero() {
						t.Errorf("the mirror is %+v", m)
					}
				}
			})
		}
	}
}

func TestReconcile_AnothersKeptCopy_Stays(t *testing.T) {
	t.Parallel()
	w := newMirroringWorld(t)
	w.stray(1, "here")
	kept := mirror.Mirror{ID: "mir_kept", OwnerID: gm, TargetAccountID: home, TargetCalendarID: homeMail, EventID: w.atHome().ID}
	w.must(w.memory.Run(w.ctx, func(_ context.Context, tx store.Tx) error {
		return tx.Set(mirror.KeptPath(kept.ID), mirror.Encode(kept))
	}))
	w.reader(annes, ana)
	w.reconcile(true)
	w.syncShared(annes)
	w.relist(home)
	w.sync(home)
	w.wantTitles(home, "Busy")
	if known := append(w.canonical(annes), w.canonical(home)...); len(known) > 0 {
		t.Errorf("it is the origin of %+v", known)
	}
}

// What another account's mirror has in a shared calendar is nobody's origin, and neither
// reverted nor counted when it changes.
func TestSync_AnothersMirrorInASharedCalendar_IsIgnored(t *testing.T) {
	t.Parallel()
	for account, owner := range others {
		for _, events := range []int{1, 12} { // applied one by one, or as a page
			t.Run(fmt.Sprint(account, events), func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				for i := range events {
					w.insert(work, fmt.Sprint("Stand-up ", i), thursday)
				}
				w.mirrorWork()
				w.settle()
				w.sync(home)
				w.reader(account, owner)
				before := w.state()
				w.syncShared(account)
				changed := w.shown(home, homeMail)[0]
				w.change(changed, "Mine")
				w.syncShared(account)
				if after := w.state(); after != before {
					t.Errorf("changed from\n%s\nto\n%s", before, after)
				}
				if known := w.canonical(account); len(known) > 0 {
					t.Errorf("it is the origin of %+v", known)
				}
				w.sync(home)
				if titles := w.titles(home); slices.Contains(titles, "Mine") || len(titles) != events {
					t.Errorf("home shows %v", titles)
				}
			})
		}
	}
}

// An id proves nothing: anybody can choose it.
func TestSync_AnIDLikeOurs_IsAnOrdinaryEvent(t *testing.T) {
	t.Parallel()
	for _, others := range []int{0, 12} {
		w := newMirroringWorld(t)
		for i := range others {
			w.insert(work, fmt.Sprint("Other ", i), thursday)
		}
		content := gcal.Content{
			Summary: "Dentist", Start: at(thursday), End: at("2026-03-05T10:00:00Z"), Recurrence: []string{"RRULE:FREQ=DAILY;COUNT=2"},
			Transparency: "opaque", Visibility: "default",
		}
		foreign := mirror.EventPrefix + "0foreign"
		_, err := w.full.InsertContent(w.ctx, refTo(work), foreign, content, nil)
		w.must(err)
		w.relist(work)
		w.sync(work)
		if titles := w.titles(home); !slices.Contains(titles, "Dentist") {
			t.Fatalf("home shows %v\n%s", titles, w.log.String())
		}
		if listed := w.list(gm, within("2026-03-01T00:00:00Z", "2026-04-01T00:00:00Z"), 100); len(listed) != others+2 {
			t.Errorf("%d are listed, want %d", len(listed), others+2)
		}
		second, err := w.full.Instance(w.ctx, refTo(work), foreign, at(friday))
		w.must(err)
		_, err = w.full.DeleteQuietly(w.ctx, refTo(work), second.ID, "")
		w.must(err)
		w.sync(work)
		w.run(10 * time.Minute)
		copied, err := w.full.Instance(w.ctx, refTo(home), w.masterAtHome().ID, at(friday))
		w.must(err)
		if copied.Details.Status != "cancelled" {
			t.Errorf("the copy shows the deleted occurrence")
		}
		w.reconcile(true)
		if _, err := w.full.Get(w.ctx, refTo(work), foreign); err != nil || !slices.Contains(w.titles(work), "Dentist") {
			t.Errorf("work shows %v: %v", w.titles(work), err)
		}
		_, err = w.full.DeleteQuietly(w.ctx, refTo(work), foreign, "")
		w.must(err)
		w.sync(work)
		w.run(time.Minute)
		if titles := w.titles(home); slices.Contains(titles, "Dentist") {
			t.Errorf("home shows %v", titles)
		}
	}
}

// A listing may show a deleted occurrence before its series, which is treated as a mirror's for its id.
func TestSync_ADeletedOccurrenceBeforeItsSeriesWithAnIDLikeOurs_IsNotCopied(t *testing.T) {
	t.Parallel()
	w := newMirroringWorld(t)
	foreign := mirror.EventPrefix + "0foreign"
	content := gcal.Content{
		Summary: "Dentist", Start: at(thursday), End: at("2026-03-05T10:00:00Z"), Recurrence: []string{"RRULE:FREQ=DAILY;COUNT=3"},
		Transparency: "opaque", Visibility: "default",
	}
	_, err := w.full.InsertContent(w.ctx, refTo(work), foreign, content, nil)
	w.must(err)
	first, err := w.full.Instance(w.ctx, refTo(work), foreign, at(thursday))
	w.must(err)
	_, err = w.full.DeleteQuietly(w.ctx, refTo(work), first.ID, "")
	w.must(err)
	content.Location = "Elsewhere"
	_, err = w.full.PatchContent(w.ctx, refTo(work), foreign, "", content) // listed after its occurrence
	w.must(err)
	w.sync(work)
	w.sync(work)
	w.run(10 * time.Minute)
	copied, err := w.full.Instance(w.ctx, refTo(home), w.masterAtHome().ID, at(thursday))
	w.must(err)
	if copied.Details.Status != "cancelled" {
		t.Errorf("the copy shows the deleted occurrence")
	}
}

// A mirror whose document went with its event leaves nothing that counts as an origin, with
// no occurrence that Google shows as deleted without its marks.
func TestSync_AForgottenSeries_IsNoOrigin(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.mirrorWork(
		mirror.Edge{FromAccountID: work, ToAccountID: home, Detail: mirror.Full, Target: mirror.PrimaryTarget},
		mirror.Edge{FromAccountID: home, ToAccountID: work, Detail: mirror.Full, Target: mirror.PrimaryTarget},
	)
	series := w.insert(work, "Weekly", thursday, "RRULE:FREQ=WEEKLY;COUNT=4")
	w.settle()
	second, err := w.full.Instance(w.ctx, refTo(work), series.ID, at("2026-03-12T09:00:00Z"))
	w.must(err)
	_, err = w.full.DeleteQuietly(w.ctx, refTo(work), second.ID, "")
	w.must(err)
	w.sync(work)
	w.run(10 * time.Minute)
	copied, err := w.full.Instance(w.ctx, refTo(home), w.masterAtHome().ID, at("2026-03-12T09:00:00Z"))
	w.must(err)
	_, err = w.full.DeleteQuietly(w.ctx, refTo(work), series.ID, "")
	w.must(err)
	w.sync(work)
	w.run(3 * time.Hour)
	_, _, err = w.service.Observe(w.ctx, refTo(home), gcal.Event{
		ID: copied.ID, EventState: rules.Gone, InstanceOf: copied.InstanceOf, Updated: w.clock.Now(),
		Details: &gcal.Details{Status: "cancelled", Original: copied.Details.Original},
	}, true, cause)
	w.must(err)
	w.sync(home)
	if known := append(w.canonical(home), w.canonical(work)...); len(known) > 0 {
		t.Errorf("known are %+v", known)
	}
}

// A guest that a person adds to a copy by hand is invited by that person: the invitation
// blocks the guest's time, and is not copied on.
func TestSync_AnInvitationToAMirror_HasNoMirrors(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.mirrorWork(
		mirror.Edge{FromAccountID: work, ToAccountID: home, Detail: mirror.Full, Target: mirror.PrimaryTarget},
		mirror.Edge{FromAccountID: club, ToAccountID: home, Detail: mirror.Full, Target: mirror.PrimaryTarget},
	)
	w.insert(work, "Stand-up", thursday)
	w.settle()
	w.post(home, http.MethodPatch, "/"+w.atHome().ID, `{"attendees":[{"email":"club@example.test"}]}`)
	w.sync(club)
	w.sync(home)
	w.wantTitles(home, "Stand-up")
	known := w.canonical(club)
	if len(known) != 1 || known[0].Kind != mirror.KindCopy || known[0].Transparency != "opaque" {
		t.Errorf("known are %+v", known)
	}
	w.reconcile(true)
	w.wantTitles(club, "Stand-up")
}

// post calls a calendar's events, as another program of its owner.
func (w *world) post(account, method, below, body string) {
	w.Helper()
	request := httptest.NewRequest(method, "/calendar/v3/calendars/"+refTo(account).Calendar+"/events"+below, strings.NewReader(body))
	request.Header.Set("Authorization", "Bearer "+w.grants[account].AccessToken)
	request.Header.Set("Content-Type", "application/json")
	answer := httptest.NewRecorder()
	w.google.Handler().ServeHTTP(answer, request)
	if answer.Code != http.StatusOK {
		w.Fatalf("%s %s: %d %s", method, below, answer.Code, answer.Body)
	}
}

// An imported or forged event with the iCalUID of a meeting hides it nowhere.
func TestSync_ACopiedICalUID_HidesNoMeeting(t *testing.T) {
	t.Parallel()
	for name, times := range map[string]string{
		"at another time":         `"start":{"dateTime":"2026-03-05T15:00:00Z"},"end":{"dateTime":"2026-03-05T16:00:00Z"}`,
		"by another organizer":    `"start":{"dateTime":"2026-03-05T09:00:00Z"},"end":{"dateTime":"2026-03-05T10:00:00Z"}`,
		"by another, in a series": `"start":{"dateTime":"2026-03-05T09:00:00Z"},"end":{"dateTime":"2026-03-05T10:00:00Z"},"recurrence":["RRULE:FREQ=DAILY;COUNT=2"]`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newMirroringWorld(t)
			meeting := w.insert(work, "Stand-up", thursday)
			w.sync(work)
			zoned := strings.ReplaceAll(times, `Z"}`, `Z","timeZone":"UTC"}`)
			w.post(home, http.MethodPost, "", `{"summary":"Forged","iCalUID":"`+meeting.Details.ICalUID+`",`+zoned+`}`)
			w.sync(home)
			w.run(time.Minute)
			w.wantTitles(home, "Forged", "Stand-up")
		})
	}
}

// A mirror that a person moved to another calendar of the account is no longer its mirror's
// event, and nobody's origin there.
func TestSync_AMirrorMovedToAnotherCalendar_IsNoDrift(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.mirrorWork()
	w.insert(work, "Stand-up", thursday)
	w.settle()
	shown, other := w.atHome(), calendars.Calendar{AccountID: home, CalendarID: team}
	w.set(calendars.Path(w.keyOf(home, team)), other.Want(mirror.Consumer, 1, cause.Request(w.clock.Now()), gm)...)
	before := w.only()
	shown.Details.Summary, shown.ETag = "Mine", `"other"`
	_, known, err := w.service.Observe(w.ctx, gcal.Ref{Account: home, Calendar: team}, shown, true, cause)
	w.must(err)
	if after := w.only(); known || after.State != before.State || after.ETag != before.ETag {
		t.Errorf("known %t, changed from %+v to %+v", known, before, after)
	}
}

// The document of a group's event is removed 90 days after its end, and its copies stay.
func TestStray_ThatEndedLongAgo_Stays(t *testing.T) {
	t.Parallel()
	w := newMirroringWorld(t)
	id := mirror.EventID("here", "evt_past", home, homeMail, 1)
	content := gcal.Content{Summary: "Past", Start: at("2026-01-20T09:00:00Z"), End: at("2026-01-20T10:00:00Z")}
	_, err := w.full.InsertContent(w.ctx, refTo(home), id, content, plan.Marks(mirror.Mirror{ID: "mir_past"}, "here"))
	w.must(err)
	w.sync(home)
	w.run(time.Minute)
	w.reconcile(true)
	w.wantTitles(home, "Past")
	if known := w.canonical(home); len(known) > 0 {
		t.Errorf("it is the origin of %+v", known)
	}
}

// A meeting that is moved is not copied beside the invitation to it, whichever calendar is
// synced first.
func TestSync_AMovedInvitation_IsNotCopiedInBetween(t *testing.T) {
	t.Parallel()
	w := newMirroringWorld(t)
	w.post(work, http.MethodPost, "", `{"id":"invited1","summary":"Stand-up","attendees":[{"email":"`+homeMail+`"}],
		"start":{"dateTime":"2026-03-05T15:00:00Z"},"end":{"dateTime":"2026-03-05T16:00:00Z"}}`)
	w.sync(home)
	w.sync(work)
	w.post(work, http.MethodPatch, "/invited1", `{"start":{"dateTime":"2026-03-06T15:00:00Z"},"end":{"dateTime":"2026-03-06T16:00:00Z"}}`)
	w.google.Control().ResetCalls()
	w.sync(work)
	w.run(2 * time.Minute)
	if m := w.only(); m.State != mirror.Covered {
		t.Errorf("the mirror is %s", m.State)
	}
	w.sync(home)
	w.run(20 * time.Minute)
	if m, calls := w.only(), w.google.Control().Calls(); m.State != mirror.Covered || calls["events.insert"] > 0 {
		t.Errorf("the mirror is %s after %d inserts", m.State, calls["events.insert"])
	}
	if event := w.canonical(work)[0]; !event.PlanAt.IsZero() {
		t.Errorf("it is planned again at %v", event.PlanAt)
	}
}

// A guest who moves the own copy of a meeting gets the meeting's own time beside it, once
// both calendars should have been synced.
func TestSync_ACopyThatStaysApart_IsShownBeside(t *testing.T) {
	t.Parallel()
	w := newMirroringWorld(t)
	meeting := w.insert(work, "Stand-up", thursday)
	w.sync(work)
	w.run(time.Hour)
	known := w.canonical(work)[0]
	apart := known
	apart.ID, apart.AccountID, apart.CalendarID, apart.Updated = "evt_apart", home, homeMail, w.clock.Now()
	apart.Start, apart.End = at(friday), at("2026-03-06T10:00:00Z")
	w.put(apart)
	w.must(w.service.PlanUID(w.ctx, gm, meeting.Details.ICalUID, cause))
	if m := w.only(); m.State == mirror.Active {
		t.Fatalf("the mirror is %s", m.State)
	}
	w.run(20 * time.Minute)
	if m := w.only(); m.State != mirror.Active {
		t.Errorf("the mirror is %s\n%s", m.State, w.log.String())
	}
}

// changedBefore has somebody change the event before the next deletion.
type changedBefore struct {
	mirrors.Google
	change func()
}

func (g *changedBefore) DeleteQuietly(ctx context.Context, ref gcal.Ref, id, etag string) (bool, error) {
	g.change()
	return g.Google.DeleteQuietly(ctx, ref, id, etag)
}

func TestReconcile_AStrayThatChangedSinceTheListing_Stays(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.followed(homeMail)
	s.stray(1, "here")
	s.writer.Google = &changedBefore{s.client, func() { s.change(s.atHome(), "Mine") }}
	if did := s.reconcile(true); did.Strays != 0 || did.Failed != 0 {
		t.Errorf("it did %+v", did)
	}
	if title := s.atHome().Details.Summary; title != "Mine" {
		t.Errorf("home shows %s", title)
	}
}
