package worldtest

import (
	"context"
	"fmt"
	"slices"

	"questscheduler/internal/calendars"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/notify"
)

// Queries of the tests alone: whole collections.
var (
	allPolls         = &store.Query{Name: "world: polls", Collection: "schedulers"}
	allSlots         = &store.Query{Name: "world: slots", Collection: "slots", Group: true}
	allIndex         = &store.Query{Name: "world: index entries", Collection: "calendarEventIndex"}
	allIntents       = &store.Query{Name: "world: intents", Collection: "intents"}
	allCalendars     = &store.Query{Name: "world: calendars", Collection: "calendars"}
	allWatches       = &store.Query{Name: "world: watch channels", Collection: "calendarWatches"}
	allSnapshots     = &store.Query{Name: "world: snapshots", Collection: "calendarSyncSnapshots", Group: true}
	allVotes         = &store.Query{Name: "world: votes", Collection: "votes", Group: true}
	allJournals      = &store.Query{Name: "world: journals", Collection: "journal", Group: true}
	allNotices       = &store.Query{Name: "world: notices", Collection: "notifications", Group: true}
	allAnnouncements = &store.Query{Name: "world: announcements", Collection: "announcements"}
	allGroups        = &store.Query{Name: "world: groups", Collection: "questingGroups"}
	allAccounts      = &store.Query{Name: "world: accounts", Collection: "accounts"}
)

func inspections() []*store.Query {
	return []*store.Query{
		allPolls, allSlots, allIndex, allIntents, allCalendars, allWatches, allSnapshots, allVotes, allJournals,
		allNotices, allAnnouncements, allGroups, allAccounts,
	}
}

func (w *World) all(query *store.Query) []store.Document {
	w.t.Helper()
	documents, err := w.observed.stored.Query(w.ctx, query.With())
	w.must(err)
	return documents
}

// Document is a document as it is stored.
func (w *World) Document(path store.Path) store.Document {
	w.t.Helper()
	return w.observed.document(path)
}

// TouchedProblems names the documents of which somebody changed what they had
// read, in a world of Options.Shared. It goes through all documents.
func (w *World) TouchedProblems() (problems []string) {
	if w.shared == nil {
		return nil
	}
	for _, path := range w.shared.Changed() {
		problems = append(problems, fmt.Sprintf("somebody read document %s and changed it, other than by a write", path))
	}
	return problems
}

// Write changes documents behind the program's back, as the web app does.
func (w *World) Write(path store.Path, updates ...store.Update) {
	w.t.Helper()
	w.must(w.Documents.Run(w.ctx, func(_ context.Context, tx store.Tx) error { return tx.Merge(path, updates...) }))
}

// Edit is Write for a document that may be gone; then it writes nothing.
func (w *World) Edit(path store.Path, updates ...store.Update) {
	w.t.Helper()
	w.must(w.Documents.Run(w.ctx, func(ctx context.Context, tx store.Tx) error {
		document, err := tx.Get(ctx, path)
		if err != nil || !document.Exists() {
			return err
		}
		return tx.Update(path, updates...)
	}))
}

// Below are the slots and votes of a poll.
func (w *World) Below(pollID string) (paths []store.Path) {
	w.t.Helper()
	for _, query := range []*store.Query{allSlots, allVotes} {
		for _, document := range w.all(query) {
			if document.Path.Below(poll.Path(pollID)) {
				paths = append(paths, document.Path)
			}
		}
	}
	return paths
}

// Remove deletes a document behind the program's back.
func (w *World) Remove(path store.Path) {
	w.t.Helper()
	w.must(w.Documents.Run(w.ctx, func(_ context.Context, tx store.Tx) error { return tx.Delete(path) }))
	delete(w.past.unknown, path) // who brings it back cannot know them
}

// Index are the index entries.
func (w *World) Index() []poll.IndexEntry {
	w.t.Helper()
	return decoded(w.all(allIndex), poll.DecodeIndex)
}

// Intents are the intents that are not done.
func (w *World) Intents() []poll.Intent {
	w.t.Helper()
	return decoded(w.all(allIntents), poll.DecodeIntent)
}

// Calendar is the document of a person's primary calendar.
func (w *World) Calendar(person string) calendars.Calendar {
	w.t.Helper()
	return calendars.Decode(w.Document(calendars.Path(w.CalendarKey(person))))
}

// Snapshots are the snapshots of all polls.
func (w *World) Snapshots() []store.Document {
	w.t.Helper()
	return w.all(allSnapshots)
}

// Watches are the documents of the watch channels.
func (w *World) Watches() []store.Document {
	w.t.Helper()
	return w.all(allWatches)
}

// Journal is a poll's journal, oldest first.
func (w *World) Journal(pollID string) []poll.Entry {
	w.t.Helper()
	entries, _, err := poll.LoadJournal(w.ctx, w.observed.stored, pollID, store.Paging{Limit: 0})
	w.must(err)
	slices.Reverse(entries)
	return entries
}

// Decisions are what the journal of a poll says was done, oldest first: the
// command, or the decision about what the calendar said.
func (w *World) Decisions(pollID string) []string {
	w.t.Helper()
	var done []string
	for _, entry := range w.Journal(pollID) {
		if entry.Command != "" {
			done = append(done, string(entry.Command))
		} else {
			done = append(done, string(entry.Decision))
		}
	}
	return done
}

// Notices are the types of the notices that a person has in the app, oldest
// first.
func (w *World) Notices(person string) []string {
	w.t.Helper()
	notices, _, err := notify.List(w.ctx, w.Documents, person, store.Paging{Limit: 0})
	w.must(err)
	var types []string
	for _, notice := range slices.Backward(notices) {
		types = append(types, notice.Type)
	}
	return types
}

func decoded[T any](documents []store.Document, decode func(store.Document) T) []T {
	var out []T
	for _, document := range documents {
		out = append(out, decode(document))
	}
	return out
}

// Secrets are the secret tokens of the watch channels, oldest first.
func (w *World) Secrets() []string { return slices.Clone(w.secrets) }
