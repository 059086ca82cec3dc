package scheduler

import (
	"context"

	"questscheduler/internal/fault"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
)

const (
	// purgePage is how many documents of a collection a page of a purge removes.
	purgePage = 100
	// maxPurgePages ends a purge whose poll is deleted and made again all the time;
	// the drain goes on with it.
	maxPurgePages = 1000
)

// recreated tells of a poll that is there that its id was another one's, of which
// something is left: its journal says so, or where it has none, its link or what is
// yet to be done of it.
func (st state) recreated() bool {
	return st.poll.RecreatedBy(st.latest, st.intents) ||
		st.latest == nil && st.entry != nil && st.poll.ReplacesLinked(*st.entry)
}

// past reads what says of a pristine poll whether its id was another one's.
func (st *state) past(ctx context.Context, reader store.Reader) (err error) {
	if !st.poll.Pristine() {
		return nil
	}
	if st.intents, err = poll.IntentsOf(ctx, reader, st.poll.ID); err == nil {
		st.latest, err = poll.Latest(ctx, reader, st.poll.ID)
	}
	st.countOn()
	return err
}

// countOn has a poll that lost calendarSync go on with the generation that it had,
// which its link and its events are of.
func (st *state) countOn() {
	if st.poll.Pristine() && !st.recreated() {
		st.poll.Sync.Generation = st.lastGeneration()
	}
}

// lastGeneration is the highest generation of a poll that anything of it names.
func (st state) lastGeneration() int64 {
	last := st.poll.Sync.Generation
	if st.entry != nil {
		last = max(last, st.entry.Generation)
	}
	if st.latest != nil {
		last = max(last, st.latest.Generation)
	}
	for _, intent := range st.intents {
		last = max(last, intent.Generation)
	}
	return last
}

// carryOutPurge removes what is left below a deleted poll, and then its intent. It
// goes page by page, each one transaction that reads whether the id has another
// poll by now: nothing of that one goes. A run that dies is gone on with by the
// next.
func (s *Service) carryOutPurge(ctx context.Context, intent poll.Intent) error {
	for range maxPurgePages {
		done, err := s.purgeOnce(ctx, intent)
		if err != nil {
			return pollError(intent.PollID, "purge", err)
		}
		if done {
			return nil
		}
	}
	return pollError(intent.PollID, "purge", fault.New(fault.Unavailable, "more came to be removed all the time"))
}

// purgeOnce removes a page of what is left. Where nothing is, it removes the intent,
// and a poll that has the id by now begins: from then on it is no longer pristine.
func (s *Service) purgeOnce(ctx context.Context, intent poll.Intent) (done bool, err error) {
	err = s.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		done = false
		stands, err := poll.LoadIntent(ctx, tx, intent.ID())
		if done = stands == nil; err != nil || done {
			return err
		}
		document, err := tx.Get(ctx, poll.Path(intent.PollID))
		if err != nil {
			return err
		}
		p := poll.Decode(document)
		if document.Exists() && !p.Pristine() {
			done = true
			return tx.Delete(intent.Path())
		}
		left, err := poll.LoadRemains(ctx, tx, document, purgePage)
		if err != nil {
			return err
		}
		for _, path := range left {
			if err := tx.Delete(path); err != nil {
				return err
			}
		}
		if done = len(left) == 0; !done {
			return nil
		}
		if err := tx.Delete(intent.Path()); err != nil || !document.Exists() {
			return err
		}
		if err := s.nameFirst(tx, p); err != nil {
			return err
		}
		if err := p.Begun(stands.Generation, poll.Recorded{At: s.entryTime(p)}).Write(tx); err != nil {
			return err
		}
		return oweCard(tx, p)
	})
	return done, err
}

// purgeNow carries a poll's purge out, without waiting for its task.
func (s *Service) purgeNow(ctx context.Context, pollID string) error {
	return s.carryOutPurge(ctx, poll.Intent{Kind: poll.IntentPurge, PollID: pollID})
}
