package main

import (
	"context"
	"time"

	"questscheduler/calendarsync"
	"questscheduler/groupevents"
	"questscheduler/internal/config"
	"questscheduler/internal/store"
	"questscheduler/internal/timers"
	"questscheduler/mirrors"
	"questscheduler/scheduler"
)

// newGroupEvents builds the events that groups share, over what plans their mirrors.
func (s *server) newGroupEvents(plans groupevents.Planner) *groupevents.Service {
	return &groupevents.Service{
		Store: s.documents, Queue: s.queue, Plans: plans, Now: s.now, NewID: s.newPrefixedID, Log: s.log,
	}
}

// newPlanner builds what decides on mirrors.
func (s *server) newPlanner(watcher *calendarsync.Watcher) *mirrors.Service {
	return &mirrors.Service{
		Store: s.documents, Queue: s.queue, Follow: watcher.Follow, Installation: s.config.PublicURL, SharedBy: groupevents.SharedBy,
		HoldShare: s.config.MassCancelShare, HoldMin: s.config.MassCancelMin, Observing: s.config.Sync != config.SyncOn,
		Now: s.now, NewID: s.newID, Log: s.log,
	}
}

// drainGroups enqueues recorded work for groups' events, and planning that is due.
func drainGroups(groups *groupevents.Service, planner *mirrors.Service) func(context.Context, scheduler.Cause) (timers.Counts, error) {
	return func(ctx context.Context, cause scheduler.Cause) (timers.Counts, error) {
		work, err := groups.Drain(ctx)
		if err != nil {
			return nil, err
		}
		planned, err := planner.Drain(ctx, cause)
		return timers.Counts{{What: "work for groups' events", N: work}, {What: "events and people to plan", N: planned.Events + planned.People}}, err
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
	}
}
