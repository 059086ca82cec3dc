package transition_test

import (
	"time"

	"questscheduler/internal/calendars"
	"questscheduler/internal/poll"
	"questscheduler/rules"
	"questscheduler/transition"
)

var (
	four   = rules.Timed(now.AddDate(0, 0, 9).Add(4*time.Hour), now.AddDate(0, 0, 9).Add(5*time.Hour))
	day, _ = rules.Days("2026-03-12", "2026-03-13")
)

// named is a state that polls are met in; each call of state gives one of its own.
type named struct {
	name  string
	state func() transition.State
}

type change func(s *transition.State)

func with(base func() transition.State, changes ...change) func() transition.State {
	return func() transition.State {
		s := base()
		for _, change := range changes {
			change(&s)
		}
		return s
	}
}

func status(status rules.Status) change {
	return func(s *transition.State) { s.Poll.Status = status }
}

// untouched is a poll that the web app made a minute ago.
func untouched() transition.State {
	return transition.State{Poll: poll.Poll{
		ID: "poll", Title: "Session nine", CreatorID: "gm", Status: rules.Open, ParticipantIDs: []string{"gm", "ana", "ben"},
		CreatedAt: now.Add(-time.Minute), Untouched: true,
	}}
}

// open is a poll of last week that the journal knows, with two votes.
func open() transition.State {
	s := untouched()
	s.Poll.CreatedAt, s.Poll.UpdatedAt, s.Poll.Untouched = now.AddDate(0, 0, -7), now.Add(-time.Hour), false
	s.Poll.JoinedIDs, s.Poll.PendingInvites = []string{"ana"}, []string{"cleo@example.com"}
	s.Poll.Sync.Recorded = poll.Recorded{At: now.Add(-2 * time.Hour), Status: rules.Open}
	s.Votes = []poll.Vote{
		{UserID: "gm", Choices: map[string]string{"slot-1": poll.Preferred}},
		{UserID: "ana", Choices: map[string]string{"slot-1": poll.Feasible, "slot-2": poll.Feasible}},
	}
	return s
}

func inserting(s *transition.State) {
	s.Poll.Sync.Generation++
	s.Intents = append(s.Intents, poll.Intent{
		Kind: poll.IntentInsert, PollID: "poll", Generation: s.Poll.Sync.Generation, AccountID: "acc", CalendarID: "cal",
		EventID: poll.EventID("poll", s.Poll.Sync.Generation), Due: now.Add(time.Second), Attempts: 2, CreatedAt: now.Add(-time.Second),
		Session: poll.Session{SlotID: "slot-1", Title: "Session nine", Actor: "gm"},
	})
}

// finalised is a poll that was finalised without an event.
func finalised() transition.State {
	s := open()
	winning := poll.Slot{ID: "slot-1", Start: ten.StartTime(), End: ten.EndTime(), Source: poll.SourcePoll}
	p := &s.Poll
	p.Status, p.WinningSlotID, p.FinalizedAt = rules.Finalized, "slot-1", now.Add(-2*time.Hour)
	p.SlotPriority = map[string]int64{"slot-1": now.Add(-2 * time.Hour).UnixMilli()}
	p.Sync.Generation, p.Sync.Request = 2, poll.Request{ID: "request", At: now.Add(-2 * time.Hour)}
	p.Sync.LastSyncedAt = now.Add(-90 * time.Minute)
	p.Sync.Recorded.Status, p.Sync.Recorded.WinningSlotID = rules.Finalized, "slot-1"
	s.Winning = &winning
	return s
}

// linked follows an event, in a calendar that two polls follow.
func linked() transition.State {
	s := finalised()
	event := poll.EventID("poll", 2)
	p := &s.Poll
	p.GoogleEventID, p.GoogleCalendarID, p.Sync.Recorded.EventID = event, "cal", event
	p.Sync.State, p.Sync.Baseline, p.Sync.Applied, p.Sync.Observed = rules.StateOK, ten, ten, now.Add(-100*time.Minute)
	s.Entry = &poll.IndexEntry{
		EventID: event, PollID: "poll", AccountID: "acc", CreatorID: "gm", CalendarID: "cal", Generation: 2, CreatedAt: now.Add(-2 * time.Hour),
	}
	s.EntryPath, s.Calendar = poll.IndexPath(event), calendar("key", "cal")
	return s
}

func calendar(key, id string) calendars.Calendar {
	return calendars.Calendar{
		Key: key, AccountID: "acc", CalendarID: id, OwnerID: "gm", LinkedAt: now.Add(-24 * time.Hour),
		Interests: map[string]int64{poll.ConsumerPoll: 2},
		Backlogs:  map[string]calendars.Backlog{poll.ConsumerPoll: {Deferred: map[string]calendars.Deferral{}}},
	}
}

// moved is linked after the calendar moved the event from ten to noon.
func moved(s *transition.State) {
	original, winning := *s.Winning, poll.SlotAt("slot-2", noon)
	s.Winning, s.Original = &winning, &original
	p := &s.Poll
	p.WinningSlotID, p.Sync.Recorded.WinningSlotID, p.Sync.State, p.Sync.Applied = "slot-2", "slot-2", rules.StateRescheduled, noon
	p.Sync.Rescheduled = &poll.Rescheduled{
		FromSlotID: "slot-1", ToSlotID: "slot-2", SnapshotID: "snapshot", At: now.Add(-time.Hour), MovedAt: now.Add(-time.Hour), Timely: noon,
	}
	s.Snapshot = &poll.Snapshot{Votes: []poll.Vote{
		{UserID: "ben", Choices: map[string]string{"slot-1": poll.Feasible}}, {UserID: "ana"}, {UserID: "gone"}, {},
	}}
}

func failing(code rules.ErrorCode) change {
	return func(s *transition.State) {
		s.Poll.Sync.State, s.Poll.Sync.Error = rules.StateError, &poll.SyncError{At: now.Add(-time.Hour), Code: code, Message: "failed"}
	}
}

// awaiting is cancelled, since its event was deleted in the calendar.
func awaiting(s *transition.State) {
	p := &s.Poll
	mark := poll.Cancelled{At: now.Add(-30 * time.Minute), Reason: rules.ReasonCalendarDeleted}
	p.Status, p.Cancelled, p.Sync.Cancelled, p.Sync.State = rules.Cancelled, &mark, &mark, rules.StateCancelled
	p.Sync.Awaited = &poll.Awaited{
		Link:  rules.Link{Account: "acc", Calendar: "cal", Event: p.GoogleEventID, Generation: p.Sync.Generation},
		Until: mark.At.Add(rules.AwaitFor), Winning: s.Winning.Fingerprint(),
	}
	if s.Original != nil {
		p.Sync.Awaited.Original = s.Original.Fingerprint()
	}
	p.GoogleEventID, p.Sync.Recorded.EventID, p.Sync.Recorded.Status = "", "", rules.Cancelled
	s.Entry.Awaited = true
}

func cancelled(s *transition.State) {
	mark := poll.Cancelled{At: now.Add(-30 * time.Minute), Reason: rules.ReasonManual}
	p := &s.Poll
	p.Status, p.Cancelled, p.Sync.Cancelled, p.Sync.State, p.Sync.Recorded.Status = rules.Cancelled, &mark, &mark,
		rules.StateCancelled, rules.Cancelled
	p.Sync.Generation++
}

func inGroup(s *transition.State) {
	s.Poll.GroupID, s.Group = "group", &poll.Group{ID: "group", MemberIDs: []string{"gone"}}
}

func deferred(reason string) change {
	return func(s *transition.State) {
		s.Calendar.Backlogs[poll.ConsumerPoll].Deferred[s.Entry.EventID] = calendars.Deferral{At: now, Why: reason}
	}
}

// unread follows an event that no sync has read yet.
func unread(s *transition.State) {
	p := &s.Poll.Sync
	p.State, p.Baseline, p.Applied, p.Observed = rules.StateNone, rules.Fingerprint{}, rules.Fingerprint{}, time.Time{}
}

// noted has an entry that notes the event at a time.
func noted(at rules.Fingerprint, updated time.Time) change {
	return func(s *transition.State) {
		s.Poll.Sync.Recorded.Noted, s.Poll.Sync.Recorded.NotedUpdated = s.Poll.GoogleEventID+"|present|"+at.String(), updated
	}
}

// next is a calendar to follow the event in.
func next(s *transition.State) {
	s.Next, s.NextPath = calendar("next", "other"), poll.IndexPath("next")
}

// legacy has an event whose id Google made, as the index keeps those.
func legacy(s *transition.State) {
	s.Poll.GoogleEventID, s.Poll.Sync.Recorded.EventID, s.Entry.EventID = "google", "google", "google"
	s.EntryPath = poll.SharedIndexPath("google", "acc", "cal")
	s.Calendar.LegacyEventIDs = []string{"another", "google"}
}

func edited(edit func(p *poll.Poll)) change { return func(s *transition.State) { edit(&s.Poll) } }

var (
	toAnother    = edited(func(p *poll.Poll) { p.GoogleEventID = "another" })
	toNone       = edited(func(p *poll.Poll) { p.GoogleEventID = "" })
	withoutEntry = func(s *transition.State) { s.Entry = nil }
)

// everywhere are the states that every step is tried in. A + adds what the function of that name
// does, a - leaves something out, and a > is a direct edit that nobody has carried through yet.
var everywhere = []named{
	{"new", untouched},
	{"open", open},
	{"open+inserting", with(open, inserting)},
	{"finalised", finalised},
	{"linked", linked},
	{"linked+group", with(linked, inGroup)},
	{"linked+inserting", with(linked, inserting)},
	{"linked+failing", with(linked, failing(rules.SyncFailed))},
	{"linked+held", with(linked, failing(rules.MassCancellationHeld), deferred(calendars.DeferredHeld))},
	{"linked+confirmed", with(linked, failing(rules.MassCancellationHeld))},
	{"linked+unshown", with(linked, deferred(calendars.DeferredHeld))},
	{"linked+legacy", with(linked, legacy)},
	{"linked-entry", with(linked, withoutEntry)},
	{"moved", with(linked, moved)},
	{"moved+group-slots", with(linked, moved, inGroup, func(s *transition.State) { s.Winning, s.Original, s.Votes = nil, nil, nil })},
	{"moved+failing", with(linked, moved, failing(rules.WatchFailed))},
	{"awaiting", with(linked, awaiting)},
	{"awaiting+group-slot", with(linked, awaiting, inGroup, func(s *transition.State) { s.Winning = nil })},
	{"awaiting+moved", with(linked, moved, awaiting)},
	{"awaiting+moved-slots", with(linked, moved, awaiting, func(s *transition.State) { s.Winning, s.Poll.WinningSlotID = nil, "" })},
	{"awaiting+inserting", with(linked, awaiting, inserting)},
	{"cancelled", with(finalised, cancelled)},
	{"cancelled+linked", with(linked, cancelled)},
	{"cancelled-mark", with(finalised, cancelled, func(s *transition.State) { s.Poll = s.Poll.Unmarked() })},
	{"archived+linked", with(linked, status(rules.Archived))},
	{"archived+awaiting", with(linked, awaiting, status(rules.Archived))},
	{"archived+open", with(open, status(rules.Archived))},
	{"linked+unread", with(linked, unread)},
	{"linked+noted", with(linked, noted(four, now.Add(-time.Hour)))},
	{"linked+noted later", with(linked, noted(ten, now))},
	{"linked-creator", with(linked, func(s *transition.State) { s.Poll.CreatorID = "" })},
	{
		"moved+warning",
		with(linked, moved, func(s *transition.State) { s.Poll.Sync.Error = &poll.SyncError{Code: rules.RecurringUnsupported} }),
	},
	{"moved+another winning", with(linked, moved, func(s *transition.State) { s.Winning = s.Original })},
	{"archived+linked-entry", with(linked, withoutEntry, status(rules.Archived))},
	{"archived+linked+unshown", with(linked, status(rules.Archived), deferred(calendars.DeferredHeld))},
	{"archived+cancelled+linked", with(linked, cancelled, status(rules.Archived))},
	{"cancelled+no time", with(finalised, cancelled, edited(func(p *poll.Poll) { p.Cancelled = &poll.Cancelled{Reason: "app"} }))},
	{"open+left", with(open, edited(func(p *poll.Poll) { p.ParticipantIDs = []string{"gm", "ben"} }))},
	{"linked+inserting>another", with(linked, inserting, toAnother)},
	{
		"awaiting+event recorded",
		with(linked, awaiting, status(rules.Finalized), edited(func(p *poll.Poll) { p.Sync.Recorded.EventID = p.Sync.Awaited.Link.Event })),
	},
	{"linked>another", with(linked, toAnother)},
	{"linked>none", with(linked, toNone)},
	{"moved>none", with(linked, moved, toNone)},
	{"moved>another", with(linked, moved, toAnother)},
	{"awaiting>finalised", with(linked, awaiting, status(rules.Finalized))},
	{"awaiting+moved>finalised", with(linked, moved, awaiting, status(rules.Finalized))},
	{"cancelled+linked>finalised", with(linked, cancelled, status(rules.Finalized))},
}
