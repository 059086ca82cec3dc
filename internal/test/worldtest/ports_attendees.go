package worldtest

import (
	"context"

	"questscheduler/internal/gcal"
)

func (g *googlePort) GuestList(ctx context.Context, ref gcal.Ref, id string) (gcal.GuestList, error) {
	return ask(g, ref.Account, "events.get", func() (gcal.GuestList, error) { return g.client.GuestList(ctx, ref, id) })
}

func (g *googlePort) PatchGuests(ctx context.Context, ref gcal.Ref, list gcal.GuestList, add, remove []string, notify string) (gcal.Event, error) {
	return ask(g, ref.Account, "events.patch", func() (gcal.Event, error) { return g.client.PatchGuests(ctx, ref, list, add, remove, notify) })
}
