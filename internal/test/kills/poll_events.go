package main

import (
	"context"
	"net/http"
	"strings"
	"time"
)

// own is the account of a poll's creator, in whose calendar its event is.
func (o *organiser) own() account { return o.w.accounts[o.who] }

// move moves the event in the calendar, to a time that no other has.
func (o *organiser) move(ctx context.Context) {
	start, end := o.w.times.next()
	o.w.calendar(ctx, o.own(), http.MethodPatch, o.own().event(o.current().event), timed(start, end))
}

// moveBack moves it to the agreed time.
func (o *organiser) moveBack(ctx context.Context) {
	p := o.current()
	start, err := time.Parse(time.RFC3339, p.baseline.start)
	end, err2 := time.Parse(time.RFC3339, p.baseline.end)
	if err != nil || err2 != nil {
		o.w.note(finding{wrong, "poll " + p.id + " was agreed on for " + p.baseline.start + " to " + p.baseline.end})
		return
	}
	o.w.calendar(ctx, o.own(), http.MethodPatch, o.own().event(p.event), timed(start, end))
}

func (o *organiser) delete(ctx context.Context) {
	p := o.current()
	if got := o.w.calendar(ctx, o.own(), http.MethodDelete, o.own().event(p.event), nil); got.good() {
		p.gone = true
	}
}

// undelete takes the event out of the bin. Then people wait until the session is on again.
func (o *organiser) undelete(ctx context.Context) {
	p := o.current()
	if got := o.w.calendar(ctx, o.own(), http.MethodPatch, o.own().event(p.event), object{"status": "confirmed"}); got.good() {
		p.gone, p.await = false, isFinalized
	}
}

// ofFingerprint is the time that a fingerprint says: start|end|all-day.
func ofFingerprint(fingerprint string) span {
	start, rest, _ := strings.Cut(fingerprint, "|")
	end, _, _ := strings.Cut(rest, "|")
	return parsed(start, end)
}
