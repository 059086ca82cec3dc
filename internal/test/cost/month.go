package cost

import (
	"fmt"
	"time"

	"questscheduler/calendarsync"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/internal/test/storetest"
	"questscheduler/internal/test/worldtest"
	"questscheduler/rules"
	"questscheduler/scheduler"
	"questscheduler/web-hooks/timers"
)

// Days is how long a month is here.
const Days = 30

// Month is what the timers cost in a month in which nobody does anything and no
// session takes place, but for the drains (IdleDrain) and the looks for sessions that
// start soon (IdleUpcoming), of which each costs the same. It grows by as much with each of its parts, but for one read and
// one write whenever a job comes to another page of about a hundred.
type Month struct {
	// Jobs is what the jobs cost by themselves, where there is at least one
	// account, one calendar and one poll.
	Jobs storetest.Cost
	// Account is what a linked account adds that nothing uses, Calendar a
	// calendar that polls follow, with its account in use, and Poll a finalised
	// poll with its event.
	Account, Calendar, Poll storetest.Cost
}

// Of is the month of that many accounts that nothing uses, calendars and polls.
func (m Month) Of(accounts, calendars, polls int) storetest.Cost {
	return m.Jobs.Add(m.Account.Times(accounts)).Add(m.Calendar.Times(calendars)).Add(m.Poll.Times(polls))
}

// Runs are how often a month has each job, with the settings of a world, which
// are the defaults.
var Runs = []struct {
	Job   string
	Every time.Duration
}{
	{timers.Drain, time.Minute}, {timers.PollFallback, worldtest.FallbackEvery}, {timers.RenewWatches, 24 * time.Hour},
	{timers.PlanUpcoming, calendarsync.UpcomingEvery}, {timers.Cleanup, 24 * time.Hour}, {timers.Health, 6 * time.Hour},
}

// CountMonth counts months of different contents, and tells them apart.
func CountMonth(t worldtest.TB) (m Month, err error) {
	of := func(contents ...Followed) (cost storetest.Cost) {
		if err == nil {
			cost, err = Quiet(t, contents)
		}
		return cost
	}
	one := of(Followed{Owner: "gm", Polls: 1})
	m.Poll = of(Followed{Owner: "gm", Polls: 2}).Sub(one)
	m.Account = of(Followed{Owner: "gm", Polls: 1}, Followed{Owner: "ben"}).Sub(one)
	m.Calendar = of(Followed{Owner: "gm", Polls: 1}, Followed{Owner: "ben", Polls: 1}).Sub(one).Sub(m.Poll)
	m.Jobs = one.Sub(m.Poll).Sub(m.Calendar).Sub(m.Account) // ana has linked an account
	return m, err
}

// SweepOfPast is what a sweep costs for a finalised poll whose session ended so long ago that its
// event is no longer followed. archived: the web app archived it since.
func SweepOfPast(t worldtest.TB, archived bool) (storetest.Cost, error) {
	var costs []storetest.Cost
	for n := range 2 {
		w, polls := New(t, Place{}), []string(nil)
		for range n + 1 {
			pollID, slots := w.Poll()
			if _, err := w.Finalise(pollID, slots[0]); err != nil {
				return storetest.Cost{}, err
			}
			polls = append(polls, pollID)
		}
		w.Run(time.Minute)
		w.Skip(rules.ForgetAfter + 60*24*time.Hour)
		for sweep := range 4 { // of which the first end what is over
			for _, pollID := range polls {
				if sweep == 1 && archived {
					w.Write(poll.Path(pollID), store.Set("status", string(rules.Archived)))
				}
			}
			w.Begin()
			if err := w.runJob(timers.PollFallback); err != nil {
				return storetest.Cost{}, err
			}
		}
		costs = append(costs, w.Total())
	}
	return costs[1].Sub(costs[0]), nil
}

// Followed is a calendar by its owner, and how many polls follow it; none: the
// account is linked, and that is all.
type Followed struct {
	Owner string
	Polls int
}

// Quiet is what the timers cost in a month but for the drains and the looks, where there are
// these calendars, and an account of ana's in any case.
func Quiet(t worldtest.TB, contents []Followed) (storetest.Cost, error) {
	w := New(t, Place{})
	for _, f := range contents {
		if f.Owner != "gm" && f.Owner != "ana" {
			w.Link(f.Owner)
		}
		for range f.Polls {
			if err := w.laterSession(f.Owner); err != nil {
				return storetest.Cost{}, err
			}
		}
	}
	w.Run(time.Minute)
	w.Skip(w.Clock.Now().Truncate(24 * time.Hour).Add(24 * time.Hour).Sub(w.Clock.Now())) // midnight
	w.Begin()
	for range Days {
		for _, job := range aDay {
			w.Skip(job.after)
			if err := w.runJob(job.name); err != nil {
				return storetest.Cost{}, err
			}
		}
	}
	return w.Total(), nil
}

// aDay is the jobs of a day in their order, and how long after the one before;
// a sweep takes its period.
var aDay = []struct {
	name  string
	after time.Duration
}{
	{timers.PollFallback, 0}, {timers.Health, 0}, {timers.Cleanup, 0},
	{timers.PollFallback, 0}, {timers.Health, 0},
	{timers.PollFallback, 0}, {timers.Health, 0}, {timers.RenewWatches, 0},
	{timers.PollFallback, 0}, {timers.Health, 0},
}

// laterSession is a poll that is finalised for a day beyond the month.
func (w *World) laterSession(owner string) error {
	at := worldtest.Times("2026-06-10T10:00:00Z", time.Hour)
	view, err := w.Scheduler.Create(w.Context(), worldtest.Person(owner), scheduler.Create{
		Title: "Later", AllowLinkSharing: true, Slots: []worldtest.Slot{at},
	}, worldtest.Cause)
	if err != nil {
		return err
	}
	_, err = w.Scheduler.Finalise(
		w.Context(), worldtest.Person(owner), view.Poll.ID, worldtest.Ask{SlotID: view.Slots[0].ID, CreateEvent: true},
		worldtest.Cause,
	)
	if err != nil {
		return fmt.Errorf("finalise: %w", err)
	}
	return nil
}
