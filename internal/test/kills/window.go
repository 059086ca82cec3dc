package main

import (
	"context"
	"fmt"
	"net/http"
	"time"
)

// window is the poll of somebody in whose calendar nothing else happens. Its event is moved,
// and the program is killed the moment it acknowledged the push of that, before its sync: then
// only what it stored before it answered leads to the move.
type window struct {
	poll, event string
	tried, hit  int
}

// beginWindow makes the poll.
func (w *world) beginWindow(ctx context.Context) error {
	start, end := w.times.next()
	made := w.v1(ctx, alone, http.MethodPost, "/v1/polls", object{"title": "Alone", "slots": []object{{"start": start, "end": end}}}, "")
	if !made.good() {
		return fmt.Errorf("make the poll of %s: %v", alone, made)
	}
	w.windows.poll = text(made.data, "id")
	choose := object{"slot_id": text(list(made.data["slots"])[0], "id"), "create_event": true}
	finalised := w.v1(ctx, alone, http.MethodPost, w.windows.path()+"/finalize", choose, "")
	w.windows.event = text(finalised.data, "google_event_id")
	if w.windows.event == "" {
		return fmt.Errorf("finalise the poll of %s: %v", alone, finalised)
	}
	return nil
}

func (w *window) path() string { return "/v1/polls/" + w.poll }

const (
	// followed is how long a move may take to be followed. It is less than the minute after
	// which a start sweeps all calendars and finds whatever was missed.
	followed = 20 * time.Second
	// pushed is how long a push may take to be acknowledged by a program that is not killed.
	pushed = 10 * time.Second
)

// pushWindow moves the event twice. The second time a sync ended a moment ago, so that the
// program waits before the next one, and is killed before that.
func (w *world) pushWindow(ctx context.Context) error {
	own, began := w.accounts[alone], time.Now()
	if _, err := w.moveAlone(ctx); err != nil {
		return err
	}
	if !wait(ctx, pushed, func() bool { return w.syncedAlone(ctx).After(began) }) {
		w.missed(ctx, "the first move was not synced")
		return nil
	}
	listed, killed := w.sims.listingsOf(own.email), make(chan int, 1)
	w.sims.onPush(own.email, func() {
		w.server.Kill()
		killed <- w.sims.listingsOf(own.email)
	})
	to, err := w.moveAlone(ctx)
	if err != nil {
		return err
	}
	w.windows.tried++
	select {
	case at := <-killed:
		if at == listed {
			w.windows.hit++
		}
	case <-time.After(pushed):
		w.sims.onPush("", nil)
		w.missed(ctx, "no push of the second move was acknowledged")
		return nil
	}
	if err := w.restart(ctx); err != nil {
		return err
	}
	if !wait(ctx, followed, func() bool { return w.shownAlone(ctx) == to }) {
		w.note(finding{
			lost,
			fmt.Sprintf(
				"a push was acknowledged and the program killed; %v after the next start the poll shows %v, its event is at %v",
				followed, w.shownAlone(ctx), to,
			),
		})
	}
	return nil
}

// syncedAlone is when a sync of the calendar last ended.
func (w *world) syncedAlone(ctx context.Context) time.Time {
	got := w.v1(ctx, alone, http.MethodGet, "/v1/sync/status/"+w.accounts[alone].id, nil, "")
	at, err := time.Parse(time.RFC3339Nano, text(got.data, "last_success_ts"))
	if err != nil {
		return time.Time{}
	}
	return at
}

// missed is a finding about the pushes of the calendar, with what the poll shows.
func (w *world) missed(ctx context.Context, what string) {
	w.note(finding{lost, fmt.Sprintf("%s within %v; the poll shows %v", what, pushed, w.shownAlone(ctx))})
}

func (w *world) moveAlone(ctx context.Context) (span, error) {
	start, end := w.times.next()
	got := w.calendar(ctx, w.accounts[alone], http.MethodPatch, w.accounts[alone].event(w.windows.event), timed(start, end))
	if !got.good() {
		return span{}, fmt.Errorf("move the event of %s: %v", alone, got)
	}
	return instants(start, end), nil
}

// shownAlone is the time that the poll shows.
func (w *world) shownAlone(ctx context.Context) span {
	got := w.v1(ctx, alone, http.MethodGet, w.windows.path(), nil, "")
	return parsed(text(got.data, "winning_slot", "start"), text(got.data, "winning_slot", "end"))
}

// wait asks again and again until something is so; false: it is not after that time.
func wait(ctx context.Context, patience time.Duration, is func() bool) bool {
	for deadline := time.Now().Add(patience); ; {
		if is() {
			return true
		}
		if time.Now().After(deadline) || ctx.Err() != nil {
			return false
		}
		<-time.After(askPause)
	}
}

const askPause = 20 * time.Millisecond
