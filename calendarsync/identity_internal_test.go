package calendarsync

import (
	"fmt"
	"testing"
	"time"

	"questscheduler/internal/gcal"
	"questscheduler/internal/poll"
	"questscheduler/scheduler"
)

// A guest's copy of an event has its id in another calendar, and is not the event.
func TestIsMoved_ByOrganizerAndMarks_IsTheEventAlone(t *testing.T) {
	t.Parallel()
	at := poll.Place{AccountID: "gm", CalendarID: "club@example.com"}
	ours := poll.EventID("p", 3)
	event := func(id, pollID, generation string) gcal.Event {
		marks := map[string]string{}
		if pollID != "" {
			marks[markPoll], marks[markGeneration] = pollID, generation
		}
		return gcal.Event{ID: id, Organized: true, Private: marks}
	}
	organized := func(e gcal.Event, by bool, organizer string) gcal.Event {
		e.Organized, e.Organizer = by, organizer
		return e
	}
	for name, c := range map[string]struct {
		event gcal.Event
		want  bool
	}{
		"ours":                            {event(ours, "p", "3"), true},
		"ours, of the calendar":           {organized(event(ours, "p", "3"), false, "Club@example.com"), true},
		"ours, by somebody for us":        {organized(event(ours, "p", "3"), true, "ben@example.com"), true},
		"a guest's copy":                  {organized(event(ours, "p", "3"), false, "ben@example.com"), false},
		"a copy that does not say whose":  {organized(event(ours, "p", "3"), false, ""), false},
		"ours, without marks":             {event(ours, "", ""), false},
		"ours, with another poll's mark":  {event(ours, "q", "3"), false},
		"ours, with another one's mark":   {event(ours, "p", "2"), false},
		"an older one without marks":      {event("old", "", ""), true},
		"an older one with our mark":      {event("old", "p", "1"), true},
		"an older one of another poll":    {event("old", "q", "1"), false},
		"an older one, as a guest's copy": {organized(event("old", "", ""), false, "ben@example.com"), false},
	} {
		if got := isMoved(c.event, at, scheduler.Missing{EventID: c.event.ID, PollID: "p"}); got != c.want {
			t.Errorf("%s: moved is %t, want %t", name, got, c.want)
		}
	}
}

// A channel is known for half a minute, and not by a clock that was set back.
func TestChannelCache_KeepsAChannelForItsTime(t *testing.T) {
	t.Parallel()
	var cache channelCache
	if _, known := cache.get("a", noon); known {
		t.Error("one that never pushed is known")
	}
	for ago, want := range map[time.Duration]bool{
		-time.Nanosecond: false, 0: true, cacheFor - time.Nanosecond: true, cacheFor: false, cacheFor + time.Hour: false,
	} {
		cache.put(Watch{ChannelID: "a", CalendarKey: "key"}, noon.Add(-ago))
		watch, known := cache.get("a", noon)
		if known != want || known && watch.CalendarKey != "key" {
			t.Errorf("put %v ago: known is %t as %+v, want %t", ago, known, watch, want)
		}
	}
	cache.put(Watch{ChannelID: "a"}, noon)
	cache.drop("a")
	if _, known := cache.get("a", noon); known {
		t.Error("one that was dropped is known")
	}
}

// So that memory has an end, a full cache begins anew.
func TestChannelCache_Full_BeginsAnew(t *testing.T) {
	t.Parallel()
	var cache channelCache
	for n := range cacheSize {
		cache.put(Watch{ChannelID: fmt.Sprint(n)}, noon)
	}
	if _, known := cache.get("0", noon); !known || len(cache.channels) != cacheSize {
		t.Errorf("the first of %d is known: %t; there are %d", cacheSize, known, len(cache.channels))
	}
	cache.put(Watch{ChannelID: "last"}, noon)
	if _, known := cache.get("last", noon); !known || len(cache.channels) != 1 {
		t.Errorf("one more is known: %t; there are %d", known, len(cache.channels))
	}
}
