package groupevents

import (
	"context"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/calendars"
	"questscheduler/internal/ids"
	"questscheduler/internal/mirror"
	"questscheduler/internal/outbox"
	"questscheduler/internal/poll"
	"questscheduler/internal/recurrence"
	"questscheduler/internal/store"
	"questscheduler/scheduler"
)

var eventsOfPoll = store.Select("canonical events of a poll", "canonicalEvents", "", store.Where("pollId", store.Equal))

// Sharing is whether a group shares the sessions of its polls from now on, as a person says.
type Sharing struct {
	PersonID, GroupID string
	Share             bool
}

// SetSharing turns the sharing of sessions on or off for a group, in one transaction with change,
// which checks that the person may, and reads before it writes. The copies follow once the setting
// has settled (Settle). RateLimited: MaxSwitches (CodeSwitches). Unavailable: the server only
// observes calendars.
func (s *Service) SetSharing(
	ctx context.Context, to Sharing, cause scheduler.Cause, change func(ctx context.Context, tx store.Tx) error,
) error {
	if err := s.Writes(); err != nil {
		return err
	}
	made := poll.SessionsWork(to.GroupID, s.NewID("wrk"), cause.Trace, store.Instant(s.Now().Add(s.Settle)))
	changed := false
	err := s.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		state, err := loadState(ctx, tx, to.GroupID)
		if err != nil {
			return err
		}
		changed = state.ShareSessions != to.Share
		if err := change(ctx, tx); err != nil || !changed {
			return err
		}
		state, err = state.switching(to.PersonID, s.Now())
		if err != nil {
			return err
		}
		state.ShareSessions = to.Share
		if err := state.write(tx); err != nil {
			return err
		}
		return made.Record(tx)
	})
	if err == nil && changed {
		s.Outbox.Soon(ctx, poll.GroupWorkKind, made.ID, made.Due)
	}
	return err
}

// compareSessions has all sessions of a group compared, if it shares them, since people left it whom
// the web app removed.
func (s *Service) compareSessions(ctx context.Context, groupID string, cause scheduler.Cause) error {
	made, shares := poll.SessionsWork(groupID, s.NewID("wrk"), cause.Trace, store.Instant(s.Now())), false
	err := s.Store.Run(ctx, func(ctx context.Context, tx store.Tx) (err error) {
		shares, err = poll.SharesSessions(ctx, tx, groupID)
		if err != nil || !shares {
			return err
		}
		return made.Record(tx)
	})
	if err == nil && shares {
		s.Outbox.Soon(ctx, poll.GroupWorkKind, made.ID, made.Due)
	}
	return err
}

// sessionsPage is how many sessions are compared between two marks of progress.
const sessionsPage = 50

// window is how long ago a session may have ended that is still planned, with time to spare
// for days in any zone.
const window = 72 * time.Hour

// followSessions compares all sessions of a group, after its setting or its members changed.
func (s *Service) followSessions(ctx context.Context, w poll.GroupWork, item outbox.Item, cause scheduler.Cause) error {
	for {
		polls, next, err := poll.PageOfGroup(ctx, s.Store, w.GroupID, w.At, sessionsPage)
		if err != nil {
			return err
		}
		for _, p := range polls {
			if err := s.followSession(ctx, p.ID, cause); err != nil {
				return err
			}
		}
		if next == "" {
			return nil
		}
		w.At = next
		if same, err := s.advance(ctx, item, w.At); err != nil || !same {
			return err
		}
	}
}

// followSession brings the canonical event of a poll's session to what the poll says, and
// plans it for the group. The poll follows its calendar event already, so its document is
// what was observed: no second sync of the organiser's calendar is needed, and no other event
// of it is read. Where mirroring follows that calendar too, the content of the event is its
// own observation, and only who sees it is decided here.
func (s *Service) followSession(ctx context.Context, pollID string, cause scheduler.Cause) error {
	p, err := poll.Load(ctx, s.Store, pollID)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return err
	}
	var changed, unshared []mirror.Event
	err = s.change(ctx, p.GroupID, cause, func(ctx context.Context, tx store.Tx) error {
		changed, unshared = nil, nil
		session, err := loadSession(ctx, tx, pollID)
		if err != nil {
			return err
		}
		for _, event := range session.compare(store.Instant(s.Now()), func() string { return s.NewID("evt") }) {
			event.PlanTrace = cause.Trace
			if err := tx.Set(mirror.EventPath(event.ID), mirror.EncodeEvent(event)); err != nil {
				return err
			}
			changed = append(changed, event)
		}
		for _, event := range session.events {
			if event.GroupID == "" {
				unshared = append(unshared, event)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, event := range changed {
		s.Plans.PlanEventSoon(ctx, event)
	}
	return s.withdraw(ctx, unshared, cause)
}

// withdraw plans events that no group shares for people of a group who may have mirrors of
// them yet. Other planning of such an event is for its owner alone.
func (s *Service) withdraw(ctx context.Context, unshared []mirror.Event, cause scheduler.Cause) error {
	for _, event := range unshared {
		mirrors, err := mirror.OfEvent(ctx, s.Store, event.ID)
		if err != nil {
			return err
		}
		for _, m := range mirrors {
			if m.OwnerID == event.OwnerID {
				continue
			}
			if err := s.Plans.PlanUID(ctx, m.OwnerID, event.ICalUID, cause); err != nil {
				return err
			}
		}
	}
	return nil
}

// session is a poll and what is on record of its event.
type session struct {
	poll   poll.Poll // without an id: it was deleted
	shared bool      // its group shares it
	// place is where its event is; zero if it has none.
	place  poll.Place
	events []mirror.Event // canonical events of the poll, earlier ones of it included
	// followed are the calendars that mirroring observes, of the events and of place.
	followed map[poll.Place]bool
}

func loadSession(ctx context.Context, reader store.Reader, pollID string) (found session, err error) {
	found.poll, err = poll.Load(ctx, reader, pollID)
	gone := fault.Is(err, fault.NotFound)
	if err != nil && !gone {
		return session{}, err
	}
	found.events, _, err = store.Page(ctx, reader, eventsOfPoll.With(pollID), mirror.DecodeEvent)
	if err != nil {
		return session{}, err
	}
	if !gone {
		if err := found.locate(ctx, reader); err != nil {
			return session{}, err
		}
	}
	return found, found.loadFollowed(ctx, reader)
}

// locate finds where the poll's event is, and whether it is shared.
func (s *session) locate(ctx context.Context, reader store.Reader) (err error) {
	s.shared, err = isShared(ctx, reader, s.poll)
	if err != nil {
		return err
	}
	entry, _, err := poll.IndexOf(ctx, reader, s.poll)
	if err != nil || entry == nil {
		return err
	}
	s.place = entry.Place()
	if len(s.events) > 0 || !s.poll.Linked() {
		return nil
	}
	// Mirroring may have observed the event before it was known as the poll's.
	event, ok, err := mirror.OfOrigin(ctx, reader, s.place.AccountID, s.place.CalendarID, s.poll.GoogleEventID)
	if ok {
		s.events = []mirror.Event{event}
	}
	return err
}

func (s *session) loadFollowed(ctx context.Context, reader store.Reader) error {
	s.followed = map[poll.Place]bool{}
	for _, event := range s.events {
		at := poll.Place{AccountID: event.AccountID, CalendarID: event.CalendarID}
		calendar, _, err := calendars.Load(ctx, reader, at.AccountID, at.CalendarID)
		if err != nil {
			return err
		}
		s.followed[at] = calendar.Interests[mirror.Consumer] > 0
	}
	return nil
}

// isShared reports whether a poll is the session of a group that shares its sessions, made by
// one of its people.
func isShared(ctx context.Context, reader store.Reader, p poll.Poll) (bool, error) {
	if p.GroupID == "" || poll.GroupPath(p.GroupID).Valid() != nil {
		return false, nil //nolint:nilerr // the id of a document of the web app may hold anything
	}
	group, err := poll.LoadGroup(ctx, reader, p.GroupID)
	if err != nil || !group.Has(p.CreatorID) {
		return false, err
	}
	state, err := loadState(ctx, reader, p.GroupID)
	return state.ShareSessions, err
}

// Shares reports whether a poll's session may have to be compared with what its group shares: the
// group shares its sessions, or an event of the poll is on record. A group that begins to share
// compares all its sessions anyway. It reads in the transaction that changes the session.
func Shares(ctx context.Context, reader store.Reader, pollID, groupID string) (bool, error) {
	if groupID != "" && poll.GroupStatePath(groupID).Valid() == nil {
		if state, err := loadState(ctx, reader, groupID); err != nil || state.ShareSessions {
			return err == nil, err
		}
	}
	found, err := reader.Query(ctx, eventsOfPoll.With(pollID).First(1))
	return len(found) > 0, err
}

// SharedBy returns the group that shares the session of a poll, "" for none: what an
// observation of its event stores as mirror.Event.GroupID (mirrors.Service.SharedBy).
func SharedBy(ctx context.Context, reader store.Reader, pollID string) (groupID string, err error) {
	p, err := poll.Load(ctx, reader, pollID)
	if err != nil {
		if fault.Is(err, fault.NotFound) {
			return "", nil
		}
		return "", err
	}
	shared, err := isShared(ctx, reader, p)
	if err != nil || !shared || !p.Linked() {
		return "", err
	}
	return p.GroupID, nil
}

// current reports whether an event is the one that the poll follows now.
func (s *session) current(e mirror.Event) bool {
	return s.poll.Linked() && e.EventID == s.poll.GoogleEventID && s.place == poll.Place{AccountID: e.AccountID, CalendarID: e.CalendarID}
}

// compare lists the canonical events to write, and keeps in s.events what they then are.
func (s *session) compare(now time.Time, newID func() string) (written []mirror.Event) {
	found := false
	for i, was := range s.events {
		next := was
		followed := s.followed[poll.Place{AccountID: was.AccountID, CalendarID: was.CalendarID}]
		switch {
		case s.current(was) && s.shared:
			found = true
			next = s.share(was, !followed)
		case followed:
			next.GroupID = ""
		case was.GroupID != "": // nothing else observes it
			next.Status = statusCancelled
		}
		if next, changed := revised(was, next, now); changed {
			s.events[i] = next
			written = append(written, next)
		}
	}
	if found || !s.isNew(now) {
		return written
	}
	fresh, _ := revised(mirror.Event{}, s.share(mirror.Event{
		ID: newID(), OwnerID: s.poll.CreatorID, AccountID: s.place.AccountID, CalendarID: s.place.CalendarID,
		EventID: s.poll.GoogleEventID, ICalUID: ids.ICalUID(s.poll.GoogleEventID),
		Visibility: "default", Transparency: "opaque", Kind: "default", CreatedAt: now,
	}, true), now)
	s.events = append(s.events, fresh)
	return append(written, fresh)
}

// isNew reports whether the session is shared and did not end before planning would see it.
func (s *session) isNew(now time.Time) bool {
	at := s.poll.Sync.Applied
	return s.shared && s.poll.Linked() && s.place != poll.Place{} && !at.IsZero() && at.EndTime().After(now.Add(-window))
}

// share gives the event its group, and with describe what the poll says.
func (s *session) share(e mirror.Event, describe bool) mirror.Event {
	e.GroupID, e.PollID, e.Source = s.poll.GroupID, s.poll.ID, mirror.SourcePoll
	at := s.poll.Sync.Applied
	if !describe || at.IsZero() {
		return e
	}
	e.Title, e.Description, e.Status = s.poll.Title, s.poll.Description, statusConfirmed
	e.Start, e.End = recurrence.Ends(at, s.poll.Timezone)
	e.From, e.Until = at.StartTime(), at.EndTime()
	return e
}

// revised stamps an event that differs from what it was.
func revised(was, next mirror.Event, now time.Time) (mirror.Event, bool) {
	shown := !sameText(was, next)
	if !shown && was.GroupID == next.GroupID && was.PollID == next.PollID && was.Source == next.Source {
		return was, false
	}
	if shown {
		next.Version++
	}
	next.UpdatedAt, next.PlanAt = now, now
	return next, true
}
