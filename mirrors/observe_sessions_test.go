package mirrors_test

import (
	"context"
	"slices"
	"testing"

	"questscheduler/internal/calendars"
	"questscheduler/internal/gcal"
	"questscheduler/internal/mirror"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/rules"
)

const (
	thePoll   = "the-poll"
	sessionID = poll.EventPrefix + "1"
)

// newSessionWorld is a world in which a poll follows an event that is at work soon, and the party
// shares its session. Ana shows the party's events in her account.
func newSessionWorld(t *testing.T) *world {
	t.Helper()
	w := newMirroringWorld(t)
	w.connect(annes, ana)
	w.follows(sessionID, work)
	w.set(poll.Path(thePoll), store.Set("questingGroupId", "party"))
	w.service.SharedBy = func(ctx context.Context, reader store.Reader, pollID string) (string, error) {
		doc, err := reader.Get(ctx, poll.Path(pollID))
		group, _ := doc.Data["questingGroupId"].(string)
		return group, err
	}
	return w
}

// follows has the poll follow an event of an account's primary calendar.
func (w *world) follows(eventID, account string) {
	w.Helper()
	w.set(poll.IndexPath(eventID), store.Set("consumer", poll.ConsumerPoll), store.Set("schedulerId", thePoll), store.Set("creatorId", gm),
		store.Set("accountId", account), store.Set("calendarId", refTo(account).Calendar), store.Set("generation", int64(1)),
		store.Set("createdAt", stageStart))
}

// session makes the event that the poll follows.
func (w *world) session() gcal.Event {
	w.Helper()
	event, err := w.full.InsertContent(w.ctx, refTo(work), sessionID, gcal.Content{
		Summary: "Session", Start: at(thursday), End: at("2026-03-05T10:00:00Z"), Transparency: "opaque", Visibility: "default",
	}, nil)
	w.must(err)
	return event
}

// goneOccurrence is a deleted occurrence of a series, as a full listing shows it.
func (w *world) goneOccurrence(series string) gcal.Event {
	return gcal.Event{
		ID: series + "_20260312T090000Z", EventState: rules.Gone, InstanceOf: series, Updated: w.clock.Now(),
		Details: &gcal.Details{Status: "cancelled", Original: at("2026-03-12T09:00:00Z")},
	}
}

// It reaches the members without the drain, and so does each change of it.
func TestSync_SessionThatAGroupShares_ReachesItsMembers(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct{ others, full bool }{
		"alone": {}, "on a long page": {others: true}, "in a full listing": {others: true, full: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newSessionWorld(t)
			for range 12 {
				if row.others {
					w.insert(work, "Long ago", "2025-03-05T09:00:00Z")
				}
			}
			if row.full {
				w.relist(work)
			}
			event := w.session()
			w.sync(work)
			for _, title := range []string{"Session", "Moved session"} {
				if title != event.Details.Summary {
					w.turn(event, title, friday)
					w.sync(work)
				}
				w.wantTitles(home, title)
				w.wantTitles(annes, title)
				all := w.canonical(work)
				i := slices.IndexFunc(all, func(e mirror.Event) bool { return e.EventID == sessionID })
				if i < 0 || all[i].PollID != thePoll || all[i].GroupID != "party" || all[i].Source != mirror.SourcePoll ||
					!all[i].PlanAt.IsZero() || all[i].PlanTrace != "trc_push" {
					t.Errorf("known are %+v", all)
				}
			}
			w.erase(work, sessionID)
			w.sync(work)
			w.wantTitles(home)
			w.wantTitles(annes)
		})
	}
}

// Which event is a session says the entry of the poll, by its account and calendar.
func TestSync_EventsThatNoPollFollows_AreNoSessions(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		begin func(w *world)
		is    bool
	}{
		"an event of ours": {func(w *world) { w.session() }, true},
		"one that somebody linked": {func(w *world) {
			w.insert(work, "Session", thursday)
			w.follows("event1", work)
			w.set(calendars.Path(w.key(work)), store.Set("legacyEventIds", []string{"event1"}))
		}, true},
		"one that nobody linked": {func(w *world) {
			w.insert(work, "Session", thursday)
			w.follows("event1", work)
		}, false},
		"one of another calendar": {func(w *world) {
			w.session()
			w.follows(sessionID, home)
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newSessionWorld(t)
			row.begin(w)
			w.sync(work)
			all := w.canonical(work)
			if len(all) != 1 || (all[0].PollID == thePoll) != row.is || (all[0].GroupID == "party") != row.is ||
				(all[0].Source == mirror.SourcePoll) != row.is {
				t.Errorf("known are %+v", all)
			}
			w.wantTitles(home, "Session")
			if row.is {
				w.wantTitles(annes, "Session")
			} else {
				w.wantTitles(annes)
			}
		})
	}
}

// Whether a group shares it is read each time it is observed.
func TestSync_SessionThatIsNotSharedAnyMore_IsTheOwnersAlone(t *testing.T) {
	t.Parallel()
	w := newSessionWorld(t)
	event := w.session()
	w.sync(work)
	w.set(poll.Path(thePoll), store.Set("questingGroupId", ""))
	w.turn(event, "Moved session", friday)
	w.sync(work)
	if all := w.canonical(work); len(all) != 1 || all[0].PollID != thePoll || all[0].GroupID != "" {
		t.Errorf("known are %+v", all)
	}
	w.wantTitles(home, "Moved session")
}
