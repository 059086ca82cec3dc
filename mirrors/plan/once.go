package plan

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"questscheduler/internal/mirror"
	"questscheduler/internal/recurrence"
)

// want is a mirror that should be, and what its account should show of it.
type want struct {
	ask
	mode mode
	// series is the event of which the mirror's is an exception, if the account shows that
	// series by a mirror.
	series *mirror.Event
}

type mode int

const (
	show   mode = iota
	cancel      // the instance of the series' mirror must be cancelled
	cover       // the account shows the meeting otherwise
)

func (w want) id() string { return mirror.IDOf(w.event.ID, w.account) }

func (w want) seriesMirror() string {
	if w.series == nil {
		return ""
	}
	return mirror.IDOf(w.series.ID, w.account)
}

// planning is a situation with its indexes, and what was decided.
type planning struct {
	Situation
	mirrors map[string]mirror.Mirror  // the owner's, by id
	asked   map[string]map[string]ask // by event id and account
	byUID   map[string][]mirror.Event // by iCalUID, each list by id
	// organizers are those of the owner's events, by the event's origin.
	organizers map[string]string
	wanted     []want
}

func newPlanning(of Situation) *planning {
	p := &planning{
		Situation: of, mirrors: map[string]mirror.Mirror{}, asked: map[string]map[string]ask{}, byUID: map[string][]mirror.Event{},
		organizers: map[string]string{},
	}
	for _, m := range of.Mirrors {
		if m.OwnerID == of.Owner {
			p.mirrors[m.ID] = m
		}
	}
	for _, event := range of.Events {
		p.asked[event.ID] = of.asks(event)
		p.organizers[mirror.OriginKey(event.AccountID, event.CalendarID, event.EventID)] = event.Organizer
		uid := cmp.Or(event.ICalUID, event.ID) // without one it is a meeting of its own
		p.byUID[uid] = append(p.byUID[uid], event)
	}
	for _, events := range p.byUID {
		slices.SortFunc(events, func(a, b mirror.Event) int { return strings.Compare(a.ID, b.ID) })
	}
	return p
}

// decide settles for one account what shows each meeting: a native copy, else the copy of
// a group's event, else the mirror of the lowest canonical id.
func (p *planning) decide(account string) {
	for _, events := range p.byUID {
		native := p.native(events, account, "")
		series := p.settle(p.candidates(events, account, ""), native)
		occurrences := map[string]recurrence.Moment{}
		for _, event := range events {
			if !isOccurrence(event, "") {
				occurrences[event.OriginalStart.String()] = event.OriginalStart
			}
		}
		for _, original := range occurrences {
			p.decideOccurrence(events, account, original, p.byRule(events, account, original, native, series.winners), series)
		}
	}
}

// candidates lists the asks for mirrors of their own, the strongest first: of whole
// events, or of the exceptions at a time.
func (p *planning) candidates(events []mirror.Event, account, at string) (found []ask) {
	for _, event := range events {
		a, asked := p.asked[event.ID][account]
		if !asked || !isOccurrence(event, at) || !isMirrored(event, p.Owner, a.detail) || beyond(event, p.Now) {
			continue
		}
		if p.isDue(mirror.IDOf(event.ID, account), event.Until) {
			found = append(found, a)
		}
	}
	slices.SortStableFunc(found, func(a, b ask) int {
		return cmp.Or(compareBool(p.isOff(a), p.isOff(b)), compareBool(a.from != fromConnection, b.from != fromConnection))
	})
	return found
}

// isOff reports whether the mirror would go into an overlay calendar that its owner
// deleted: until the edge is set again it shows nothing, and any other one comes first.
func (p *planning) isOff(a ask) bool {
	return a.target == mirror.Overlay && p.Accounts[a.account].Overlay.Suppressed
}

// isDue reports whether an event with that end may have the mirror: one that has ended
// keeps what it has and gets no new one.
func (p *planning) isDue(id string, until time.Time) bool {
	return !ended(until, p.Now) || p.mirrors[id].Wanted != wantsNothing
}

// settled are the asks that an account shows by mirrors, and those that something else covers.
type settled struct{ winners, covered []ask }

// settle wants each candidate shown that agrees with nothing in shown, which the account shows
// already, nor with one before it, and the others covered.
func (p *planning) settle(candidates []ask, shown []mirror.Event) (found settled) {
	shown = slices.Clone(shown)
	for _, a := range candidates {
		w := want{ask: a, mode: cover}
		if agreesWithAny(a.event, shown, p.Now) {
			found.covered = append(found.covered, a)
		} else {
			shown, w.mode = append(shown, a.event), show
			found.winners = append(found.winners, a)
		}
		p.wanted = append(p.wanted, w)
	}
	return found
}

// native lists the copies in an account's own calendar that show an event, or an exception at
// a time, being neither declined nor cancelled. Another calendar that the account reads, such
// as a shared one, blocks none of its time.
func (p *planning) native(events []mirror.Event, account, at string) (shown []mirror.Event) {
	for _, event := range events {
		isNative := event.OwnerID == p.Owner && event.AccountID == account && p.isOwnCalendar(account, event.CalendarID)
		if isNative && isOccurrence(event, at) && !event.Declined && event.Status != cancelled {
			shown = append(shown, event)
		}
	}
	return shown
}

// isOwnCalendar reports whether a calendar is an account's primary one, or may be.
func (p *planning) isOwnCalendar(account, calendar string) bool {
	primary := p.Accounts[account].PrimaryID
	return primary == "" || calendar == "primary" || strings.EqualFold(calendar, primary)
}

// isOccurrence reports whether the event is the exception for the occurrence at a time, or
// for "" no exception.
func isOccurrence(event mirror.Event, at string) bool {
	if event.SeriesID == "" {
		return at == ""
	}
	return event.OriginalStart.String() == at
}

func isExceptionOf(event, series mirror.Event) bool {
	return event.SeriesID == series.EventID && event.OwnerID == series.OwnerID &&
		event.AccountID == series.AccountID && event.CalendarID == series.CalendarID
}
