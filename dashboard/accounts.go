package dashboard

import (
	"cmp"
	"context"
	"slices"
	"time"

	"questscheduler/cursor"
	"questscheduler/health"
	"questscheduler/store"
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

// accounts reads a page of everybody's accounts. Those of people whose calendars
// fail come first on the first page, however many other accounts there are.
func (r *Reader) accounts(ctx context.Context, view *View, after *store.Cursor) error {
	found := map[string]bool{}
	add := func(account health.Account) {
		if !found[account.ID] {
			found[account.ID] = true
			view.Accounts = append(view.Accounts, showAccount(account))
		}
	}
	if after == nil {
		failing, _, err := cursor.FailingLately(ctx, r.Store, r.Now(), health.OurReasons, maxFailing, nil)
		if err != nil {
			return err
		}
		owners := map[string]bool{}
		for _, calendar := range failing {
			if owners[calendar.OwnerID] {
				continue
			}
			owners[calendar.OwnerID] = true
			report, err := r.Accounts.OfPerson(ctx, calendar.OwnerID)
			if err != nil {
				return err
			}
			for _, account := range report.Accounts {
				add(account)
			}
		}
	}
	page, next, err := r.Accounts.Page(ctx, maxAccounts, after)
	for _, account := range page {
		add(account)
	}
	view.Next = next
	slices.SortStableFunc(view.Accounts, func(a, b Account) int {
		return cmp.Compare(slices.Index(health.Statuses, health.Status(b.Status)), slices.Index(health.Statuses, health.Status(a.Status)))
	})
	return err
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
