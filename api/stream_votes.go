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

// The web app writes a vote's document alone, so the poll's own document does not
// show it. Votes of other processes are found by scanning all votes by their time.
const (
	// clockSkew is how far the clocks that timed the votes may be off.
	clockSkew = time.Minute
	votesPage = 100 // votes of a query
	votePages = 10  // queries of a scan; the next scan continues after them
)

// voteScan is the progress of the scans, which serve all streams.
type voteScan struct {
	since   time.Time
	after   *store.Cursor
	overlap map[store.Path]time.Time // votes that the next scan reads again, by their times
	scans   int
	running bool
	// settling are polls that another process may have written since the last scan,
	// and settled those of the scan before. The web app does not write a poll and its
	// slots at once, so they are read once more. Each has at most changes.Held.
	settling, settled map[string]bool
}

func newVoteScan(now time.Time) voteScan {
	return voteScan{since: now.Add(-clockSkew), overlap: map[store.Path]time.Time{}, settling: map[string]bool{}}
}

// restart has the next scan report again what it reads.
func (v *voteScan) restart() { v.after, v.overlap = nil, map[store.Path]time.Time{} }

// readAgain has a poll read once more, between one and two scans later.
func (v *voteScan) readAgain(p *poll.Poll) {
	if p != nil && len(v.settling) < changes.Held {
		v.settling[p.ID] = true
	}
}

func (d *dispatcher) readAgain(p *poll.Poll) { d.locked(func() { d.votes.readAgain(p) }) }

// isNew reports whether a poll was written within the last minute, so that its slots
// may follow.
func isNew(p *poll.Poll, now time.Time) bool {
	return p != nil && min(now.Sub(p.CreatedAt).Abs(), now.Sub(p.UpdatedAt).Abs()) < clockSkew
}

// scanVotes finds the votes written since the last scan and routes them like changes
// of this process. Each stream calls it before its recheck with the number of scans
// that it knows: only the first one scans.
func (d *dispatcher) scanVotes(ctx context.Context, known *int) error {
	scan, begun := d.beginScan(known)
	if !begun {
		return nil
	}
	defer d.locked(func() { d.votes.running = false })
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

// scanned routes the votes of a scan. No later scan reads votes from before overlap,
// so they are forgotten.
func (d *dispatcher) scanned(scan voteScan, found []poll.GivenVote, overlap time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.votes.since, d.votes.after, d.votes.scans = scan.since, scan.after, scan.scans+1
	for _, vote := range found {
		path := poll.VotePath(vote.PollID, vote.UserID)
		if at, known := d.votes.overlap[path]; !known || !at.Equal(vote.At) {
			d.votes.overlap[path] = vote.At
			d.written.Add(changes.Change{Poll: vote.PollID, Parts: true})
		}
	}
	maps.DeleteFunc(d.votes.overlap, func(_ store.Path, at time.Time) bool { return at.Before(overlap) })
	for _, id := range slices.Sorted(maps.Keys(d.votes.settled)) {
		d.written.Add(changes.Change{Poll: id, Parts: true})
	}
	d.votes.settling, d.votes.settled = map[string]bool{}, d.votes.settling
}
