package calendarsync

import (
	"sync"
	"time"
)

const (
	// knownFor is how long a channel whose push was authentic is taken for what
	// it was. What may have changed meanwhile is that it was stopped: its last
	// pushes are hints like any other, and cost one look at most.
	cacheFor = 30 * time.Second
	// knownMost bounds how many are remembered.
	cacheSize = 4096
)

// knownChannels remembers channels whose pushes were authentic, so that the
// many pushes of a busy calendar do not read the channel's document each. A
// push is never refused by what is remembered: that takes the document. The
// zero value is ready.
type channelCache struct {
	mu       sync.Mutex
	channels map[string]cachedChannel
}

type cachedChannel struct {
	watch Watch
	until time.Time
}

// of is a channel as it was less than knownFor ago.
func (k *channelCache) get(channelID string, now time.Time) (Watch, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	known, ok := k.channels[channelID]
	left := known.until.Sub(now)
	return known.watch, ok && left > 0 && left <= cacheFor // further ahead: the clock was set back
}

// remember keeps a live channel; now is from before its document was read.
func (k *channelCache) put(watch Watch, now time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.channels) >= cacheSize {
		clear(k.channels) // it fills again with those that push
	}
	if k.channels == nil {
		k.channels = map[string]cachedChannel{}
	}
	k.channels[watch.ChannelID] = cachedChannel{watch, now.Add(cacheFor)}
}

// forget drops a channel whose document this process is about to change.
func (k *channelCache) drop(channelID string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.channels, channelID)
}
