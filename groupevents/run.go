package groupevents

import (
	"context"

	"questscheduler/internal/outbox"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/scheduler"
)

var workDue = store.Select("work for groups' events that is due", "groupWork", "due", store.Where("due", store.LessOrEqual))

// Work is the kind of the outbox that compares the sessions of groups with their events.
func (s *Service) Work() outbox.Kind {
	return outbox.Kind{
		Name: poll.GroupWorkKind, Does: "work for groups' events", Path: poll.GroupWorkPath, Due: outbox.Query(workDue),
		Codec: outbox.Fields, Handle: s.handle, Workers: 10, Remove: true,
	}
}

// handle carries out recorded work.
func (s *Service) handle(ctx context.Context, item outbox.Item) outbox.Result {
	w, cause := poll.DecodeGroupWork(item.Document), scheduler.Cause{Trigger: "group", Trace: item.State.Trace}
	var err error
	if w.Sessions {
		err = s.followSessions(ctx, w, item, cause)
	} else {
		err = s.followSession(ctx, w.PollID, cause)
	}
	if err != nil {
		return outbox.Failed(err)
	}
	return outbox.Done()
}

// advance records how far work is. same is false where it is for a later change by now, which
// begins again.
func (s *Service) advance(ctx context.Context, item outbox.Item, at string) (same bool, err error) {
	return s.Outbox.Keep(ctx, item, store.Set("at", store.NullIfEmpty(at)))
}
