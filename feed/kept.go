package feed

import (
	"container/list"
	"sync"
	"time"

	"questscheduler/fault"
)

const (
	// maxKept is how many feeds a process remembers, and maxKeptBytes how much of their texts.
	maxKept      = 10_000
	maxKeptBytes = 32 << 20
)

// reading is what a process remembers of a feed.
type reading struct {
	hash string
	tag  string
	// text is nil if nobody needed it, or if it had to give way to others' texts. rendered tells
	// the two apart.
	text     []byte
	rendered bool
	at       time.Time // when it was read
	checked  time.Time // when the owner's sign-in was checked
	answers  int       // since at
}

// kept holds the feeds that were read last. The zero one is empty. Safe for concurrent use.
type kept struct {
	mu    sync.Mutex
	feeds map[string]*list.Element // by the hash of the secret
	order list.List                // of *reading, the one read first in front
	bytes int
}

// answer answers from memory; known is false if the feed has to be read. Then nothing is counted.
func (k *kept) answer(hash string, now time.Time, has func(tag string) bool) (answer Calendar, known bool, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	r := k.find(hash)
	if r == nil {
		return Calendar{}, false, nil
	}
	age := now.Sub(r.at)
	fresh := age >= 0 && age < RenderEvery // a clock that was set back makes it stale
	hit := fresh && has(r.tag)
	switch {
	case !fresh, !hit && !r.rendered && r.answers < MaxAnswers:
		return Calendar{}, false, nil
	case r.answers >= MaxAnswers, !hit && r.text == nil:
		return Calendar{}, true, &fault.Error{
			Kind: fault.RateLimited, Own: true, Code: CodeRate, RetryAfter: RenderEvery - age,
			Message: "This calendar feed was just read. Read it again about every hour.",
		}
	}
	r.answers++
	if hit {
		return Calendar{Tag: r.tag}, true, nil
	}
	return Calendar{Tag: r.tag, Text: r.text}, true, nil
}

// last gives what is remembered of a feed; the zero reading for nothing.
func (k *kept) last(hash string) reading {
	k.mu.Lock()
	defer k.mu.Unlock()
	if r := k.find(hash); r != nil {
		return *r
	}
	return reading{}
}

// keep remembers a reading instead of the feed's earlier one. Beyond the bounds, the feeds that
// were read first are forgotten, or their texts.
func (k *kept) keep(hash string, r reading) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.drop(hash)
	if k.feeds == nil {
		k.feeds = map[string]*list.Element{}
	}
	r.hash = hash
	k.feeds[hash] = k.order.PushBack(&r)
	k.bytes += len(r.text)
	if k.order.Len() > maxKept {
		k.drop(k.order.Front().Value.(*reading).hash)
	}
	for e := k.order.Front(); k.bytes > maxKeptBytes; e = e.Next() {
		old := e.Value.(*reading)
		k.bytes -= len(old.text)
		old.text = nil
	}
}

// forget removes what is remembered of a feed.
func (k *kept) forget(hash string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.drop(hash)
}

func (k *kept) find(hash string) *reading {
	e := k.feeds[hash]
	if e == nil {
		return nil
	}
	return e.Value.(*reading)
}

func (k *kept) drop(hash string) {
	if r := k.find(hash); r != nil {
		k.bytes -= len(r.text)
		k.order.Remove(k.feeds[hash])
		delete(k.feeds, hash)
	}
}
