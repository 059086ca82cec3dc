package main

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// judgeNotices: all players were notified of the same, the channel too, and of the present
// state last.
func (o *organiser) judgeNotices(
	p *session, state string, event object, observed *observation, say func(kind, format string, args ...any),
) {
	players := slices.DeleteFunc(slices.Clone(party), func(who string) bool { return who == o.who })
	known := observed.notices[players[0]][p.id]
	for _, who := range players[1:] {
		if got, want := texts(observed.notices[who][p.id]), texts(known); !slices.Equal(got, want) {
			say(lost, "%s was notified of %q, and %s of %q", who, got, players[0], want)
		}
	}
	if own := observed.notices[o.who][p.id]; len(own) > 0 {
		say(wrong, "its creator was notified of %q, which they did themselves", texts(own))
	}
	counted := map[string]int{}
	for _, n := range known {
		counted[n.kind]++
	}
	for _, content := range observed.about(p.title) {
		counted[kindOf(content)]--
	}
	for kind, more := range counted {
		switch {
		case more > 0:
			say(lost, "players have %d notices %s more than the channel has messages", more, kind)
		case more < 0:
			say(doubled, "the channel has %d messages %s more than players have notices", -more, kind)
		}
	}
	o.judgeLast(p, state, event, known, observed, say)
}

// judgeLast: the last announcement is of the present state.
func (o *organiser) judgeLast(
	p *session, state string, event object, known []notice, observed *observation, say func(kind, format string, args ...any),
) {
	last := notice{}
	if len(known) > 0 && known[len(known)-1].at.After(p.finalised) {
		last = known[len(known)-1]
	}
	moved, off := last.kind == rescheduled || last.kind == onAgain, last.kind == cancelled
	switch {
	case state == "RESCHEDULED" && !moved:
		say(lost, "was moved to %v, and the notices are %q", eventSpan(event), texts(known))
	case state == isCancelled && !off, p.status == isCancelled && p.announces && !off:
		say(lost, "is cancelled, and the notices are %q", texts(known))
	case state == "OK" && (off || last.kind == rescheduled && !p.accepted):
		say(lost, "is at its agreed time, and the notices are %q", texts(known))
	}
	messages := observed.about(p.title)
	if state != "RESCHEDULED" || len(messages) == 0 {
		return
	}
	start, err := time.Parse(time.RFC3339, eventSpan(event).start)
	if tag := fmt.Sprintf("<t:%d:", start.Unix()); err != nil || !strings.Contains(messages[len(messages)-1], tag) {
		say(lost, "was moved to %v, and the last message is %q", eventSpan(event), messages[len(messages)-1])
	}
}

// The kinds of announcements.
const (
	rescheduled = "SESSION_RESCHEDULED"
	restored    = "SESSION_RESTORED"
	cancelled   = "SESSION_CANCELLED"
	onAgain     = "SESSION_ON_AGAIN"
)

// kindOf is the kind of announcement that a message is.
func kindOf(content string) string {
	for _, kind := range []struct{ kind, says string }{
		{rescheduled, "has been rescheduled"}, {restored, "has been restored"}, {cancelled, "has been cancelled"}, {onAgain, "is on again"},
	} {
		if strings.Contains(content, kind.says) {
			return kind.kind
		}
	}
	return content
}

func texts(notices []notice) (all []string) {
	for _, n := range notices {
		all = append(all, n.kind+" "+n.body)
	}
	return all
}
