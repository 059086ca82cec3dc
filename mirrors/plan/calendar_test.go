package plan_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"questscheduler/internal/gcal"
	"questscheduler/internal/mirror"
	"questscheduler/internal/recurrence"
	"questscheduler/mirrors/plan"
	"questscheduler/rules"
)

// calendars are Google's, as far as mirrors are concerned, with the writer in front of them:
// by calendar and event id. The id of an instance is that of its series and a key.
type calendars struct {
	events map[string]gcal.Event
	clock  time.Time
	calls  int
}

func newCalendars() *calendars { return &calendars{events: map[string]gcal.Event{}, clock: now} }

func (c *calendars) put(calendar, id string, content gcal.Content) gcal.Event {
	c.clock = c.clock.Add(time.Second)
	event := answer(id, c.clock.String(), content, c.clock)
	if series, key, ok := strings.Cut(id, "_"); ok {
		event.InstanceOf = series
		original, err := recurrence.Parse(key)
		if err != nil {
			panic(err)
		}
		event.Details.Original = original
	}
	c.events[calendar+"/"+id] = event
	return event
}

func (c *calendars) delete(calendar, id string) gcal.Event {
	event := c.put(calendar, id, gcal.Content{})
	event.EventState = rules.Gone
	c.events[calendar+"/"+id] = event
	for path := range c.events { // the exceptions go with their series
		if instance, ok := strings.CutPrefix(path, calendar+"/"+id+"_"); ok {
			c.delete(calendar, id+"_"+instance)
		}
	}
	return event
}

// live lists what calendars show: events and exceptions that are not deleted.
func (c *calendars) live() (paths []string) {
	for _, path := range slices.Sorted(maps.Keys(c.events)) {
		if c.events[path].EventState != rules.Gone {
			paths = append(paths, path)
		}
	}
	return paths
}

// write does what is due, until nothing is, and returns the situation then.
func (c *calendars) write(s plan.Situation) plan.Situation {
	for range 20 {
		isIdle := true
		for i := 0; i < len(s.Mirrors); i++ {
			m := s.Mirrors[i]
			if m.Due.IsZero() || m.Due.After(s.Now) || plan.Next(m) == plan.Nothing {
				continue
			}
			next, keep, ok := c.one(s, m)
			if !ok {
				continue
			}
			isIdle = false
			s.Mirrors = slices.Clone(s.Mirrors)
			if keep {
				s.Mirrors[i] = next
			} else {
				s.Mirrors = slices.Delete(s.Mirrors, i, i+1)
				i--
			}
			if next.Generation != m.Generation { // those of exceptions name instances of it
				s, _ = applied(s)
			}
		}
		if isIdle {
			return s
		}
	}
	panic(fmt.Sprintf("the writer comes to no end: %+v", s.Mirrors))
}

// one is the writer with one mirror; ok is false if it has to wait.
func (c *calendars) one(s plan.Situation, m mirror.Mirror) (next mirror.Mirror, keep, ok bool) {
	var series *mirror.Mirror
	var event mirror.Event
	for i := range s.Mirrors {
		if s.Mirrors[i].ID == m.SeriesMirrorID {
			series = &s.Mirrors[i]
		}
	}
	for _, e := range s.Events {
		if e.ID == m.CanonicalID {
			event = e
		}
	}
	if plan.IsInPlace(m, event) {
		event, _ = plan.InPlaceOf(m, event, s.Events)
	}
	if !plan.Ready(m, series) {
		return m, true, false
	}
	c.calls++
	if plan.Next(m) == plan.Delete {
		if m.EventID != "" {
			c.delete(m.TargetCalendarID, m.EventID)
		}
		next, keep = plan.Deleted(m, s.Now)
		return next, keep, true
	}
	if series != nil {
		m = plan.Begin(m, series.TargetCalendarID, series.EventID+"_"+event.OriginalStart.String())
	} else if m.EventID == "" {
		calendar := s.Accounts[m.TargetAccountID].PrimaryID
		if m.Target == mirror.Overlay {
			calendar = s.Accounts[m.TargetAccountID].Overlay.CalendarID
		}
		m = plan.Begin(m, calendar, mirror.EventID("here", m.CanonicalID, m.TargetAccountID, calendar, m.Generation))
	}
	if known, taken := c.events[m.TargetCalendarID+"/"+m.EventID]; taken && known.EventState == rules.Gone && series == nil {
		return plan.NextGeneration(m, s.Now), true, true
	}
	if plan.Next(m) == plan.Cancel {
		return plan.Written(m, m.Wanted, c.delete(m.TargetCalendarID, m.EventID), s.Now), true, true
	}
	return plan.Written(m, m.Wanted, c.put(m.TargetCalendarID, m.EventID, plan.Project(event, m.Detail)), s.Now), true, true
}

// observe lets a sync of an event reach its mirror, or that of its series, and plans.
func (c *calendars) observe(s plan.Situation, path string) (plan.Situation, plan.Verdict) {
	event := c.events[path]
	calendar, _, _ := strings.Cut(path, "/")
	next, verdict := mirror.Mirror{}, plan.Ignored
	for _, m := range s.Mirrors {
		if m.TargetCalendarID == calendar && m.EventID == event.ID {
			next, verdict = plan.Observed(m, event, s.Now)
		}
	}
	if next.ID == "" {
		for _, m := range s.Mirrors {
			if m.TargetCalendarID == calendar && m.EventID != "" && m.EventID == event.InstanceOf {
				next, verdict = plan.ObservedInstance(s, m, event)
			}
		}
	}
	if next.ID != "" {
		s.Mirrors = merged(s.Mirrors, []mirror.Mirror{next})
	}
	s, _ = applied(s)
	return s, verdict
}
