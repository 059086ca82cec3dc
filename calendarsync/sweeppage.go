package calendarsync

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"questscheduler/internal/calendars"
	"questscheduler/internal/poll"
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
	Stage int `json:"stage"`
	// After is the last document done, and Values are those of its ordered fields.
	After  store.Path `json:"after,omitempty"`
	Values []any      `json:"values,omitempty"`
	// Began is when the sweep reached the calendars; Handed counts those
	// whose sweep, or in PlanUpcoming whose sync, is planned.
	Began  time.Time `json:"began,omitzero"`
	Handed int       `json:"handed,omitempty"`
}

// positionAt reads a position; one that another version wrote is the beginning.
func positionAt(text string) (here position) {
	if text == "" || json.Unmarshal([]byte(text), &here) != nil {
		return position{}
	}
	return here
}

func (p position) cursor() *store.Cursor {
	if p.After == "" {
		return nil
	}
	return &store.Cursor{Path: p.After, Values: p.Values}
}

// SweepPage does a page of a sweep, which repairs what pushes miss: it repairs polls and
// index entries that were written directly, ensures watch channels, syncs calendars that
// were not synced lately or have deferred events, and stops unneeded channels. A failure
// stops no other.
//
// at is where an earlier page ended ("" starts at the beginning); next continues, "" at
// the end. With a spread each calendar's document says when it is swept, spread over that
// time; otherwise it is swept here. Repeating a page is harmless. An error means that the
// store did not answer.
func (w *Watcher) SweepPage(
	ctx context.Context, cause scheduler.Cause, at string, spread time.Duration,
) (swept Swept, next string, err error) {
	here := positionAt(at)
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

// sweepFinalised repairs a page of the finalised polls without an index entry. Most of them are of
// sessions long past, which the index forgot; their slots are read in one call.
func (w *Watcher) sweepFinalised(ctx context.Context, cause scheduler.Cause, here *position, swept *Swept) (further bool, err error) {
	polls, next, err := poll.Finalised(ctx, w.Store, sweepPage, here.cursor())
	if err != nil {
		return false, err
	}
	indexed, err := poll.Indexed(ctx, w.Store, polls)
	if err != nil {
		return false, err
	}
	polls = slices.DeleteFunc(polls, func(p poll.Poll) bool { _, is := indexed[p.ID]; return is })
	slots, err := poll.WinningSlots(ctx, w.Store, polls)
	if err != nil {
		return false, err
	}
	for _, p := range polls {
		slot, known := slots[p.ID]
		if !known || !scheduler.Forgotten(p, slot, w.Now()) {
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
		p.After, p.Values = next.Path, next.Values
	}
	return next != nil
}

// sweepCalendars sweeps a page, or plans the sweeps of the followed calendars.
func (w *Watcher) sweepCalendars(
	ctx context.Context, cause scheduler.Cause, here *position, spread time.Duration, swept *Swept,
) (further bool, err error) {
	if here.Began.IsZero() {
		here.Began = store.Instant(w.Now()).UTC()
	}
	found, next, err := calendars.All(ctx, w.Store, sweepPage, here.After.ID())
	if err != nil {
		return false, err
	}
	planned := map[string]time.Time{}
	for _, calendar := range found {
		if !calendar.Wanted() {
			continue
		}
		swept.Calendars++
		if spread == 0 {
			w.sweepOne(ctx, calendar, cause, swept)
			continue
		}
		if calendar.SweepAt.IsZero() { // else an earlier one is due still
			planned[calendar.Key] = here.slot(spread)
		}
		here.Handed++
		swept.HandedOver++
	}
	if err := w.planSweeps(ctx, planned, cause); err != nil {
		return false, err
	}
	if next != "" {
		here.After = calendars.Path(next)
	}
	return next != "", nil
}

func (w *Watcher) sweepOne(ctx context.Context, calendar calendars.Calendar, cause scheduler.Cause, swept *Swept) {
	stale, err := w.sweepCalendar(ctx, calendar, cause, swept)
	if stale {
		err = errors.Join(err, w.requestSync(ctx, calendar.Key, cause))
	}
	if err != nil {
		swept.Failed++
		w.leftToTheNext(ctx, calendar, cause, err)
	}
}

func (w *Watcher) leftToTheNext(ctx context.Context, calendar calendars.Calendar, cause scheduler.Cause, err error) {
	w.Log.WarnContext(ctx, "sweep: calendar left to the next", "calendar", calendar.CalendarID, "trace", cause.Trace, "error", err)
}
