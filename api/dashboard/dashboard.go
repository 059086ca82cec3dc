// Package dashboard is the page on which an operator sees whether sync works,
// and mends what a person has to: watch channels, accounts, the queue, held
// cancellations, the timers, the latest of the journals.
//
// A Reader gathers a View from what is stored, within limits: nothing asks
// Google, and a page costs about the same however much there is. Render makes
// the page of a View, whole and without anything from elsewhere. Who may see it
// and what its buttons do is the business of package api.
package dashboard

import (
	"context"
	"time"

	"questscheduler/calendarsync"
	"questscheduler/internal/health"
	"questscheduler/internal/queue"
	"questscheduler/internal/store"
	"questscheduler/internal/timers"
)

// How much of everything a page reads at most: with them a view costs at most
// some 400 documents as a rule (an account has a calendar or two, and a calendar
// a channel or two), beside the intents of the accounts that it shows.
const (
	maxFailed = 25 // watch channels that were refused
	maxEnding = 25 // of those that live, the ones that end first
	// Calendars whose looks fail, with all accounts of their owners: those that
	// began to last, those that began to first, those whose grant was refused last.
	maxFailing     = 8
	maxFailingLong = 4
	maxRevoked     = 8
	maxAccounts    = 15 // of everybody's, a page
	maxHeld        = 30 // polls, each with its index entry; and their calendars
	maxEntries     = 25 // of the journals
	maxDead        = 25 // dead letters, of the queue and not of the store
	maxCalendars   = 12 // of one account that are shown
)

// Tasks is the queue, as far as it is shown.
type Tasks interface {
	DeadLetters(ctx context.Context, limit int) ([]queue.DeadLetter, error)
	Depths(ctx context.Context) ([]queue.Depth, error)
}

// Accounts is where the health of accounts is read (health.Reader).
type Accounts interface {
	OfPerson(ctx context.Context, ownerID string) (health.Report, error)
	Page(ctx context.Context, limit int, after *store.Cursor) ([]health.Account, *store.Cursor, error)
	WatchedBy(ctx context.Context, keys []string) (map[string]calendarsync.Watch, error)
}

// Reader gathers views. All fields are needed but Ending. The store answers Queries of
// calendarsync, cursor and poll.
type Reader struct {
	Store    store.Reader
	Tasks    Tasks
	Accounts Accounts
	Timers   *timers.Timers
	Now      func() time.Time
	// Ending is how soon a watch channel ends that should have been renewed
	// (health.Ending); 0: health.EndingWithin.
	Ending time.Duration
	// Sync is the setting QS_SYNC, and Version the program's.
	Sync, Version string
}

// View is what a page shows.
type View struct {
	Now           time.Time
	Sync, Version string
	// Concerns are what wants a person, or will; none where all is well.
	Concerns []Concern
	// Watches come in the order of how much they want a person, then of their end.
	Watches []Watch
	// MoreWatches tells that there are more than are shown, and MoreFailed that
	// more were refused.
	MoreWatches, MoreFailed bool
	// Accounts come worst first. After is where the page of them begins, and Next
	// where the next one does, as the one who asked for them reads it.
	Accounts []Account
	Next     *store.Cursor
	// Failing are accounts of people whose sync fails, whatever page is shown, and
	// MoreFailing tells that there may be more.
	Failing     []Account
	MoreFailing bool
	Queues      []Queue
	Dead        []DeadLetter
	MoreDead    bool
	Held        []HeldCalendar
	MoreHeld    bool
	Timers      []Timer
	Entries     []Entry
}

// Level is how much something wants a person.
type Level string

// The levels, from the best.
const (
	Fine Level = "fine"
	Mind Level = "mind" // it may mend itself
	Bad  Level = "bad"
)

// rank orders levels, the worst first.
func (l Level) rank() int {
	switch l {
	case Bad:
		return 0
	case Mind:
		return 1
	default:
		return 2
	}
}

// Concern is a line at the head of the page.
type Concern struct {
	Level Level
	Text  string
	// Part is the id of the part of the page that it is about.
	Part string
}

// Look gathers a view; the page of accounts begins behind after (nil: at the
// first).
func (r *Reader) Look(ctx context.Context, after *store.Cursor) (View, error) {
	view := View{Now: r.Now(), Sync: r.Sync, Version: r.Version}
	for _, gather := range []func(context.Context, *View) error{
		r.watches,
		func(ctx context.Context, v *View) error { return r.accounts(ctx, v, after) },
		r.queue, r.held, r.timers, r.entries,
	} {
		if err := gather(ctx, &view); err != nil {
			return View{}, err
		}
	}
	view.Concerns = concerns(view)
	return view, nil
}
