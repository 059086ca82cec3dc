package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"questscheduler/internal/calendars"
	"questscheduler/internal/ids"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
)

// How many calendars are followed where each push is for another, and how many pushes come.
const (
	manyCalendars = 100_000
	manyPushes    = 6_000
)

// pushesOfMany measures pushes that each start the sync of another of many calendars, over 64
// connections at once.
func pushesOfMany(ctx context.Context, r *report, folder string) error {
	return pushesOf(ctx, r, folder, manyCalendars, manyPushes)
}

func pushesOf(ctx context.Context, r *report, folder string, followed, count int) (err error) {
	site, err := openPushes(ctx, folder)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, site.close(ctx)) }()
	channels, err := site.follow(ctx, followed)
	if err != nil {
		return err
	}
	stride := followed / count // all over the file, not its first pages
	channel := func(number int) pushChannel { return channels[number*stride%followed] }
	counted := func(number int, _ time.Duration) bool { return number < count }
	bare, _, err := press(ctx, site.bare, channel, counted)
	if err != nil {
		return err
	}
	taken, _, err := press(ctx, site.edge, channel, counted)
	if err != nil {
		return err
	}
	if err := site.requested(ctx, count); err != nil {
		return err
	}
	name := fmt.Sprintf("push_starts_sync_%d", followed)
	return errors.Join(
		r.add(name+"_bare_echo_p50", bare.at(0.5), "ms", ""),
		r.add(name+"_p50", taken.at(0.5), "ms", name+"_bare_echo_p50"),
		r.add(name+"_p99", taken.at(0.99), "ms", name+"_p50"))
}

// requested fails unless the syncs of so many calendars are requested.
func (site *pushSite) requested(ctx context.Context, want int) error {
	got := 0
	for after, more := "", true; more; more = after != "" {
		page, next, err := calendars.All(ctx, site.store, sweptAtATime, after)
		if err != nil {
			return err
		}
		for _, calendar := range page {
			if calendar.Asked() {
				got++
			}
		}
		after = next
	}
	if opened := 1; got != opened+want { // the channel that was opened requested one too
		return fmt.Errorf("%d pushes requested the syncs of %d calendars", want, got-opened)
	}
	return nil
}

// follow stores as many calendars with their channels, as copies of the one that is followed.
func (site *pushSite) follow(ctx context.Context, count int) ([]pushChannel, error) {
	watch := store.Doc("calendarWatches", site.channel.id)
	templates, err := site.store.GetAll(ctx, []store.Path{watch, calendars.Path(site.key)})
	if err != nil {
		return nil, err
	}
	numbers := make([]int, count)
	channels := make([]pushChannel, count)
	for i := range channels {
		numbers[i], channels[i].id = i, fmt.Sprintf("00000000-0000-4000-8000-%012d", i)
		channels[i].token, err = site.keys.ChannelToken(channels[i].id)
		if err != nil {
			return nil, err
		}
	}
	for some := range slices.Chunk(numbers, sweptAtATime) {
		err := site.store.Run(ctx, func(_ context.Context, tx store.Tx) error {
			for _, i := range some {
				account := fmt.Sprintf("acc_%06d", i)
				key := poll.CalendarKey(account, "primary")
				err := errors.Join(
					tx.Create(store.Doc("calendarWatches", channels[i].id), with(templates[0].Data, map[string]any{
						"calendarKey": key, "accountId": account, "calendarId": "primary",
						"channelId": channels[i].id, "tokenHash": ids.Of(channels[i].token).Hex(32),
					})),
					tx.Create(calendars.Path(key), with(templates[1].Data, map[string]any{
						"accountId": account, "calendarId": "primary", "syncAsked": nil, "syncAt": nil,
					})))
				if err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return channels, nil
}
