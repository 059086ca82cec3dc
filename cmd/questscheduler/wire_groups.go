package main

import (
	"context"
	"time"

	"questscheduler/groupevents"
	"questscheduler/internal/config"
	"questscheduler/internal/store"
	"questscheduler/web-hooks/timers"
)

// newGroupEvents builds the events that groups share, over what plans their mirrors.
func (s *server) newGroupEvents(plans groupevents.Planner, cards cards) *groupevents.Service {
	return &groupevents.Service{
		Store: s.documents, Outbox: s.outbox, Plans: plans, Now: s.now, NewID: s.newPrefixedID, Log: s.log,
		Settle: max(s.config.NotifySettle, s.config.SyncMinGap), ReadOnly: s.config.Sync != config.SyncOn, CheckCards: cards.checkOf,
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
