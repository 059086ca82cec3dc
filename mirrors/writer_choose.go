package mirrors

import (
	"strings"
	"time"

	"questscheduler/internal/mirror"
	"questscheduler/mirrors/plan"
)

// scene is what the writer knows when it chooses its next step for a mirror.
type scene struct {
	Mirror mirror.Mirror
	// Event is the canonical event; HasEvent is false if it is gone.
	Event    mirror.Event
	HasEvent bool
	// Series is the mirror of the series, for the mirror of an exception.
	Series    mirror.Mirror
	HasSeries bool
	Overlay   mirror.OverlayCalendar
	// Usable reports whether calls may be made for the target account.
	Usable bool
	// Paused is until when the account rests; zero if it does not.
	Paused time.Time
}

// choice is the writer's next step for a mirror.
type choice uint8

const (
	rest     choice = iota // nothing is due
	park                   // the account cannot be used until it is linked again
	hold                   // the account rests for a while
	forget                 // there is no event to delete: remove the document
	remove                 // delete the event, and then the document
	name                   // record the calendar and the id of the event to be created
	open                   // create the overlay calendar
	suppress               // the overlay calendar was deleted by its owner
	await                  // the series' mirror is not written yet
	follow                 // the series' mirror is left alone, and so is its exception
	find                   // find the instance of an exception
	cancel                 // the occurrence is not held: delete the instance
	insert
	patch
)

var choiceNames = [...]string{
	rest: "do nothing", park: "wait until the account is linked again", hold: "wait until the account has rested", forget: "forget the mirror",
	remove: "delete the event", name: "name the event", open: "create the overlay calendar", suppress: "leave the deleted overlay calendar alone",
	await: "wait for the series", follow: "leave the series alone", find: "find the occurrence", cancel: "cancel the occurrence",
	insert: "create the event", patch: "change the event",
}

// String is for logs and the journal.
func (c choice) String() string { return choiceNames[c] }

// choose decides what to do next for a mirror. It is pure.
func choose(s scene, now time.Time) choice {
	m := s.Mirror
	if m.Due.IsZero() || m.Due.After(now) {
		return rest
	}
	op := plan.Next(m)
	if !s.HasEvent && op != plan.Nothing {
		op = plan.Delete
	}
	switch {
	case op == plan.Nothing:
		return rest
	case op == plan.Delete && m.EventID == "":
		return forget // no call was ever made
	case !s.Usable:
		return park
	case s.Paused.After(now):
		return hold
	case op == plan.Delete:
		return remove
	case m.SeriesMirrorID != "":
		return chooseInstance(s, op)
	case m.EventID == "":
		return chooseCalendar(s)
	case m.ETag == "":
		return insert
	default:
		return patch
	}
}

// chooseCalendar is for a mirror whose event is not named yet.
func chooseCalendar(s scene) choice {
	switch {
	case s.Mirror.Target == mirror.Overlay && s.Overlay.Suppressed:
		return suppress
	case s.Mirror.Target == mirror.Overlay && s.Overlay.CalendarID == "":
		return open
	default:
		return name
	}
}

func chooseInstance(s scene, op plan.Op) choice {
	switch {
	case !s.HasSeries || s.Series.State == mirror.Deleting:
		return forget // the series' event takes its occurrences along
	case s.Series.State == mirror.Suppressed || s.Series.State == mirror.Contested || s.Series.State == mirror.Covered:
		return follow
	case !plan.Ready(s.Mirror, &s.Series):
		return await
	case !ofSeries(s.Mirror, s.Series):
		return find
	case op == plan.Cancel:
		return cancel
	default:
		return patch
	}
}

// ofSeries reports whether a mirror's event is an instance of the present event of its
// series: Google's ids of instances begin with that of the series.
func ofSeries(m, series mirror.Mirror) bool {
	return m.EventID != "" && strings.HasPrefix(m.EventID, series.EventID+"_")
}
