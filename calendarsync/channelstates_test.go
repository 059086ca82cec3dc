package calendarsync_test

import (
	"testing"

	"questscheduler/calendarsync"
)

// Every status with every event: what is not named changes nothing.
func TestTransitions_OfEveryStatusAndEvent(t *testing.T) {
	t.Parallel()
	const (
		none     = calendarsync.Status("")
		pending  = calendarsync.Pending
		active   = calendarsync.Active
		retiring = calendarsync.Retiring
		expired  = calendarsync.Expired
		failed   = calendarsync.Failed
		stopped  = calendarsync.Stopped
	)
	//                       asked    answered heard   refused superseded closed  unstoppable ended    forgotten
	want := map[calendarsync.Status][]calendarsync.Status{
		none:     {pending, none, none, none, none, none, none, none, none},
		pending:  {pending, active, active, failed, pending, pending, expired, expired, pending},
		active:   {active, active, active, active, retiring, stopped, expired, expired, active},
		retiring: {retiring, retiring, retiring, retiring, retiring, stopped, expired, stopped, retiring},
		expired:  {expired, expired, expired, expired, expired, expired, expired, expired, stopped},
		failed:   {failed, active, active, failed, stopped, failed, expired, stopped, failed},
	}
	for _, from := range calendarsync.Statuses {
		for i, when := range calendarsync.ChannelEvents {
			to, changed := from.Next(when)
			if to != want[from][i] || changed != (to != from) {
				t.Errorf("%q, %s: %q (changed: %t), want %q", from, when, to, changed, want[from][i])
			}
		}
	}
}

// From wherever a channel is, it comes to its end by time alone, so that none is
// kept for ever.
func TestTransitions_EndByTimeAlone(t *testing.T) {
	t.Parallel()
	for _, status := range calendarsync.Statuses[1:] {
		ended, _ := status.Next(calendarsync.Ended)
		if ended != calendarsync.Stopped {
			ended, _ = ended.Next(calendarsync.Forgotten)
		}
		if ended != calendarsync.Stopped {
			t.Errorf("a channel that is %s comes to be %s", status, ended)
		}
	}
}

// Nothing takes a channel away that may be open but that Google stopped it, or
// its end.
func TestTransitions_ForgetNothingThatMayBeOpen(t *testing.T) {
	t.Parallel()
	for _, row := range calendarsync.Transitions() {
		open := row.From == calendarsync.Pending || row.From == calendarsync.Active || row.From == calendarsync.Retiring
		if open && row.To == calendarsync.Stopped && row.Event != calendarsync.Closed && row.Event != calendarsync.Ended {
			t.Errorf("%s is forgotten when it is %s", row.From, row.Event)
		}
	}
}
