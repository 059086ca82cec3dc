package main

import (
	"context"
	"time"

	"questscheduler/groupevents"
	"questscheduler/internal/config"
	"questscheduler/internal/store"
	"questscheduler/internal/timers"
	"questscheduler/scheduler"
)

// newGroupEvents builds the events that groups share, over what plans their mirrors.
func (s *server) newGroupEvents(plans groupevents.Planner) *groupevents.Service {
	return &groupevents.Service{
		Store: s.documents, Outbox: s.outbox, Plans: plans, Now: s.now, NewID: s.newPrefixedID, Log: s.log,
		Settle: max(s.config.NotifySettle, s.config.SyncMinGap), ReadOnly: s.config.Sync != config.SyncOn,
	}
}

// drainMore enqueues what is due of mirroring and of second addresses.
func drainMore(mirroring mirroring, attending *attending) func(context.Context, scheduler.Cause) (timers.Counts, error) {
	return func(ctx context.Context, cause scheduler.Cause) (did timers.Counts, err error) {
		for _, drain := range []func(context.Context, scheduler.Cause) (timers.Counts, error){mirroring.drain, attending.drain} {
			more, err := drain(ctx, cause)
			if did = append(did, more...); err != nil {
				return did, err
			}
		}
		return did, nil
	}
}

// groupCleanings remove what is past its time of groups' events.
func groupCleanings(groups *groupevents.Service) []timers.Cleaning {
	return []timers.Cleaning{
		{What: "events of groups long ended", RemoveFrom: groupevents.RemoveEnded},
		{What: "records of copies that stay", Remove: limited(groupevents.RemoveKept)},
		{
			What: "connections of former members",
			RemoveFrom: func(ctx context.Context, _ store.Store, _ time.Time, at string) (int, string, error) {
				return groups.EndConnections(ctx, at)
			},
		},
		{
			What: "copies that former members kept",
			RemoveFrom: func(ctx context.Context, _ store.Store, _ time.Time, at string) (int, string, error) {
				return groups.DeleteKept(ctx, at)
			},
		},
	}
}
