package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"questscheduler/fault"
	"questscheduler/internal/store/txn"
)

// maxBatch is the most callers of one commit, so that a stream of them cannot delay it
// for ever.
const maxBatch = 128

// committer commits concurrent callers together.
//
// Its goroutine begins a SQLite transaction on the writing connection and gives each
// waiting caller a turn: the caller's own goroutine then has the connection to itself and
// sees what earlier callers wrote. When none waits any more it commits, and only then
// answers all of them. The next batch gathers during the flush to the disk.
//
//	wait ──turn──▶ work ──ended──▶ wait ──result──▶ answered
//	  └──ctx ends: leaves, no turn          └──ctx ends: leaves, effect unknown
//
// A caller's failure, panic or cancelled context affects that caller alone. A failure of
// the connection (a full disk, a failed commit) fails the whole batch: nothing of it is
// written, and every caller gets an error.
type committer struct {
	db       *sql.DB
	prepared *statements
	recent   *recent
	queue    chan *member
	closing  context.Context // ended by stop
	close    context.CancelFunc
	ended    chan struct{} // closed after the last batch
}

// member is one caller in a batch.
type member struct {
	ctx  context.Context
	turn chan *session // hands over the connection
	// ended returns it: nil, or why it cannot be used any more.
	ended chan error
	// guilty: this member's turn broke the connection.
	guilty bool
	// result is that of the batch.
	result chan error
}

func newMember(ctx context.Context) *member {
	return &member{ctx: ctx, turn: make(chan *session), ended: make(chan error, 1), result: make(chan error, 1)}
}

func startCommitter(db *sql.DB, prepared *statements) *committer {
	c := &committer{db: db, prepared: prepared, recent: newRecent(), queue: make(chan *member), ended: make(chan struct{})}
	c.closing, c.close = context.WithCancel(context.Background())
	go c.loop()
	return c
}

// stop waits for the current batch; waiting callers are refused.
func (c *committer) stop() {
	c.close()
	<-c.ended
	c.recent.close()
}

// do gives work a turn and returns after the commit, with the error of the commit or else
// of work. work runs at most once, in the caller's goroutine, and undoes its writes where
// it fails.
func (c *committer) do(ctx context.Context, work func(*session) error) error {
	m := newMember(ctx)
	select {
	case c.queue <- m:
		return m.wait(work)
	case <-ctx.Done():
		return txn.Stopped(ctx)
	case <-c.closing.Done():
		return txn.Closed()
	}
}

// wait does work in the member's turn and waits for the batch's result.
func (m *member) wait(work func(*session) error) error {
	var err error
	select {
	case s := <-m.turn:
		err = m.take(s, work)
	case failed := <-m.result: // without a turn
		if failed == nil { // the batch was committed without this member, whose ctx had ended
			failed = txn.Stopped(m.ctx)
		}
		return failed
	case <-m.ctx.Done():
		return txn.Stopped(m.ctx)
	}
	select {
	case failed := <-m.result:
		if failed == nil || m.guilty {
			return err // the guilty caller gets its own error
		}
		return failed
	case <-m.ctx.Done():
		return fault.Wrap(fault.Unavailable, m.ctx.Err(), "the commit was not waited for; it may have taken place")
	}
}

// errAbandoned means that work panicked between its writes.
var errAbandoned = errors.New("a transaction ended in the middle of its writes")

// take does the caller's work and returns the connection, also after a panic or a test's
// Fatal.
func (m *member) take(s *session, work func(*session) error) error {
	defer func() {
		if s.writing && s.broken == nil {
			s.broken = errAbandoned
		}
		m.guilty = s.broken != nil
		m.ended <- s.broken
	}()
	return work(s)
}

func (c *committer) loop() {
	defer close(c.ended)
	for {
		select {
		case first := <-c.queue:
			c.batch(first)
		case <-c.closing.Done():
			return
		}
	}
}

func (c *committer) batch(first *member) {
	members := []*member{first}
	batched := newBatched()
	err := c.begun(batched, func(tx *sql.Tx) error {
		s := &session{statements: c.prepared.within(context.Background(), tx), recent: c.recent, batched: batched}
		if err := first.offer(s); err != nil {
			return err
		}
		for len(members) < maxBatch {
			select {
			case next := <-c.queue:
				members = append(members, next)
				if err := next.offer(s); err != nil {
					return err
				}
			default:
				return nil
			}
		}
		return nil
	})
	for _, m := range members {
		m.result <- err // buffered: a member that left blocks nobody
	}
}

// begun runs gather in a SQLite transaction on the writing connection and commits it. No
// caller's context reaches it.
func (c *committer) begun(batched *batched, gather func(*sql.Tx) error) error {
	conn, err := c.db.Conn(c.closing)
	if err != nil {
		if c.closing.Err() != nil {
			return txn.Closed()
		}
		return explain("take the writing connection", err)
	}
	defer conn.Close() // returning it to the pool cannot fail
	tx, err := conn.BeginTx(context.Background(), nil)
	if err != nil {
		return explain("begin a batch", err)
	}
	if err := gather(tx); err != nil {
		// If SQLite has already rolled back, this fails and does nothing.
		_ = tx.Rollback()
		return lost(err)
	}
	c.recent.leave(batched) // also where it is not known whether the commit took place
	if err := tx.Commit(); err != nil {
		return explain("commit a batch", err)
	}
	c.recent.enter(batched)
	return nil
}

// lost is the error of a batch that one member broke; the others may try again.
func lost(cause error) error {
	if explained := explain("write a batch", cause); fault.Is(explained, fault.Unavailable) {
		return explained
	}
	return fault.Wrap(fault.Unavailable, cause, "another transaction of the same commit failed; nothing was written, try again")
}

// offer gives a member its turn and waits for its end; it skips a member that has left. An
// error means that the batch cannot be committed.
func (m *member) offer(s *session) error {
	select {
	case m.turn <- s:
		return <-m.ended
	case <-m.ctx.Done():
		return nil
	}
}
