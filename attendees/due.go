package attendees

import (
	"context"
	"slices"

	"questscheduler/internal/store"
	"questscheduler/scheduler"
)

// recordPage is how many records become due in one transaction.
const recordPage = 50

// CompareAgain has the guests compared again of all events with additions for a primary address
// that have not ended, and returns how many. It is idempotent.
func (s *Service) CompareAgain(ctx context.Context, cause scheduler.Cause, primary string) (due int, err error) {
	var ids []string
	for record, err := range OfPrimary(ctx, s.Store, primary) {
		if err != nil {
			return 0, err
		}
		ids = append(ids, record.ID)
	}
	for some := range slices.Chunk(ids, recordPage) {
		made, err := s.makePageDue(ctx, cause, some)
		if err != nil {
			return due, err
		}
		due += made
	}
	return due, nil
}

// makePageDue makes records due, and has them written. Their version grows, so that a write
// under way, which was decided by earlier mappings, does not settle them.
func (s *Service) makePageDue(ctx context.Context, cause scheduler.Cause, ids []string) (made int, err error) {
	now, due := s.now(), []string(nil)
	err = s.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		due = nil
		records, err := LoadEvents(ctx, tx, ids)
		if err != nil {
			return err
		}
		for _, record := range records {
			if record.Version == 0 || hasEnded(record.EndsAt, now) {
				continue
			}
			err := tx.Update(EventPath(record.ID), store.Set("due", now), store.Set("trace", store.NullIfEmpty(cause.Trace)),
				store.Set("version", record.Version+1), store.Set("updatedAt", now))
			if err != nil {
				return err
			}
			due = append(due, record.ID)
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	for _, id := range due {
		s.Outbox.Soon(ctx, Kind, id, now)
	}
	return len(due), nil
}

// Needed are the accounts through which an event may have to be changed: records that are due
// have copies of them.
func (s *Service) Needed(ctx context.Context) (map[string]bool, error) {
	needed := map[string]bool{}
	for record, err := range Due(ctx, s.Store, s.now().Add(dueWithin)) {
		if err != nil {
			return nil, err
		}
		for _, c := range record.Copies {
			if editable(c) {
				needed[c.AccountID] = true
			}
		}
	}
	return needed, nil
}

// dueWithin is longer than any wait of a record that is due.
const dueWithin = 2 * day
