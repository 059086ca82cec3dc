package rules

import "time"

// Pace is how often something may take place: Burst times at once, and once in
// Every in the long run.
type Pace struct {
	Every time.Duration
	Burst int
}

// PerHour is the pace by which no hour has more than most (at least 1): half of
// them at once, and the others evenly.
func PerHour(most int) Pace {
	burst := (most + 1) / 2
	evenly := time.Duration(most - burst + 1)
	return Pace{Every: (time.Hour + evenly - 1) / evenly, Burst: burst}
}

// Arrive is the generic cell rate algorithm. due is when the next one would be due
// if they came evenly (zero: none came yet); each moves it on by Every, and it may
// lie ahead of now by a burst of them. One beyond that has to wait, and moves
// nothing. A due time further ahead than any burst is of a clock that was set back
// since, and does not count.
func (p Pace) Arrive(due, now time.Time) (next time.Time, wait time.Duration) {
	ahead := due.Sub(now)
	most := time.Duration(p.Burst) * p.Every
	if ahead < 0 || ahead > most {
		ahead = 0
	}
	if wait = ahead + p.Every - most; wait > 0 {
		return due, wait
	}
	return now.Add(ahead + p.Every), 0
}
