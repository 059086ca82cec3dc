package rules_test

import (
	"testing"

	"questscheduler/rules"
)

// Announced states of one poll, finalised for ten as its third generation.
var (
	unannounced = rules.AnnouncedState{}
	open        = rules.AnnouncedState{Status: rules.Open, Generation: 2}
	finalised   = rules.AnnouncedState{Status: rules.Finalized, Generation: 3, At: ten}
	toNoon      = rules.AnnouncedState{Status: rules.Finalized, Generation: 3, At: noon, Rescheduled: true}
	toThree     = rules.AnnouncedState{Status: rules.Finalized, Generation: 3, At: three, Rescheduled: true}
	// withBaseline is finalised, as states are announced that say their baseline.
	withBaseline = rules.AnnouncedState{Status: rules.Finalized, Generation: 3, At: ten, Baseline: ten}
	acceptedN    = rules.AnnouncedState{Status: rules.Finalized, Generation: 3, At: noon}
	timeless     = rules.AnnouncedState{Status: rules.Finalized, Generation: 3}
	deleted      = rules.AnnouncedState{Status: rules.Cancelled, Generation: 3, At: ten}
	// deletedAgain was undone by the calendar in between, and cancelledByHand too, which a person
	// then cancelled; cancelledAgain was undone by people. A reopened poll has no time.
	deletedAgain    = rules.AnnouncedState{Status: rules.Cancelled, Generation: 3, At: ten, CancelledAt: dayBefore}
	cancelledByHand = rules.AnnouncedState{Status: rules.Cancelled, Generation: 4, At: ten, CancelledAt: dayBefore}
	refinalised     = rules.AnnouncedState{Status: rules.Cancelled, Generation: 4, At: ten, CancelledAt: dayBefore, FinalizedAt: dayBefore}
	reopenedEnded   = rules.AnnouncedState{Status: rules.Cancelled, Generation: 5, CancelledAt: dayBefore}
	reopenedBefore  = rules.AnnouncedState{Status: rules.Cancelled, Generation: 5}
	cancelledAgain  = rules.AnnouncedState{Status: rules.Cancelled, Generation: 6, At: three, CancelledAt: dayBefore}
	takenBackLater  = rules.AnnouncedState{Status: rules.Cancelled, Generation: 4, At: ten}
	reopened        = rules.AnnouncedState{Status: rules.Open, Generation: 4}
	again           = rules.AnnouncedState{Status: rules.Finalized, Generation: 5, At: three}
	againMove       = rules.AnnouncedState{Status: rules.Finalized, Generation: 5, At: noon, Rescheduled: true}
	archived        = rules.AnnouncedState{Status: rules.Archived, Generation: 3, At: noon, Rescheduled: true}
)

func TestAnnounce_EachChange_GivesItsNotice(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name               string
		announced, current rules.AnnouncedState
		want               rules.Notice
	}{
		{"finalising is announced by the web app", open, finalised, rules.NoticeNone},
		{"what was never announced and holds is not announced", unannounced, finalised, rules.NoticeNone},
		{"a reschedule", finalised, toNoon, rules.NoticeRescheduled},
		{"a reschedule of what was never announced", unannounced, toNoon, rules.NoticeRescheduled},
		{"a reschedule again", toNoon, toThree, rules.NoticeRescheduled},
		{"a reschedule again before the first was announced", finalised, toThree, rules.NoticeRescheduled},
		{"a restore", toNoon, finalised, rules.NoticeRestored},
		{"a restore before the reschedule was announced", finalised, finalised, rules.NoticeNone},
		{"a new time accepted that was announced", toNoon, acceptedN, rules.NoticeNone},
		{"a new time accepted before it was announced", finalised, acceptedN, rules.NoticeRescheduled},
		{"a move away from the accepted time", acceptedN, toThree, rules.NoticeRescheduled},
		{"a restore of what was announced without its baseline", toNoon, withBaseline, rules.NoticeRestored},
		{"a first time of a session that was announced without one", timeless, finalised, rules.NoticeNone},
		{"a session that has no time any more", finalised, timeless, rules.NoticeNone},
		{"a move back to the accepted time", toThree, acceptedN, rules.NoticeRestored},
		{"a cancellation", finalised, deleted, rules.NoticeCancelled},
		{"a cancellation of a rescheduled session", toNoon, deleted, rules.NoticeCancelled},
		{"a cancellation of an open poll", open, deleted, rules.NoticeCancelled},
		{"a cancellation of what was never announced", unannounced, deleted, rules.NoticeCancelled},
		{"a cancellation announced already", deleted, deleted, rules.NoticeNone},
		{"a cancellation that the calendar undid and did again at once", deleted, deletedAgain, rules.NoticeNone},
		{"a cancellation that the calendar undid and a person did again at once", deleted, cancelledByHand, rules.NoticeNone},
		{"a cancellation of what was finalised again at once", deleted, cancelledAgain, rules.NoticeCancelled},
		{"a deletion of what was finalised again at once", deleted, refinalised, rules.NoticeCancelled},
		{"a cancellation of what was reopened at once", deleted, reopenedEnded, rules.NoticeCancelled},
		{"a cancellation by hand of what was cancelled by then", deleted, reopenedBefore, rules.NoticeNone},
		{"a cancellation whose poll gave up a finalisation", deleted, takenBackLater, rules.NoticeNone},
		{"an older cancellation", cancelledAgain, deleted, rules.NoticeNone},
		{"reopening is announced by the web app", finalised, reopened, rules.NoticeNone},
		{"reopening a cancelled poll", deleted, reopened, rules.NoticeNone},
		{"finalising again is announced by the web app", finalised, again, rules.NoticeNone},
		{"finalising a rescheduled poll again", toNoon, again, rules.NoticeNone},
		{"finalising a cancelled poll again", deleted, again, rules.NoticeNone},
		{"finalising again, and moved before anybody heard", toThree, againMove, rules.NoticeRescheduled},
		{"finalising again, and moved to the time announced before", toNoon, againMove, rules.NoticeRescheduled},
		{"a cancellation of what was finalised again", again, deleted, rules.NoticeCancelled},
		{"a cancellation taken back", deleted, finalised, rules.NoticeOnAgain},
		{"a cancellation taken back at another time", deleted, toNoon, rules.NoticeOnAgain},
		{"a cancellation taken back before it was announced", finalised, finalised, rules.NoticeNone},
		{"a cancellation taken back before it was announced, at another time", finalised, toNoon, rules.NoticeRescheduled},
		{"a cancelled poll finalised again and moved", deleted, againMove, rules.NoticeRescheduled},
		{"archiving is no news", toNoon, archived, rules.NoticeNone},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := rules.Announce(c.announced, c.current); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// everyAnnouncedState is a small domain: four statuses, two finalisations, three times
// and none, rescheduled or not.
func everyAnnouncedState() []rules.AnnouncedState {
	var states []rules.AnnouncedState
	for _, status := range statuses {
		for _, generation := range []int64{3, 5} {
			for _, when := range []rules.Fingerprint{{}, ten, noon, allDay} {
				for _, moved := range []bool{false, true} {
					states = append(states, rules.AnnouncedState{Status: status, Generation: generation, At: when, Rescheduled: moved})
				}
			}
		}
	}
	return states
}

// For every pair of states, the announcement follows from what differs.
func TestAnnounce_EveryPairOfStates_FollowsTheLaws(t *testing.T) {
	t.Parallel()
	for _, announced := range everyAnnouncedState() {
		for _, current := range everyAnnouncedState() {
			got := rules.Announce(announced, current)
			for _, law := range laws {
				if law.about(announced, current) && !law.holds(announced, current, got) {
					t.Errorf("announced %+v, current %+v: got %q, but %s", announced, current, got, law.says)
				}
			}
		}
	}
}

// bothTakePlace reports that both states are of one finalisation and take place.
func bothTakePlace(announced, current rules.AnnouncedState) bool {
	return announced.Status == rules.Finalized && current.Status == rules.Finalized && announced.Generation == current.Generation
}

// takenBack reports that a cancellation was announced of the finalisation that takes
// place.
func takenBack(announced, current rules.AnnouncedState) bool {
	return announced.Status == rules.Cancelled && current.Status == rules.Finalized && announced.Generation == current.Generation
}

var laws = []struct {
	says  string
	about func(announced, current rules.AnnouncedState) bool
	holds func(announced, current rules.AnnouncedState, got rules.Notice) bool
}{
	{
		"the same state is not announced twice",
		func(announced, current rules.AnnouncedState) bool { return announced == current },
		func(_, _ rules.AnnouncedState, got rules.Notice) bool { return got == rules.NoticeNone },
	},
	{
		"a cancellation is announced where none was or people ended that, and nothing else of a cancelled poll",
		func(_, current rules.AnnouncedState) bool { return current.Status == rules.Cancelled },
		func(announced, current rules.AnnouncedState, got rules.Notice) bool {
			another := announced.Generation+1 < current.Generation && announced.CancelledAt.Before(current.CancelledAt)
			return (got == rules.NoticeCancelled) == (announced.Status != rules.Cancelled || another) &&
				(got == rules.NoticeCancelled || got == rules.NoticeNone)
		},
	},
	{
		"an open or archived poll is not announced",
		func(_, current rules.AnnouncedState) bool {
			return current.Status == rules.Open || current.Status == rules.Archived
		},
		func(_, _ rules.AnnouncedState, got rules.Notice) bool { return got == rules.NoticeNone },
	},
	{
		"a time that people know is not announced",
		func(announced, current rules.AnnouncedState) bool {
			return bothTakePlace(announced, current) && announced.At == current.At
		},
		func(_, _ rules.AnnouncedState, got rules.Notice) bool { return got == rules.NoticeNone },
	},
	{
		"another time than the one people know is announced",
		func(announced, current rules.AnnouncedState) bool {
			return bothTakePlace(announced, current) && announced.At != current.At && !announced.At.IsZero() && !current.At.IsZero()
		},
		func(announced, current rules.AnnouncedState, got rules.Notice) bool {
			if announced.Rescheduled && !current.Rescheduled {
				return got == rules.NoticeRestored
			}
			return got == rules.NoticeRescheduled
		},
	},
	{
		"an undone cancellation is announced as on again if it was announced, and nothing else is",
		func(_, _ rules.AnnouncedState) bool { return true },
		func(announced, current rules.AnnouncedState, got rules.Notice) bool {
			return (got == rules.NoticeOnAgain) == takenBack(announced, current)
		},
	},
	{
		"a finalisation that people hear of from the web app is announced only if the calendar moved it since",
		func(announced, current rules.AnnouncedState) bool {
			return current.Status == rules.Finalized && !bothTakePlace(announced, current) && !takenBack(announced, current)
		},
		func(_, current rules.AnnouncedState, got rules.Notice) bool {
			return (got == rules.NoticeRescheduled) == current.Rescheduled && (got == rules.NoticeRescheduled || got == rules.NoticeNone)
		},
	},
}

// people holds the state that was announced to the members of a poll, and the current
// one. A change replaces the current state alone.
type people struct{ announced, current rules.AnnouncedState }

// hear sends a pending announcement and returns it.
func (p *people) hear() rules.Notice {
	notice := rules.Announce(p.announced, p.current)
	p.announced = p.current
	return notice
}

// Where each change is announced before the next comes, people hear of each once.
func TestAnnounce_ChangesOverTime_AreEachAnnouncedOnce(t *testing.T) {
	t.Parallel()
	type step struct {
		current rules.AnnouncedState
		hear    rules.Notice
	}
	for _, c := range []struct {
		name  string
		steps []step
	}{
		{"moved, moved again and put back", []step{
			{finalised, rules.NoticeNone}, {toNoon, rules.NoticeRescheduled}, {toThree, rules.NoticeRescheduled}, {finalised, rules.NoticeRestored},
		}},
		{"moved, accepted, moved and put back to what was accepted", []step{
			{finalised, rules.NoticeNone}, {toNoon, rules.NoticeRescheduled}, {acceptedN, rules.NoticeNone},
			{toThree, rules.NoticeRescheduled}, {acceptedN, rules.NoticeRestored},
		}},
		{"moved, deleted, finalised again and deleted again", []step{
			{finalised, rules.NoticeNone}, {toNoon, rules.NoticeRescheduled}, {deleted, rules.NoticeCancelled},
			{again, rules.NoticeNone}, {rules.AnnouncedState{Status: rules.Cancelled, Generation: 5, At: three}, rules.NoticeCancelled},
		}},
		{"deleted, back at another time and put back to the first", []step{
			{finalised, rules.NoticeNone}, {deleted, rules.NoticeCancelled}, {toNoon, rules.NoticeOnAgain}, {finalised, rules.NoticeRestored},
		}},
		{"deleted, back and deleted again", []step{
			{finalised, rules.NoticeNone}, {deleted, rules.NoticeCancelled}, {finalised, rules.NoticeOnAgain}, {deleted, rules.NoticeCancelled},
		}},
		{"reopened and finalised again", []step{
			{finalised, rules.NoticeNone}, {reopened, rules.NoticeNone}, {again, rules.NoticeNone},
			{againMove, rules.NoticeRescheduled}, {again, rules.NoticeRestored},
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := people{announced: open}
			for i, s := range c.steps {
				p.current = s.current
				if got := p.hear(); got != s.hear {
					t.Errorf("step %d: got %q, want %q", i+1, got, s.hear)
				}
				if got := p.hear(); got != rules.NoticeNone {
					t.Errorf("step %d: announced twice, %q", i+1, got)
				}
			}
		})
	}
}

// If changes come faster than announcements, only the last is compared with
// what was announced: A→B→A, over any B, is silent.
func TestUndoneChange_BeforeItsAnnouncement_IsNeverAnnounced(t *testing.T) {
	t.Parallel()
	for _, known := range everyAnnouncedState() {
		for _, passing := range everyAnnouncedState() {
			p := people{announced: known, current: known}
			p.current = passing // not due yet
			p.current = known
			if got := p.hear(); got != rules.NoticeNone {
				t.Errorf("%+v → %+v → back: got %q, want nothing", known, passing, got)
			}
		}
	}
}

func TestAnnounce_MoveAcceptedElsewhere_IsNotARestore(t *testing.T) {
	t.Parallel()
	a := rules.Fingerprint{Start: 1000, End: 2000}
	b := rules.Fingerprint{Start: 3000, End: 4000}
	c := rules.Fingerprint{Start: 5000, End: 6000}
	announced := rules.AnnouncedState{Status: rules.Finalized, Generation: 1, At: b, Baseline: a, Rescheduled: true}

	accepted := rules.AnnouncedState{Status: rules.Finalized, Generation: 1, At: c, Baseline: c}
	if got := rules.Announce(announced, accepted); got != rules.NoticeRescheduled {
		t.Errorf("moved on and accepted: got %q, want rescheduled", got)
	}
	restored := rules.AnnouncedState{Status: rules.Finalized, Generation: 1, At: a, Baseline: a}
	if got := rules.Announce(announced, restored); got != rules.NoticeRestored {
		t.Errorf("moved back: got %q, want restored", got)
	}
}

// The event may last longer than the slot it was made for, so that the time of
// the slot is not the baseline; moved back is moved back all the same.
func TestAnnounce_EventLongerThanItsSlotMovedBack_IsARestore(t *testing.T) {
	t.Parallel()
	slot, event, moved := rules.Fingerprint{Start: 1000, End: 2000}, rules.Fingerprint{Start: 1000, End: 4000},
		rules.Fingerprint{Start: 5000, End: 8000}
	announced := rules.AnnouncedState{Status: rules.Finalized, Generation: 1, At: moved, Baseline: event, Rescheduled: true}
	restored := rules.AnnouncedState{Status: rules.Finalized, Generation: 1, At: slot, Baseline: event}
	if got := rules.Announce(announced, restored); got != rules.NoticeRestored {
		t.Errorf("got %q, want restored", got)
	}
}
