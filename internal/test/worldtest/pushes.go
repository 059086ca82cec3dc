package worldtest

import (
	"fmt"
	"slices"

	"questscheduler/internal/calendars"
	"questscheduler/internal/queue"
	"questscheduler/internal/store"
)

// arrives notes that a push has come, and gives what notes that it was taken:
// until a listing of its calendar begins, one is owed.
func (w *World) arrives(channelID string) (acknowledged func(state string)) {
	watch := w.observed.document(store.Doc("calendarWatches", channelID))
	key := store.Fields(watch.Data).String("calendarKey")
	before := w.past.listings[key]
	return func(state string) {
		if watch.Exists() && state != "sync" && w.past.listings[key] == before {
			w.past.pushed[key] = true
		}
	}
}

// listed notes that a listing of a calendar began.
func (p *past) listed(key string) {
	p.listings[key]++
	delete(p.pushed, key)
}

// Uncovered says which calendars had a push that was acknowledged and that no
// listing followed (invariant 13).
func (w *World) Uncovered() (problems []string) {
	w.t.Helper()
	found, _, err := calendars.Followed(w.ctx, w.Documents, 0, nil)
	w.must(err)
	for _, calendar := range found {
		if w.past.pushed[calendar.Key] {
			problems = append(problems, fmt.Sprintf("a push about calendar %s was acknowledged, and no listing followed", calendar.CalendarID))
		}
	}
	return problems
}

// PushProblems says of which calendars a push was acknowledged that no listing
// followed, and that no look is to come for (invariant 13): its task waits, or
// the calendar is owed it, or the account must be linked again first. It is not
// to be asked amid a look.
func (w *World) PushProblems() (problems []string) {
	w.t.Helper()
	waits := slices.ContainsFunc(w.Depths(), func(d queue.Depth) bool { return d.Kind == calendars.SyncKind && d.Waiting > 0 })
	if waits || len(w.past.pushed) == 0 {
		return nil
	}
	found, _, err := calendars.Followed(w.ctx, w.Documents, 0, nil)
	w.must(err)
	for _, calendar := range found {
		if w.past.pushed[calendar.Key] && !calendar.SyncPending && calendar.FailedSince.IsZero() {
			problems = append(problems, fmt.Sprintf("a push about calendar %s was acknowledged, and no look is to come", calendar.CalendarID))
		}
	}
	return problems
}
