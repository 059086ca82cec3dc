package dashboard

import (
	"cmp"
	"context"
	"slices"
	"time"

	"questscheduler/internal/calendars"
	"questscheduler/internal/health"
	"questscheduler/internal/store"
)

// Account is a linked account as the page shows it.
type Account struct {
	Level         Level
	ID            string
	OwnerID       string
	Email         string
	Status        string
	PendingWrites int
	// Troubles are those of the account and its calendars, worst first.
	Troubles  []Trouble
	Calendars []Calendar
	// MoreCalendars counts those that are not shown.
	MoreCalendars int
}

// Trouble is one thing that is wrong.
type Trouble struct {
	Code, Message string
	Since         time.Time
}

// Calendar is a followed calendar of an account.
type Calendar struct {
	Level       Level
	CalendarID  string
	Channel     string
	LastSuccess time.Time
	Held        int
	Failing     int
	LookDue     bool
	ParkedUntil time.Time
}

// accounts reads those whose sync fails, and a page of everybody's. On the first
// page those that fail come first, however many other accounts there are; on the
// others they count for the head of the page alone.
func (r *Reader) accounts(ctx context.Context, view *View, after *store.Cursor) error {
	failing, err := r.failing(ctx, view)
	if err != nil {
		return err
	}
	page, next, err := r.Accounts.Page(ctx, maxAccounts, after)
	if err != nil {
		return err
	}
	view.Next = next
	view.Failing = show(failing)
	if after == nil {
		page = slices.Concat(failing, page)
	}
	view.Accounts = show(page)
	slices.SortStableFunc(view.Accounts, func(a, b Account) int {
		return cmp.Compare(slices.Index(health.Statuses, health.Status(b.Status)), slices.Index(health.Statuses, health.Status(a.Status)))
	})
	return nil
}

// failing gives the accounts of people whose calendars fail: those that fail
// since the shortest and the longest time, and those whose grant was refused last,
// each by a question of its own, so that none of them hides the others.
func (r *Reader) failing(ctx context.Context, view *View) (all []health.Account, err error) {
	type list = func(ctx context.Context, reader store.Reader, now time.Time, reasons []string, limit int, after *store.Cursor) ([]calendars.Calendar, *store.Cursor, error)
	owners := map[string]bool{}
	for _, part := range []struct {
		list    list
		reasons []string
		most    int
	}{
		{calendars.FailingLately, health.OurReasons, maxFailing},
		{calendars.Failing, health.OurReasons, maxFailingLong},
		{calendars.FailingLately, []string{calendars.ReasonRevoked}, maxRevoked},
	} {
		found, more, err := part.list(ctx, r.Store, view.Now, part.reasons, part.most, nil)
		if err != nil {
			return nil, err
		}
		view.MoreFailing = view.MoreFailing || more != nil
		for _, calendar := range found {
			if owners[calendar.OwnerID] || !calendar.Wanted() {
				continue
			}
			owners[calendar.OwnerID] = true
			report, err := r.Accounts.OfPerson(ctx, calendar.OwnerID)
			if err != nil {
				return nil, err
			}
			all = append(all, report.Accounts...)
		}
	}
	return all, nil
}

// show is how accounts are shown, each once.
func show(accounts []health.Account) (shown []Account) {
	found := map[string]bool{}
	for _, account := range accounts {
		if !found[account.ID] {
			found[account.ID] = true
			shown = append(shown, showAccount(account))
		}
	}
	return shown
}

func showAccount(a health.Account) Account {
	shown := Account{
		Level: levelOf(a.Status), ID: a.ID, OwnerID: a.OwnerID, Email: a.Email, Status: string(a.Status), PendingWrites: a.PendingWrites,
	}
	troubles := slices.Clone(a.Troubles)
	for _, calendar := range a.Calendars {
		troubles = append(troubles, calendar.Troubles...)
		if len(shown.Calendars) == maxCalendars {
			shown.MoreCalendars++
			continue
		}
		shown.Calendars = append(shown.Calendars, Calendar{
			Level: levelOf(calendar.Status), CalendarID: calendar.CalendarID, Channel: string(calendar.Channel),
			LastSuccess: calendar.LastSuccess, Held: calendar.Held, Failing: calendar.Failing,
			LookDue: calendar.LookDue, ParkedUntil: calendar.ParkedUntil,
		})
	}
	slices.SortStableFunc(troubles, func(a, b health.Trouble) int {
		return cmp.Compare(slices.Index(health.Statuses, b.Status), slices.Index(health.Statuses, a.Status))
	})
	for _, trouble := range troubles {
		same := func(t Trouble) bool { return t.Code == trouble.Code && t.Message == trouble.Message }
		if !slices.ContainsFunc(shown.Troubles, same) {
			shown.Troubles = append(shown.Troubles, Trouble{Code: trouble.Code, Message: trouble.Message, Since: trouble.Since})
		}
	}
	return shown
}
