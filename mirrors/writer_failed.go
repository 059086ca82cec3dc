package mirrors

import (
	"context"
	"sync"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/gcal"
	"questscheduler/internal/mirror"
	"questscheduler/internal/store"
	"questscheduler/mirrors/plan"
	"questscheduler/scheduler"
)

// Sentences for people, kept in LastError.
const (
	sayRelink = "This Google account must be linked again."
	sayUnsure = "Whether the calendar \"External Busy\" was created is not known. Link the account again and allow the list of " +
		"calendars; if it is there twice, delete the empty one."
)

// failed records a failed call in the mirror, unless other work was decided since, of which the
// call says nothing, and rests the account where every other call would fail too. The error is
// the store's.
func (w *Writer) failed(ctx context.Context, a *attempt, cause error) error {
	now := w.now()
	switch fault.KindOf(cause) {
	case fault.RateLimited, fault.Exhausted, fault.Unavailable:
		w.pauses.rest(a.Mirror.TargetAccountID, now, cause)
	}
	overtaken := false
	m, _, err := w.commit(ctx, a.Mirror, a.cause, func(m *mirror.Mirror) outcome {
		overtaken = !sameWork(*m, a.Mirror)
		if overtaken {
			return outcome{}
		}
		*m = plan.FailedWrite(*m, cause, now)
		return outcome{mirror.StepFailed, fault.KindOf(cause).String()}
	})
	if err != nil || overtaken {
		return err
	}
	w.Meter.Count(Failed{Kind: fault.KindOf(cause)})
	w.Log.WarnContext(ctx, "mirror not written", "mirror", m.ID, "account", m.TargetAccountID, "state", string(m.State),
		"attempts", m.Attempts, "due", m.Due, "trace", a.cause.Trace, "error", cause)
	return nil
}

// observed records an observation of a mirror's event; see plan.Observed. The event is
// fetched, not listed, so an absence is confirmed.
func (w *Writer) observed(
	ctx context.Context, was mirror.Mirror, shown gcal.Event, cause scheduler.Cause,
) (verdict plan.Verdict, err error) {
	did, err := w.transact(ctx, cause, func(ctx context.Context, tx store.Reader, changes *write) error {
		changes.own = was.ID
		m, found, err := mirror.Load(ctx, tx, was.ID)
		if err != nil || !found || m.Generation != was.Generation || m.ETag != was.ETag {
			return err
		}
		return w.observeEvent(ctx, tx, m, shown, changes)
	})
	if err != nil || len(did.verdicts) == 0 {
		return "", err
	}
	return did.verdicts[0], nil
}

// pauses rest accounts in this process after a refusal that concerns the whole account, so
// that one call finds out what a thousand mirrors would. Its zero value rests none.
type pauses struct {
	mu   sync.Mutex
	ends map[string]pause
}

type pause struct {
	until time.Time
	step  time.Duration // doubles while failures follow each other
}

const (
	shortestPause = 5 * time.Second
	longestPause  = 10 * time.Minute
)

// rest pauses an account for as long as the error says, or twice as long as last time.
func (p *pauses) rest(account string, now time.Time, cause error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ends == nil {
		p.ends = map[string]pause{}
	}
	for other, at := range p.ends {
		if now.After(at.until.Add(longestPause)) {
			delete(p.ends, other)
		}
	}
	was := p.ends[account]
	step := min(max(2*was.step, shortestPause), longestPause)
	p.ends[account] = pause{until: now.Add(max(step, fault.RetryAfter(cause))), step: step}
}

// until is when an account's rest ends; a past time or zero if it does not rest.
func (p *pauses) until(account string, now time.Time) time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	if at := p.ends[account]; at.until.After(now) {
		return at.until
	}
	return time.Time{}
}

// over forgets an account's rest after a call that succeeded.
func (p *pauses) over(account string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.ends, account)
}
