package groupevents

import (
	"context"

	"questscheduler/internal/outbox"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/scheduler"
)

var workDue = store.Select("work for groups' events that is due", "groupWork", "due", store.Where("due", store.LessOrEqual))

// Work is the kind of the outbox that compares the sessions of groups with their events, and the
// cards of groups' polls with their channels.
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
	switch {
	case w.Sessions:
		err = s.followSessions(ctx, w, item, cause)
	case w.Cards:
		err = s.followCards(ctx, w, item, cause)
	default:
		err = s.followSession(ctx, w.PollID, cause)
	}
	if err != nil {
		return outbox.Failed(err)
	}
	return outbox.Done()
}

// followCards has the cards of a group's polls compared, after it was given a channel.
func (s *Service) followCards(ctx context.Context, w poll.GroupWork, item outbox.Item, cause scheduler.Cause) error {
	for s.CheckCards != nil {
		next, err := s.CheckCards(ctx, w.GroupID, w.At, cause)
		if err != nil || next == "" {
			return err
		}
		w.At = next
		if same, err := s.advance(ctx, item, w.At); err != nil || !same {
			return err
		}
	}
	return nil
}

// advance records how far work is. same is false where it is for a later change by now, which
// begins again.
func (s *Service) advance(ctx context.Context, item outbox.Item, at string) (same bool, err error) {
	return s.Outbox.Keep(ctx, item, store.Set("at", store.NullIfEmpty(at)))
}
