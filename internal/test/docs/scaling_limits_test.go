package docs_test

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"questscheduler/calendarsync"
	"questscheduler/internal/outbox"
	"questscheduler/internal/test/scaling"
	"questscheduler/internal/test/worldtest"
)

// limit is something that ends at a rate, and what a million calendars ask of it.
type limit struct {
	what        string
	most, asked float64
	remedy      remedy
	then        string
}

type remedy int

const (
	deploy remedy = iota
	change
	google
)

// reached is at how many calendars.
func (l limit) reached() float64 { return manyCalendars * l.most / l.asked }

func limitsOf(l load, queues map[string]float64) []limit {
	calls := callsAMinute / 60.0
	pages := 2 * manyCalendars * (pollsOfACalendar + 1) / sweepPage / worldtest.FallbackEvery.Seconds()
	limits := []limit{
		{"queue `sync`", queues["sync"], l.syncs.peak, deploy, "pushes wait, as below"},
		{"drain: syncs before sessions", drained, l.planned.peak, change, "they are further apart than 15 minutes"},
		{"queue `sweep`", queues["sweep"], l.sweeps.peak, deploy, "sweeps take over 6 hours"},
		{"Google's quota for the project", calls, l.calls.peak, google, "pushes wait"},
		{"the same, on average", calls, l.calls.average, google, "syncs before sessions fall behind all week"},
		{"queue `intent`", queues["intent"], l.finalised.peak, deploy, "events are made later"},
		{"queue `watch`", queues["watch"], l.renewals.peak, deploy, "channels end before they are renewed"},
		{"queue `announce`", queues["announce"], l.finalised.plus(l.told).peak, deploy, "notices are late"},
		{"instances, each with 40 syncs of half a second (assumed)", instances * syncWorkers / syncTakes, l.syncs.peak, deploy, "tasks are sent again"},
		{"one document: the record of `plan-upcoming`", ofADocument, l.planRecord(), change, "plans take longer than their 10 minutes"},
		{"sweep: one page after the other, 0.1 s each (assumed)", 10, pages, change, "a sweep begins anew before its end"},
		{"index `calendars.syncAt`", ofAnIndex, 3 * l.syncs.peak, change, "pushes are answered late, or 503 and repeated"},
		{"one queue of Cloud Tasks, at any setting", 500, l.syncs.peak, change, "as the first"},
	}
	slices.SortStableFunc(limits, func(a, b limit) int { return cmp.Compare(a.reached(), b.reached()) })
	return limits
}

// planRecord is how often the record of plan-upcoming is written: once for each page.
func (l load) planRecord() float64 { return l.soon / sweepPage / calendarsync.UpcomingEvery.Seconds() }

func ofLimits(l load, queues map[string]float64) string {
	var text strings.Builder
	text.WriteString(`
## What breaks first

Per second in the busiest minute, in the order in which it breaks; each row as if the others were lifted. Limits of Google are those of <https://developers.google.com/workspace/calendar/api/guides/quota> (10,000 calls a minute, of which 9,500 are used), <https://firebase.google.com/docs/firestore/best-practices> and <https://cloud.google.com/tasks/docs/quotas>; queues are those of ` + "`deploy/queues.txt`" + `.

| Limit | Value | Asked | Reached at calendars | Then |
|---|---|---|---|---|
`)
	first := map[remedy]float64{}
	for _, row := range limitsOf(l, queues) {
		if _, is := first[row.remedy]; !is {
			first[row.remedy] = row.reached()
		}
		fmt.Fprintf(&text, "| %s | %s | %s | %s | %s |\n", row.what, number(row.most), number(row.asked), rounded(row.reached()), row.then)
	}
	fmt.Fprintf(&text, `
What to do:

1. From %s calendars on raise the rates of the queues (500 at most) and `+"`maxScale`"+` (`+"`deploy/service.yaml`"+`).
2. From %s on change the program: larger pages of the sweep and of `+"`plan-upcoming`"+`; a drain that wakes more than %s entries of a kind a minute; then shards for `+"`syncAt`"+` and several queues of a kind.
3. From %s on ask Google for a larger quota: a million calendars need %s calls a minute. Fewer syncs before sessions save most of the average.

Each process keeps to the project's quota alone; several exceed it together, and calendars that Google refuses wait.
`, rounded(first[deploy]), rounded(first[change]), grouped(drainRounds*outbox.DrainMost), rounded(first[google]),
		rounded(l.calls.peak*60))
	return text.String()
}

// journaled is how many entries of the journal a finalisation writes.
func journaled(t *testing.T) float64 {
	t.Helper()
	w := worldtest.New(t, worldtest.Options{})
	pollID, slots := w.Poll()
	before := len(w.Journal(pollID))
	if _, err := w.Finalise(pollID, slots[0]); err != nil {
		t.Fatal(err)
	}
	w.Run(time.Minute)
	return float64(len(w.Journal(pollID)) - before)
}

const (
	ofADocument = 1.0   // writes a second that Firestore takes for long
	ofAnIndex   = 500.0 // of values that only grow
)

// ofHotSpots names the documents and indexes that get half as many writes as Firestore takes, or more.
func ofHotSpots(t *testing.T, l load) string {
	t.Helper()
	var text strings.Builder
	text.WriteString(`
## Hot spots in Firestore

Firestore takes about one write a second of a document for long, and 500 of an index whose values only grow. ` + "`cmd/questscheduler/indexes.go`" + ` exempts such fields that no query needs. In the busiest minute, with Google's quota as it is, these get at least half of that:

| Document or index | Writes a second | What avoids the hot spot |
|---|---|---|
`)
	for _, row := range []struct {
		what         string
		most, writes float64
		why          string
	}{
		{"a calendar", ofADocument, 3, "only while its owner goes on editing: a request is written once, a sync begins once a second"},
		{"a poll, its announcement", ofADocument, 1, "one write for each transition, one for the notices of 10 seconds"},
		{"the record of `plan-upcoming`", ofADocument, l.planRecord(), "nothing; one writer waits for each write"},
		{
			"`calendars.syncAt`", ofAnIndex, l.syncAt.peak,
			"Google's quota, and pushes that are covered; beyond, a shard before the time and a query for each",
		},
		{"`calendars.leaseUntil`", ofAnIndex, 2 * callsAMinute / 60.0, "Google's quota"},
		{
			"`calendars.sweepAt`", ofAnIndex, 2 * l.sweeps.peak,
			"sweeps are spread; while one is planned, one writer waits for each 100",
		},
		{"`intents.due`", ofAnIndex, 2 * l.finalised.peak, "an intent is deleted once it is done"},
		{"`announcements`: `pending`, `due`", ofAnIndex, 2 * l.finalised.plus(l.told).peak, "one document for each poll"},
		{"`journal.at`", ofAnIndex, journaled(t)*l.finalised.peak + l.moved.peak, "nothing; `creatorId` spreads the other index"},
		{"`notifications`: `type`, `createdAt`", ofAnIndex, peopleTold * l.told.peak, "moves that are taken back tell nobody"},
		{"`calendarWatches`: `nextTry`, `expiration`", ofAnIndex, 2 * l.renewals.peak, "channels end at different times"},
	} {
		if row.writes >= row.most/2 {
			fmt.Fprintf(&text, "| %s | %s | %s |\n", row.what, number(row.writes), row.why)
		}
	}
	return text.String()
}

func TestScaling_Limit_IsReachedInProportion(t *testing.T) {
	t.Parallel()
	if got := (limit{most: 50, asked: 1000}).reached(); got != manyCalendars/20 {
		t.Errorf("a rate of 50, of which a million calendars ask 1,000, is reached at %v", got)
	}
	series := make(scaling.Series, scaling.Seconds)
	for second := range 60 {
		series[600+second] = 3
	}
	got := rateOf(series, series)
	if got.peak != 6*scale || math.Abs(got.average-360.0*scale/scaling.Seconds) > 1e-9 {
		t.Errorf("twice three a second for a minute are %+v", got)
	}
	for from, want := range map[float64]string{0.012: "0.012", 7.74: "7.7", 49.6: "50", 1083.6: "1,084"} {
		if got := number(from); got != want {
			t.Errorf("%v is written %s", from, got)
		}
	}
	if got := rounded(146_321); got != "150,000" {
		t.Errorf("146,321 is rounded to %s", got)
	}
}
