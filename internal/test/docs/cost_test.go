package docs_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"questscheduler/calendarsync"
	"questscheduler/internal/test/cost"
	"questscheduler/internal/test/docs"
	"questscheduler/internal/test/mirrortest"
	"questscheduler/internal/test/storetest"
	"questscheduler/internal/test/worldtest"
)

// prices are dollars for 100,000 documents read, written and deleted, as Google
// published them for a multi-region in the United States. Put in your own, and
// run `make generate`.
var prices = struct {
	of                     string
	reads, writes, deletes float64
}{"February 2020", 0.06, 0.18, 0.02}

// What a thousand idle polls are.
const (
	thousand      = 1000
	idleCalendars = 100
)

// price is what a cost comes to in dollars.
func price(c storetest.Cost) float64 {
	return (float64(c.Reads)*prices.reads + float64(c.Writes)*prices.writes + float64(c.Deletes)*prices.deletes) / 100_000
}

// grouped is a number with a comma at each thousand.
func grouped(n int) string {
	text := fmt.Sprint(n)
	for at := len(text) - 3; at > 0; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}

func costRow(what string, c storetest.Cost) string {
	return fmt.Sprintf("| %s | %s | %s | %s |\n", what, grouped(c.Reads), grouped(c.Writes), grouped(c.Deletes))
}

func pricedRow(what string, c storetest.Cost) string {
	return fmt.Sprintf("| %s | %s | %s | %s | %.2f |\n", what, grouped(c.Reads), grouped(c.Writes), grouped(c.Deletes), price(c))
}

const costHead = `
## What Firestore bills

Each document that is read, written or deleted. Tests count these numbers (` + "`internal/test/cost/counts.txt`" + `). Not counted are transactions that run again, what the web app itself reads and writes, streams, storage, the network, Cloud Tasks and Cloud Run.
`

// whatFirestoreBills counts each flow, and writes the file from which the page is worked out.
func whatFirestoreBills(t *testing.T) string {
	t.Helper()
	counted := map[string]storetest.Cost{}
	var page, counts strings.Builder
	page.WriteString(costHead)
	counts.WriteString("# Reads, writes and deletes of each flow, with everything until no work is due any more. Made by make generate.\n")
	for _, f := range cost.Flows {
		got, err := f.Count(t, cost.Place{})
		if err != nil {
			t.Fatal(err)
		}
		counted[f.Name] = got.Total
		fmt.Fprintf(&counts, "%d %d %d %s\n", got.Total.Reads, got.Total.Writes, got.Total.Deletes, f.What)
	}
	month, err := cost.CountMonth(t)
	if err != nil {
		t.Fatal(err)
	}
	page.WriteString(ofAThousand(month, counted))
	page.WriteString(ofAMonth(month, counted))
	page.WriteString(ofMirroring(t))
	docs.CheckFile(t, "internal/test/cost/counts.txt", counts.String())
	return page.String()
}

// ofMirroring says what keeping calendars informed of each other costs.
func ofMirroring(t *testing.T) string {
	t.Helper()
	var text strings.Builder
	text.WriteString(`
### What mirroring costs

Without the push. A change in a calendar that mirroring does not follow costs no more than without mirroring.

| | Reads | Writes | Deletes | Calls to Google |
|---|---|---|---|---|
`)
	for _, f := range mirrortest.Flows {
		got := f.Count(t)
		fmt.Fprintf(&text, "%s %s |\n", strings.TrimSuffix(costRow(f.What, got.Cost), "\n"), grouped(got.Calls))
	}
	return text.String()
}

// ofAMonth says what the timers cost while nothing happens.
func ofAMonth(month cost.Month, counted map[string]storetest.Cost) string {
	var text strings.Builder
	drains := int(cost.Days * 24 * time.Hour / cost.Runs[0].Every)
	fmt.Fprintf(&text, `
### What a month costs in which nothing happens

For %d days with the defaults of the [settings](settings.md): a sweep every %.0f hours, and watch channels for 7 days that are renewed 2 days before their end. Each row adds to those before.

| | Reads | Writes | Deletes |
|---|---|---|---|
`, cost.Days, worldtest.FallbackEvery.Hours())
	text.WriteString(costRow("the drains", counted[cost.IdleDrain].Times(drains)))
	text.WriteString(costRow("the looks for sessions within two days", lookCosts(counted)))
	text.WriteString(costRow("the other jobs by themselves", month.Jobs))
	text.WriteString(costRow("each linked account that no poll uses", month.Account))
	text.WriteString(costRow("each calendar that polls follow, with its account", month.Calendar))
	text.WriteString(costRow("each finalised poll whose session is to come", month.Poll))
	fmt.Fprintf(&text, "\nWith `QS_QUEUE=embedded` the process asks its timers itself, each minute: %s reads more.\n",
		grouped(counted[cost.Tick].Times(drains).Reads))
	return text.String()
}

// lookCosts is what a month's looks for sessions that start soon cost, where none does.
func lookCosts(counted map[string]storetest.Cost) storetest.Cost {
	return counted[cost.IdleUpcoming].Times(int(cost.Days * 24 * time.Hour / calendarsync.UpcomingEvery))
}

// beforeSession is what the looks and syncs of the two days before a session cost, which is the only
// one of its calendar.
func beforeSession(counted map[string]storetest.Cost) storetest.Cost {
	none, looks, syncs := counted[cost.IdleUpcoming], int(48*time.Hour/calendarsync.UpcomingEvery), int(48*time.Hour/calendarsync.ListEvery)
	return counted[cost.Upcoming].Sub(none).Times(syncs).Add(counted[cost.UpcomingPlanned].Sub(none).Times(looks - syncs))
}

// ofAThousand says what a thousand polls cost, and at which price.
func ofAThousand(month cost.Month, counted map[string]storetest.Cost) string {
	var text strings.Builder
	fmt.Fprintf(&text, `
### What a thousand polls cost

    dollars = (reads × %.2f + writes × %.2f + deletes × %.2f) / 100,000

The prices are those of a multi-region in the United States in %s. Take yours from <https://cloud.google.com/firestore/pricing>, and take off what is free each day.

| | Reads | Writes | Deletes | Dollars |
|---|---|---|---|---|
`, prices.reads, prices.writes, prices.deletes, prices.of)
	drains := counted[cost.IdleDrain].Times(int(cost.Days * 24 * time.Hour / cost.Runs[0].Every))
	none := cost.Month{Jobs: storetest.Cost{}, Calendar: month.Calendar, Poll: month.Poll}
	text.WriteString(pricedRow("1,000 polls finalised, with the sync of their events",
		counted[cost.Finalise].Add(counted[cost.TellFinalised]).Times(thousand)))
	text.WriteString(pricedRow("1,000 polls rescheduled, and announced to three people each",
		counted[cost.Reschedule].Add(counted[cost.TellRescheduled]).Times(thousand)))
	text.WriteString(pricedRow(fmt.Sprintf("1,000 polls idle for a month, in %d calendars", idleCalendars),
		none.Of(0, idleCalendars, thousand)))
	text.WriteString(pricedRow("1,000 sessions of as many calendars, each with the looks and syncs of the two days before it",
		beforeSession(counted).Times(thousand)))
	text.WriteString(pricedRow("the drains and other jobs of a month, for however many polls",
		drains.Add(month.Jobs).Add(lookCosts(counted))))
	return text.String()
}
