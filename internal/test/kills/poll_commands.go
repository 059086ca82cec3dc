package main

import (
	"context"
	"fmt"
	"net/http"
	"time"
)

func (o *organiser) create(ctx context.Context) {
	p := &session{
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
	p.cancelledOpen = p.cancelledOpen || p.status == isOpen
	cancelled := func(object) { p.status, p.announces = isCancelled, p.status == isFinalized && !p.gone }
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
