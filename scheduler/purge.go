package scheduler

import (
	"context"

	"questscheduler/fault"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/transition"
)

const (
	// purgePage is about how many documents a page of a purge reads and removes.
	purgePage = 100
	// firstPurgePages are those that a command waits for.
	firstPurgePages = 5
	// maxPurgePages ends a purge whose poll is deleted and made again all the time;
	// the drain goes on with it.
	maxPurgePages = 1000
)

// carryOutPurge removes what is left below a deleted poll, and then its intent, page by page.
// Each page's transaction reads whether the id has another poll, which keeps what is its own.
func (s *Service) carryOutPurge(ctx context.Context, intent poll.Intent) error {
	done, err := s.purgePages(ctx, intent, maxPurgePages)
	if err == nil && !done {
		err = pollError(intent.PollID, "purge", fault.New(fault.Unavailable, "more came to be removed all the time"))
	}
	return err
}

// purgePages carries out that many pages of a purge at most.
func (s *Service) purgePages(ctx context.Context, intent poll.Intent, pages int) (done bool, err error) {
	var at poll.PurgeMark
	for range pages {
		at, done, err = s.purgeOnce(ctx, intent, at)
		if err != nil || done {
			return done, pollError(intent.PollID, "purge", err)
		}
	}
	return false, nil
}

// purgeOnce removes a page of what is left behind a mark. Where nothing is, it removes the intent,
// and a poll that has the id by now begins: from then on it is no longer pristine.
func (s *Service) purgeOnce(ctx context.Context, intent poll.Intent, from poll.PurgeMark) (to poll.PurgeMark, done bool, err error) {
	err = s.transact(ctx, s.Store.Run, Cause{Trace: intent.Trace}, func(ctx context.Context, tx store.Tx) (*transition.Step, error) {
		done = false
		current, err := poll.LoadIntent(ctx, tx, intent.ID())
		done = current == nil
		if err != nil || done {
			return nil, err
		}
		document, err := tx.Get(ctx, poll.Path(intent.PollID))
		if err != nil {
			return nil, err
		}
		p := poll.Decode(document)
		step := s.step(transition.State{Poll: p}, Cause{Trace: intent.Trace})
		if document.Exists() && !p.Pristine() {
			done = true
			step.Writes.Delete(intent.Path())
			return step, nil
		}
		var left []store.Path
		left, to, done, err = poll.LoadRemains(ctx, tx, document, from, purgePage)
		if err != nil {
			return nil, err
		}
		step.Writes.Delete(left...)
		if done {
			step.Writes.Delete(intent.Path())
		}
		if done && document.Exists() {
			step.Begin(current.Generation)
		}
		return step, nil
	})
	return to, done, err
}

// purgeNow carries a poll's purge out, without waiting for its task, which does what is more than
// the first pages.
func (s *Service) purgeNow(ctx context.Context, pollID string) (done bool, err error) {
	return s.purgePages(ctx, poll.Intent{Kind: poll.IntentPurge, PollID: pollID}, firstPurgePages)
}
