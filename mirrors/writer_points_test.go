package mirrors_test

import (
	"context"

	"questscheduler/internal/gcal"
	"questscheduler/internal/recurrence"
	"questscheduler/internal/test/points"
	"questscheduler/mirrors"
)

// googlePoints are the calls that have effects; those that read pass through.
type googlePoints struct {
	mirrors.Google
	points *points.Points
	// before and after, if set, run once beside the next insert, patch or search of an occurrence.
	before, after func()
}

func (g *googlePoints) InsertContent(
	ctx context.Context, ref gcal.Ref, id string, content gcal.Content, private map[string]string,
) (gcal.Event, error) {
	return points.Pass(g.points, func() (gcal.Event, error) {
		defer g.beside()()
		return g.Google.InsertContent(ctx, ref, id, content, private)
	})
}

func (g *googlePoints) PatchContent(ctx context.Context, ref gcal.Ref, id, etag string, content gcal.Content) (gcal.Event, error) {
	return points.Pass(g.points, func() (gcal.Event, error) {
		defer g.beside()()
		return g.Google.PatchContent(ctx, ref, id, etag, content)
	})
}

// beside runs before, and returns after.
func (g *googlePoints) beside() func() {
	before, after := g.before, g.after
	g.before, g.after = nil, nil
	if before != nil {
		before()
	}
	if after == nil {
		return func() {}
	}
	return after
}

func (g *googlePoints) DeleteQuietly(ctx context.Context, ref gcal.Ref, id, etag string) (bool, error) {
	return points.Pass(g.points, func() (bool, error) { return g.Google.DeleteQuietly(ctx, ref, id, etag) })
}

func (g *googlePoints) InsertCalendar(ctx context.Context, account string, calendar gcal.NewCalendar) (string, error) {
	return points.Pass(g.points, func() (string, error) { return g.Google.InsertCalendar(ctx, account, calendar) })
}

func (g *googlePoints) Get(ctx context.Context, ref gcal.Ref, id string) (gcal.Event, error) {
	return points.Pass(g.points, func() (gcal.Event, error) { return g.Google.Get(ctx, ref, id) })
}

func (g *googlePoints) Instance(ctx context.Context, ref gcal.Ref, series string, original recurrence.Moment) (gcal.Event, error) {
	return points.Pass(g.points, func() (gcal.Event, error) {
		defer g.beside()()
		return g.Google.Instance(ctx, ref, series, original)
	})
}
