package main

import (
	"context"
	"fmt"
	"net/http"
	"time"
)

// organiser makes polls of the group, one after the other, each of which lives through what
// people do with a poll and its event.
type organiser struct {
	hand
	polls []*pollStory
}

// pollStory is a poll as its creator remembers it.
type pollStory struct {
	title   string
	slots   []span
	id      string
	slotIDs []string
	left    int // acts until the next poll begins
	// status is as commanded: OPEN, FINALIZED or CANCELLED.
	status string
	// event is the one that a finalisation was answered with; baseline is the agreed time.
	event    string
	baseline span
	next     int // slot to be chosen
	// finalised is when the last finalisation was sent; accepted: a new time was accepted
	// since; told: a cancellation by command has something to announce.
	finalised      time.Time
	accepted, told bool
	gone           bool
	released       map[string]bool // events that were left in the calendar
	votes          map[string]map[string]string
	// await: nothing more is done before the program shows that status.
	await string
}

const (
	isOpen      = "OPEN"
	isFinalized = "FINALIZED"
	isCancelled = "CANCELLED"

	slotsEach = 6

	// deletedInCalendar is why a poll is cancelled whose event somebody deleted.
	deletedInCalendar = "calendar_deleted"
)

func (o *organiser) act(ctx context.Context) {
	if o.again(ctx) {
		return
	}
	if len(o.polls) == 0 || o.current().left <= 0 {
		o.create(ctx)
		return
	}
	p := o.current()
	p.left--
	if p.await != "" {
		if view := o.get(ctx, p.path()); view == nil || text(view, "status") != p.await {
			return
		}
		p.await = ""
	}
	switch p.status {
	case isOpen:
		o.choose(ctx, choice{4, o.vote}, choice{6, o.finalise}, choice{1, o.cancel})
	case isCancelled:
		o.reopen(ctx)
	default:
		o.actFinalised(ctx, p)
	}
}

func (o *organiser) actFinalised(ctx context.Context, p *pollStory) {
	if p.gone {
		o.choose(ctx, choice{3, o.undelete}, choice{2, o.reopen})
		return
	}
	choices := []choice{{5, o.move}, {3, o.moveBack}, {1, o.delete}, {1, o.cancel}, {1, o.reopen}, {1, o.sync}}
	if view := o.get(ctx, p.path()); text(view, "sync", "state") == "RESCHEDULED" {
		choices = append(choices, choice{3, o.restore}, choice{3, func(ctx context.Context) { o.accept(ctx, text(view, "sync", "fingerprint")) }})
	}
	o.choose(ctx, choices...)
}

func (o *organiser) current() *pollStory { return o.polls[len(o.polls)-1] }

func (p *pollStory) path() string { return "/v1/polls/" + p.id }

func (o *organiser) create(ctx context.Context) {
	p := &pollStory{
		title: fmt.Sprintf("Session %s-%04d", o.who, o.w.number()), left: 8 + o.random.IntN(12), status: isOpen,
		released: map[string]bool{}, votes: map[string]map[string]string{},
	}
	var slots []object
	for range slotsEach {
		start, end := o.w.times.next()
		p.slots = append(p.slots, instants(start, end))
		slots = append(slots, object{"start": start, "end": end})
	}
	o.command(ctx, command{
		method: http.MethodPost, path: "/v1/polls", key: o.w.key(),
		body: object{"title": p.title, "timezone": "UTC", "slots": slots, "group_id": o.w.groupID, "participant_ids": party},
		done: func(data object) {
			p.id = text(data, "id")
			for _, slot := range list(data["slots"]) {
				p.slotIDs = append(p.slotIDs, text(slot, "id"))
			}
			o.polls = append(o.polls, p)
		},
	})
}

func (o *organiser) vote(ctx context.Context) {
	p, who := o.current(), pick(o.random, party)
	votes := map[string]string{pick(o.random, p.slotIDs): "FEASIBLE", pick(o.random, p.slotIDs): "PREFERRED"}
	o.command(ctx, command{
		who: who, method: http.MethodPut, path: p.path() + "/votes/me", body: object{"votes": votes},
		done: func(object) { p.votes[who] = votes },
	})
}

func (o *organiser) finalise(ctx context.Context) {
	p := o.current()
	slot := p.next % slotsEach
	p.next++ // another each time, so that each announcement is another
	p.finalised, p.accepted = time.Now(), false
	finalised := func(view object) {
		p.status, p.gone, p.baseline, p.event = isFinalized, false, p.slots[slot], text(view, "google_event_id")
	}
	o.command(ctx, command{
		method: http.MethodPost, path: p.path() + "/finalize", key: o.w.key(),
		body: object{"slot_id": p.slotIDs[slot], "create_event": true},
		done: finalised, refused: o.readAgain(isFinalized, finalised),
	})
}

func (o *organiser) cancel(ctx context.Context) {
	p := o.current()
	cancelled := func(object) { p.status, p.told = isCancelled, p.status == isFinalized && !p.gone }
	o.command(ctx, command{
		method: http.MethodPost, path: p.path() + "/cancel", body: object{"delete_event": true},
		done: cancelled, refused: o.readAgain(isCancelled, cancelled),
	})
}

func (o *organiser) reopen(ctx context.Context) {
	p, deletes := o.current(), o.random.IntN(2) == 0
	opened := func(object) {
		if !deletes && p.event != "" {
			p.released[p.event] = true
		}
		p.status, p.event, p.gone = isOpen, "", false
	}
	o.command(ctx, command{
		method: http.MethodPost, path: p.path() + "/reopen", body: object{"delete_event": deletes},
		done: opened, refused: o.readAgain(isOpen, opened),
	})
}

// restore has the program move the event back to the agreed time.
func (o *organiser) restore(ctx context.Context) {
	o.command(ctx, command{method: http.MethodPost, path: o.current().path() + "/restore-original-time", refused: passed})
}

// accept makes a new time the agreed one.
func (o *organiser) accept(ctx context.Context, fingerprint string) {
	p := o.current()
	o.command(ctx, command{
		method: http.MethodPost, path: p.path() + "/accept-new-time", body: object{"fingerprint": fingerprint},
		done: func(object) { p.baseline, p.accepted = ofFingerprint(fingerprint), true },
		refused: o.readAgain(isFinalized, func(view object) {
			if text(view, "original_slot", "start") == "" {
				p.baseline, p.accepted = parsed(text(view, "winning_slot", "start"), text(view, "winning_slot", "end")), true
			}
		}),
	})
}

func (o *organiser) sync(ctx context.Context) {
	o.command(ctx, command{method: http.MethodPost, path: o.current().path() + "/sync", refused: passed})
}

// passed is for commands that may come too late, and change nothing then.
func passed(context.Context, answer, bool) {}

// readAgain is for a command that was refused: because the calendar had changed the poll
// before, or because an earlier attempt was carried out whose answer was lost. The poll says
// which: then is called where it shows the status that the command leads to.
func (o *organiser) readAgain(after string, then func(view object)) func(context.Context, answer, bool) {
	p := o.current()
	decide := func(view object) {
		byCalendar := text(view, "sync", "cancelled", "reason") == deletedInCalendar
		if text(view, "status") == after && !byCalendar {
			then(view)
		}
	}
	return func(ctx context.Context, _ answer, again bool) {
		if again {
			o.command(ctx, command{method: http.MethodGet, path: p.path(), done: decide})
		}
	}
}
