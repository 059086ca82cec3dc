package worldtest

import (
	"context"
	"fmt"
	"time"

	"questscheduler/internal/calendars"
	"questscheduler/internal/gcal"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/rules"
)

// commits checks every transaction of the program as it is committed, for what no
// later state shows: whether it was still entitled to write, and whether its writes
// may follow the writes before them.
type commits struct {
	// last is each poll's newest journal entry, and updated the newest `updated`
	// that was applied of an event, by the poll and the event's id.
	last    map[string]poll.JournalEntry
	updated map[string]time.Time
	// snapshots are the ids of the polls' newest ones.
	snapshots map[string]string
	// sequences are the polls' sequences in feeds at their last entries.
	sequences map[string]sequence
	// calendars are as they were committed last; syncs are the fences of sync runs,
	// by the operation that began them and the calendar.
	calendars map[store.Path]calendars.Calendar
	syncs     map[syncKey]int64
	full      map[syncKey]*fullListing
	wrong     []string
	// often says which watch channels were asked for too soon after another.
	often []string
}

// syncKey names an operation's sync run of a calendar; a nil operation runs alone.
type syncKey struct {
	operation *operation
	calendar  store.Path
}

func newCommits() commits {
	return commits{
		last: map[string]poll.JournalEntry{}, updated: map[string]time.Time{}, snapshots: map[string]string{}, sequences: map[string]sequence{},
		calendars: map[store.Path]calendars.Calendar{}, syncs: map[syncKey]int64{}, full: map[syncKey]*fullListing{},
	}
}

func (w *World) wrong(format string, args ...any) {
	w.commits.wrong = append(w.commits.wrong, fmt.Sprintf(format, args...))
}

// judged is the store of the program: what a transaction wrote is judged right
// after its commit, before anything else happens.
type judged struct {
	store.Store
	world *World
}

// Run implements store.Store.
func (j *judged) Run(ctx context.Context, fn func(context.Context, store.Tx) error) error {
	var last *judgedTx // the attempt that counts
	err := j.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		last = &judgedTx{Tx: tx}
		return fn(ctx, last)
	})
	if err != nil {
		return err
	}
	for _, path := range last.created {
		switch path.Collection() {
		case allJournals.Collection:
			j.world.judgeEntry(path)
		case allNotices.Collection:
			j.world.judgeNotice(path)
		case allSnapshots.Collection:
			j.world.commits.snapshots[path.Parent().ID()] = path.ID()
		case allWatches.Collection:
			j.world.judgeOpened(path)
		}
	}
	for _, path := range last.updated {
		switch path.Collection() {
		case allCalendars.Collection:
			j.world.judgeCalendar(path)
		case allWatches.Collection:
			j.world.judgeRetired(path)
		}
	}
	return nil
}

type judgedTx struct {
	store.Tx
	created, updated []store.Path
}

// Create implements store.Tx.
func (t *judgedTx) Create(path store.Path, data map[string]any) error {
	t.created = append(t.created, path)
	return t.Tx.Create(path, data)
}

// Update implements store.Tx.
func (t *judgedTx) Update(path store.Path, updates ...store.Update) error {
	t.updated = append(t.updated, path)
	return t.Tx.Update(path, updates...)
}

// Merge implements store.Tx.
func (t *judgedTx) Merge(path store.Path, updates ...store.Update) error {
	t.updated = append(t.updated, path)
	return t.Tx.Merge(path, updates...)
}

// judgeCalendar judges a write of a calendar state: a sync run that succeeded was
// the one that began last (invariant 9).
func (w *World) judgeCalendar(path store.Path) {
	before, now := w.commits.calendars[path], calendars.Decode(w.observed.document(path))
	w.commits.calendars[path] = now
	this := syncKey{w.running, path}
	if now.Fence != before.Fence {
		w.commits.syncs[this] = now.Fence
		delete(w.commits.full, this)
	}
	if !now.SuccessAt.Equal(before.SuccessAt) && w.commits.syncs[this] != now.Fence {
		w.wrong("sync run %d of calendar %s succeeded after sync run %d began (invariant 9)", w.commits.syncs[this], now.CalendarID, now.Fence)
	}
}

// judgeEntry judges the transition that a new journal entry tells of.
func (w *World) judgeEntry(path store.Path) {
	entry, pollID := poll.DecodeEntry(w.observed.document(path)), path.Parent().ID()
	before, known := w.commits.last[pollID]
	w.commits.last[pollID] = entry
	line := fmt.Sprintf("poll %s: its entry %s (%s%s)", pollID, entry.ID, entry.Command, entry.Decision)
	w.judgeCommanded(entry)
	w.judgeSequence(line, w.observed.document(path.Parent()))
	calendar := calendars.Decode(w.observed.document(calendars.Path(poll.CalendarKey(entry.AccountID, entry.CalendarID))))
	if entry.Fence != 0 && entry.Fence != calendar.Fence {
		w.wrong("%s was written by sync run %d after sync run %d began (invariant 9)", line, entry.Fence, calendar.Fence)
	}
	switch entry.Decision {
	case rules.Cancel:
		w.judgeCancel(line, entry, w.commits.calendars[calendars.Path(calendar.Key)])
	case rules.Restore:
		w.judgeRestoredVotes(pollID)
	}
	if entry.Announcement != "" {
		announcement := poll.DecodeAnnouncement(w.observed.document(poll.AnnouncementPath(pollID)))
		if announcement.Wanted.Ref != entry.Announcement {
			w.wrong("%s needs an announcement, which was not written with it", line)
		}
	}
	if entry.EventState == "" {
		return
	}
	if known && entry.Command == "" && before.Status == rules.Archived {
		w.wrong("%s follows the calendar, though the poll is archived", line)
	}
	w.judgeTimes(line, pollID, entry)
}

// judgeTimes judges what an entry applied of an event: nothing older than what
// was applied before (invariant 2), and as a reschedule or a restore only what
// is one, by the instants.
func (w *World) judgeTimes(line, pollID string, entry poll.JournalEntry) {
	event := pollID + "/" + entry.EventID
	switch newest := w.commits.updated[event]; {
	case entry.Updated.IsZero():
	case entry.Updated.Before(newest) && entry.EventState != "gone":
		w.wrong("%s applied the event as of %v, after it was applied as of %v (invariant 2)", line, entry.Updated, newest)
	case entry.Updated.After(newest):
		w.commits.updated[event] = entry.Updated
	}
	moved := entry.After.Start != entry.Baseline.Start || entry.After.End != entry.Baseline.End || entry.After.AllDay != entry.Baseline.AllDay
	switch entry.Decision {
	case rules.Reschedule, rules.RescheduleAgain:
		if !moved {
			w.wrong("%s moves the poll to the time that it has, %v", line, entry.Baseline)
		}
	case rules.Restore:
		if moved {
			w.wrong("%s restores %v to %v", line, entry.Baseline, entry.After)
		}
	}
}

// judgeNotice judges a new notice: what it tells of a poll has stood for the
// time in which it may be taken back (invariant 4).
func (w *World) judgeNotice(path store.Path) {
	notice := store.Fields(w.observed.document(path).Data)
	resource := notice.Map("resource")
	if resource.String("type") != "poll" {
		return
	}
	document := w.observed.document(poll.AnnouncementPath(resource.String("id")))
	announcement := poll.DecodeAnnouncement(document)
	// If a newer announcement is wanted by now, or the poll was deleted since,
	// nothing records any more when this one was due.
	if notice.String("dedupeKey") != announcement.Wanted.Ref || w.skewed { // due by one clock, announced by another
		return
	}
	due := store.Fields(document.Data).Time("due") // also where the transaction finished the announcement
	if at := notice.Time("createdAt"); at.Before(due) {
		w.wrong("poll %s: %s is announced at %v and is due at %v", resource.String("id"), notice.String("type"), at, due)
	}
}

// patched judges a change of an event's times that Google took: the event must
// have been the one that was read (invariant 2).
func (w *World) patched(ref gcal.Ref, eventID, etag string, patch func() (gcal.Event, error)) (gcal.Event, error) {
	stood := ""
	for _, name := range Calendars {
		if _, calendarID := calendarOf(name); calendarID == ref.Calendar {
			stood = w.EventOf(name, eventID).ETag
		}
	}
	event, err := patch()
	if err == nil && stood != "" && stood != etag {
		w.wrong("event %s was patched as the one of etag %s, and was another by then (%s)", eventID, etag, stood)
	}
	return event, err
}
