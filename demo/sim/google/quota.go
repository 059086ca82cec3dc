package google

import (
	"net/http"
	"time"

	"questscheduler/demo/sim/control"
)

// Quota limits calls in windows that slide with the simulator's clock. Zero is
// no limit. Counts are forgotten at a restart.
type Quota struct {
	// PerPerson and PerProject are calls of the Calendar API in a minute.
	PerPerson  int `json:"per_person"`
	PerProject int `json:"per_project"`
	// Writes are those of one person in an hour. One more makes the account
	// read-only for hours.
	Writes int `json:"writes"`
	// Sheets are calls of the Sheets API by one person in a minute.
	Sheets int `json:"sheets"`
}

// GoogleQuota is what Google gives a project without asking.
var GoogleQuota = Quota{PerPerson: 600, PerProject: 10_000, Sheets: 60}

// readOnlyFor is how long writes are refused once there were too many.
const readOnlyFor = 6 * time.Hour

// The refusals of quotas. Google gives the first two with one status or the
// other; here they take turns, so that a client meets both.
var (
	errUserRate    = newError(http.StatusForbidden, "userRateLimitExceeded", "User Rate Limit Exceeded")
	errProjectRate = newError(http.StatusForbidden, "rateLimitExceeded", "Rate Limit Exceeded")
	errTooMany     = newError(http.StatusTooManyRequests, "rateLimitExceeded", "Rate Limit Exceeded")
	errQuota       = newError(http.StatusForbidden, "quotaExceeded", "Calendar usage limits exceeded.")
)

// usage is what was used of a quota. The server's lock guards it.
type usage struct {
	quota    Quota
	project  window
	people   map[string]*window // by user key
	writes   map[string]*window
	sheets   map[string]*window
	readOnly map[string]time.Time // until when, by user key
	refused  int
}

func newUsage(q Quota) usage {
	return usage{
		quota: q, people: map[string]*window{}, writes: map[string]*window{}, sheets: map[string]*window{},
		readOnly: map[string]time.Time{},
	}
}

// take counts a call, or refuses it, which is not counted.
func (u *usage) take(user string, writes bool, now time.Time) error {
	if u.quota == (Quota{}) {
		return nil
	}
	minute, hour := now.Add(-time.Minute), now.Add(-time.Hour)
	person, written := windowOf(u.people, user), windowOf(u.writes, user)
	switch {
	case writes && now.Before(u.readOnly[user]):
		return errQuota
	case u.quota.Writes > 0 && writes && written.since(hour) >= u.quota.Writes:
		u.readOnly[user] = now.Add(readOnlyFor)
		return errQuota
	case u.quota.PerPerson > 0 && person.since(minute) >= u.quota.PerPerson:
		return u.rate(errUserRate)
	case u.quota.PerProject > 0 && u.project.since(minute) >= u.quota.PerProject:
		return u.rate(errProjectRate)
	}
	u.project.add(now)
	person.add(now)
	if writes {
		written.add(now)
	}
	return nil
}

func (u *usage) rate(err *apiError) error {
	u.refused++
	if u.refused%2 == 0 {
		return errTooMany
	}
	return err
}

// window are the times of calls, oldest first.
type window struct{ calls []time.Time }

func windowOf(windows map[string]*window, user string) *window {
	if windows[user] == nil {
		windows[user] = &window{}
	}
	return windows[user]
}

func (w *window) add(now time.Time) { w.calls = append(w.calls, now) }

// since forgets the calls up to a time and counts the others.
func (w *window) since(from time.Time) int {
	old := 0
	for old < len(w.calls) && !w.calls[old].After(from) {
		old++
	}
	w.calls = w.calls[old:]
	return len(w.calls)
}

// SetQuota puts another quota in the place of Options.Quota; what was used so
// far is forgotten.
func (s *Server) SetQuota(q Quota) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.usage = newUsage(q)
}

// takeSheets counts a call of the Sheets API, or refuses it.
func (u *usage) takeSheets(user string, now time.Time) error {
	person := windowOf(u.sheets, user)
	if u.quota.Sheets > 0 && person.since(now.Add(-time.Minute)) >= u.quota.Sheets {
		return errSheetsQuota
	}
	person.add(now)
	return nil
}

// takeQuota counts a call of an API.
func (s *Server) takeQuota(rt route, user *User) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if rt.sheets() {
		return s.usage.takeSheets(user.Key, s.clock.Now())
	}
	return s.usage.take(user.Key, rt.writes(), s.clock.Now())
}

// simQuota is POST /_sim/quota {"per_person": 600, "per_project": 10000,
// "writes": 0, "sheets": 60}; what is left out is not limited.
func (s *Server) simQuota(w http.ResponseWriter, r *http.Request) {
	var q Quota
	if !control.Decode(w, r, &q) {
		return
	}
	s.SetQuota(q)
	control.Answer(w, http.StatusOK, q)
}
