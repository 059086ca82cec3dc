package gcal

import (
	"context"
	"strconv"
	"time"

	calendar "google.golang.org/api/calendar/v3"

	"questscheduler/fault"
)

// defaultTTL is the lifetime that Google gives a channel by default.
const defaultTTL = 7 * 24 * time.Hour

// WatchRequest asks for a watch channel.
type WatchRequest struct {
	// ID has at most 64 characters and was never used before.
	ID string
	// Token comes back with every push, which proves it authentic; at most 256
	// characters.
	Token string
	// Address is the HTTPS address that receives pushes.
	Address string
	// TTL is the wanted lifetime; 0 leaves it to Google.
	TTL time.Duration
}

// Channel is a watch channel as granted.
type Channel struct {
	ID string
	// ResourceID is what StopWatch needs with the id. Channels of several people may
	// share it.
	ResourceID string
	// Expiration is when Google ends it, perhaps sooner than requested.
	Expiration time.Time
}

// Watch opens a channel for the changes of a calendar. The first push may arrive before
// Watch returns; after Unavailable the channel may be open. Google refuses a reused
// channel id for good (Provider).
func (c *Client) Watch(ctx context.Context, ref Ref, request WatchRequest) (Channel, error) {
	wanted := &calendar.Channel{Id: request.ID, Token: request.Token, Address: request.Address, Type: "web_hook"}
	if request.TTL > 0 {
		wanted.Params = map[string]string{"ttl": strconv.FormatInt(int64(request.TTL/time.Second), 10)}
	}
	var channel Channel
	err := c.call(ctx, opWatch, ref.Account, func(ctx context.Context, service *calendar.Service) error {
		granted, err := notNull(service.Events.Watch(ref.Calendar, wanted).Context(ctx).Do())
		if err == nil {
			channel = Channel{ID: request.ID, ResourceID: granted.ResourceId, Expiration: c.expiration(granted, request.TTL)}
		}
		return err
	})
	return channel, err
}

// expiration is the granted end of a channel, or the requested one if the answer omits
// it.
func (c *Client) expiration(granted *calendar.Channel, ttl time.Duration) time.Time {
	if granted.Expiration > 0 {
		return time.UnixMilli(granted.Expiration).UTC()
	}
	if ttl <= 0 || ttl > defaultTTL {
		ttl = defaultTTL
	}
	return c.options.Now().Add(ttl).UTC()
}

// StopWatch closes a channel that the same account opened; one that no longer exists is
// no error. Pushes may still arrive for a while.
func (c *Client) StopWatch(ctx context.Context, account, channelID, resourceID string) error {
	err := c.call(ctx, opStop, account, func(ctx context.Context, service *calendar.Service) error {
		return service.Channels.Stop(&calendar.Channel{Id: channelID, ResourceId: resourceID}).Context(ctx).Do()
	})
	if fault.Is(err, fault.NotFound) {
		return nil
	}
	return err
}
