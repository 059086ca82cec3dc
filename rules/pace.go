package rules

import "time"

// Pace is how often something may take place: Burst times at once, and once in
// Every in the long run.
type Pace struct {
	Every time.Duration
	Burst int
	// Skew is how far the clocks that Arrive is asked by may be apart.
	Skew time.Duration
}

// PerHour is the pace by which no hour has more than most (at least 1): half of
// them at once, and the others evenly. The clocks of two instances may be 10 minutes apart.
func PerHour(most int) Pace {
	burst := (most + 1) / 2
	evenly := time.Duration(most - burst + 1)
	return Pace{Every: (time.Hour + evenly - 1) / evenly, Burst: burst, Skew: 10 * time.Minute}
}

// Arrive is the generic cell rate algorithm. due is when the next one would be due
// if they came evenly (zero: none came yet); each moves it on by Every, and it may
// lie ahead of now by a burst of them. One beyond that has to wait, and moves
// nothing. A due time further ahead than a burst was written by a faster clock: it
// counts as a full burst by the slower one. Beyond Skew, a clock was set back
// since, and the due time does not count.
func (p Pace) Arrive(due, now time.Time) (next time.Time, wait time.Duration) {
	ahead := due.Sub(now)
	most := time.Duration(p.Burst) * p.Every
	if ahead < 0 || ahead > most+p.Skew {
		ahead = 0
	}
	ahead = min(ahead, most)
	if wait = ahead + p.Every - most; wait > 0 {
		return due, wait
	}
	return now.Add(ahead + p.Every), 0
}
