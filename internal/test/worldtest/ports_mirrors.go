package worldtest

import (
	"context"

	"questscheduler/internal/gcal"
	"questscheduler/internal/recurrence"
	"questscheduler/mirrors"
)

var _ mirrors.Google = (*mirrorPort)(nil)

// mirrorPort is Google Calendar as the writer of mirrors sees it. Its listings are no sync
// runs.
type mirrorPort struct{ *googlePort }

func (g *mirrorPort) List(ctx context.Context, ref gcal.Ref, mask gcal.Mask, syncToken, pageToken string) (gcal.Page, error) {
	return ask(g.googlePort, ref.Account, "events.list", func() (gcal.Page, error) {
		return g.client.List(ctx, ref, mask, syncToken, pageToken)
	})
}

func (g *googlePort) Instance(ctx context.Context, ref gcal.Ref, seriesID string, original recurrence.Moment) (gcal.Event, error) {
	return ask(g, ref.Account, "events.instances", func() (gcal.Event, error) { return g.client.Instance(ctx, ref, seriesID, original) })
}

func (g *googlePort) InsertContent(
	ctx context.Context, ref gcal.Ref, id string, content gcal.Content, private map[string]string,
) (gcal.Event, error) {
	return ask(g, ref.Account, "events.insert", func() (gcal.Event, error) { return g.client.InsertContent(ctx, ref, id, content, private) })
}

func (g *googlePort) PatchContent(ctx context.Context, ref gcal.Ref, id, etag string, content gcal.Content) (gcal.Event, error) {
	g.ports.world.tried(ref, id, etag)
	return ask(g, ref.Account, "events.patch", func() (gcal.Event, error) { return g.client.PatchContent(ctx, ref, id, etag, content) })
}

func (g *googlePort) DeleteQuietly(ctx context.Context, ref gcal.Ref, id, etag string) (bool, error) {
	return ask(g, ref.Account, "events.delete", func() (bool, error) { return g.client.DeleteQuietly(ctx, ref, id, etag) })
}

func (g *googlePort) InsertCalendar(ctx context.Context, account string, calendar gcal.NewCalendar) (string, error) {
	return ask(g, account, "calendars.insert", func() (string, error) { return g.client.InsertCalendar(ctx, account, calendar) })
}
