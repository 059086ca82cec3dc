package interactions_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/poll"
	"questscheduler/internal/test/worldtest"
	"questscheduler/scheduler"
)

// questPoll is /quest poll with its options.
func (d *desk) questPoll(given map[string]string) map[string]any {
	var options []any
	for name, value := range given {
		options = append(options, map[string]any{"name": name, "type": 3, "value": value})
	}
	return d.press(2, map[string]any{"name": "quest", "type": 1, "options": []any{
		map[string]any{"name": "poll", "type": 1, "options": options},
	}})
}

// newPoll is the submitted form of a poll.
func (d *desk) newPoll(id string, days []string, times, length string) map[string]any {
	typed := func(id, value string) map[string]any {
		return map[string]any{"type": 18, "component": map[string]any{"type": 4, "custom_id": id, "value": value}}
	}
	return d.press(5, map[string]any{"custom_id": id, "components": []any{
		typed("title", "The Glass Tower"), map[string]any{"type": 18, "component": map[string]any{"type": 3, "custom_id": "days", "values": days}},
		typed("times", times), typed("length", length), typed("description", "Bring dice."),
	}})
}

// polls are the polls that ana created.
func (d *desk) polls() (found []scheduler.View) {
	d.t.Helper()
	_, err := d.world.Scheduler.List(d.t.Context(), worldtest.Person("ana"), poll.List{UserID: "ana", Limit: 10}, scheduler.Parts{Slots: true},
		func(view scheduler.View) (bool, error) {
			found = append(found, view)
			return true, nil
		})
	if err != nil {
		d.t.Fatal(err)
	}
	return found
}

func TestQuestPoll_MakesAPollOfTheChannelsGroup(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	_, asked := d.send(d.questPoll(map[string]string{"title": "The Glass Tower", "zone": "Europe/Berlin", "from": "2026-03-28"}))
	if asked.Kind != 9 || asked.Data.CustomID != "qs:new:Europe/Berlin:2026-03-28" || len(asked.Data.Components) != 5 {
		t.Fatalf("the form is %+v", asked)
	}
	days := asked.Data.Components[1].Component.Options
	if len(days) != 25 || days[0].Label != "Sat 28 Mar" || days[1].Value != "2026-03-29" {
		t.Errorf("the days are %+v", days)
	}
	again := d.newPoll(asked.Data.CustomID, []string{"2026-03-28", "2026-03-29"}, "19:00, 20:30", "3h30m")
	for range 2 { // an interaction may come again
		if said := d.says(again); !strings.Contains(said, "The Glass Tower") {
			t.Fatalf("said %q", said)
		}
	}
	made := d.polls()
	if len(made) != 1 {
		t.Fatalf("%d polls are made", len(made))
	}
	p := made[0]
	if p.Poll.Title != "The Glass Tower" || p.Poll.Description != "Bring dice." || p.Poll.Timezone != "Europe/Berlin" || p.Poll.GroupID == "" {
		t.Errorf("the poll is %+v", p.Poll)
	}
	// Between the two days the clocks go forward.
	for i, want := range []string{"2026-03-28T18:00:00Z", "2026-03-28T19:30:00Z", "2026-03-29T17:00:00Z", "2026-03-29T18:30:00Z"} {
		start := p.Slots[i].Start.UTC().Format(time.RFC3339)
		if start != want || p.Slots[i].End.Sub(p.Slots[i].Start) != 210*time.Minute {
			t.Errorf("slot %d begins %s and lasts %s, want %s", i, start, p.Slots[i].End.Sub(p.Slots[i].Start), want)
		}
	}
}

func TestQuestPoll_OfWhatCannotBe_SaysWhy(t *testing.T) {
	t.Parallel()
	const form = "qs:new:Europe/Berlin:2026-03-28"
	d := newDesk(t, nil)
	elsewhere := d.questPoll(nil)
	elsewhere["channel_id"] = "4400000000000000001"
	for name, row := range map[string]struct {
		in   map[string]any
		says string
	}{
		"in another channel":   {elsewhere, "None of your groups"},
		"in no time zone":      {d.questPoll(map[string]string{"zone": "The/Moon"}), "no time zone"},
		"from no day":          {d.questPoll(map[string]string{"from": "tomorrow"}), "such as 2026-12-24"},
		"at no time":           {d.newPoll(form, []string{"2026-03-28"}, "evening", "4h"), "start times such as"},
		"of no length":         {d.newPoll(form, []string{"2026-03-28"}, "19:00", "long"), "length such as"},
		"in the past":          {d.newPoll(form, []string{"2026-02-01"}, "19:00", "4h"), "lies ahead"},
		"on days of no kind":   {d.newPoll(form, []string{"someday"}, "19:00", "4h"), "start times such as"},
		"of more than 50":      {d.newPoll(form, []string{"2026-03-28", "2026-03-29"}, strings.Repeat("19:00,", 26), "4h"), "more than 50"},
		"in a zone of nowhere": {d.newPoll("qs:new:Nowhere:2026-03-28", []string{"2026-03-28"}, "19:00", "4h"), "time"},
	} {
		if said := d.says(row.in); !strings.Contains(said, row.says) {
			t.Errorf("%s: said %q, want %q", name, said, row.says)
		}
	}
	if made := d.polls(); len(made) != 0 {
		t.Errorf("%d polls were made", len(made))
	}
}

// Who is only invited to the group makes no poll of it.
func TestQuestPoll_BySomebodyWhoIsInvited_IsRefused(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	d.link("3300000000000000004", "cho")
	in := d.questPoll(map[string]string{"title": "Mine"})
	asUser("3300000000000000004")(in)
	if said := d.says(in); !strings.Contains(said, "None of your groups") {
		t.Errorf("said %q", said)
	}
	_, err := d.world.Scheduler.Create(t.Context(), worldtest.Person("cho"), scheduler.Create{
		Title: "Mine", Slots: []scheduler.Times{worldtest.Ten}, GroupID: d.world.View(d.poll).Poll.GroupID,
	}, worldtest.Cause)
	if !fault.Is(err, fault.Invalid) {
		t.Errorf("over the scheduler: %v", err)
	}
}

// What could not be a poll is shown, and the button below it opens the form as it was filled in.
func TestQuestPoll_OfBadInput_OpensAgainAsItWas(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		title, times, description string
		says                      string
	}{
		"of a time that is none":       {"The *Glass* <@1> @everyone", "half past nine", "Bring **dice**.\n\nAnd @here.", "start times such as"},
		"of a title that is none":      {" ", "19:00", strings.Repeat("d", 4000), "title"},
		"of nothing beside the length": {"", "", "", "lies ahead"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, nil)
			days := []string{"2026-03-28", "2026-04-02"}
			in := d.newPoll("qs:new:Europe/Berlin:2026-03-28", days, row.times, "3h30m")
			typed := fieldsOf(in)
			typed["title"]["value"], typed["description"]["value"] = row.title, row.description
			_, said := d.send(in)
			if said.Kind != 4 || said.Data.Flags != 64 || string(said.Data.Mentions) != `{"parse":[]}` {
				t.Fatalf("answered %+v", said)
			}
			if !strings.Contains(said.Data.Content, row.says) || strings.Contains(said.Data.Content, "@") { // in an embed it pings nobody
				t.Errorf("said %q", said.Data.Content)
			}
			again := d.button(said.Data.Components[0].Components[0].CustomID, func(in map[string]any) {
				in["message"] = map[string]any{"embeds": said.Data.Embeds}
			})
			_, form := d.send(again)
			if form.Kind != 9 || form.Data.CustomID != "qs:new:Europe/Berlin:2026-03-28" {
				t.Fatalf("the button is answered by %+v", form)
			}
			got, chosen := map[string]string{}, []string{}
			for _, label := range form.Data.Components {
				got[label.Component.CustomID] = label.Component.Value
				for _, option := range label.Component.Options {
					if option.Default {
						chosen = append(chosen, option.Value)
					}
				}
			}
			wants := map[string]string{
				"title": strings.TrimSpace(row.title), "times": row.times, "length": "3h30m", "description": row.description,
			}
			for field, want := range wants {
				if got[field] != want {
					t.Errorf("%s is %q, want %q", field, got[field], want)
				}
			}
			if !slices.Equal(chosen, days) {
				t.Errorf("chosen are %q, want %q", chosen, days)
			}
		})
	}
}

// fieldsOf are the fields of a form as it is submitted, by their ids.
func fieldsOf(in map[string]any) map[string]map[string]any {
	fields := map[string]map[string]any{}
	data, _ := in["data"].(map[string]any)
	labels, _ := data["components"].([]any)
	for _, label := range labels {
		component, _ := label.(map[string]any)["component"].(map[string]any)
		id, _ := component["custom_id"].(string)
		fields[id] = component
	}
	return fields
}

func TestQuestPoll_OpenedAgainFromNothing_SaysSo(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	for name, id := range map[string]string{
		"a message without what was written": "qs:new:Europe/Berlin:2026-03-28", "no day": "qs:new:Europe/Berlin:someday", "no zone": "qs:new:Nowhere:2026-03-28",
	} {
		if said := d.says(d.button(id)); !strings.Contains(said, "Use /quest poll again") && !strings.Contains(said, "time zone") {
			t.Errorf("%s: said %q", name, said)
		}
	}
}
