package calendarsync

import (
	"sync"
	"time"
)

const (
	// knownFor is how long a channel whose push was authentic is taken for what
	// it was. What may have changed meanwhile is that it was stopped: its last
	// pushes are hints like any other, and cost one look at most.
	knownFor = 30 * time.Second
	// knownMost bounds how many are remembered.
	knownMost = 4096
)

// knownChannels remembers channels whose pushes were authentic, so that the
// many pushes of a busy calendar do not read the channel's document each. A
// push is never refused by what is remembered: that takes the document. The
// zero value is ready.
type knownChannels struct {
	mu       sync.Mutex
	channels map[string]knownChannel
}

type knownChannel struct {
	watch Watch
	until time.Time
}

// of is a channel as it was less than knownFor ago.
func (k *knownChannels) of(channelID string, now time.Time) (Watch, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	known, ok := k.channels[channelID]
	left := known.until.Sub(now)
	return known.watch, ok && left > 0 && left <= knownFor // further ahead: the clock was set back
}

// remember keeps a live channel; now is from before its document was read.
func (k *knownChannels) remember(watch Watch, now time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.channels) >= knownMost {
		clear(k.channels) // it fills again with those that push
	}
	if k.channels == nil {
		k.channels = map[string]knownChannel{}
	}
	k.channels[watch.ChannelID] = knownChannel{watch, now.Add(knownFor)}
}

// forget drops a channel whose document this process is about to change.
func (k *knownChannels) forget(channelID string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.channels, channelID)
}
