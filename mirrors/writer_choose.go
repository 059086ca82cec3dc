package mirrors

import (
	"strings"
	"time"

	"questscheduler/internal/mirror"
	"questscheduler/mirrors/plan"
)

// facts are what the writer knows when it chooses its next step for a mirror.
type facts struct {
	Mirror mirror.Mirror
	// Event is the canonical event, or what the mirror shows in place of it; HasEvent is false if it
	// is gone, or is neither the mirror's owner's nor a group's (any more).
	Event    mirror.Event
	HasEvent bool
	// Series is the mirror of the series, for the mirror of an exception.
	Series    mirror.Mirror
	HasSeries bool
	// Overlay is the overlay calendar of a mirror that goes into one.
	Overlay mirror.OverlayCalendar
	// Usable reports whether calls may be made for the target account.
	Usable bool
	// Paused is until when the account rests; zero if it does not.
	Paused time.Time
}

// choice is the writer's next step for a mirror.
type choice uint8

const (
	doNothing  choice = iota // nothing is due
	doDefer                  // the account cannot be used until it is linked again
	doHold                   // the account rests for a while
	doPace                   // other exceptions of its series come first
	doForget                 // there is no event to delete: remove the document
	doRemove                 // delete the event, and then the document
	doName                   // record the calendar and the id of the event to be created, as load does
	doOpen                   // create the overlay calendar
	doSuppress               // the overlay calendar was deleted by its owner
	doAwait                  // the series' mirror is not written yet
	doFollow                 // the series' mirror is left alone, and so is its exception
	doFind                   // find the instance of an exception
	doCancel                 // the occurrence is not held: delete the instance
	doInsert
	doPatch
)

var choiceNames = [...]string{
	doNothing: "do nothing", doDefer: "wait until the account is linked again", doHold: "wait until the account has rested",
	doPace:   "wait for its turn among the exceptions of its series",
	doForget: "forget the mirror",
	doRemove: "delete the event", doName: "name the event", doOpen: "create the overlay calendar",
	doSuppress: "leave the deleted overlay calendar alone",
	doAwait:    "wait for the series", doFollow: "leave the series alone", doFind: "find the occurrence", doCancel: "cancel the occurrence",
	doInsert: "create the event", doPatch: "change the event",
}

// String is for logs and the journal.
func (c choice) String() string { return choiceNames[c] }

// choose decides what to do next for a mirror. It is pure.
func choose(s facts, now time.Time) choice {
	m := s.Mirror
	if m.Due.IsZero() || m.Due.After(now) {
		return doNothing
	}
	op := plan.Next(m)
	if !s.HasEvent && op != plan.Nothing {
		op = plan.Delete
	}
	switch {
	case op == plan.Nothing:
		return doNothing
	case op == plan.Delete && m.EventID == "":
		return doForget // no call was ever made
	case !s.Usable:
		return doDefer
	case s.Paused.After(now):
		return doHold
	case op == plan.Delete:
		return doRemove
	case m.NotBefore.After(now):
		return doPace
	case m.SeriesMirrorID != "":
		return chooseInstance(s, op)
	case m.EventID == "":
		return chooseCalendar(s)
	case m.ETag == "":
		return doInsert
	default:
		return doPatch
	}
}

// chooseCalendar is for a mirror whose event is not named yet.
func chooseCalendar(s facts) choice {
	switch {
	case s.Overlay.Suppressed:
		return doSuppress
	case s.Mirror.Target == mirror.Overlay && s.Overlay.CalendarID == "":
		return doOpen
	default:
		return doName
	}
}

func chooseInstance(s facts, op plan.Op) choice {
	switch {
	case s.HasSeries && (s.Series.State == mirror.Suppressed || s.Series.State == mirror.Covered):
		return doFollow
	case !s.HasSeries || !plan.Ready(s.Mirror, &s.Series):
		return doAwait
	case !ofSeries(s.Mirror, s.Series):
		return doFind
	case op == plan.Cancel:
		return doCancel
	default:
		return doPatch
	}
}

// ofSeries reports whether a mirror's event is an instance of the present event of its
// series: Google's ids of instances begin with that of the series.
func ofSeries(m, series mirror.Mirror) bool {
	return strings.HasPrefix(m.EventID, series.EventID+"_")
}
