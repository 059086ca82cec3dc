package docs_test

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"strings"
	"testing"
	"time"

	"questscheduler/internal/test/cost"
	"questscheduler/internal/test/docs"
	"questscheduler/internal/test/scaling"
	"questscheduler/internal/test/storetest"
)

const scalingHead = `# Cost and scale

For the person who plans for many users: 10,000,000 polls in 1,000,000 calendars on Firestore, Cloud Tasks and Cloud Run. Everything here is worked out, by a simulation (` + "`internal/test/scaling/`" + `) and from the operations that [tests count](#what-firestore-bills). Nothing of this size was run.

As deployed, it keeps up on a Sunday evening with %s calendars of ten polls each. With more, pushes wait and nothing is lost.

## What is assumed

Each calendar has 10 finalised polls, one session a week, and 10 changes a week in two sittings: one change is a poll's new event, one in five weeks moves a session, the others concern no poll but push too. Half of all sittings are on Sunday between 18:00 and 22:00, in one time zone. Half of the polls ended over 30 days ago. Nobody uses mirrors or second addresses.
`

const scalingEnd = `
## Where the embedded server ends

Google's quota is the same, so it ends for other reasons: one process, one machine, no web app that writes Firestore's documents. On two shared processors it applied %s moves a second, each on disk ([performance.md](performance.md)), and ` + "`make bench`" + ` swept and synced %s calendars a second: more than the quota allows. A poll that lived through its flow takes 11 kB of the file, a million 11 GB. Everything can be [moved to Firestore](operations.md#moving-from-one-machine-to-firestore).
`

func TestPage_CostAndScale(t *testing.T) {
	t.Parallel()
	l, queues := loadOf(t), queueRates(t)
	head := fmt.Sprintf(scalingHead, rounded(limitsOf(l, queues)[0].reached()))
	end := fmt.Sprintf(scalingEnd, grouped(transitionsASecond), grouped(sweptASecond))
	page := head + ofArrivals(l) + ofLimits(l, queues) + ofDelays(queues) + ofHotSpots(t, l) + ofListeners() +
		ofInstances(l) + ofAMillion(l) + end
	if words := len(regexp.MustCompile(`\S*[\pL\d]\S*`).FindAllString(page, -1)); words > 1200 {
		t.Errorf("docs/scaling.md says %d words of its scale", words)
	}
	docs.Check(t, "scaling.md", page+whatFirestoreBills(t))
}

// number has two digits that say something, as far as the number is small.
func number(n float64) string {
	switch {
	case n >= 100:
		return grouped(int(math.Round(n)))
	case n >= 10:
		return fmt.Sprintf("%.0f", n)
	default:
		return fmt.Sprintf("%.2g", n)
	}
}

// rounded has two digits, and zeros.
func rounded(n float64) string {
	unit := math.Pow(10, max(0, math.Floor(math.Log10(n))-1))
	return grouped(int(math.Round(n/unit) * unit))
}

func ofArrivals(l load) string {
	var text strings.Builder
	text.WriteString(`
## What arrives

Per second. The busiest minute is on Sunday evening, except for syncs before sessions.

| | Average | Busiest minute |
|---|---|---|
`)
	for _, row := range []struct {
		what string
		rate rate
	}{
		{"pushes", l.pushes}, {"of these covered by a sync that waits", l.covered}, {"syncs because of pushes", l.pushed},
		{"syncs before sessions (within two days of one, every 14 minutes)", l.planned},
		{"sweeps, each with a sync", l.sweeps}, {"calls to Google", l.calls}, {"finalisations", l.finalised},
		{"sessions moved", l.moved}, {"of these announced after the settle time", l.told},
		{"tasks created", l.tasks}, {"Firestore reads", l.reads}, {"Firestore writes", l.writes},
	} {
		fmt.Fprintf(&text, "| %s | %s | %s |\n", row.what, number(row.rate.average), number(row.rate.peak))
	}
	return text.String()
}

func ofDelays(queues map[string]float64) string {
	var text strings.Builder
	text.WriteString(`
## How late Sunday evening is

A calendar waits at most once, however often it pushes, so a queue never holds more than one sync for each. Nothing is lost.

| Syncs a second, without sweeps | Syncs in the week | Pushes covered | Longest wait of a push |
|---|---|---|---|
`)
	for _, row := range []struct {
		what string
		rate float64
	}{
		{"as deployed", queues["sync"]}, {"as many as Google's quota allows", callsAMinute / 60.0}, {"ten times Google's quota", callsAMinute / 6.0},
	} {
		o := aWeek
		o.Rate = row.rate / scale
		week := scaling.Simulate(o)
		syncs, covered := float64(week.Pushed.Sum()+week.Planned.Sum())*scale, float64(week.Covered.Sum())*scale
		fmt.Fprintf(&text, "| %s: %s | %s | %s | %s |\n", row.what, number(row.rate), rounded(syncs), rounded(covered),
			cmp.Or(strings.TrimSuffix(week.Longest.Round(time.Minute).String(), "0s"), "none"))
	}
	return text.String()
}

func ofListeners() string {
	const polls = 20
	a := float64(polls) / recheckEvery.Seconds()
	dollars := a * (cost.Days * 24 * time.Hour).Seconds() / 100_000 * prices.reads
	return fmt.Sprintf(`
## Who listens

An open stream of a person with %d polls reads them every %.0f seconds: %.2f reads a second, %.2f dollars a month while it is open. Ten thousand read %s documents a second, and each occupies a request: %d instances of %d requests hold %d, those of tasks included. Raise both in `+"`deploy/service.yaml`"+`, or have clients listen to Firestore itself.
`, polls, recheckEvery.Seconds(), a, dollars, grouped(int(a*10_000)), instances, requests, instances*requests)
}

const (
	// syncTakes is how many seconds a sync is assumed to wait for Google and Firestore.
	syncTakes = 0.5
	// What two shared processors did: docs/performance.md, and sweep_calendars of make bench.
	transitionsASecond, sweptASecond = 1510, 717
)

func ofInstances(l load) string {
	return fmt.Sprintf(`
## Instances of Cloud Run

An instance syncs %d calendars at once. At half a second each (assumed) the busiest minute needs %.0f instances, of the %d that `+"`deploy/service.yaml`"+` allows. Processor time ends later: two processors sync [%s a second](#where-the-embedded-server-ends).
`, syncWorkers, math.Ceil(l.syncs.peak*syncTakes/syncWorkers), instances, grouped(sweptASecond))
}

func ofAMillion(l load) string {
	var text strings.Builder
	fmt.Fprintf(&text, `
## What a month costs

Documents of Firestore in millions, at the prices [below](#what-a-thousand-polls-cost); deletes cost a few dollars. Cloud Tasks bills %s million tasks, Cloud Run its instances.

| | Reads | Writes | Dollars |
|---|---|---|---|
`, grouped(int(math.Round(l.tasks.average*(cost.Days*24*time.Hour).Seconds()/1e6))))
	monthly := func(n rate, each storetest.Cost, of float64) [2]float64 {
		times := n.average * (cost.Days * 24 * time.Hour).Seconds() / of / 1e6
		return [2]float64{float64(each.Reads) * times, float64(each.Writes) * times}
	}
	whole := func(each storetest.Cost, times float64) [2]float64 {
		return [2]float64{float64(each.Reads) * times / 1e6, float64(each.Writes) * times / 1e6}
	}
	pastMonth := whole(l.past, manyCalendars*longPast*float64(sweepsAMonth))
	sweeps := whole(l.perMonth, manyCalendars)
	pushes, covered := monthly(l.pushed, l.perPush, 1), monthly(l.covered, l.perCovered, 1)
	finalised, moved := monthly(l.finalised, l.perFinalised, 1), monthly(l.moved, l.perMoved, 1)
	var sum [2]float64
	for _, row := range []struct {
		what string
		n    [2]float64
	}{
		{"pushes and their syncs", [2]float64{pushes[0] + covered[0], pushes[1] + covered[1]}},
		{"finalisations and moves, with their announcements", [2]float64{finalised[0] + moved[0], finalised[1] + moved[1]}},
		{"syncs before sessions", monthly(l.planned, l.perSync, syncsBefore)},
		{"sweeps and renewals", [2]float64{sweeps[0] - pastMonth[0], sweeps[1] - pastMonth[1]}},
		{"sweeps of polls that ended long ago", pastMonth},
		{"together", [2]float64{}},
	} {
		if row.what == "together" {
			row.n = sum
		}
		sum = [2]float64{sum[0] + row.n[0], sum[1] + row.n[1]}
		dollars := (row.n[0]*prices.reads + row.n[1]*prices.writes) * 10 // millions, at the prices of 100,000
		fmt.Fprintf(&text, "| %s | %s | %s | %s |\n", row.what, rounded(row.n[0]), number(row.n[1]), rounded(dollars))
	}
	fmt.Fprintf(&text, "\nEach sweep reads %d documents for a finalised poll that ended over 30 days ago, and %d for an archived one: have the web app archive old polls.\n", l.past.Reads, l.archived.Reads)
	return text.String()
}
