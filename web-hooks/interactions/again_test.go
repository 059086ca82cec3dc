package interactions_test

import (
	"strings"
	"testing"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/ids"
	"questscheduler/internal/test/worldtest"
	"questscheduler/scheduler"
)

// Each press took effect and was turned back before it came again, which does nothing.
func TestPress_AgainAfterItWasTurnedBack_DoesNothing(t *testing.T) {
	t.Parallel()
	reopen := func(d *desk) error {
		_, err := d.world.Scheduler.Reopen(d.t.Context(), worldtest.Person("gm"), d.poll, true, worldtest.Cause)
		return err
	}
	finalise := func(d *desk) error {
		_, err := d.world.Finalise(d.poll, d.slots[0])
		return err
	}
	finalised := func(event bool) func(d *desk) map[string]any {
		return func(d *desk) map[string]any {
			form := d.formOf(d.menu()["Finalise"])
			return d.filled(form.Data.CustomID, form.Data.Components[0].Component.Options[0].Value, event)
		}
	}
	move := func(d *desk) error {
		d.world.MoveEvent("gm", d.world.View(d.poll).Poll.GoogleEventID, worldtest.Noon)
		d.after(time.Minute)
		return nil
	}
	for name, row := range map[string]struct {
		press    func(d *desk) map[string]any
		turnBack func(d *desk) error
	}{
		"finalising with an event":    {finalised(true), reopen},
		"finalising without an event": {finalised(false), reopen},
		"cancelling":                  {func(d *desk) map[string]any { return d.filled("qs:cancel:"+d.poll, "", true) }, reopen},
		"reopening": {func(d *desk) map[string]any {
			d.fails(finalise(d))
			return d.filled("qs:reopen:"+d.poll, "", true)
		}, finalise},
		"restoring": {func(d *desk) map[string]any {
			d.fails(finalise(d))
			d.after(time.Minute)
			d.fails(move(d))
			return d.button(d.menu()["Restore original time"], byGM)
		}, move},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, nil)
			press := row.press(d)
			d.says(press)
			d.after(time.Minute)
			d.fails(row.turnBack(d))
			d.after(time.Minute)
			before := d.world.View(d.poll)
			if said := d.says(press); said != "Done already." {
				t.Errorf("said %q", said)
			}
			d.after(time.Minute)
			now := d.world.View(d.poll)
			if now.Poll.Status != before.Poll.Status || now.Poll.GoogleEventID != before.Poll.GoogleEventID ||
				now.Poll.Sync.Applied != before.Poll.Sync.Applied {
				t.Errorf("the poll is %s, event %q, %v; before it was %s, event %q, %v", now.Poll.Status, now.Poll.GoogleEventID,
					now.Poll.Sync.Applied, before.Poll.Status, before.Poll.GoogleEventID, before.Poll.Sync.Applied)
			}
		})
	}
}

// fails ends the test where what it needs fails.
func (d *desk) fails(err error) {
	d.t.Helper()
	if err != nil {
		d.t.Fatal(err)
	}
}

// Another press for the time that one is being finalised for joins that one, and is done with it.
func TestFinalise_ByAPressThatJoinedAnother_IsDoneWithIt(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	form := d.formOf(d.menu()["Finalise"])
	option := form.Data.Components[0].Component.Options[0].Value
	d.world.Refuse("events.insert", 503, "", 1)
	d.says(d.filled(form.Data.CustomID, option, true))
	second := d.filled(form.Data.CustomID, option, true)
	if said := d.says(second); !strings.Contains(said, "The session takes place") {
		t.Fatalf("said %q", said)
	}
	_, err := d.world.Scheduler.Reopen(t.Context(), worldtest.Person("gm"), d.poll, true, worldtest.Cause)
	d.fails(err)
	d.after(time.Minute)
	if said := d.says(second); said != "Done already." {
		t.Errorf("said %q", said)
	}
}

func TestQuestPoll_AgainAfterThePollWasDeleted_MakesNone(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	press := d.newPoll("qs:new:Europe/Berlin:2026-03-28", []string{"2026-03-28"}, "19:00", "4h")
	d.says(press)
	id := ids.UUIDOf("discord:" + press["id"].(string))
	d.fails(d.world.Scheduler.Delete(t.Context(), worldtest.Person("ana"), id, false, worldtest.Cause))
	d.after(time.Minute)
	if said := d.says(press); said != "Done already." {
		t.Errorf("said %q", said)
	}
	if _, err := d.world.Scheduler.View(t.Context(), scheduler.Person{ID: "ana"}, id); !fault.Is(err, fault.NotFound) {
		t.Errorf("the poll is there again: %v", err)
	}
}
