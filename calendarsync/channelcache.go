package calendarsync

import (
	"sync"
	"time"
)

const (
	// cacheFor is how long a cached channel counts as authentic. If it was stopped since,
	// its last pushes cost at most one needless sync run.
	cacheFor  = 30 * time.Second
	cacheSize = 4096
)

// channelCache holds channels whose pushes were authentic, so that the many pushes of a
// busy calendar do not each read its document. A push is never refused by the cache. The
// zero value is ready.
type channelCache struct {
	mu       sync.Mutex
	channels map[string]cachedChannel
}

type cachedChannel struct {
	watch Watch
	until time.Time
}

// get returns a channel cached less than cacheFor ago.
func (k *channelCache) get(channelID string, now time.Time) (Watch, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	known, ok := k.channels[channelID]
	left := known.until.Sub(now)
	return known.watch, ok && left > 0 && left <= cacheFor // further ahead: the clock was set back
}

// put caches a live channel; now is from before its document was read.
func (k *channelCache) put(watch Watch, now time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.channels) >= cacheSize {
		clear(k.channels) // it refills with active channels
	}
	if k.channels == nil {
		k.channels = map[string]cachedChannel{}
	}
	k.channels[watch.ChannelID] = cachedChannel{watch, now.Add(cacheFor)}
}

// drop removes a channel whose document this process is about to change.
func (k *channelCache) drop(channelID string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.channels, channelID)
}
