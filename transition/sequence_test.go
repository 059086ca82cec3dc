package transition_test

import (
	"fmt"
	"testing"

	"questscheduler/internal/poll"
	"questscheduler/rules"
	"questscheduler/transition"
)

// TestStep_ChangesAtOneInstant_GrowSequence: a feed shows each change of a session as a newer
// version, however fast the changes follow each other.
func TestStep_ChangesAtOneInstant_GrowSequence(t *testing.T) {
	t.Parallel()
	observes := func(action rules.Action, at rules.Fingerprint) func(s *transition.Step) error {
		return func(s *transition.Step) error {
			s.Observe(rules.Decision{Action: action, State: rules.StateOK}, poll.JournalEntry{
				Decision: action, Fingerprint: at, EventID: "event", Inputs: &poll.Inputs{},
			})
			return nil
		}
	}
	edits := func(change func(p *poll.Poll)) func(s *transition.Step) error {
		return func(s *transition.Step) error {
			after := s.Poll
			change(&after)
			s.Edit(after)
			return nil
		}
	}
	state := rescheduled()
	for _, c := range []struct {
		name  string
		grows bool
		do    func(s *transition.Step) error
	}{
		{"moved again", true, observes(rules.RescheduleAgain, ten)},
		{"another title", true, edits(func(p *poll.Poll) { p.Title += "!" })},
		{"another description", true, edits(func(p *poll.Poll) { p.Description += "!" })},
		{"the same texts", false, edits(func(p *poll.Poll) { p.Timezone = "Europe/Berlin" })},
		{"cancelled", true, func(s *transition.Step) error { return s.Cancel("gm", "", false) }},
		{"another title of the cancelled one", true, edits(func(p *poll.Poll) { p.Title += "!" })},
	} {
		ids := 0
		step := &transition.Step{State: state, Setting: transition.Setting{Now: now, IDs: transition.IDs{
			UUID: func() string { ids++; return fmt.Sprint("id", ids) },
			ULID: func(prefix string) string { ids++; return fmt.Sprint(prefix, ids) },
		}}}
		before := state.Poll.Sequence(now)
		if err := c.do(step); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		state.Poll = *step.After
		if got := state.Poll.Sequence(now); got > before != c.grows || got < before {
			t.Errorf("%s: %d after %d", c.name, got, before)
		}
	}
	pristine := &transition.Step{State: transition.State{Poll: poll.Poll{ID: "poll", Title: "Session"}}, Setting: transition.Setting{Now: now}}
	pristine.Edit(poll.Poll{ID: "poll", Title: "Another"})
	if pristine.After.Sync != (poll.Sync{}) {
		t.Errorf("a poll that is the web app's alone has %+v of ours", pristine.After.Sync)
	}
}
