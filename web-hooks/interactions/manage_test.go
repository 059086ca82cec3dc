package interactions_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/test/worldtest"
	"questscheduler/web-hooks/interactions"
)

var byGM = asUser(gmUser)

// menu is what Manage offers the creator: labels with the ids of buttons.
func (d *desk) menu() map[string]string {
	d.t.Helper()
	_, answer := d.send(d.button("qs:menu:"+d.poll, byGM))
	offered := map[string]string{}
	for _, row := range answer.Data.Components {
		for _, button := range row.Components {
			offered[button.Label] = button.CustomID
		}
	}
	return offered
}

// form opens a form by a button, as the creator.
func (d *desk) formOf(id string) reply {
	d.t.Helper()
	_, answer := d.send(d.button(id, byGM))
	if answer.Kind != 9 {
		d.t.Fatalf("%s is answered by %+v, want a form", id, answer)
	}
	return answer
}

// fill in a creator's form: the value of its select, "" for none, and whether its box is checked.
func (d *desk) filled(id, slot string, checked bool) map[string]any {
	values := []string{}
	if slot != "" {
		values = append(values, slot)
	}
	return d.press(5, map[string]any{"custom_id": id, "components": []any{
		map[string]any{"type": 18, "component": map[string]any{"type": 3, "custom_id": "slot", "values": values}},
		map[string]any{"type": 18, "component": map[string]any{"type": 23, "custom_id": "event", "value": checked}},
	}}, byGM)
}

func TestManage_OffersWhatThePollAllows(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	want := func(state string, labels ...string) map[string]string {
		t.Helper()
		offered := d.menu()
		for _, label := range labels {
			if offered[label] == "" {
				t.Errorf("%s: %q is not offered, but %v", state, label, offered)
			}
		}
		if len(offered) != len(labels) {
			t.Errorf("%s: offers %v, want %v", state, offered, labels)
		}
		return offered
	}
	want("open", "Finalise", "Cancel")
	view, err := d.world.Finalise(d.poll, d.slots[0])
	if err != nil {
		t.Fatal(err)
	}
	d.after(time.Minute)
	want("finalised", "Reopen", "Cancel")
	d.world.MoveEvent("gm", view.Poll.GoogleEventID, worldtest.Noon)
	d.after(time.Minute)
	offered := want("moved", "Restore original time", "Accept new time", "Reopen", "Cancel")

	// A button that showed another time does nothing.
	d.world.MoveEvent("gm", view.Poll.GoogleEventID, worldtest.Three)
	d.after(time.Minute)
	for _, label := range []string{"Restore original time", "Accept new time"} {
		if said := d.says(d.button(offered[label], byGM)); !strings.Contains(said, "another time by now") {
			t.Errorf("%s, late: said %q", label, said)
		}
	}
	if said := d.says(d.button(d.menu()["Restore original time"], byGM)); !strings.Contains(said, "Tue 10 Mar, 11:00–12:00") {
		t.Errorf("restoring said %q", said)
	}
	at, err := time.Parse(time.RFC3339, d.world.EventOf("gm", view.Poll.GoogleEventID).Start.DateTime)
	if err != nil || !at.Equal(worldtest.Ten.Start) {
		t.Errorf("the event begins %s after it was restored", at)
	}
	d.world.MoveEvent("gm", view.Poll.GoogleEventID, worldtest.Noon)
	d.after(time.Minute)
	if said := d.says(d.button(d.menu()["Accept new time"], byGM)); !strings.Contains(said, "13:00–14:00") {
		t.Errorf("accepting said %q", said)
	}
	want("accepted", "Reopen", "Cancel")
	d.says(d.filled(d.formOf(d.menu()["Cancel"]).Data.CustomID, "", true))
	d.after(time.Minute)
	want("cancelled", "Reopen")
	if said := d.says(d.filled(d.formOf(d.menu()["Reopen"]).Data.CustomID, "", false)); !strings.Contains(said, "open") {
		t.Errorf("reopening said %q", said)
	}
	want("open again", "Finalise", "Cancel")
}

func TestFinalise_ByTheForm_MakesTheEvent(t *testing.T) {
	t.Parallel()
	for _, event := range []bool{true, false} {
		t.Run(fmt.Sprintf("with an event: %t", event), func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, nil)
			form := d.formOf(d.menu()["Finalise"])
			options := form.Data.Components[0].Component.Options
			if len(options) != 2 || len(form.Data.Components) != 2 {
				t.Fatalf("the form is %+v", form.Data)
			}
			again := d.filled(form.Data.CustomID, options[0].Value, event)
			if said := d.says(again); !strings.Contains(said, "The session takes place Tue 10 Mar") {
				t.Errorf("said %q", said)
			}
			d.after(time.Minute)
			first := d.world.View(d.poll).Poll
			if (first.GoogleEventID != "") != event || first.Status != "FINALIZED" {
				t.Errorf("the poll is %s with event %q", first.Status, first.GoogleEventID)
			}
			d.says(again) // it comes again
			d.after(time.Minute)
			if now := d.world.View(d.poll).Poll; now.GoogleEventID != first.GoogleEventID || now.Sync.Generation != first.Sync.Generation {
				t.Errorf("a repeat finalised it again: %q, was %q", now.GoogleEventID, first.GoogleEventID)
			}
		})
	}
}

// Each row is refused, and leaves the poll as it is.
func TestManage_Refused_ChangesNothing(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		in   func(d *desk) map[string]any
		says string
	}{
		"the menu, by a player":      {func(d *desk) map[string]any { return d.button("qs:menu:" + d.poll) }, "Only the creator"},
		"finalising, by a player":    {func(d *desk) map[string]any { return byPlayer(d.filled("qs:fin:"+d.poll+":x", "y", true)) }, "Only the creator"},
		"cancelling, by a player":    {func(d *desk) map[string]any { return byPlayer(d.filled("qs:cancel:"+d.poll, "", true)) }, "Only the creator"},
		"reopening, by a player":     {func(d *desk) map[string]any { return byPlayer(d.filled("qs:reopen:"+d.poll, "", true)) }, "Only the creator"},
		"restoring, by a player":     {func(d *desk) map[string]any { return d.button("qs:restore:" + d.poll + ":x") }, "Only the creator"},
		"accepting, by a player":     {func(d *desk) map[string]any { return d.button("qs:accept:" + d.poll + ":x") }, "Only the creator"},
		"finalising for other slots": {func(d *desk) map[string]any { return d.filled("qs:fin:"+d.poll+":x", "y", true) }, "Press Manage again"},
		"restoring what stayed":      {func(d *desk) map[string]any { return d.button("qs:restore:"+d.poll+":x", byGM) }, "not rescheduled"},
		"cancelling elsewhere": {func(d *desk) map[string]any {
			in := d.filled("qs:cancel:"+d.poll, "", true)
			in["guild_id"] = "4400000000000000001"
			return in
		}, "another server"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, nil)
			before := d.world.View(d.poll).Poll
			if said := d.says(row.in(d)); !strings.Contains(said, row.says) {
				t.Errorf("said %q, want %q", said, row.says)
			}
			if now := d.world.View(d.poll).Poll; now.Status != before.Status || !now.UpdatedAt.Equal(before.UpdatedAt) {
				t.Errorf("the poll is %s, was %s", now.Status, before.Status)
			}
		})
	}
}

func byPlayer(in map[string]any) map[string]any {
	asUser(anaUser)(in)
	return in
}

func TestManage_CountsCommands_AsOverREST(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	d.says(d.filled("qs:fin:"+d.poll+":x", "y", true))
	if d.counted != 0 {
		t.Errorf("%d commands were counted that the form refuses", d.counted)
	}
	for i := range 3 { // each begins anew
		form := d.formOf(d.menu()["Finalise"])
		d.world.Refuse("events.insert", 503, "", 1)
		d.says(d.filled(form.Data.CustomID, form.Data.Components[0].Component.Options[i%2].Value, true))
	}
	if d.counted != 3 {
		t.Errorf("%d commands were counted of 3 that failed after they began", d.counted)
	}
	full := newDesk(t, func(o *interactions.Options) {
		o.Count = func(string, string) (func(), error) {
			return nil, fault.New(fault.RateLimited, "This poll had too many commands.")
		}
	})
	if said := full.says(full.filled("qs:cancel:"+full.poll, "", true)); !strings.Contains(said, "too many commands") {
		t.Errorf("said %q", said)
	}
	if status := full.world.View(full.poll).Poll.Status; status != "OPEN" {
		t.Errorf("the poll is %s", status)
	}
}

// submitted fills in a form with what it showed alone.
func (d *desk) submitted(form reply) map[string]any {
	var components []any
	for _, part := range form.Data.Components {
		if box := part.Component; box != nil {
			components = append(components, map[string]any{"type": 18, "component": map[string]any{
				"type": 23, "custom_id": box.CustomID, "value": box.Default,
			}})
		}
	}
	return d.press(5, map[string]any{"custom_id": form.Data.CustomID, "components": components}, byGM)
}

// The calendar shows no session that is cancelled, unless the creator cleared the box.
func TestCancel_EventThatTheFormMayNotShow_IsDeleted(t *testing.T) {
	t.Parallel()
	reopened := func(d *desk) reply {
		_, err := d.world.Finalise(d.poll, d.slots[0])
		d.fails(err)
		d.says(d.submitted(d.formOf(d.menu()["Reopen"])))
		return d.formOf(d.menu()["Cancel"])
	}
	for name, row := range map[string]struct {
		open func(*desk) reply
		// cleared: the creator clears the box.
		cleared bool
		left    string
	}{
		"left by reopening":          {reopened, false, "cancelled"},
		"left by reopening, to stay": {reopened, true, "confirmed"},
		"made since the form was opened": {func(d *desk) reply {
			form := d.formOf(d.menu()["Cancel"])
			_, err := d.world.Finalise(d.poll, d.slots[0])
			d.fails(err)
			return form
		}, false, "cancelled"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, nil)
			form := row.open(d)
			event := d.world.View(d.poll).Poll.GoogleEventID
			for _, part := range form.Data.Components {
				if part.Component != nil && row.cleared {
					part.Component.Default = false
				}
			}
			d.says(d.submitted(form))
			d.after(time.Minute)
			if got := d.world.EventOf("gm", event); got.Status != row.left {
				t.Errorf("the event is %q, want %q", got.Status, row.left)
			}
			if status := d.world.View(d.poll).Poll.Status; status != "CANCELLED" {
				t.Errorf("the poll is %s", status)
			}
		})
	}
}
