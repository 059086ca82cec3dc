package mirrors_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"questscheduler/demo/sim/control"
	"questscheduler/internal/gcal"
	"questscheduler/internal/mirror"
	"questscheduler/mirrors/plan"
)

// occupied lists what occupies the owner of an account on days of March, as availability reads
// it: the start, the iCalUID, and the lines of series.
func (w *world) occupied(account string) (lines []string) {
	w.Helper()
	for event, err := range mirror.Blocking(w.ctx, w.memory, []string{account}, at("2026-03-01T00:00:00Z").Time, at("2026-04-01T00:00:00Z").Time) {
		w.must(err)
		what := event.Start.Instant(time.UTC).Format("Jan 2 15:04")
		if event.Status != "confirmed" {
			what = event.Status + " " + event.OriginalStart.Instant(time.UTC).Format("Jan 2 15:04")
		}
		lines = append(lines, strings.TrimSpace(fmt.Sprint(what, " ", event.ICalUID, " ", strings.Join(event.Recurrence, " "))))
	}
	slices.Sort(lines)
	return lines
}

func (w *world) wantOccupied(account string, want ...string) {
	w.Helper()
	if got := w.occupied(account); !slices.Equal(got, want) {
		w.Errorf("%s is occupied by\n%s\nwant\n%s", account, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Who is shown an event in another calendar of theirs is busy there too, as long as it is there.
// The iCalUID says which meeting that is.
func TestSync_CopiesInOnesCalendar_OccupyTheirOwner(t *testing.T) {
	t.Parallel()
	weekly := "RRULE:FREQ=WEEKLY;COUNT=3"
	second := at("2026-03-12T09:00:00Z")
	atSecond := func(w *world, account, seriesID string) gcal.Event {
		shown, err := w.full.Instance(w.ctx, refTo(account), seriesID, second)
		w.must(err)
		return shown
	}
	remove := func(w *world, account, eventID string) {
		_, err := w.full.DeleteQuietly(w.ctx, refTo(account), eventID, "")
		w.must(err)
	}
	for name, row := range map[string]struct {
		rule string
		do   func(w *world, meeting gcal.Event)
		want []string // UID for the meeting's
	}{
		"made":    {want: []string{"Mar 5 09:00 UID"}},
		"moved":   {do: func(w *world, meeting gcal.Event) { w.turn(meeting, "Stand-up", friday) }, want: []string{"Mar 6 09:00 UID"}},
		"deleted": {do: func(w *world, meeting gcal.Event) { remove(w, work, meeting.ID) }},
		"deleted twice by a person": {do: func(w *world, _ gcal.Event) {
			for range 2 {
				w.delete(w.copyAtHome("Stand-up"))
				w.sync(home)
			}
		}},
		"a series": {rule: weekly, want: []string{"Mar 5 09:00 UID " + weekly}},
		"a series with a moved occurrence": {
			rule: weekly, do: func(w *world, meeting gcal.Event) {
				w.turn(atSecond(w, work, meeting.ID), "Stand-up", "2026-03-12T15:00:00Z")
			},
			want: []string{"Mar 12 15:00 UID", "Mar 5 09:00 UID " + weekly},
		},
		"a series with a cancelled occurrence": {
			rule: weekly, do: func(w *world, meeting gcal.Event) { remove(w, work, atSecond(w, work, meeting.ID).ID) },
			want: []string{"Mar 5 09:00 UID " + weekly, "cancelled Mar 12 09:00 UID"},
		},
		"a series deleted after its occurrence moved": {rule: weekly, do: func(w *world, meeting gcal.Event) {
			w.turn(atSecond(w, work, meeting.ID), "Stand-up", "2026-03-12T15:00:00Z")
			w.sync(work)
			w.sync(home)
			remove(w, work, meeting.ID)
		}},
		"in an overlay calendar": {do: func(w *world, _ gcal.Event) {
			all, err := w.policies.List(w.ctx, gm)
			w.must(err)
			edge := mirror.Edge{FromAccountID: work, ToAccountID: home, Detail: mirror.Full, Target: mirror.Overlay}
			_, err = w.policies.SetEdges(w.ctx, gm, all[0].ID, []mirror.Edge{edge}, cause)
			w.must(err)
			w.run(2 * time.Minute)
			overlay := w.overlay().CalendarID
			if shown := w.shown(home, overlay); len(shown) == 0 {
				w.Fatalf("it shows nothing")
			}
			w.must(w.queueSyncOf(gcal.Ref{Account: home, Calendar: overlay}))
			w.settle()
		}},
	} {
		for how, beside := range map[string]int{"one by one": 0, "as a page": 12} {
			t.Run(name+" "+how, func(t *testing.T) {
				t.Parallel()
				w := newMirroringWorld(t)
				var lines []string
				if row.rule != "" {
					lines = []string{row.rule}
				}
				meeting := w.insert(work, "Stand-up", thursday, lines...)
				for i := range beside { // in April
					w.insert(work, fmt.Sprint("Other ", i), "2026-04-05T09:00:00Z")
				}
				w.sync(work)
				w.relist(home)
				w.sync(home)
				if row.do != nil {
					row.do(w, meeting)
					w.sync(work)
					w.run(10 * time.Minute)
					w.sync(home)
				}
				want := slices.Clone(row.want)
				for i := range want {
					want[i] = strings.ReplaceAll(want[i], "UID", meeting.Details.ICalUID)
				}
				w.wantOccupied(home, want...)
			})
		}
	}
}

// A copy that its owner kept, and one that another account reaches, occupy as the meeting does.
func TestSync_AKeptCopy_OccupiesThoseWhoReachIt(t *testing.T) {
	t.Parallel()
	w := newMirroringWorld(t)
	w.stray(1, "here")
	w.keep(mirror.Mirror{
		ID: "mir_kept", OwnerID: gm, TargetAccountID: home, TargetCalendarID: homeMail, EventID: w.atHome().ID, ICalUID: "meeting",
	})
	w.reader(annes, ana)
	w.sync(home)
	w.syncShared(annes)
	for _, account := range []string{home, annes} {
		w.wantOccupied(account, "Mar 7 09:00 meeting")
	}
}

// Whose marks a person removed, with no document that names it, is an event of theirs.
func TestSync_ACopyMadeOnesOwn_IsNoCopyAnyMore(t *testing.T) {
	t.Parallel()
	w := newMirroringWorld(t)
	w.stray(1, "here")
	w.sync(home)
	w.wantOccupied(home, "Mar 7 09:00 "+mirror.CopyID(home, homeMail, w.atHome().ID))
	w.post(home, http.MethodPatch, "/"+w.atHome().ID, fmt.Sprintf(`{"extendedProperties":{"private":{%q:null,%q:null}}}`,
		plan.MarkMirror, plan.MarkInstallation))
	w.sync(home)
	w.run(10 * time.Minute)
	w.wantOccupied(home, "Mar 7 09:00 "+w.atHome().Details.ICalUID)
	if known := w.canonical(home); len(known) != 1 {
		t.Errorf("known are %+v", known)
	}
}

// mirrorOf is the one mirror of an event.
func (s *stage) mirrorOf(eventID string) mirror.Mirror {
	s.Helper()
	all, err := mirror.OfEvent(s.ctx, s.memory, eventID)
	s.must(err)
	if len(all) != 1 {
		s.Fatalf("%s has the mirrors %+v", eventID, all)
	}
	return all[0]
}

// An occurrence whose mirror could not be changed yet is there by the rule of the mirror's
// series alone, so no listing shows it, and none says that it is gone when the series is moved.
func TestUnlisted_AnOccurrenceByTheRuleOfItsMirror_OccupiesByTheSeriesAlone(t *testing.T) {
	t.Parallel()
	w := newMirroringWorld(t)
	meeting := w.insert(work, "Stand-up", thursday, "RRULE:FREQ=WEEKLY;COUNT=3")
	w.sync(work)
	w.relist(home)
	w.sync(home)
	second, err := w.full.Instance(w.ctx, refTo(work), meeting.ID, at("2026-03-12T09:00:00Z"))
	w.must(err)
	content := plan.Shown(*second.Details)
	content.Summary = "Retrospective"
	_, err = w.full.PatchContent(w.ctx, refTo(work), second.ID, "", content)
	w.must(err)
	w.must(w.google.Control().Plant(control.Rule{Match: "events.patch", Calendar: homeMail, Status: 503, Reason: "backendError"}))
	w.sync(work)
	w.relist(home)
	w.sync(home)
	uid := meeting.Details.ICalUID
	w.wantOccupied(home, "Mar 5 09:00 "+uid+" RRULE:FREQ=WEEKLY;COUNT=3")
	w.google.Control().Clear()
	moved := plan.Shown(*meeting.Details)
	moved.Start, moved.End = at(friday), at("2026-03-06T10:00:00Z")
	_, err = w.full.PatchContent(w.ctx, refTo(work), meeting.ID, "", moved)
	w.must(err)
	w.sync(work)
	w.run(10 * time.Minute)
	w.sync(home)
	w.wantOccupied(home, "Mar 6 09:00 "+uid+" RRULE:FREQ=WEEKLY;COUNT=3")
}

// A listing that lacks a moved occurrence says nothing of its time.
func TestUnlisted_AMovedOccurrence_OccupiesWhereItIs(t *testing.T) {
	t.Parallel()
	w := newMirroringWorld(t)
	w.service.HoldMin = 20
	meeting := w.insert(work, "Stand-up", thursday, "RRULE:FREQ=WEEKLY;COUNT=3")
	w.sync(work)
	w.sync(home)
	w.moveInstance(work, meeting.ID, at("2026-03-12T09:00:00Z"), 6*time.Hour)
	w.sync(work)
	w.run(10 * time.Minute)
	w.sync(home)
	uid := meeting.Details.ICalUID
	want := []string{"Mar 12 15:00 " + uid, "Mar 5 09:00 " + uid + " RRULE:FREQ=WEEKLY;COUNT=3"}
	w.wantOccupied(home, want...)
	w.relist(home)
	empty := json.RawMessage(`{"accessRole": "owner", "items": [], "nextSyncToken": "none"}`)
	w.must(w.google.Control().Plant(control.Rule{Match: "events.list", Body: empty, Times: 1}))
	w.sync(home)
	w.wantOccupied(home, want...)
}
