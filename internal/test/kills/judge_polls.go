package main

import (
	"context"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"
)

func (o *organiser) judge(ctx context.Context, seen *sight, settled bool) ([]finding, error) {
	found, err := o.judgeList(ctx)
	if err != nil {
		return nil, err
	}
	for _, p := range o.polls {
		found = append(found, o.judgeRepeats(p, seen)...)
		if !settled {
			continue
		}
		more, err := o.judgePoll(ctx, p, seen)
		if err != nil {
			return nil, err
		}
		found = append(found, more...)
	}
	if settled {
		found = append(found, o.judgeOrphans(seen)...)
	}
	return found, nil
}

// judgeList: each poll that was made is there once.
func (o *organiser) judgeList(ctx context.Context) (found []finding, err error) {
	listed, err := o.w.pages(ctx, o.who, "/v1/polls?role=creator&limit=100", "polls")
	if err != nil {
		return nil, err
	}
	count := map[string]int{}
	for _, poll := range listed {
		if count[text(poll, "title")]++; count[text(poll, "title")] == 2 {
			found = append(found, finding{doubled, "there are two polls " + text(poll, "title")})
		}
	}
	for _, p := range o.polls {
		if count[p.title] == 0 {
			found = append(found, finding{lost, "there is no poll " + p.title + ", which was made"})
		}
	}
	return found, nil
}

// judgeRepeats: nobody was told the same twice in a row; between two equal announcements of a
// poll there is always another one.
func (o *organiser) judgeRepeats(p *pollStory, seen *sight) (found []finding) {
	for _, who := range party {
		notices := seen.notices[who][p.id]
		for i := 1; i < len(notices); i++ {
			if notices[i].kind == notices[i-1].kind && notices[i].body == notices[i-1].body {
				found = append(found, finding{doubled, fmt.Sprintf("%s was notified twice: %s, %s", who, notices[i].kind, notices[i].body)})
			}
		}
	}
	messages := seen.about(p.title)
	for i := 1; i < len(messages); i++ {
		if messages[i] == messages[i-1] {
			found = append(found, finding{doubled, "the channel has twice: " + messages[i]})
		}
	}
	return found
}

// judgePoll compares a poll with what was commanded and with its event.
func (o *organiser) judgePoll(ctx context.Context, p *pollStory, seen *sight) (found []finding, err error) {
	got := o.w.v1(ctx, o.who, http.MethodGet, p.path(), nil, "")
	if !got.answered() {
		return nil, fmt.Errorf("read poll %s: %v", p.id, got)
	}
	if !got.good() {
		return []finding{{lost, fmt.Sprintf("poll %s (%s) is answered %v", p.title, p.id, got)}}, nil
	}
	view, say := got.data, func(kind, format string, args ...any) {
		found = append(found, finding{kind, fmt.Sprintf("poll %s (%s) ", p.title, p.id) + fmt.Sprintf(format, args...)})
	}
	event, live := o.eventOf(p, seen)
	want, state := p.status, ""
	if p.status == isFinalized {
		switch {
		case !live:
			want, state = isCancelled, isCancelled
		case eventSpan(event) == p.baseline:
			state = "OK"
		default:
			state = "RESCHEDULED"
		}
	}
	if text(view, "status") != want {
		say(lost, "is %s; it was commanded to be %s, and its event %q is live: %t", text(view, "status"), p.status, p.event, live)
		return found, nil
	}
	if state != "" && text(view, "sync", "state") != state {
		say(lost, "has the state %s, want %s: agreed on %v, event at %v", text(view, "sync", "state"), state, p.baseline, eventSpan(event))
	}
	if shown := parsed(text(view, "winning_slot", "start"), text(view, "winning_slot", "end")); live && p.status == isFinalized && shown != eventSpan(event) {
		say(lost, "shows %v, its event is at %v", shown, eventSpan(event))
	}
	if votes := votesOf(view); !reflect.DeepEqual(votes, p.votes) {
		say(lost, "has the votes %v, and people voted %v", votes, p.votes)
	}
	o.judgeNotices(p, state, event, seen, say)
	return found, nil
}

func (o *organiser) eventOf(p *pollStory, seen *sight) (object, bool) {
	for _, event := range seen.events[o.own().email] {
		if p.event != "" && text(event, "id") == p.event {
			return event, true
		}
	}
	return nil, false
}

func votesOf(view object) map[string]map[string]string {
	all := map[string]map[string]string{}
	for _, vote := range list(view["votes"]) {
		choices := map[string]string{}
		for slot, choice := range vote["votes"].(object) {
			choices[slot], _ = choice.(string)
		}
		all[text(vote, "user_id")] = choices
	}
	return all
}

// judgeNotices: all players were notified of the same, the channel too, and of the present
// state last.
func (o *organiser) judgeNotices(p *pollStory, state string, event object, seen *sight, say func(kind, format string, args ...any)) {
	players := slices.DeleteFunc(slices.Clone(party), func(who string) bool { return who == o.who })
	known := seen.notices[players[0]][p.id]
	for _, who := range players[1:] {
		if got, want := told(seen.notices[who][p.id]), told(known); !slices.Equal(got, want) {
			say(lost, "%s was notified of %q, and %s of %q", who, got, players[0], want)
		}
	}
	if own := seen.notices[o.who][p.id]; len(own) > 0 {
		say(wrong, "its creator was notified of %q, which they did themselves", told(own))
	}
	counted := map[string]int{}
	for _, n := range known {
		counted[n.kind]++
	}
	for _, content := range seen.about(p.title) {
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
	o.judgeLast(p, state, event, known, seen, say)
}

// judgeLast: the last announcement is of the present state.
func (o *organiser) judgeLast(p *pollStory, state string, event object, known []notice, seen *sight, say func(kind, format string, args ...any)) {
	last := notice{}
	if len(known) > 0 && known[len(known)-1].at.After(p.finalised) {
		last = known[len(known)-1]
	}
	moved, off := last.kind == rescheduled || last.kind == onAgain, last.kind == cancelled
	switch {
	case state == "RESCHEDULED" && !moved:
		say(lost, "was moved to %v, and the last notice is %q", eventSpan(event), last)
	case state == isCancelled && !off, p.status == isCancelled && p.told && !off:
		say(lost, "is cancelled, and the last notice is %q", last)
	case state == "OK" && (off || last.kind == rescheduled && !p.accepted):
		say(lost, "is at its agreed time, and the last notice is %q", last)
	}
	messages := seen.about(p.title)
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

func told(notices []notice) (texts []string) {
	for _, n := range notices {
		texts = append(texts, n.kind+" "+n.body)
	}
	return texts
}

// judgeOrphans: each event of a poll in the creator's calendar is one that a finalised poll
// has, or was left there on purpose.
func (o *organiser) judgeOrphans(seen *sight) (found []finding) {
	known := map[string]bool{}
	for _, p := range o.polls {
		if p.status == isFinalized {
			known[p.event] = true
		}
		for id := range p.released {
			known[id] = true
		}
	}
	for _, event := range seen.events[o.own().email] {
		if id := text(event, "id"); strings.HasPrefix(id, pollPrefix) && !known[id] {
			found = append(found, finding{doubled, fmt.Sprintf("the calendar of %s has event %s, %s at %v, which no poll has", o.who, id, text(event, "summary"), eventSpan(event))})
		}
	}
	return found
}
