package calendarsync

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"questscheduler/internal/calendars"
	"questscheduler/internal/poll"
	"questscheduler/internal/queue"
	"questscheduler/internal/store"
	"questscheduler/rules"
	"questscheduler/scheduler"
)

// place is where a sweep is. It goes by five roads, one after the other: polls
// whose status is another than their journal knows, which need not have an
// index entry; the finalised ones, whose event may have none; the calendars; the
// watch channels; the announcements, of which some are of polls that are gone.
// (Polls that are gone cannot be listed: one that has neither an index entry nor
// an announcement is found by a hint alone.) Each road goes in the order of paths, which stands still
// meanwhile.
type position struct {
	// Road counts the statuses, then the finalised polls, and so on.
	Stage int `json:"road"`
	// After is the last document that was dealt with.
	After store.Path `json:"after,omitempty"`
	// Began is when the sweep came to the calendars, and Handed counts those
	// that it handed over.
	Began  time.Time `json:"began,omitzero"`
	Handed int       `json:"handed,omitempty"`
}

func (p position) cursor() *store.Cursor {
	if p.After == "" {
		return nil
	}
	return &store.Cursor{Path: p.After}
}

// SweepPage does a page of a sweep (Sweep), from a place that an earlier page
// gave ("": from the beginning), and gives where to go on; "" at the end. With
// a spread each calendar is handed over as a task of its own, spread over that
// time; without one it is swept here. A page that is done again does nothing
// twice. An error is that of a store or queue that does not answer.
func (w *Watcher) SweepPage(ctx context.Context, cause scheduler.Cause, at string, spread time.Duration) (swept Swept, next string, err error) {
	var here position
	if at != "" {
		if err := json.Unmarshal([]byte(at), &here); err != nil {
			here = position{} // of another version: from the beginning, which does nothing twice
		}
	}
	var further, last bool
	switch {
	case here.Stage < len(rules.Statuses):
		further, err = w.sweepEdited(ctx, cause, &here, &swept)
	case here.Stage == len(rules.Statuses):
		further, err = w.sweepFinalised(ctx, cause, &here, &swept)
	case here.Stage == len(rules.Statuses)+1:
		further, err = w.sweepCalendars(ctx, cause, &here, spread, &swept)
	case here.Stage == len(rules.Statuses)+2:
		further, err = w.sweepChannels(ctx, cause, &here, &swept)
	default:
		further, err = w.sweepDeleted(ctx, cause, &here, &swept)
		last = !further
	}
	switch {
	case err != nil:
		return swept, "", fmt.Errorf("sweep: %w", err)
	case last:
		return swept, "", nil
	case !further:
		here = position{Stage: here.Stage + 1}
	}
	written, err := json.Marshal(here)
	return swept, string(written), err
}

// sweepEdited brings a page of the polls in order that somebody gave another
// status directly.
func (w *Watcher) sweepEdited(ctx context.Context, cause scheduler.Cause, here *position, swept *Swept) (further bool, err error) {
	polls, next, err := poll.Edited(ctx, w.Store, rules.Statuses[here.Stage], sweepPage, here.cursor())
	for _, p := range polls {
		w.repair(ctx, p.ID, cause, swept)
	}
	return here.advance(next), err
}

// sweepFinalised brings a page of the finalised polls in order that have no
// index entry; the others are met with their calendar. What the entries are is
// asked for in one call.
func (w *Watcher) sweepFinalised(ctx context.Context, cause scheduler.Cause, here *position, swept *Swept) (further bool, err error) {
	polls, next, err := poll.Finalised(ctx, w.Store, sweepPage, here.cursor())
	if err != nil {
		return false, err
	}
	indexed, err := poll.Indexed(ctx, w.Store, polls)
	if err != nil {
		return false, err
	}
	for _, p := range polls {
		if !indexed[p.ID] {
			w.repair(ctx, p.ID, cause, swept)
		}
	}
	return here.advance(next), nil
}

// sweepGone brings in order what is left of polls that somebody deleted directly,
// for a page of the announcements.
func (w *Watcher) sweepDeleted(ctx context.Context, cause scheduler.Cause, here *position, swept *Swept) (further bool, err error) {
	pollIDs, next, err := poll.Gone(ctx, w.Store, sweepPage, here.cursor())
	for _, id := range pollIDs {
		w.repair(ctx, id, cause, swept)
	}
	return here.advance(next), err
}

// goOn moves behind a page.
func (p *position) advance(next *store.Cursor) (further bool) {
	if next != nil {
		p.After = next.Path
	}
	return next != nil
}

// sweepCalendars sweeps a page of the calendars that something follows, or hands
// each over.
func (w *Watcher) sweepCalendars(ctx context.Context, cause scheduler.Cause, here *position, spread time.Duration, swept *Swept) (further bool, err error) {
	if here.Began.IsZero() {
		here.Began = store.Instant(w.Now()).UTC()
	}
	found, next, err := calendars.All(ctx, w.Store, sweepPage, here.After.ID())
	if err != nil {
		return false, err
	}
	for _, calendar := range found {
		if !calendar.Wanted() {
			continue
		}
		swept.Calendars++
		if spread == 0 {
			w.sweepOne(ctx, calendar, cause, swept)
			continue
		}
		if err := w.enqueueSweep(ctx, calendar.Key, cause, *here, spread); err != nil {
			return false, err
		}
		here.Handed++
		swept.HandedOver++
	}
	if next != "" {
		here.After = calendars.Path(next)
	}
	return next != "", nil
}

// sweepOne sweeps a calendar; one that cannot be is left to the next sweep.
func (w *Watcher) sweepOne(ctx context.Context, calendar calendars.Calendar, cause scheduler.Cause, swept *Swept) {
	if err := w.sweepCalendar(ctx, calendar, cause, swept); err != nil {
		swept.Failed++
		w.Log.WarnContext(ctx, "sweep: calendar left to the next", "calendar", calendar.CalendarID, "trace", cause.Trace, "error", err)
	}
}

// SweepKind is the kind of the tasks that sweep a calendar.
const SweepKind = "sweep"

const (
	// sweepGap is the time between one calendar of a sweep and the next: few
	// are swept at once, and ten thousand take most of six hours.
	sweepGap = 2 * time.Second
	// sweepRetries is how often a calendar's sweep is tried again.
	sweepRetries = 3
)

// sweepTask is the payload of a task that sweeps a calendar.
type sweepTask struct {
	Key   string `json:"key"`
	Hint  string `json:"hint"`
	Trace string `json:"trace,omitempty"`
}

// handOverSweep enqueues the sweep of a calendar for its place in the spread,
// which ends before the next sweep begins: those that find no place in it share
// one. Doing it twice hands over one task, or a second that finds it fresh.
func (w *Watcher) enqueueSweep(ctx context.Context, key string, cause scheduler.Cause, here position, spread time.Duration) error {
	payload, err := json.Marshal(sweepTask{key, cause.Hint, cause.Trace})
	if err != nil {
		return err
	}
	_, err = w.Queue.Enqueue(ctx, queue.Task{
		Kind: SweepKind, Name: key + "/" + strconv.FormatInt(here.Began.UnixMicro(), 10), Payload: payload,
		NotBefore: here.Began.Add(time.Duration(here.Handed) * sweepGap % (spread - spread/10)),
	})
	return err
}

// HandleSweep is the handler of the tasks that sweep a calendar. What fails is
// tried three times more, and then left to the next sweep.
func (w *Watcher) HandleSweep(ctx context.Context, delivery queue.Delivery) queue.Verdict {
	var asked sweepTask
	if err := json.Unmarshal(delivery.Payload, &asked); err != nil {
		return queue.Verdict{Outcome: queue.Permanent, Err: fmt.Errorf("sweep: the task cannot be read: %w", err)}
	}
	calendar, _, err := calendars.LoadKey(ctx, w.Store, asked.Key)
	if err == nil && calendar.Wanted() {
		var swept Swept
		err = w.sweepCalendar(ctx, calendar, scheduler.Cause{Hint: asked.Hint, Trace: asked.Trace}, &swept)
	}
	switch {
	case err == nil:
		return queue.Verdict{Outcome: queue.Done}
	case delivery.Attempt <= sweepRetries || ctx.Err() != nil:
		return queue.Verdict{Outcome: queue.Retry, Err: err}
	default:
		w.Log.WarnContext(ctx, "sweep: calendar left to the next", "calendar", calendar.CalendarID, "trace", asked.Trace, "error", err)
		return queue.Verdict{Outcome: queue.Done}
	}
}
