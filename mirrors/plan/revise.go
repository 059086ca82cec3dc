package plan

import (
	"strconv"
	"strings"
	"time"

	"questscheduler/internal/mirror"
)

// Mirror.Wanted is Hash of the projection, or one of these. For an exception a dot and a
// stamp of its series follow: another rule, start or zone of the series, or another event
// that shows it, thereby changes what every exception wants, and each is written again.
const (
	wantsNothing   = ""          // no event, and no document once it is deleted
	wantsCancelled = "cancelled" // the instance cancelled
	wantsCovered   = "covered"   // no event, but the document
)

// shownBy is the part of Wanted that a calendar can show.
func shownBy(wanted string) string {
	content, _, _ := strings.Cut(wanted, ".")
	return content
}

func stampOf(wanted string) string {
	_, stamp, _ := strings.Cut(wanted, ".")
	return stamp
}

func (w want) wanted(series mirror.Mirror) string {
	switch content := wantsCancelled; w.mode {
	case cover:
		return wantsCovered
	case show:
		content = Hash(Project(w.event, w.detail))
		fallthrough
	default:
		if w.series == nil {
			return content
		}
		generation := series.Generation
		if series.Replacing {
			generation++
		}
		e := *w.series
		return content + "." + hash(append([]string{strconv.FormatInt(generation, 10), e.Start.String(), e.Start.Zone}, e.Recurrence...)...)[:16]
	}
}

// revise is a mirror, zero if there is none, brought to what is wanted. ok is false if there
// is nothing to store. planned has the mirror of the series.
func (p *planning) revise(was mirror.Mirror, w want, planned map[string]mirror.Mirror) (next mirror.Mirror, ok bool) {
	next = p.described(was, w)
	account, series := p.Accounts[w.account], planned[w.seriesMirror()]
	next.Wanted = w.wanted(series)
	if w.mode == cover {
		if was.State == mirror.Suppressed {
			return next, true
		}
		return p.withoutEvent(was, next), true
	}
	if p.loops(w) {
		next.Wanted = wantsNothing
		if was.EventID == "" {
			next.State, next.Due, next.Attempts, next.LastError = mirror.Contested, time.Time{}, 0, sayLoop
			return next, true
		}
		return p.withoutEvent(was, next), true
	}
	calendar := account.PrimaryID
	if w.target == mirror.Overlay {
		calendar = account.Overlay.CalendarID
	}
	if w.target == mirror.Overlay && account.Overlay.Suppressed || w.series != nil && (series.ID == "" || series.State == mirror.Suppressed) {
		if was.EventID != "" && was.TargetCalendarID == account.PrimaryID && account.PrimaryID != "" && w.target == mirror.Overlay {
			next.Wanted = wantsNothing // it was in another calendar, which still has it
			return p.withoutEvent(was, next), true
		}
		next.State, next.Due, next.Replacing = mirror.Suppressed, time.Time{}, false
		return next, was.ID != ""
	}
	// Without an overlay calendar yet, what is in the primary, or in an earlier one, has to leave it all the same.
	isMoved := was.TargetCalendarID != calendar && (calendar != "" || w.target == mirror.Overlay)
	isReattached := was.SeriesMirrorID != w.seriesMirror()
	next.SeriesMirrorID = w.seriesMirror()
	switch {
	case was.SeriesMirrorID != "" && (isMoved || isReattached || stampOf(was.Wanted) != stampOf(next.Wanted)):
		// An instance of an event that is deleted or changed as a whole: find it again.
		next = forget(next)
	case (was.State == mirror.Suppressed && was.EventID != "" || was.State == mirror.Contested && !was.IsLooping()) &&
		!isMoved && !isReattached:
		return next, true // left alone
	case was.State == mirror.Suppressed: // with its overlay calendar, which is wanted again
		next.Generation++
		next = forget(next)
	case was.EventID != "" && (isMoved || isReattached || deletes(was)):
		// It becomes an instance only after its own event was deleted.
		next.Replacing, next.State, next.SeriesMirrorID = true, mirror.Deleting, was.SeriesMirrorID
		return p.due(was, next), true
	case was.State == mirror.Active && was.Wanted == next.Wanted:
		return next, true
	}
	if next.EventID == "" {
		next.TargetCalendarID, next.Replacing = calendar, false
	}
	next.State = mirror.Pending
	return p.due(was, next), true
}

// described is a mirror, or a new one, with what it says of its event and of why it is there.
func (p *planning) described(was mirror.Mirror, w want) mirror.Mirror {
	next := was
	if was.ID == "" {
		next = mirror.Mirror{ID: w.id(), OwnerID: p.Owner, CanonicalID: w.event.ID, TargetAccountID: w.account, Generation: 1, CreatedAt: p.Now}
	}
	next.ICalUID, next.Target, next.Detail = w.event.ICalUID, w.target, w.detail
	next.FromAccountID, next.FromCalendarID, next.GroupID = "", "", ""
	if w.event.OwnerID == p.Owner {
		next.FromAccountID, next.FromCalendarID = w.event.AccountID, w.event.CalendarID
	}
	if w.byConnection {
		next.GroupID = w.event.GroupID
	}
	if !next.Ends.Equal(w.event.Until) {
		next.Ends = w.event.Until
	}
	return next
}

// deletes reports whether the event of the mirror must be deleted, or is being deleted.
func deletes(m mirror.Mirror) bool {
	return m.State == mirror.Deleting || m.Replacing || m.Wanted == wantsNothing || m.Wanted == wantsCovered
}

// withoutEvent is a mirror that should have no event, by its Wanted.
func (p *planning) withoutEvent(was, next mirror.Mirror) mirror.Mirror {
	next.Replacing, next.State = false, mirror.Deleting
	if next.EventID == "" && next.Wanted == wantsCovered {
		next.State, next.Due, next.SeriesMirrorID = mirror.Covered, time.Time{}, ""
		next.Attempts, next.LastError = 0, ""
		return next
	}
	return p.due(was, next)
}

// retire is a mirror that nobody wants any more. series is the mirror of its series, if
// that stays: else the instance goes with it.
func (p *planning) retire(was, series mirror.Mirror) mirror.Mirror {
	next := was
	next.Wanted = wantsNothing
	if was.SeriesMirrorID != "" && (series.ID == "" || deletes(series)) {
		next = forget(next)
	}
	return p.withoutEvent(was, next)
}

// due makes a mirror whose work changed due, and keeps the wait and the failures of work
// that did not change. Nothing is due in an account that is not usable, nor a call for one
// that is not linked.
func (p *planning) due(was, next mirror.Mirror) mirror.Mirror {
	sameWork := was.Wanted == next.Wanted && was.Replacing == next.Replacing && was.EventID == next.EventID
	switch {
	case sameWork && was.State == mirror.Failed:
		next.State = mirror.Failed
	case !sameWork || was.State != next.State:
		next.Due, next.Attempts, next.LastError = p.Now, 0, ""
	}
	account, linked := p.Accounts[next.TargetAccountID]
	if linked && !account.Usable || !linked && next.EventID != "" {
		next.Due = time.Time{}
	} else if next.Due.IsZero() {
		next.Due = p.Now
	}
	return next
}

// forget drops what is known of the mirror's event.
func forget(m mirror.Mirror) mirror.Mirror {
	m.EventID, m.TargetCalendarID, m.ETag, m.AnsweredAt = "", "", "", time.Time{}
	m.Written, m.Answered, m.Replacing = "", "", false
	return m
}
