package scheduler

import (
	"context"

	"questscheduler/fault"
	"questscheduler/internal/discord"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/transition"
)

// runner runs a transaction: store.Store.Run, or runRepeatable.
type runner func(ctx context.Context, fn func(context.Context, store.Tx) error) error

// step begins a transition of what was read.
func (s *Service) step(st transition.State, cause Cause) *transition.Step {
	return &transition.Step{State: st, Setting: transition.Setting{
		Now: s.Now(), IDs: transition.IDs(s.IDs), Trace: cause.Trace, Trigger: cause.Trigger,
		SnapshotKeep: s.SnapshotKeep, Settle: s.Settle, AppNoticeDelay: s.AppNoticeDelay,
	}}
}

// transact runs a transaction: work reads, and works out a transition (nil: none); that is
// applied, and what it leaves to the outbox is woken. A session of which nothing is shared is
// not compared with what its group shares.
func (s *Service) transact(
	ctx context.Context, run runner, cause Cause, work func(ctx context.Context, tx store.Tx) (*transition.Step, error),
) error {
	var out transition.Outcome
	err := run(ctx, func(ctx context.Context, tx store.Tx) error {
		out = transition.Outcome{}
		step, err := work(ctx, tx)
		if err != nil || step == nil {
			return err
		}
		out = step.Outcome
		if out.Session != nil && s.Shares != nil {
			shares, err := s.Shares(ctx, tx, out.Session.PollID, out.Session.GroupID)
			if err != nil {
				return err
			}
			if !shares {
				out.Session = nil
			}
		}
		return s.write(tx, out, cause)
	})
	if err == nil {
		s.handOver(ctx, out)
	}
	return s.unlessDone(ctx, cause, err)
}

// once has a transition take effect once, where an interaction of Discord commands it.
func once(step *transition.Step, cause Cause) {
	if cause.Interaction != "" {
		step.Writes.Create(discord.InteractionPath(cause.Interaction), discord.EncodeInteraction(step.Now))
	}
}

// joined records an interaction that found what it commands under way: it takes no effect later.
func joined(step *transition.Step, cause Cause) {
	if cause.Interaction != "" {
		step.Writes.Set(discord.InteractionPath(cause.Interaction), discord.EncodeInteraction(step.Now))
	}
}

// unlessDone has a conflict of an interaction that took effect before say so.
func (s *Service) unlessDone(ctx context.Context, cause Cause, err error) error {
	if !fault.Is(err, fault.Conflict) {
		return err
	}
	if done := s.checkNew(ctx, cause); fault.CodeOf(done) == discord.CodeInteractionDone {
		return done
	}
	return err
}

// checkNew refuses an interaction that took effect before.
func (s *Service) checkNew(ctx context.Context, cause Cause) error {
	if cause.Interaction == "" {
		return nil
	}
	record, err := s.Store.Get(ctx, discord.InteractionPath(cause.Interaction))
	if err != nil || !record.Exists() {
		return err
	}
	return &fault.Error{Kind: fault.Conflict, Code: discord.CodeInteractionDone, Message: "That was done already."}
}

// change is transact behind the repair of direct edits that work meets.
func (s *Service) change(
	ctx context.Context, run runner, cause Cause, work func(ctx context.Context, tx store.Tx) (*transition.Step, error),
) error {
	return s.afterEdits(ctx, cause, func() error { return s.transact(ctx, run, cause, work) })
}

// write writes the outcome of a transition.
func (s *Service) write(tx store.Tx, out transition.Outcome, cause Cause) error {
	if err := out.Writes.To(tx); err != nil {
		return err
	}
	for _, intent := range out.Intents {
		if err := tx.Set(intent.Path(), poll.EncodeIntent(intent)); err != nil {
			return err
		}
	}
	if out.Card != nil {
		if err := s.recordCard(tx, *out.Card, cause); err != nil {
			return err
		}
	}
	if at := out.Session; at != nil {
		updates := poll.SessionWorkUpdates(at.PollID, at.GroupID, at.Ref, cause.Trace, s.Now())
		if err := tx.Merge(poll.GroupWorkPath(poll.SessionWorkID(at.PollID)), updates...); err != nil {
			return err
		}
	}
	if out.After == nil {
		return nil
	}
	if err := out.After.Write(tx); err != nil {
		return err
	}
	for _, entry := range out.Entries {
		if err := tx.Create(poll.EntryPath(out.After.ID, entry.ID), poll.EncodeEntry(entry)); err != nil {
			return err
		}
	}
	return nil
}

// handOver wakes, after the commit, what a transition leaves to the outbox.
func (s *Service) handOver(ctx context.Context, out transition.Outcome) {
	for _, intent := range out.Intents {
		s.Outbox.Soon(ctx, KindIntent, intent.ID(), intent.Due)
	}
	if due := out.Due; due != nil {
		s.Outbox.Soon(ctx, poll.AnnounceKind, due.PollID, due.At)
	}
	if out.Sync != nil {
		s.syncSoon(ctx, out.Sync.AccountID, out.Sync.CalendarID)
	}
	if out.Session != nil {
		s.Outbox.Soon(ctx, poll.GroupWorkKind, poll.SessionWorkID(out.Session.PollID), s.Now())
	}
	if out.Card != nil {
		s.updateCardSoon(ctx, *out.Card)
	}
}
