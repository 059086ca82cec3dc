package rules

import "time"

// Pace limits a rate: Burst at once, and one in Every in the long run.
type Pace struct {
	Every time.Duration
	Burst int
	// Skew is how far the clocks of Arrive's callers may differ.
	Skew time.Duration
}

// PerHour allows at most most (at least 1) in any hour: half of them at once, the others
// evenly. Clocks may differ by 10 minutes.
func PerHour(most int) Pace {
	burst := (most + 1) / 2
	evenly := time.Duration(most - burst + 1)
	return Pace{Every: (time.Hour + evenly - 1) / evenly, Burst: burst, Skew: 10 * time.Minute}
}

// Arrive is the generic cell rate algorithm. due is when the next arrival would be due at
// an even pace (zero: none yet); each arrival moves it by Every, at most a burst ahead of
// now, and one beyond that has to wait and moves nothing. A due time further ahead was
// written by a faster clock and counts as a full burst; beyond Skew the clock was set
// back, and it does not count.
func (p Pace) Arrive(due, now time.Time) (next time.Time, wait time.Duration) {
	ahead := due.Sub(now)
	most := time.Duration(p.Burst) * p.Every
	if ahead < 0 || ahead > most+p.Skew {
		ahead = 0
	}
	ahead = min(ahead, most)
	wait = ahead + p.Every - most
	if wait > 0 {
		return due, wait
	}
	return now.Add(ahead + p.Every), 0
}
