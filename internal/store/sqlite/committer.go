package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"questscheduler/internal/fault"
	"questscheduler/internal/store/txn"
)

// maxBatch bounds how many callers one commit waits for, so that a stream of
// them cannot put it off for ever.
const maxBatch = 128

// committer commits concurrent callers together.
//
// Its goroutine takes the writing connection, begins a SQLite transaction and
// gives each waiting caller a turn, one at a time: the caller's own goroutine
// then has the connection to itself, sees what those before it wrote, and
// gives it back. When nobody waits any more the transaction is committed, and
// only then is any of them answered; a caller that is alone waits for nobody.
// While the disk is being flushed the next batch gathers by itself.
//
//	wait ──turn──▶ work ──ended──▶ wait ──result──▶ answered
//	  └──ctx ends: leaves, no turn          └──ctx ends: leaves, effect unknown
//
// One caller's failure, panic or cancelled context is its own affair. Only a
// failure of the connection itself (a disk that is full, a commit that fails)
// reaches the whole batch: then nothing of it is written, and all are told.
type committer struct {
	db       *sql.DB
	prepared *statements
	queue    chan *member
	closing  context.Context // ends when no more batches are begun
	close    context.CancelFunc
	ended    chan struct{} // closed when the last batch is answered
}

// member is one caller in a batch.
type member struct {
	ctx  context.Context
	turn chan *session // hands over the connection
	// ended gives it back: nil, or why the connection is of no use any more.
	ended chan error
	// guilty says that this member's turn made it so.
	guilty bool
	// result is the fate of the batch.
	result chan error
}

func newMember(ctx context.Context) *member {
	return &member{ctx: ctx, turn: make(chan *session), ended: make(chan error, 1), result: make(chan error, 1)}
}

func startCommitter(db *sql.DB, prepared *statements) *committer {
	c := &committer{db: db, prepared: prepared, queue: make(chan *member), ended: make(chan struct{})}
	c.closing, c.close = context.WithCancel(context.Background())
	go c.loop()
	return c
}

// stop lets the batch that was begun finish; callers that wait are refused.
func (c *committer) stop() {
	c.close()
	<-c.ended
}

// do gives work a turn and returns after the commit: the error of the commit,
// or else that of work. work runs once at most, in the caller's goroutine, and
// undoes what it wrote where it fails.
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

// wait does work in the member's turn, and waits for the fate of its batch.
func (m *member) wait(work func(*session) error) error {
	var err error
	select {
	case s := <-m.turn:
		err = m.take(s, work)
	case failed := <-m.result: // without a turn
		if failed == nil { // the others of the batch fared well; this one had left, and nothing of it is written
			failed = txn.Stopped(m.ctx)
		}
		return failed
	case <-m.ctx.Done():
		return txn.Stopped(m.ctx)
	}
	select {
	case failed := <-m.result:
		if failed == nil || m.guilty {
			return err // what failed the batch is told to its own caller as it is
		}
		return failed
	case <-m.ctx.Done():
		return fault.Wrap(fault.Unavailable, m.ctx.Err(), "the commit was not waited for; it may have taken place")
	}
}

// errAbandoned means that work left in the middle of its writes, by a panic.
var errAbandoned = errors.New("a transaction ended in the middle of its writes")

// take does the caller's work in its turn, and gives the connection back
// however that ends: by a panic or a test's Fatal too.
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

// batch gathers callers, beginning with first, commits and answers them.
func (c *committer) batch(first *member) {
	members := []*member{first}
	err := c.begun(func(tx *sql.Tx) error {
		s := &session{statements: c.prepared.within(context.Background(), tx)}
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
		m.result <- err // it has room, so one that left holds up nobody
	}
}

// begun runs gather in a SQLite transaction on the writing connection and
// commits it. No caller's context reaches it: the batch belongs to all of them.
func (c *committer) begun(gather func(*sql.Tx) error) error {
	conn, err := c.db.Conn(c.closing)
	if err != nil {
		if c.closing.Err() != nil {
			return txn.Closed()
		}
		return explain("take the writing connection", err)
	}
	defer conn.Close() // it goes back to the pool, which cannot fail here
	tx, err := conn.BeginTx(context.Background(), nil)
	if err != nil {
		return explain("begin a batch", err)
	}
	if err := gather(tx); err != nil {
		// Its own error says no more: where SQLite has rolled back by itself
		// there is nothing left to roll back.
		_ = tx.Rollback()
		return lost(err)
	}
	return explain("commit a batch", tx.Commit())
}

// lost is what the members of a batch are told that came to nothing by the
// fault of one of them: it is no reason for the others not to try again.
func lost(cause error) error {
	if explained := explain("write a batch", cause); fault.Is(explained, fault.Unavailable) {
		return explained
	}
	return fault.Wrap(fault.Unavailable, cause, "another transaction of the same commit failed; nothing was written, try again")
}

// offer gives a member its turn and waits for the end of it; a member that has
// left is passed over. An error means that the batch cannot be committed.
func (m *member) offer(s *session) error {
	select {
	case m.turn <- s:
		return <-m.ended
	case <-m.ctx.Done():
		return nil
	}
}
