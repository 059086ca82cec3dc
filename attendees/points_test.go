package attendees_test

import (
	"context"
	"time"

	"questscheduler/attendees"
	"questscheduler/fault"
	"questscheduler/internal/gcal"
	"questscheduler/internal/test/points"
)

// beside is what a person does during the next patch: before it has its effect, or after it.
// It happens once, whatever becomes of the program.
// read happens after the next reading of a list.
type beside struct{ before, after, read func() }

// googlePoints are the writer's calls.
type googlePoints struct {
	attendees.Google
	points *points.Points
	*beside
	// hold has Google refuse what the writer asks for some time.
	hold bool
	// deaf has Google answer to patches and leave the guests as they are.
	deaf bool
	// omitted has Google cut lists of guests.
	omitted bool
	// added counts how often each address was added by a patch that took effect, and
	// "removed …" how often it was removed.
	added map[string]int
}

func (g *googlePoints) GuestList(ctx context.Context, ref gcal.Ref, id string) (gcal.GuestList, error) {
	return points.Pass(g.points, func() (gcal.GuestList, error) {
		if g.hold {
			return gcal.GuestList{}, &fault.Error{Kind: fault.RateLimited, RetryAfter: time.Minute}
		}
		list, err := g.Google.GuestList(ctx, ref, id)
		if err == nil && g.omitted {
			list.Event.Details.GuestsOmitted = true
		}
		if read := g.read; read != nil {
			g.read = nil
			read()
		}
		return list, err
	})
}

func (g *googlePoints) PatchGuests(
	ctx context.Context, ref gcal.Ref, list gcal.GuestList, change gcal.GuestChange, notify string,
) (gcal.Event, error) {
	return points.Pass(g.points, func() (gcal.Event, error) {
		before, after := g.before, g.after
		g.before, g.after = nil, nil
		if before != nil {
			before()
		}
		if g.deaf {
			return list.Event, nil
		}
		event, err := g.Google.PatchGuests(ctx, ref, list, change, notify)
		if err == nil {
			for _, address := range change.Add {
				g.added[address]++
			}
			for _, address := range change.Remove {
				g.added["removed "+address]++
			}
		}
		if after != nil {
			after()
		}
		return event, err
	})
}
