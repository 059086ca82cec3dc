package interactions

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"questscheduler/fault"
	"questscheduler/internal/discord"
	"questscheduler/internal/poll"
	"questscheduler/scheduler"
)

const fieldSlot = "slot"

// askFinalise offers a poll's best times, and an event where the creator has linked a calendar.
func (h *handler) askFinalise(ctx context.Context, in request) (answer, error) {
	person, view, err := h.created(ctx, in)
	if err != nil {
		return answer{}, err
	}
	id := idOf(finaliseForm, in.poll, poll.ShownSlots(view.Slots))
	if len(view.Slots) == 0 || len(id) > maxCustomID {
		return say("Finalise this poll in the app.", h.pollPage(in.poll)...), nil
	}
	calendar, err := h.HasCalendar(ctx, person.UID)
	if err != nil {
		return answer{}, err
	}
	best := slices.SortedStableFunc(slices.Values(view.Slots), func(a, b poll.Slot) int {
		return cmp.Or(cmp.Compare(b.Feasible, a.Feasible), cmp.Compare(b.Preferred, a.Preferred))
	})
	zone := zoneFor(person, view.Poll)
	var options []selectOption
	for _, slot := range best[:min(len(best), maxOptions)] {
		options = append(options, selectOption{
			Label: timeOf(slot, zone, h.Now()), Value: slot.Option(),
			Description: fmt.Sprintf("%d can, best for %d", slot.Feasible, slot.Preferred),
		})
	}
	asked := form{CustomID: id, Title: cut("Finalise: "+view.Poll.Title, maxFormTitle), Components: []component{{
		Kind: componentLabel, Label: "When does the session take place?", Description: "Times in " + zone.String(),
		Component: &component{Kind: componentSelect, CustomID: fieldSlot, Options: options, Placeholder: "Choose a time"},
	}}}
	if calendar {
		asked.Components = append(asked.Components, checkbox("Make an event in my calendar", fieldEvent, true))
	}
	return answer{answerForm, asked}, nil
}

func checkbox(label, id string, checked bool) component {
	return component{
		Kind: componentLabel, Label: label, Component: &component{Kind: componentCheckbox, CustomID: id, Default: checked},
	}
}

// finalise finalises the poll for the chosen time. Where Google takes longer than Discord waits,
// the insert goes on without the answer, and the card shows it.
func (h *handler) finalise(ctx context.Context, in request) (answer, error) {
	fields := in.fields()
	chosen := func(view scheduler.View) int {
		return slices.IndexFunc(view.Slots, func(slot poll.Slot) bool { return slices.Contains(fields[fieldSlot].Values, slot.Option()) })
	}
	check := func(view scheduler.View) error {
		if chosen(view) < 0 || in.shown != poll.ShownSlots(view.Slots) {
			return fault.New(fault.Conflict, "The times changed since you opened this. Press Manage again.")
		}
		return nil
	}
	return h.command(ctx, in, check, func(person discord.Person, view scheduler.View) (scheduler.View, error) {
		ask := scheduler.Finalise{SlotID: view.Slots[chosen(view)].ID, CreateEvent: fields[fieldEvent].checked(), Request: "discord:" + in.ID}
		return h.Polls.Finalise(ctx, scheduler.Person{ID: person.UID}, in.poll, ask, in.cause(person))
	})
}
