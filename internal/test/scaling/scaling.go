// Package scaling simulates a week of many calendars, for docs/scaling.md: when people change them,
// and how pushes and the syncs before sessions pass through a queue of limited rate. It is
// deterministic for a seed. What a sync costs is counted by internal/test/cost.
package scaling

import (
	"math/rand/v2"
	"slices"
	"time"
)

// A week in seconds begins on Monday at midnight, in one time zone for all.
const (
	hour        = 3600
	day         = 24 * hour
	Seconds     = 7 * day
	evening     = 6*day + 18*hour
	eveningEnds = 6*day + 22*hour
)

// Options say what people do, with one session a week in each calendar, and what the server may do.
type Options struct {
	Calendars int
	// Sittings is how often a week somebody edits a calendar: Edits times, Between apart on average.
	Sittings, Edits int
	Between         time.Duration
	// OnSunday is the share of the sittings that are on Sunday evening.
	OnSunday float64
	// Finalised and Moved are the shares of changes that are a poll's new event, and a session's new time.
	Finalised, Moved float64
	// Before is how long before a session its calendar is synced every ListEvery; 0: never.
	Before, ListEvery time.Duration
	// Settle is how long a move lasts before it is announced.
	Settle time.Duration
	// Rate is how many syncs may begin in a second, of each calendar one at most; 0: all that are due.
	Rate float64
	Seed uint64
}

// Series counts something in each second of the week.
type Series []int

// Sum is the count of the week.
func (s Series) Sum() (sum int) {
	for _, n := range s {
		sum += n
	}
	return sum
}

// Average is per second.
func (s Series) Average() float64 { return float64(s.Sum()) / float64(len(s)) }

// Peak is per second in the busiest minute, and at is when that minute begins.
func (s Series) Peak() (most float64, at int) {
	for minute := 0; minute+60 <= len(s); minute += 60 {
		if n := float64(s[minute:minute+60].Sum()) / 60; n > most {
			most, at = n, minute
		}
	}
	return most, at
}

// Week is what happened.
type Week struct {
	// Pushes are all, and Covered those that a waiting sync covers.
	Pushes, Covered Series
	// Pushed are syncs that began because of a push, and Planned those before a session.
	Pushed, Planned Series
	// Finalised are a poll's new events, Moves the transitions, and Announcements those of moves: one
	// covers all moves of a calendar in Settle.
	Finalised, Moves, Announcements Series
	// Longest is the longest wait of a push for its sync, and Left the syncs left to the next week.
	Longest time.Duration
	Left    int
}

// change is an edit of a calendar; finalised and moved are 1 or 0.
type change struct{ at, calendar, finalised, moved int }

// rhythm weighs the hours of a day, and sessionDays the days of a week by their sessions.
var (
	rhythm      = []float64{1, 0, 0, 0, 0, 0, 1, 3, 5, 6, 6, 6, 7, 6, 5, 5, 6, 8, 10, 12, 12, 10, 6, 3}
	sessionDays = []float64{10, 10, 10, 10, 20, 25, 15}
)

// draw picks a place by its weight.
func draw(r *rand.Rand, weights []float64) int {
	sum := 0.0
	for _, w := range weights {
		sum += w
	}
	i := 0
	for left := r.Float64() * sum; left >= weights[i]; i++ {
		left -= weights[i]
	}
	return i
}

// changes draws the changes of a week, in their order.
func (o Options) changes(r *rand.Rand) (all []change) {
	for calendar := range o.Calendars {
		for range o.Sittings {
			at := r.IntN(7)*day + draw(r, rhythm)*hour + r.IntN(hour)
			if r.Float64() < o.OnSunday { // most people at 20:00
				at = evening + (r.IntN(eveningEnds-evening)+r.IntN(eveningEnds-evening))/2
			}
			for range o.Edits {
				one, drawn := change{at: at % Seconds, calendar: calendar}, r.Float64()
				if drawn < o.Finalised {
					one.finalised = 1
				} else if drawn < o.Finalised+o.Moved {
					one.moved = 1
				}
				all = append(all, one)
				at += 1 + int(r.ExpFloat64()*o.Between.Seconds())
			}
		}
	}
	slices.SortStableFunc(all, func(a, b change) int { return a.at - b.at })
	return all
}

// simulation is a week under way. By calendar it has when the session begins, when the last sync
// began, when a push asked for the sync that waits (-1: none did), how many moves that one finds,
// and when the last announcement is due.
type simulation struct {
	Options
	week                                      Week
	session, started, asked, moves, announced []int
	waiting                                   []bool
	queue                                     []int
	planned                                   [][]int // by second, round and round: calendars to sync before their session
	rate                                      float64
	now, listEvery, fromThen                  int
}

// Simulate draws a week and passes it through the queue.
func Simulate(o Options) Week {
	r := rand.New(rand.NewPCG(o.Seed, o.Seed)) //nolint:gosec // a simulation, and no secret
	changes := o.changes(r)
	s := &simulation{Options: o, listEvery: int(o.ListEvery.Seconds()), fromThen: int(o.Before.Seconds())}
	for _, series := range []*Series{&s.week.Pushes, &s.week.Covered, &s.week.Pushed, &s.week.Planned,
		&s.week.Finalised, &s.week.Moves, &s.week.Announcements} {
		*series = make(Series, Seconds)
	}
	for _, numbers := range []*[]int{&s.session, &s.started, &s.moves, &s.asked, &s.announced} {
		*numbers = make([]int, o.Calendars)
	}
	s.waiting, s.planned = make([]bool, o.Calendars), make([][]int, s.listEvery+1)
	opening := make([][]int, Seconds)
	for calendar := range o.Calendars {
		s.session[calendar] = draw(r, sessionDays)*day + 18*hour + r.IntN(3*hour)
		s.asked[calendar], s.announced[calendar], s.started[calendar] = -1, -1, -Seconds
		at := (s.session[calendar] - s.fromThen + Seconds) % Seconds
		opening[at] = append(opening[at], calendar)
		if s.upcoming(calendar) { // the two days of this week's session began before the week
			at = r.IntN(s.listEvery)
			s.planned[at] = append(s.planned[at], calendar)
		}
	}
	for s.now = range Seconds {
		for len(changes) > 0 && changes[0].at == s.now {
			s.push(changes[0])
			changes = changes[1:]
		}
		s.plan(opening[s.now])
		s.plan(s.planned[s.now%len(s.planned)])
		s.planned[s.now%len(s.planned)] = nil
		s.serve()
	}
	s.week.Left = len(s.queue)
	for ahead, calendar := range s.queue { // these begin in the next week, in their order
		s.waited(calendar, Seconds+int(float64(ahead)/o.Rate))
	}
	return s.week
}

// upcoming reports whether the calendar's session begins soon. Each week has the same.
func (s *simulation) upcoming(calendar int) bool {
	return s.listEvery > 0 && (s.session[calendar]-s.now+Seconds)%Seconds <= s.fromThen
}

// push is handed over. One that finds a waiting request of a push is covered by it.
func (s *simulation) push(c change) {
	s.week.Pushes[s.now]++
	s.week.Finalised[s.now] += c.finalised
	s.moves[c.calendar] += c.moved
	if s.asked[c.calendar] >= 0 {
		s.week.Covered[s.now]++
		return
	}
	s.asked[c.calendar] = s.now
	s.enqueue(c.calendar)
}

// plan has calendars synced that were not for ListEvery.
func (s *simulation) plan(due []int) {
	for _, calendar := range due {
		if s.upcoming(calendar) && s.now-s.started[calendar] >= s.listEvery {
			s.enqueue(calendar)
		}
	}
}

func (s *simulation) enqueue(calendar int) {
	if !s.waiting[calendar] {
		s.waiting[calendar] = true
		s.queue = append(s.queue, calendar)
	}
}

// serve begins as many syncs as the rate allows.
func (s *simulation) serve() {
	s.rate = min(s.rate+s.Rate, s.Rate+1) // what is left of one is kept
	for len(s.queue) > 0 && (s.Rate == 0 || s.rate >= 1) {
		s.rate--
		s.sync(s.queue[0])
		s.queue = s.queue[1:]
	}
}

// waited notes how long a push waited, if the calendar's sync is for one.
func (s *simulation) waited(calendar, until int) {
	if asked := s.asked[calendar]; asked >= 0 {
		s.week.Longest = max(s.week.Longest, time.Duration(until-asked)*time.Second)
	}
}

// sync lists a calendar, and announces its moves unless an announcement of it is due already.
func (s *simulation) sync(calendar int) {
	s.waited(calendar, s.now)
	if s.asked[calendar] >= 0 {
		s.week.Pushed[s.now]++
	} else {
		s.week.Planned[s.now]++
	}
	if s.moves[calendar] > 0 {
		s.week.Moves[s.now]++
		if s.announced[calendar] < s.now {
			s.announced[calendar] = s.now + int(s.Settle.Seconds())
			s.week.Announcements[s.announced[calendar]%Seconds]++
		}
	}
	s.waiting[calendar], s.asked[calendar], s.started[calendar], s.moves[calendar] = false, -1, s.now, 0
	if s.upcoming(calendar) {
		at := (s.now + s.listEvery) % len(s.planned)
		s.planned[at] = append(s.planned[at], calendar)
	}
}
