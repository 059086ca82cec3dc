package docs_test

import (
	"errors"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"questscheduler/calendarsync"
	"questscheduler/internal/outbox"
	"questscheduler/internal/test/cost"
	"questscheduler/internal/test/docs"
	"questscheduler/internal/test/scaling"
	"questscheduler/internal/test/storetest"
	"questscheduler/internal/test/worldtest"
)

// What docs/scaling.md is worked out for. Everything but fixed costs grows with the calendars, so
// a twentieth of them is simulated, at a twentieth of each rate.
const (
	manyCalendars    = 1_000_000
	pollsOfACalendar = 10
	longPast         = 5 // of these polls
	simulated        = 50_000
	sweepsAMonth     = int(cost.Days * 24 * time.Hour / worldtest.FallbackEvery)
	scale            = manyCalendars / simulated
	peopleTold       = 3
	// syncsBefore is how many syncs a session has before it.
	syncsBefore = float64(48 * time.Hour / calendarsync.ListEvery)
)

// aWeek is what people do.
var aWeek = scaling.Options{
	Calendars: simulated, Sittings: 2, Edits: 5, Between: 30 * time.Second, OnSunday: 0.5, Finalised: 0.1, Moved: 0.02,
	Before: 48 * time.Hour, ListEvery: calendarsync.ListEvery, Settle: worldtest.Settle, Seed: 1,
}

// copied are values that only a source or a page has, as that has them.
var copied = []struct{ file, text string }{
	{"internal/config/config.go", "SyncMinGap: time.Second,"},
	{"internal/config/config.go", "WatchTTL: 168 * time.Hour, RenewBefore: 48 * time.Hour, FallbackEvery: 6 * time.Hour,"},
	{"calendarsync/upcoming.go", "upcoming = 48 * time.Hour"},
	{"calendarsync/sweep.go", "const sweepPage = 100\n"},
	{"calendarsync/sweepone.go", "% (spread - spread/10))"},
	{"calendarsync/sync.go", "const syncWorkers = 40\n"},
	{"web-hooks/timers/run.go", "drainAgain = 5 * time.Second\n\tdrainFor   = 40 * time.Second"},
	{"internal/gcal/budget.go", "personPerMinute  = 600\n\tprojectPerMinute = 10_000"},
	{"internal/gcal/budget.go", "most := perMinute * 19 / 20"},
	{"api/stream.go", "recheckEvery = 30 * time.Second"},
	{"docs/performance.md", "64 at once 1,330 → 1,510 |"},
	{"docs/performance.md", "one that lived through its flow 11.3 kB"},
	{"deploy/service.yaml", "maxScale: \"10\""},
	{"deploy/service.yaml", "containerConcurrency: 80"},
}

const (
	sweepPage    = 100
	syncWorkers  = 40
	drainRounds  = 9 // one each drainAgain, from the first to drainFor
	callsAMinute = 10_000 * 19 / 20
	instances    = 10
	requests     = 80
	recheckEvery = 30 * time.Second
	renewedAfter = 5 * 24 * time.Hour // a channel
)

func TestScaling_CopiedValues_AreThoseOfTheirFiles(t *testing.T) {
	t.Parallel()
	for _, value := range copied {
		if !strings.Contains(docs.Read(t, value.file), value.text) {
			t.Errorf("%s has no %q any more: correct the numbers of docs/scaling.md", value.file, value.text)
		}
	}
}

var queueRow = regexp.MustCompile(`(?m)^# ([a-z-]+) +(\d+) +(\d+) `)

// queueRates are how many tasks of each kind deploy/queues.txt lets begin a second.
func queueRates(t *testing.T) map[string]float64 {
	t.Helper()
	rates := map[string]float64{}
	for _, row := range queueRow.FindAllStringSubmatch(strings.ReplaceAll(docs.Read(t, "deploy/queues.txt"), "\n", "\n# "), -1) {
		rate, err := strconv.ParseFloat(row[3], 64)
		if err != nil {
			t.Fatal(err)
		}
		rates[row[1]] = rate
	}
	if len(rates) < 10 || rates["sync"] == 0 || rates["sweep"] == 0 {
		t.Fatalf("deploy/queues.txt has the rates %v", rates)
	}
	return rates
}

// rate is how often something happens in a second: on average, and in the busiest minute.
type rate struct{ average, peak float64 }

func (r rate) times(n float64) rate { return rate{r.average * n, r.peak * n} }

func (r rate) plus(others ...rate) rate {
	for _, other := range others {
		r = rate{r.average + other.average, r.peak + other.peak}
	}
	return r
}

func steady(perSecond float64) rate { return rate{perSecond, perSecond} }

// rateOf is the sum of series, of all calendars.
func rateOf(all ...scaling.Series) rate {
	sum := make(scaling.Series, scaling.Seconds)
	for _, series := range all {
		for at, n := range series {
			sum[at] += n
		}
	}
	peak, _ := sum.Peak()
	return rate{sum.Average(), peak}.times(scale)
}

// load is what a million calendars ask of the server.
type load struct {
	pushes, covered, pushed, planned, finalised, moved, told rate
	// calls are those to Google.
	syncs, sweeps, renewals, calls, tasks, reads, writes rate
	// syncAt are writes of that field, where Google's quota limits the syncs.
	syncAt rate
	// soon are the calendars in which a session starts within two days.
	soon float64
	// perSync are the syncs of the two days before a session, with their share of the looks. A
	// finalisation and a move cost what they add to the sync that they are in. perMonth is a calendar
	// with its polls, of which the sweeps read past for each long past, or archived.
	perPush, perCovered, perSync, perFinalised, perMoved, perMonth, past, archived storetest.Cost
}

// loadOf simulates a week, and has what each thing costs from the counts.
func loadOf(t *testing.T) (l load) {
	t.Helper()
	counted := map[string]storetest.Cost{}
	for _, f := range cost.Flows {
		got, err := f.Count(t, cost.Place{})
		if err != nil {
			t.Fatal(err)
		}
		counted[f.Name] = got.Total
	}
	month, failure := cost.CountMonth(t)
	past, failed := cost.SweepOfPast(t, false)
	archived, ended := cost.SweepOfPast(t, true)
	if err := errors.Join(failure, failed, ended); err != nil {
		t.Fatal(err)
	}
	l.past, l.archived = past, archived
	l.arrivals()
	l.costs(counted, month)
	return l
}

// arrivals are what a week has.
func (l *load) arrivals() {
	w := scaling.Simulate(aWeek)
	l.pushes, l.covered, l.pushed, l.planned = rateOf(w.Pushes), rateOf(w.Covered), rateOf(w.Pushed), rateOf(w.Planned)
	l.finalised, l.moved, l.told = rateOf(w.Finalised), rateOf(w.Moves), rateOf(w.Announcements)
	period := worldtest.FallbackEvery
	l.sweeps = steady(manyCalendars / (period - period/10).Seconds())
	l.renewals = steady(manyCalendars / renewedAfter.Seconds())
	l.syncs = rateOf(w.Pushed, w.Planned).plus(l.sweeps)
	l.calls = l.syncs.plus(l.finalised, l.renewals.times(2))
	l.tasks = l.syncs.plus(l.sweeps, l.renewals, l.finalised.times(2), l.told)
	l.soon = l.planned.peak * calendarsync.ListEvery.Seconds()
	limited := aWeek
	limited.Rate = callsAMinute / 60.0 / scale
	w = scaling.Simulate(limited)
	covered := make(scaling.Series, scaling.Seconds)
	for at, n := range w.Covered {
		covered[at] = -n
	}
	// The request of a push; the claim of each sync and its end; the plan of one before a session.
	l.syncAt = rateOf(w.Pushes, covered, w.Pushed, w.Pushed, w.Planned, w.Planned, w.Planned)
}

// costs are what Firestore bills.
func (l *load) costs(counted map[string]storetest.Cost, month cost.Month) {
	l.perPush, l.perCovered = counted[cost.UnrelatedChange], counted[cost.PushCovered]
	l.perFinalised = counted[cost.Finalise].Add(counted[cost.TellFinalised]).Sub(l.perPush)
	l.perMoved = counted[cost.Reschedule].Add(counted[cost.TellRescheduled]).Sub(l.perPush)
	l.perSync = beforeSession(counted)
	l.perMonth = month.Calendar.Add(month.Poll.Times(pollsOfACalendar - longPast)).Add(l.past.Times(longPast * sweepsAMonth))
	of := func(field func(storetest.Cost) int) rate {
		n := func(c storetest.Cost) float64 { return float64(field(c)) }
		return l.covered.times(n(l.perCovered)).plus(l.pushed.times(n(l.perPush)), l.finalised.times(n(l.perFinalised)),
			l.moved.times(n(l.perMoved)), l.planned.times(n(l.perSync)/syncsBefore),
			steady(n(l.perMonth)*manyCalendars/(cost.Days*24*time.Hour).Seconds()))
	}
	l.reads = of(func(c storetest.Cost) int { return c.Reads })
	l.writes = of(func(c storetest.Cost) int { return c.Writes })
}

// drained is how many entries of a kind the drains of a minute wake at most, by the second.
const drained = drainRounds * outbox.DrainMost / 60.0
