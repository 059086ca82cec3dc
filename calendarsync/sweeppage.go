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

// position is where a sweep is. A sweep has stages: polls whose status differs from their
// journal, which may lack an index entry; finalised polls, whose event may lack one;
// calendars; watch channels; announcements, some of whose polls are deleted. (A deleted
// poll with neither an index entry nor an announcement is found by a document change
// only.) Each stage follows the order of paths, which does not change.
type position struct {
	// Stage counts the statuses first, then the other stages.
	Stage int `json:"road"`
	// After is the last document done.
	After store.Path `json:"after,omitempty"`
	// Began is when the sweep reached the calendars; Handed counts those enqueued.
	Began  time.Time `json:"began,omitzero"`
	Handed int       `json:"handed,omitempty"`
}

func (p position) cursor() *store.Cursor {
	if p.After == "" {
		return nil
	}
	return &store.Cursor{Path: p.After}
}

// SweepPage does a page of a sweep, which repairs what pushes miss: it repairs polls and
// index entries that were written directly, ensures watch channels, syncs calendars that
// were not synced lately or have deferred events, and stops unneeded channels. A failure
// stops no other.
//
// at is where an earlier page ended ("" starts at the beginning); next continues, "" at
// the end. With a spread each calendar is enqueued as a task, spread over that time;
// otherwise it is swept here. Repeating a page is harmless. An error means that the store
// or queue did not answer.
func (w *Watcher) SweepPage(ctx context.Context, cause scheduler.Cause, at string, spread time.Duration) (swept Swept, next string, err error) {
	var here position
	if at != "" {
		if err := json.Unmarshal([]byte(at), &here); err != nil {
			here = position{} // written by another version: start again
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

// sweepEdited repairs a page of the polls whose status was edited directly.
func (w *Watcher) sweepEdited(ctx context.Context, cause scheduler.Cause, here *position, swept *Swept) (further bool, err error) {
	polls, next, err := poll.Edited(ctx, w.Store, rules.Statuses[here.Stage], sweepPage, here.cursor())
	for _, p := range polls {
		w.repair(ctx, p.ID, cause, swept)
	}
	return here.advance(next), err
}

// sweepFinalised repairs a page of the finalised polls without an index entry.
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

// sweepDeleted cleans up after polls that were deleted directly, for a page of the
// announcements.
func (w *Watcher) sweepDeleted(ctx context.Context, cause scheduler.Cause, here *position, swept *Swept) (further bool, err error) {
	pollIDs, next, err := poll.Gone(ctx, w.Store, sweepPage, here.cursor())
	for _, id := range pollIDs {
		w.repair(ctx, id, cause, swept)
	}
	return here.advance(next), err
}

func (p *position) advance(next *store.Cursor) (further bool) {
	if next != nil {
		p.After = next.Path
	}
	return next != nil
}

// sweepCalendars sweeps or enqueues a page of the followed calendars.
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

func (w *Watcher) sweepOne(ctx context.Context, calendar calendars.Calendar, cause scheduler.Cause, swept *Swept) {
	if err := w.sweepCalendar(ctx, calendar, cause, swept); err != nil {
		swept.Failed++
		w.Log.WarnContext(ctx, "sweep: calendar left to the next", "calendar", calendar.CalendarID, "trace", cause.Trace, "error", err)
	}
}

// SweepKind is the kind of the tasks that sweep a calendar.
const SweepKind = "sweep"

const (
	// sweepGap separates a sweep's calendars, so that few are swept at once; ten thousand
	// take most of six hours.
	sweepGap     = 2 * time.Second
	sweepRetries = 3
)

type sweepTask struct {
	Key     string `json:"key"`
	Trigger string `json:"hint"`
	Trace   string `json:"trace,omitempty"`
}

// enqueueSweep enqueues a calendar's sweep at its slot in the spread, which ends before
// the next sweep begins; calendars beyond it share slots. Repeating it enqueues the same
// task, or another that finds the calendar fresh.
func (w *Watcher) enqueueSweep(ctx context.Context, key string, cause scheduler.Cause, here position, spread time.Duration) error {
	payload, err := json.Marshal(sweepTask{key, cause.Trigger, cause.Trace})
	if err != nil {
		return err
	}
	_, err = w.Queue.Enqueue(ctx, queue.Task{
		Kind: SweepKind, Name: key + "/" + strconv.FormatInt(here.Began.UnixMicro(), 10), Payload: payload,
		NotBefore: here.Began.Add(time.Duration(here.Handed) * sweepGap % (spread - spread/10)),
	})
	return err
}

// HandleSweep is the handler of SweepKind. It retries a failure three times, then leaves
// the calendar to the next sweep.
func (w *Watcher) HandleSweep(ctx context.Context, delivery queue.Delivery) queue.Verdict {
	var asked sweepTask
	if err := json.Unmarshal(delivery.Payload, &asked); err != nil {
		return queue.Verdict{Outcome: queue.Permanent, Err: fmt.Errorf("sweep: the task cannot be read: %w", err)}
	}
	calendar, _, err := calendars.LoadKey(ctx, w.Store, asked.Key)
	if err == nil && calendar.Wanted() {
		var swept Swept
		err = w.sweepCalendar(ctx, calendar, scheduler.Cause{Trigger: asked.Trigger, Trace: asked.Trace}, &swept)
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
