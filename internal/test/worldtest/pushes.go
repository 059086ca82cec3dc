package worldtest

import (
	"fmt"

	"questscheduler/internal/calendars"
	"questscheduler/internal/store"
)

// arrives notes that a push has come. The result notes that the push was
// acknowledged: then a listing is pending until one of its calendar begins.
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
	found, _, err := calendars.Followed(w.ctx, w.Documents, store.Paging{Limit: 0})
	w.must(err)
	for _, calendar := range found {
		if w.past.pushed[calendar.Key] {
			problems = append(problems, fmt.Sprintf("a push about calendar %s was acknowledged, and no listing followed", calendar.CalendarID))
		}
	}
	return problems
}

// PushProblems names the calendars with an acknowledged push that no listing
// followed and that no sync will cover (invariant 13). A sync will cover it if the
// calendar's document says when one is due, whatever waits in the queue, or the account
// must be linked again first. Do not call it during a sync run.
func (w *World) PushProblems() (problems []string) {
	w.t.Helper()
	if len(w.past.pushed) == 0 {
		return nil
	}
	found, _, err := calendars.Followed(w.ctx, w.Documents, store.Paging{Limit: 0})
	w.must(err)
	for _, calendar := range found {
		if w.past.pushed[calendar.Key] && calendar.SyncAt.IsZero() && calendar.FailedSince.IsZero() {
			problems = append(problems, fmt.Sprintf("a push about calendar %s was acknowledged, and no sync is pending", calendar.CalendarID))
		}
	}
	return problems
}
