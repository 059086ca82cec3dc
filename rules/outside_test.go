package rules_test

import (
	"testing"

	"questscheduler/rules"
)

// Whatever a direct edit left: an edit that the journal does not know ends in an
// entry, and where there is none, and nothing else disagrees, nothing happens.
func TestMend_OfAnEdit_IsNeverNothing(t *testing.T) {
	t.Parallel()
	for _, status := range rules.Statuses {
		for bits := range 1 << 7 {
			set := func(n int) bool { return bits>>n&1 == 1 }
			d := rules.Documents{
				Exists: true, Edited: true, Status: status, HasEvent: set(0), HasEntry: set(1), Fits: set(2),
				Rescheduled: set(3), Cancelled: set(4), Inserting: set(5), LongPast: set(6),
			}
			if rules.Mend(d) == rules.MendNothing {
				t.Errorf("nothing mends %+v", d)
			}
		}
	}
}

func TestMend_OfAPollThatAgrees_IsNothing(t *testing.T) {
	t.Parallel()
	for name, d := range map[string]rules.Documents{
		"deleted":              {},
		"open":                 {Exists: true, Status: rules.Open},
		"finalised, no event":  {Exists: true, Status: rules.Finalized},
		"finalised, followed":  {Exists: true, Status: rules.Finalized, State: rules.StateOK, HasEvent: true, HasEntry: true, Fits: true},
		"finalised, long past": {Exists: true, Status: rules.Finalized, State: rules.StateOK, HasEvent: true, LongPast: true},
		"cancelled":            {Exists: true, Status: rules.Cancelled, State: rules.StateCancelled, Cancelled: true},
		"archived, followed":   {Exists: true, Status: rules.Archived, State: rules.StateOK, HasEvent: true, HasEntry: true, Fits: true},
	} {
		if got := rules.Mend(d); got != rules.MendNothing {
			t.Errorf("%s: got %s", name, got)
		}
	}
}
