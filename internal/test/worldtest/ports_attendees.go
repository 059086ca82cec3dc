package worldtest

import (
	"context"

	"questscheduler/internal/gcal"
)

// guestCalls are the calls that read and write whole guest lists.
type guestCalls interface {
	GuestList(ctx context.Context, ref gcal.Ref, id string) (gcal.GuestList, error)
	PatchGuests(ctx context.Context, ref gcal.Ref, list gcal.GuestList, change gcal.GuestChange, notify string) (gcal.Event, error)
}

func (g *googlePort) GuestList(ctx context.Context, ref gcal.Ref, id string) (gcal.GuestList, error) {
	list, err := ask(g, ref.Account, "events.get", func() (gcal.GuestList, error) { return g.client.GuestList(ctx, ref, id) })
	if err == nil {
		g.ports.world.showed(ref.Calendar, id)
	}
	return list, err
}

func (g *googlePort) PatchGuests(
	ctx context.Context, ref gcal.Ref, list gcal.GuestList, change gcal.GuestChange, notify string,
) (gcal.Event, error) {
	w := g.ports.world
	event, err := ask(g, ref.Account, "events.patch", func() (event gcal.Event, err error) {
		w.patchedGuests(ref.Calendar, list.Event.ID, func() { event, err = g.client.PatchGuests(ctx, ref, list, change, notify) })
		return event, err
	})
	if err == nil {
		w.showed(ref.Calendar, list.Event.ID)
	}
	return event, err
}
