package notify

import (
	"fmt"
	"time"

	"questscheduler/internal/poll"
	"questscheduler/rules"
)

// mentions reports whether a notice mentions whom the group chose.
func mentions(notice rules.Notice) bool { return notice != rules.NoticeRestored }

// clock writes a time of a timed session; its end too, with ends.
type clock func(at rules.Fingerprint, ends bool) string

// text is the message in the best of the texts. All its times derive from the stored
// announcement, so an attempt to deliver it later says the same.
func (m Message) text(l *Language, texts []string, title string, write clock) string {
	at, old := m.times()
	c := between(old, at, zoneOf(m.Poll))
	ends := c.lengthDiffers()
	return fillFirst(texts, "{title}", title, "{distance}", l.distance(c),
		"{time}", l.sessionTime(at, ends, write), "{old}", l.sessionTime(old, ends, write))
}

// times are the time that the message is about, and the one that people knew before;
// zero if there is none or it is the same.
func (m Message) times() (at, old rules.Fingerprint) {
	at, old = m.State.State.At, rules.KnownTime(m.Before.State, m.State.State)
	switch {
	case m.Notice == rules.NoticeCancelled && !old.IsZero(): // what people know of is off
		return old, rules.Fingerprint{}
	case old == at || m.Notice == rules.NoticeCancelled:
		return at, rules.Fingerprint{}
	default:
		return at, old
	}
}

// zoneOf is the poll's time zone, or UTC if the poll has none that is known.
func zoneOf(p poll.Poll) *time.Location {
	location, err := poll.Zone(p.Timezone)
	if err != nil {
		return time.UTC
	}
	return location
}

// sessionTime writes the time of a session; "" if there is none. An all-day session
// is its dates.
func (l *Language) sessionTime(at rules.Fingerprint, ends bool, write clock) string {
	switch {
	case at.IsZero():
		return ""
	case at.AllDay:
		return l.days(at)
	default:
		return write(at, ends)
	}
}

// inAppTime writes times as a zone's clocks show them, and names the zone.
func (l *Language) inAppTime(zone *time.Location) clock {
	moment := func(at time.Time) string {
		return fill(l.Times.Moment, "{day}", l.day(at), "{clock}", at.Format(l.Times.Clock))
	}
	return func(at rules.Fingerprint, ends bool) string {
		start, end := at.StartTime().In(zone), at.EndTime().In(zone)
		text := moment(start)
		switch {
		case ends && end.Sub(start) < dayLength:
			text = fill(l.Times.Span, "{from}", text, "{to}", end.Format(l.Times.Clock))
		case ends:
			text = fill(l.Times.Span, "{from}", text, "{to}", moment(end))
		}
		return fill(l.Times.Zoned, "{time}", text, "{zone}", zone.String())
	}
}

// discordTime writes times by Discord's markup: each reader's own clock shows them.
func (l *Language) discordTime(at rules.Fingerprint, ends bool) string {
	start, end := at.StartTime(), at.EndTime()
	switch {
	case !ends:
		return timeTag(start)
	case end.Sub(start) < dayLength:
		return fill(l.Times.Span, "{from}", timeTag(start), "{to}", fmt.Sprintf("<t:%d:t>", end.Unix()))
	default:
		return fill(l.Times.Span, "{from}", timeTag(start), "{to}", timeTag(end))
	}
}

// timeTag is Discord's markup for a moment in full.
func timeTag(at time.Time) string { return fmt.Sprintf("<t:%d:F>", at.Unix()) }

// days are the dates of an all-day session; its end is exclusive.
func (l *Language) days(at rules.Fingerprint) string {
	first, last := at.StartTime(), at.EndTime().AddDate(0, 0, -1)
	if !last.After(first) {
		return l.day(first)
	}
	return fill(l.Times.Span, "{from}", l.day(first), "{to}", l.day(last))
}
