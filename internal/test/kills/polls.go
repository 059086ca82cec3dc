package main

import (
	"context"
	"time"
)

// organiser makes polls of the group, one after the other, each of which lives through what
// people do with a poll and its event.
type organiser struct {
	hand
	polls []*session
}

// session is a poll as its creator remembers it.
type session struct {
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
	// since; announces: a cancellation by command has something to announce.
	finalised           time.Time
	accepted, announces bool
	cancelledOpen       bool // before it was finalised
	gone                bool
	released            map[string]bool // events that were left in the calendar
	votes               map[string]map[string]string
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
		choices := []choice{{4, o.vote}, {6, o.finalise}}
		if !p.cancelledOpen { // a second time people would be notified in the same words
			choices = append(choices, choice{1, o.cancel})
		}
		o.choose(ctx, choices...)
	case isCancelled:
		o.reopen(ctx)
	default:
		o.actFinalised(ctx, p)
	}
}

func (o *organiser) actFinalised(ctx context.Context, p *session) {
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

func (o *organiser) current() *session { return o.polls[len(o.polls)-1] }

func (p *session) path() string { return "/v1/polls/" + p.id }
