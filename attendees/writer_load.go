package attendees

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"questscheduler/attendees/mappings"
	"questscheduler/fault"
	"questscheduler/internal/accounts"
	"questscheduler/internal/gcal"
	"questscheduler/internal/store"
	"questscheduler/scheduler"
)

// attempt is a turn at an event: what decided about it.
type attempt struct {
	cause scheduler.Cause
	// record and series are as stored when the turn began, or as the turn wrote them.
	record, series EventRecord
	table          mappings.Table
	// version is that of the table.
	version string
	// copies are the record's, as the turn found them; stored as they were when it began.
	copies, stored map[string]Copy
	// event is the event as Google last answered; its ID is "" before that.
	event gcal.Event
	// waiting: a copy was left out since its account cannot be used now.
	waiting bool
	// observing: what would be done is noted, and not done.
	observing bool
}

// load reads what decides about an event; the zero record if it has none.
func (s *Service) load(ctx context.Context, id string) (*attempt, error) {
	record, found, err := Load(ctx, s.Store, id)
	if err != nil || !found {
		return &attempt{}, err
	}
	a := &attempt{
		cause: scheduler.Cause{Trigger: Kind, Trace: record.Trace}, record: record, copies: maps.Clone(record.Copies), stored: record.Copies,
	}
	if record.SeriesID != "" {
		a.series, _, err = Load(ctx, s.Store, record.SeriesID)
		if err != nil {
			return a, err
		}
	}
	a.table, a.version, err = s.Mappings.Current(ctx, s.Store)
	return a, err
}

// holds reports whether what the turn is based on is still stored, and returns the record.
func (s *Service) holds(ctx context.Context, tx store.Reader, a *attempt) (now EventRecord, held bool, err error) {
	ids := []string{a.record.ID}
	if a.record.SeriesID != "" {
		ids = append(ids, a.record.SeriesID)
	}
	records, err := LoadEvents(ctx, tx, ids)
	if err != nil {
		return EventRecord{}, false, err
	}
	_, version, err := s.Mappings.Current(ctx, tx)
	if err != nil {
		return EventRecord{}, false, err
	}
	held = records[0].Version == a.record.Version && version == a.version
	if len(records) > 1 {
		held = held && records[1].Version == a.series.Version
	}
	return records[0], held, nil
}

// candidates are the keys of the copies through which the event may be changed, in the order
// in which they are tried: the organizer's first.
func (a *attempt) candidates() []string {
	keys := slices.Sorted(maps.Keys(a.copies))
	keys = slices.DeleteFunc(keys, func(key string) bool { return !editable(a.copies[key]) })
	rank := func(key string) int {
		if a.copies[key].Organized {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(keys, func(x, y string) int { return cmp.Compare(rank(x), rank(y)) })
	return keys
}

// usable reports whether an account can be used now, and if not, whether it may be again while
// the mappings stay as they are: one of the service account was unlinked since its address is
// no longer mapped.
func (s *Service) usable(ctx context.Context, accountID string) (usable, later bool, err error) {
	account, err := s.Accounts.Get(ctx, accountID)
	if fault.Is(err, fault.NotFound) {
		return false, false, nil
	}
	over := account.Kind == accounts.KindServiceAccount && account.Status == accounts.Unlinked
	return err == nil && account.Usable() == nil, !over, err
}

func (a *attempt) ref(key string) gcal.Ref {
	return gcal.Ref{Account: a.copies[key].AccountID, Calendar: a.copies[key].CalendarID}
}

// shown is the event as a copy's calendar answered.
func (a *attempt) shown(key string, event gcal.Event) shownEvent {
	was := a.copies[key]
	shown := show(key, was.AccountID, was.CalendarID, event)
	shown.copied.ETag = was.ETag // it says which observation made the record due
	a.copies[key] = shown.copied
	if !shown.copied.Gone {
		a.event = event
	}
	return shown
}

// lose notes that a calendar does not find its copy.
func (a *attempt) lose(key string) {
	lost := a.copies[key]
	lost.Gone, lost.Organized, lost.MayEdit = true, false, false
	a.copies[key] = lost
}

// judge decides about the event as a copy shows it.
func (a *attempt) judge(shown shownEvent, now time.Time) Decision {
	return judge(shown, a.record, a.series, a.table, now)
}
