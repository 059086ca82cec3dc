package scaling_test

import (
	"reflect"
	"testing"
	"time"

	"questscheduler/internal/test/scaling"
)

// small is a week of a thousand calendars without sessions.
func small() scaling.Options {
	return scaling.Options{
		Calendars: 1000, Sittings: 2, Edits: 5, Between: time.Minute, OnSunday: 0.5, Finalised: 0.1, Moved: 0.2,
		Settle: 10 * time.Second, Seed: 1,
	}
}

func TestWeek_EveryChange_IsPushedOnce(t *testing.T) {
	t.Parallel()
	week := scaling.Simulate(small())
	if got := week.Pushes.Sum(); got != 10_000 {
		t.Errorf("1,000 calendars with 2 sittings of 5 changes pushed %d times", got)
	}
	if got := week.Pushed.Sum() + week.Covered.Sum() + week.Left; got != 10_000 {
		t.Errorf("10,000 pushes led to %d syncs, covered pushes and waiting syncs", got)
	}
	if got := week.Finalised.Sum(); got < 900 || got > 1100 {
		t.Errorf("a tenth of 10,000 changes are %d finalisations", got)
	}
	if got := week.Moves.Sum(); got < 1800 || got > 2200 {
		t.Errorf("a fifth of 10,000 changes are %d moves", got)
	}
}

func TestWeek_CoveredPush_MakesNoSecondSync(t *testing.T) {
	t.Parallel()
	o := small()
	o.Calendars, o.Sittings, o.Edits, o.Between, o.OnSunday = 1, 1, 100, 0, 1
	o.Rate = 0.02 // the second sync begins 50 seconds after the first
	week := scaling.Simulate(o)
	if syncs, covered := week.Pushed.Sum(), week.Covered.Sum(); syncs > 4 || syncs+covered != 100 {
		t.Errorf("100 pushes within 100 seconds led to %d syncs and %d covered pushes", syncs, covered)
	}
	if week.Longest < 40*time.Second || week.Longest > 50*time.Second {
		t.Errorf("the first of them waits for %v, at a rate of one in 50 seconds", week.Longest)
	}
	o.Rate = 0
	if week := scaling.Simulate(o); week.Pushed.Sum() != 100 || week.Covered.Sum() != 0 || week.Longest != 0 {
		t.Errorf("where every sync begins at once there are %d of 100, and the longest wait is %v", week.Pushed.Sum(), week.Longest)
	}
}

func TestWeek_Peak_IsOnSundayEvening(t *testing.T) {
	t.Parallel()
	o := small()
	o.Calendars = 20_000
	week := scaling.Simulate(o)
	most, at := week.Pushes.Peak()
	const begins, ends = (6*24 + 18) * 3600, (6*24 + 22) * 3600
	if at < begins || at >= ends || most < 5*week.Pushes.Average() {
		t.Errorf("the busiest minute begins at %d with %.1f a second, %.1f on average", at, most, week.Pushes.Average())
	}
	if evening := week.Pushes[begins:ends].Sum(); evening*2 < week.Pushes.Sum() {
		t.Errorf("%d of %d changes are on Sunday evening", evening, week.Pushes.Sum())
	}
	o.OnSunday = 0
	if most, _ := scaling.Simulate(o).Pushes.Peak(); most > 4*week.Pushes.Average() {
		t.Errorf("without Sunday evening the peak is %.1f", most)
	}
}

func TestWeek_BeforeASession_IsSyncedEveryQuarter(t *testing.T) {
	t.Parallel()
	o := small()
	o.Sittings, o.Before, o.ListEvery = 0, 48*time.Hour, 15*time.Minute
	if got := scaling.Simulate(o).Planned.Sum(); got < 190*1000 || got > 194*1000 {
		t.Errorf("1,000 sessions have %d syncs before them, and not 192 each", got)
	}
	busy := small()
	busy.Before, busy.ListEvery = o.Before, o.ListEvery
	week := scaling.Simulate(busy)
	if week.Planned.Sum() >= scaling.Simulate(o).Planned.Sum() {
		t.Error("syncs because of pushes take the place of none before sessions")
	}
}

func TestWeek_OverTheRate_WaitsAndCatchesUp(t *testing.T) {
	t.Parallel()
	o := small()
	o.Between, o.Rate = time.Second, 0.05
	week := scaling.Simulate(o)
	if week.Longest < time.Minute || week.Covered.Sum() == 0 {
		t.Errorf("the longest wait is %v, and %d pushes are covered", week.Longest, week.Covered.Sum())
	}
	for at, n := range week.Pushed {
		if n > 1 {
			t.Fatalf("%d syncs begin in second %d at a rate of %v", n, at, o.Rate)
		}
	}
	if most, _ := week.Pushed.Peak(); most > 0.05+1.0/60 {
		t.Errorf("%.3f syncs a second begin at a rate of %v", most, o.Rate)
	}
}

func TestWeek_MoreThanTheRateAsked_UsesAllOfIt(t *testing.T) {
	t.Parallel()
	o := small()
	o.Before, o.ListEvery, o.Rate = 6*24*time.Hour, time.Minute, 2.5
	week := scaling.Simulate(o)
	if got := week.Pushed.Average() + week.Planned.Average(); got < 2.49 || got > 2.51 {
		t.Errorf("of 2.5 syncs a second, and 14 to do, %.2f begin", got)
	}
	if week.Left == 0 || week.Left > o.Calendars {
		t.Errorf("%d syncs wait at the end for %d calendars", week.Left, o.Calendars)
	}
}

func TestWeek_LeftToTheNext_WaitsUntilItsTurn(t *testing.T) {
	t.Parallel()
	o := small()
	o.Sittings, o.Edits, o.OnSunday, o.Rate = 1, 1, 1, 0.01 // the last turn is 100,000 seconds after the first push
	week := scaling.Simulate(o)
	if week.Longest < 80_000*time.Second || week.Longest > 100_000*time.Second {
		t.Errorf("the longest wait is %v, and %d syncs are left", week.Longest, week.Left)
	}
}

func TestWeek_MovesWithinTheSettleTime_AreAnnouncedOnce(t *testing.T) {
	t.Parallel()
	o := small()
	o.Calendars, o.Sittings, o.Edits, o.Between, o.OnSunday, o.Finalised, o.Moved = 1, 1, 10, 0, 1, 0, 1
	week := scaling.Simulate(o)
	if week.Moves.Sum() != 10 || week.Announcements.Sum() != 1 {
		t.Errorf("10 moves within 10 seconds are %d transitions and %d announcements", week.Moves.Sum(), week.Announcements.Sum())
	}
}

func TestWeek_OfOneSeed_IsTheSame(t *testing.T) {
	t.Parallel()
	o := small()
	if !reflect.DeepEqual(scaling.Simulate(o), scaling.Simulate(o)) {
		t.Error("two weeks of one seed differ")
	}
	o.Seed++
	if reflect.DeepEqual(scaling.Simulate(small()), scaling.Simulate(o)) {
		t.Error("two seeds have the same week")
	}
}
