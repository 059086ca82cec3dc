package api

import (
	"context"
	"maps"
	"slices"
	"time"

	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/internal/store/changes"
)

// How votes are found that other processes wrote. The web app writes a vote's
// document alone, so the poll's own document does not show it.
const (
	// clockSkew is how wrong the clocks may be that gave votes their times.
	clockSkew = time.Minute
	// votesPage is how many votes are read at once, and votePages how many pages
	// one scan reads; the next scan goes on behind them.
	votesPage = 100
	votePages = 10
)

// voteScan is how far the votes of all polls were read, once for all streams.
type voteScan struct {
	since   time.Time
	after   *store.Cursor
	seen    map[store.Path]time.Time // votes that the next scan reads again, by their times
	scans   int
	running bool
	// settling are polls that another process may have written since the last scan,
	// and settled those of the scan before. The web app does not write a poll and
	// its slots at once, so they are read once more. There are changes.Held of each
	// at most.
	settling, settled map[string]bool
}

func newVoteScan(now time.Time) voteScan {
	return voteScan{since: now.Add(-clockSkew), seen: map[store.Path]time.Time{}, settling: map[string]bool{}}
}

// again has the next scan find anew what it reads.
func (v *voteScan) again() { v.after, v.seen = nil, map[store.Path]time.Time{} }

// settle has a poll be read once more, between one and two scans later.
func (v *voteScan) settle(p *poll.Poll) {
	if p != nil && len(v.settling) < changes.Held {
		v.settling[p.ID] = true
	}
}

func (d *dispatcher) settle(p *poll.Poll) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.votes.settle(p)
}

// isNew tells whether a poll was written within the last minute, so that its slots
// may follow.
func isNew(p *poll.Poll, now time.Time) bool {
	return p != nil && min(now.Sub(p.CreatedAt).Abs(), now.Sub(p.UpdatedAt).Abs()) < clockSkew
}

// scanVotes finds the votes that were written since the last scan, and has them
// routed like changes of this process. Each stream calls it before its recheck, with
// the count of scans that it knew then: only if there was none since, this is one.
func (d *dispatcher) scanVotes(ctx context.Context, known *int) error {
	scan, begun := d.beginScan(known)
	if !begun {
		return nil
	}
	defer d.endScan()
	started := d.Now()
	var found []poll.GivenVote
	for range votePages {
		votes, next, err := poll.VotesBetween(ctx, d.Store, scan.since, started.Add(clockSkew), votesPage, scan.after)
		if err != nil {
			return err
		}
		found, scan.after = append(found, votes...), next
		if next == nil {
			scan.since = started.Add(-clockSkew)
			break
		}
	}
	d.scanned(scan, found, started.Add(-clockSkew))
	*known = scan.scans + 1
	return nil
}

func (d *dispatcher) beginScan(known *int) (scan voteScan, begun bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.votes.scans != *known || d.votes.running {
		*known = d.votes.scans
		return voteScan{}, false
	}
	d.votes.running = true
	return d.votes, true
}

func (d *dispatcher) endScan() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.votes.running = false
}

// scanned keeps what a scan found, and has it routed. Votes from before overlap
// are read by no later scan, so they are not kept.
func (d *dispatcher) scanned(scan voteScan, found []poll.GivenVote, overlap time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.votes.since, d.votes.after, d.votes.scans = scan.since, scan.after, scan.scans+1
	for _, vote := range found {
		path := poll.VotePath(vote.PollID, vote.UserID)
		if at, seen := d.votes.seen[path]; !seen || !at.Equal(vote.At) {
			d.votes.seen[path] = vote.At
			d.written.Add(changes.Change{Poll: vote.PollID, Below: true})
		}
	}
	maps.DeleteFunc(d.votes.seen, func(_ store.Path, at time.Time) bool { return at.Before(overlap) })
	for _, id := range slices.Sorted(maps.Keys(d.votes.settled)) {
		d.written.Add(changes.Change{Poll: id, Below: true})
	}
	d.votes.settling, d.votes.settled = map[string]bool{}, d.votes.settling
}
