package health

import (
	"cmp"
	"context"
	"slices"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/accounts"
	"questscheduler/internal/calendars"
	"questscheduler/internal/outbox"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/rules"
)

// Limits of an overview: with them it reads some 450 documents at most as a rule
// (an account has a calendar or two, and a calendar a channel or two), beside the
// intents of the accounts that it shows and the mirrors (mirrors.go).
const (
	maxRefused = 25 // watch channels that Google refused
	maxEnding  = 25 // watch channels that live, those that end first
	// maxFailing bounds failing calendars, each with all accounts of its owner: those that began to
	// fail last, those that began first, those whose grant was refused or that were lost
	// last.
	maxFailing     = 8
	maxFailingLong = 4
	maxRevoked     = 8
	maxAccounts    = 15 // of everybody's, a page
	maxHeld        = 30 // polls, each with its index entry; and their calendars
	maxEntries     = 25 // of the journals
	maxWork        = 25 // pieces of work that keep failing
)

// Work is the outbox, as far as an overview shows it.
type Work interface {
	Depths(ctx context.Context) ([]outbox.Depth, error)
}

// Overview is the state of a server. The fields More… say that there is more of
// something than is listed.
type Overview struct {
	Now  time.Time
	Sync string
	// Concerns are what needs a person now or soon, worst first.
	Concerns []Concern
	// Channels come in the order of their level, then of their end.
	Channels                  []Channel
	MoreChannels, MoreRefused bool
	// Accounts come worst first. On the first page those that fail are among them,
	// however many other accounts there are. Next begins the next page; nil: none.
	Accounts    []Account
	Next        *store.Cursor
	MoreFailing bool
	// Work is the state of each kind's work, and FailingWork what of it keeps failing, longest
	// failing first.
	Work            []outbox.Depth
	FailingWork     []outbox.Entry
	MoreFailingWork bool
	Held            []HeldCalendar
	MoreHeld        bool
	Mirrors         Mirrors
	Attendees       Attendees
	Jobs            []Job
	Entries         []poll.Entry
	// everyAccount adds to Accounts those that fail, whatever page is shown.
	everyAccount []Account
}

// Overview reads the state of the server, with the page of accounts that begins
// behind after (nil: the first). It costs about the same however much is stored.
// The error is that of the store.
func (r *Reader) Overview(ctx context.Context, after *store.Cursor) (Overview, error) {
	o := Overview{Now: r.Now(), Sync: r.Sync}
	for _, read := range []func(context.Context, *Overview) error{
		r.channels,
		func(ctx context.Context, o *Overview) error { return r.accounts(ctx, o, after) },
		r.work, r.held, r.mirrors, r.attendees, r.jobs, r.entries,
	} {
		if err := read(ctx, &o); err != nil {
			return Overview{}, err
		}
	}
	o.Concerns = concerns(o)
	return o, nil
}

func (r *Reader) accounts(ctx context.Context, o *Overview, after *store.Cursor) error {
	failing, err := r.failing(ctx, o)
	if err != nil {
		return err
	}
	page, next, err := r.Page(ctx, maxAccounts, after)
	if err != nil {
		return err
	}
	listed := map[string]bool{}
	o.Next, o.everyAccount = next, slices.DeleteFunc(slices.Concat(failing, page), func(a Account) bool {
		again := listed[a.ID]
		listed[a.ID] = true
		return again
	})
	o.Accounts = page
	if after == nil {
		o.Accounts = o.everyAccount
	}
	slices.SortStableFunc(o.Accounts, func(a, b Account) int { return cmp.Compare(b.Status.rank(), a.Status.rank()) })
	return nil
}

// failing reads the accounts of owners whose calendars fail, and those without an owner:
// since the shortest time, since the longest, and with a refused grant or a lost calendar. Each is a query of
// its own, so that none of them hides the others.
func (r *Reader) failing(ctx context.Context, o *Overview) (all []Account, err error) {
	type list = func(context.Context, store.Reader, time.Time, []string, store.Paging) ([]calendars.Calendar, *store.Cursor, error)
	read := map[string]bool{}
	for _, part := range []struct {
		list    list
		reasons []string
		limit   int
	}{
		{calendars.FailingLately, ourReasons, maxFailing},
		{calendars.Failing, ourReasons, maxFailingLong},
		{calendars.FailingLately, []string{calendars.ReasonRevoked, calendars.ReasonLost}, maxRevoked},
	} {
		found, more, err := part.list(ctx, r.Store, o.Now, part.reasons, store.Paging{Limit: part.limit})
		if err != nil {
			return nil, err
		}
		o.MoreFailing = o.MoreFailing || more != nil
		for _, calendar := range found {
			whose := cmp.Or(calendar.OwnerID, "account/"+calendar.AccountID)
			if read[whose] || !calendar.Wanted() {
				continue
			}
			read[whose] = true
			found, err := r.ofOwner(ctx, calendar)
			if err != nil {
				return nil, err
			}
			all = append(all, found...)
		}
	}
	return all, nil
}

// ofOwner reads the accounts of a calendar's owner; its own account if it has no owner.
func (r *Reader) ofOwner(ctx context.Context, calendar calendars.Calendar) ([]Account, error) {
	if calendar.OwnerID != "" {
		report, err := r.OfPerson(ctx, calendar.OwnerID)
		return report.Accounts, err
	}
	account, err := accounts.Load(ctx, r.Store, calendar.AccountID)
	if fault.Is(err, fault.NotFound) { // its document is gone, as in OfPerson
		account, err = accounts.Account{ID: calendar.AccountID, Provider: accounts.Google}, nil
	}
	if err != nil {
		return nil, err
	}
	return r.ofAccounts(ctx, []accounts.Account{account}, func(id string) ([]calendars.Calendar, error) { return r.followedOf(ctx, id) })
}

func (r *Reader) work(ctx context.Context, o *Overview) (err error) {
	o.Work, err = r.Work.Depths(ctx)
	if err != nil {
		return err
	}
	for _, depth := range o.Work {
		o.FailingWork = append(o.FailingWork, depth.Failing...)
	}
	slices.SortStableFunc(o.FailingWork, func(a, b outbox.Entry) int { return a.FailedSince.Compare(b.FailedSince) })
	if len(o.FailingWork) > maxWork {
		o.FailingWork, o.MoreFailingWork = o.FailingWork[:maxWork], true
	}
	return nil
}

// HeldCalendar is a calendar with cancellations that await a person's
// confirmation, and their polls, by title.
type HeldCalendar struct {
	calendars.Calendar
	Polls []poll.Poll
}

// held reads the polls that are held by their own document and their calendar's. A poll
// that was confirmed since is left out.
func (r *Reader) held(ctx context.Context, o *Overview) error {
	polls, err := poll.WithError(ctx, r.Store, rules.MassCancellationHeld, maxHeld)
	if err != nil {
		return err
	}
	o.MoreHeld = len(polls) == maxHeld
	byKey := map[string]*HeldCalendar{}
	for _, p := range polls {
		entry, _, err := poll.IndexOf(ctx, r.Store, p)
		if err != nil {
			return err
		}
		if entry == nil {
			continue
		}
		key := poll.CalendarKey(entry.AccountID, entry.CalendarID)
		if byKey[key] == nil {
			calendar, _, err := calendars.LoadKey(ctx, r.Store, key)
			if err != nil {
				return err
			}
			byKey[key] = &HeldCalendar{Calendar: calendar}
		}
		if held := byKey[key]; held.Deferred(entry.EventID).Why == calendars.DeferredHeld {
			held.Polls = append(held.Polls, p)
		}
	}
	for _, held := range byKey { // sorted below
		if len(held.Polls) > 0 {
			slices.SortFunc(held.Polls, func(a, b poll.Poll) int { return cmp.Or(cmp.Compare(a.Title, b.Title), cmp.Compare(a.ID, b.ID)) })
			o.Held = append(o.Held, *held)
		}
	}
	slices.SortFunc(o.Held, func(a, b HeldCalendar) int { return cmp.Compare(a.Key, b.Key) })
	return nil
}

func (r *Reader) jobs(ctx context.Context, o *Overview) (err error) {
	o.Jobs, err = ReadJobs(ctx, r.Store, r.Jobs, o.Now, time.Hour)
	return err
}

func (r *Reader) entries(ctx context.Context, o *Overview) (err error) {
	o.Entries, err = poll.LatestEntries(ctx, r.Store, maxEntries)
	return err
}
