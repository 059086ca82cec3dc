package attendees

import (
	"context"
	"slices"

	"questscheduler/attendees/mappings"
	"questscheduler/internal/store"
	"questscheduler/rules"
	"questscheduler/scheduler"
)

// observation is an event of a calendar as a sync run observed it.
type observation struct {
	shownEvent
	// writable reports that the calendar takes us for a writer. If not, an absence proves
	// nothing.
	writable bool
	cause    scheduler.Cause
	// holds fails a transaction if a newer run of the calendar began.
	holds func(ctx context.Context, reader store.Reader) error
}

// ignored reports whether an observation changes nothing, whatever is stored: the event
// cannot be identified, has ended, or is absent for all that we may know.
func (s *Service) ignored(o observation) bool {
	gone := o.event.EventState == rules.Gone
	return identify(o.event).ID == "" || gone && !o.writable || !gone && hasEnded(endOf(o.event), s.now())
}

// stored are the documents that decide about observations.
type stored struct {
	table   mappings.Table
	records map[string]EventRecord // by id; of an event without record, one of its id and no Version
}

// read reads them: the state of the mappings, and with one GetAll the records of the events
// and of the series of exceptions.
func (s *Service) read(ctx context.Context, reader store.Reader, observed ...observation) (stored, error) {
	var ids []string
	for _, o := range observed {
		record := identify(o.event)
		ids = append(ids, record.ID)
		if record.SeriesID != "" {
			ids = append(ids, record.SeriesID)
		}
	}
	slices.Sort(ids)
	found, err := LoadEvents(ctx, reader, slices.Compact(ids))
	if err != nil {
		return stored{}, err
	}
	of := stored{records: map[string]EventRecord{}}
	for _, record := range found {
		of.records[record.ID] = record
	}
	of.table, _, err = s.Mappings.Current(ctx, reader)
	return of, err
}

// compared is compare with what is stored.
func (s *Service) compared(of stored, o observation) (was, next EventRecord, changed bool) {
	was = of.records[identify(o.event).ID]
	if was.Version == 0 {
		was = identify(o.event)
	}
	next, changed = compare(was, of.records[was.SeriesID], o.shownEvent, of.table, s.now())
	return was, next, changed
}

// passPage returns the ids of the events for which nothing must be written. That takes no
// transaction: each of the documents that decide agrees with the observation.
func (s *Service) passPage(ctx context.Context, page []observation) (passed map[string]bool, err error) {
	passed = map[string]bool{}
	var compared []observation
	for _, o := range page {
		if s.ignored(o) {
			passed[o.event.ID] = true
		} else {
			compared = append(compared, o)
		}
	}
	if len(compared) == 0 {
		return passed, nil
	}
	of, err := s.read(ctx, s.Store, compared...)
	if err != nil {
		return passed, err
	}
	for _, o := range compared {
		if _, _, changed := s.compared(of, o); !changed {
			passed[o.event.ID] = true
		}
	}
	return passed, nil
}

// apply applies an observation in one transaction, and has the record written if it became due.
func (s *Service) apply(ctx context.Context, o observation) error {
	if s.ignored(o) {
		return nil
	}
	var due bool
	var next EventRecord
	err := s.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		due = false
		if err := o.holds(ctx, tx); err != nil {
			return err
		}
		of, err := s.read(ctx, tx, o)
		if err != nil {
			return err
		}
		was, after, changed := s.compared(of, o)
		if !changed {
			return nil
		}
		next, due = after, after.Version > was.Version && !after.Due.IsZero()
		if due {
			next.Trace = o.cause.Trace
		}
		return tx.Set(EventPath(next.ID), EncodeEvent(next))
	})
	if err == nil && due {
		s.Outbox.Soon(ctx, Kind, next.ID, next.Due)
	}
	return err
}
