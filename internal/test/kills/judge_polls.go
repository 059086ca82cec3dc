package main

import (
	"context"
	"fmt"
	"net/http"
	"reflect"
	"strings"
)

func (o *organiser) judge(ctx context.Context, observed *observation, settled bool) ([]finding, error) {
	found, err := o.judgeList(ctx)
	if err != nil {
		return nil, err
	}
	for _, p := range o.polls {
		found = append(found, o.judgeRepeats(p, observed)...)
		if !settled {
			continue
		}
		more, err := o.judgePoll(ctx, p, observed)
		if err != nil {
			return nil, err
		}
		found = append(found, more...)
	}
	if settled {
		found = append(found, o.judgeOrphans(observed)...)
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
		count[text(poll, "title")]++
		if count[text(poll, "title")] == 2 {
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

// judgeRepeats: nobody was notified of the same twice in a row; between two equal announcements of a
// poll there is always another one.
func (o *organiser) judgeRepeats(p *session, observed *observation) (found []finding) {
	for _, who := range party {
		notices := observed.notices[who][p.id]
		for i := 1; i < len(notices); i++ {
			if notices[i].kind == notices[i-1].kind && notices[i].body == notices[i-1].body {
				found = append(found, finding{doubled, fmt.Sprintf("%s was notified twice: %s, %s", who, notices[i].kind, notices[i].body)})
			}
		}
	}
	messages := observed.about(p.title)
	for i := 1; i < len(messages); i++ {
		if messages[i] == messages[i-1] {
			found = append(found, finding{doubled, "the channel has twice: " + messages[i]})
		}
	}
	return found
}

// judgePoll compares a poll with what was commanded and with its event.
func (o *organiser) judgePoll(ctx context.Context, p *session, observed *observation) (found []finding, err error) {
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
	event, live := o.eventOf(p, observed)
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
	if shown := parsed(text(view, "winning_slot", "start"),
		text(view, "winning_slot", "end")); live && p.status == isFinalized && shown != eventSpan(event) {
		say(lost, "shows %v, its event is at %v", shown, eventSpan(event))
	}
	if votes := votesOf(view); !reflect.DeepEqual(votes, p.votes) {
		say(lost, "has the votes %v, and people voted %v", votes, p.votes)
	}
	o.judgeNotices(p, state, event, observed, say)
	return found, nil
}

func (o *organiser) eventOf(p *session, observed *observation) (object, bool) {
	for _, event := range observed.events[o.own().email] {
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

// judgeOrphans: each event of a poll in the creator's calendar is one that a finalised poll
// has, or was left there on purpose.
func (o *organiser) judgeOrphans(observed *observation) (found []finding) {
	known := map[string]bool{}
	for _, p := range o.polls {
		if p.status == isFinalized {
			known[p.event] = true
		}
		for id := range p.released {
			known[id] = true
		}
	}
	for _, event := range observed.events[o.own().email] {
		if id := text(event, "id"); strings.HasPrefix(id, pollPrefix) && !known[id] {
			found = append(found, finding{
				doubled,
				fmt.Sprintf("the calendar of %s has event %s, %s at %v, which no poll has", o.who, id, text(event, "summary"), eventSpan(event)),
			})
		}
	}
	return found
}
