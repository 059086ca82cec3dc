package mirrors

import (
	"context"
	"time"

	"questscheduler/internal/gcal"
	"questscheduler/internal/mirror"
	"questscheduler/internal/outbox"
	"questscheduler/internal/recurrence"
	"questscheduler/internal/store"
	"questscheduler/mirrors/plan"
)

// WriteKind is the kind of the outbox that writes mirrors.
const WriteKind = "mirror"

// Google is what the writer calls: gcal.Client, with a part of each account's quota
// (gcal.Client.Within).
type Google interface {
	Get(ctx context.Context, ref gcal.Ref, id string) (gcal.Event, error)
	Instance(ctx context.Context, ref gcal.Ref, seriesID string, original recurrence.Moment) (gcal.Event, error)
	InsertContent(ctx context.Context, ref gcal.Ref, id string, content gcal.Content, private map[string]string) (gcal.Event, error)
	PatchContent(ctx context.Context, ref gcal.Ref, id, etag string, content gcal.Content) (gcal.Event, error)
	DeleteQuietly(ctx context.Context, ref gcal.Ref, id, etag string) (deleted bool, err error)
	List(ctx context.Context, ref gcal.Ref, mask gcal.Mask, syncToken, pageToken string) (gcal.Page, error)
	Access(ctx context.Context, ref gcal.Ref) (gcal.Access, error)
	Calendars(ctx context.Context, account string) ([]gcal.CalendarEntry, error)
	InsertCalendar(ctx context.Context, account string, calendar gcal.NewCalendar) (id string, err error)
}

// Writer brings calendars to what the documents of mirrors want. A mirror's document is
// its own outbox: the writer may die after any call and be repeated from there, and
// several may work on one mirror. Ids of events derive from the document, so that a call
// whose answer was lost is found again; a patch carries the etag that it is based on; and
// an outcome is recorded only for the generation that it is of.
type Writer struct {
	*Service
	// Google makes the writer's calls. Leaving makes the last ones of an account that is
	// being unlinked (accounts.Grants.Leaving).
	Google, Leaving Google

	pauses pauses
}

// Work is the kind of the outbox that writes mirrors. A run compares generation and etag in
// each transaction that records an outcome, so it claims nothing.
func (w *Writer) Work() outbox.Kind {
	return outbox.Kind{
		Name: WriteKind, Does: "mirrors", Path: mirror.Path, Due: mirror.Due, DueBehind: mirror.DueBehind, Rests: w.rests,
		Codec: outbox.DueAt("due", "trace"), Handle: w.handle, Mode: w.mode, Workers: 20, Unclaimed: true,
	}
}

func (w *Writer) mode() outbox.Mode {
	if w.Observing {
		return outbox.Observes
	}
	return outbox.Works
}

// rests reports whether the account of a mirror rests.
func (w *Writer) rests(doc store.Document, now time.Time) bool {
	return w.pauses.until(mirror.Decode(doc).TargetAccountID, now).After(now)
}

// handle writes a mirror. What fails is counted in the mirror's document, so the waker repeats
// only what the store refused.
func (w *Writer) handle(ctx context.Context, item outbox.Item) outbox.Result {
	left, err := w.write(ctx, item)
	switch {
	case err != nil:
		return outbox.Broken(err)
	case left.Due.IsZero() || plan.Next(left) == plan.Nothing:
		return outbox.Done()
	default:
		return outbox.Kept(left.Due)
	}
}

const (
	// maxTurns bounds how many calls one run makes for a mirror that keeps changing, and
	// turnsPause is how long it rests after that.
	maxTurns   = 8
	turnsPause = time.Second
)

// write takes steps for a mirror until nothing is due, and returns it as it then is; the
// zero mirror if it is gone. While the kind observes it says what it would do.
func (w *Writer) write(ctx context.Context, item outbox.Item) (mirror.Mirror, error) {
	var now *attempt // as the last step left it; nil: to be read
	for range maxTurns {
		if now == nil {
			read, found, err := w.load(ctx, item)
			if err != nil || !found {
				return mirror.Mirror{}, err
			}
			now = read
		}
		choice := choose(now.facts, w.Now())
		if choice == doNothing {
			return now.Mirror, nil
		}
		if item.Observing {
			w.Log.InfoContext(ctx, "mirror not written: observing", "mirror", item.ID, "would", choice.String(), "trace", now.cause.Trace)
			return mirror.Mirror{}, nil
		}
		if err := w.take(ctx, now, choice); err != nil {
			return mirror.Mirror{}, err
		}
		now = now.after()
	}
	m, _, err := mirror.Load(ctx, w.Store, item.ID)
	if rested := w.Now().Add(turnsPause); !m.Due.IsZero() && m.Due.Before(rested) {
		m.Due = rested
	}
	return m, err
}
