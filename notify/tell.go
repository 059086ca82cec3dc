package notify

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"time"

	"questscheduler/internal/fault"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
)

// tell tells a story in the app and in the group's channel, and records it as
// told. A channel that was told by an earlier run is not told again.
func (a *Announcer) tell(ctx context.Context, t telling, trace string) (turn, error) {
	c, err := a.company(ctx, t.pollID)
	if fault.Is(err, fault.NotFound) || err == nil && c.poll.ReplacesTold(t.announcement) { // deleted since: the next run finds that
		return turn{needed: true}, nil
	}
	if err != nil {
		return turn{}, err
	}
	next, err := a.tellChannels(ctx, t, c)
	if errors.Is(err, errOvertaken) {
		return turn{}, nil
	}
	if err == nil {
		if !t.resent { // it was counted, and how long it took, when it was told first
			a.Meter.Count(Announced{t.notice, a.Now().Sub(t.told.At)})
		}
		a.Log.InfoContext(ctx, "announced", slog.String("poll", t.pollID), slog.String("notice", string(t.notice)),
			slog.String("ref", t.told.Ref), slog.String("trace", t.told.Trace), slog.String("task_trace", trace),
			slog.Bool("resumed", t.resumed), slog.Bool("resent", t.resent))
	}
	return next, err
}

func (a *Announcer) tellChannels(ctx context.Context, t telling, c company) (turn, error) {
	if t.done[ChannelInApp].Ref != t.told.Ref {
		if err := a.tellInApp(ctx, t, c); err != nil {
			return turn{}, err
		}
	}
	if t.done[ChannelLine].Ref != t.told.Ref {
		if err := a.tellLine(ctx, t, c); err != nil {
			return turn{}, err
		}
	}
	return a.finish(ctx, t)
}

// tellLine posts the message on a transition, once. A refusal is recorded on
// the poll and holds up nothing; only what passes by itself is an error.
func (a *Announcer) tellLine(ctx context.Context, t telling, c company) error {
	channel := channelID(c.group)
	if a.Discord == nil || channel == "" {
		return nil
	}
	message := a.line(t.notice, t.told, c.poll, c.group)
	id, refusal := a.postLine(ctx, t, channel, message)
	if refusal != nil && !isRefusal(refusal) {
		return refusal
	}
	if refusal != nil {
		a.Meter.Count(DiscordRefused{ChannelLine, fault.CodeOf(refusal)})
		a.Log.WarnContext(ctx, "discord refused a message", slog.String("poll", t.pollID),
			slog.String("ref", t.told.Ref), slog.String("trace", t.told.Trace), slog.Any("error", refusal))
	} else if id != "" {
		a.Log.InfoContext(ctx, "discord has the message", slog.String("poll", t.pollID), slog.String("message", id),
			slog.String("ref", t.told.Ref), slog.String("trace", t.told.Trace))
	}
	delivery := poll.Delivery{Ref: t.told.Ref, MessageID: id, Error: sentenceOf(refusal), At: store.Instant(a.Now())}
	return a.recordLine(ctx, t, delivery)
}

// postLine posts a message unless an earlier run did: the nonce finds it for
// some minutes, and where this is not the first run its mark does for as long
// as it is among the channel's newest. A message that was deleted since was
// told all the same.
func (a *Announcer) postLine(ctx context.Context, t telling, channel string, message Message) (id string, err error) {
	if t.resumed {
		mark := lineMark(t.told.Ref)
		found, err := a.find(ctx, channel, func(posted Posted) bool { return strings.HasSuffix(posted.Shows.Mark, mark) })
		if err != nil || found.ID != "" {
			return found.ID, err
		}
	}
	posted, err := a.Discord.Post(ctx, channel, message, nonceOf("line", t.told.Ref, channel))
	if fault.CodeOf(err) == CodeUnknownMessage {
		return "", nil
	}
	return posted.ID, err
}

// find looks for a message among a channel's newest; the zero Posted where it
// is not there, or where the bot may not look.
func (a *Announcer) find(ctx context.Context, channel string, is func(Posted) bool) (Posted, error) {
	recent, err := a.Discord.Recent(ctx, channel)
	if err != nil {
		return Posted{}, err
	}
	for _, posted := range recent {
		if is(posted) {
			return posted, nil
		}
	}
	return Posted{}, nil
}

// recordLine records what became of the message, and on the poll what is wrong
// with its channel.
func (a *Announcer) recordLine(ctx context.Context, t telling, delivery poll.Delivery) error {
	return a.record(ctx, t, func(ctx context.Context, tx store.Tx, announcement poll.Announcement) error {
		p, err := poll.Load(ctx, tx, t.pollID)
		if err != nil && !fault.Is(err, fault.NotFound) {
			return err
		}
		trouble := delivery.Error
		if trouble == "" && a.Own == OwnAll {
			trouble = announcement.Channels[ChannelCard].Error // the card has yet to show that it is mended
		}
		if p.ID != "" && !p.ReplacesTold(announcement) && (trouble != "" || isOurs(p.Discord.Error)) {
			if err := tx.Update(poll.Path(p.ID), troubleUpdates(trouble, delivery.At)...); err != nil {
				return err
			}
		}
		return tx.Update(poll.AnnouncementPath(t.pollID), poll.DeliveryUpdate(ChannelLine, delivery))
	})
}

// troubleUpdates gives the fields that tell on the poll what is wrong with its
// channel; "" for nothing.
func troubleUpdates(trouble string, at time.Time) []store.Update {
	if trouble == "" {
		return []store.Update{
			cardField("pendingSync", false), cardField("pendingSyncAt", nil), cardField("pendingSyncError", nil),
		}
	}
	return []store.Update{
		cardField("pendingSync", true), cardField("pendingSyncAt", at), cardField("pendingSyncError", trouble),
	}
}

// cardField is an update of one field of schedulers.discord.
func cardField(name string, value any) store.Update {
	return store.Update{Path: store.Field("discord", name), Value: value}
}
