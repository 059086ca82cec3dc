package feed_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"questscheduler/fault"
	"questscheduler/feed"
	"questscheduler/internal/store"
)

// gated has queries wait for the gate, which lets as many through as it is sent values.
type gated struct {
	store.Store
	gate    chan struct{}
	waiting atomic.Int64
}

func (g *gated) Query(ctx context.Context, query store.Bound) ([]store.Document, error) {
	g.waiting.Add(1)
	defer g.waiting.Add(-1)
	select {
	case <-g.gate:
		return g.Store.Query(ctx, query)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// each is a caller who has the text of every tag.
func each(string) bool { return true }

// ofReading is how many queries one reading takes: the sessions.
const ofReading = 1

func TestCalendar_WithinAMinute_IsReadOnce(t *testing.T) {
	t.Parallel()
	s, documents := newService(t)
	put(t, documents, "p1", 1, nil)
	secret := renewed(t, s, "ana")
	first := calendarOf(t, s, secret)
	put(t, documents, "p2", 2, nil)
	pass(s, feed.RenderEvery-time.Second)
	documents.gets.Store(0)
	for range 9 {
		answer, err := s.Calendar(t.Context(), secret, none)
		if err != nil || string(answer.Text) != string(first) {
			t.Fatalf("%v, %s", err, answer.Text)
		}
		if has, err := s.Calendar(
			t.Context(), secret, func(tag string) bool { return tag == answer.Tag },
		); err != nil || has.Text != nil || has.Tag != answer.Tag {
			t.Fatalf("%v, %+v", err, has)
		}
	}
	if gets, queries := documents.gets.Load(), documents.queries.Load(); gets != 0 || queries != ofReading {
		t.Errorf("%d reads and %d queries", gets, queries)
	}
	pass(s, time.Second)
	if got := len(readFeed(t, s, secret)); got != 2 || documents.queries.Load() != 2*ofReading {
		t.Errorf("a minute later, %d sessions after %d queries", got, documents.queries.Load())
	}
	pass(s, -time.Hour) // the clock is set back
	readFeed(t, s, secret)
	if documents.queries.Load() != 3*ofReading {
		t.Error("an answer of a time to come counts")
	}
}

func TestCalendar_CallerHasTheText_IsNotRendered(t *testing.T) {
	t.Parallel()
	s, documents := newService(t)
	put(t, documents, "p1", 1, nil)
	secret := renewed(t, s, "ana")
	for range 3 {
		if answer, err := s.Calendar(t.Context(), secret, each); err != nil || answer.Text != nil || answer.Tag == "" {
			t.Fatalf("%v, %+v", err, answer)
		}
	}
	if _, _, bytes := s.Kept(); bytes != 0 || documents.queries.Load() != ofReading {
		t.Errorf("%d bytes were rendered after %d queries", bytes, documents.queries.Load())
	}
	text := calendarOf(t, s, secret) // who has no text waits for no minute
	pass(s, feed.RenderEvery)
	if again, err := s.Calendar(t.Context(), secret, none); err != nil || &again.Text[0] != &text[0] {
		t.Errorf("the same sessions were rendered again (%v)", err)
	}
}

func TestCalendar_OverItsRate_WaitsForTheMinute(t *testing.T) {
	t.Parallel()
	s, documents := newService(t)
	put(t, documents, "p1", 1, nil)
	secret, other := renewed(t, s, "ana"), renewed(t, s, "gm")
	has := none
	for range feed.MaxAnswers {
		if _, err := s.Calendar(t.Context(), secret, has); err != nil {
			t.Fatal(err)
		}
		has = each
	}
	pass(s, 20*time.Second)
	for _, has := range []func(string) bool{none, each} {
		_, err := s.Calendar(t.Context(), secret, has)
		if !fault.Is(err, fault.RateLimited) || fault.CodeOf(err) != feed.CodeRate || fault.RetryAfter(err) != 40*time.Second {
			t.Errorf("%v, wait %v", err, fault.RetryAfter(err))
		}
	}
	calendarOf(t, s, other)
	pass(s, 40*time.Second)
	calendarOf(t, s, secret)
}

func TestCalendar_ManyAtOnce_ShareOneReading(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, documents := newService(t)
		put(t, documents, "p1", 1, nil)
		secret := renewed(t, s, "ana")
		gate := &gated{Store: documents, gate: make(chan struct{})}
		s.Store = gate
		impatient, leave := context.WithCancel(t.Context())
		ctxs := []context.Context{impatient, impatient}
		for range 16 {
			ctxs = append(ctxs, t.Context())
		}
		failed := make(chan error, len(ctxs))
		for _, ctx := range ctxs {
			go func() {
				answer, err := s.Calendar(ctx, secret, none)
				if err == nil && !strings.Contains(string(answer.Text), "UID:p1@") {
					err = fmt.Errorf("the answer is %+v", answer)
				}
				failed <- err
			}()
			synctest.Wait() // the first reads, and leaves
		}
		if got := gate.waiting.Load(); got != 1 {
			t.Errorf("%d read at once", got)
		}
		leave()
		synctest.Wait()
		late := make(chan error)
		go func() { _, err := s.Calendar(t.Context(), secret, none); late <- err }()
		synctest.Wait()
		if got := gate.waiting.Load(); got != 1 {
			t.Errorf("%d read at once after two left", got)
		}
		close(gate.gate)
		if err := <-late; err != nil {
			t.Error(err)
		}
		var gone int
		for range ctxs {
			if err := <-failed; errors.Is(err, context.Canceled) {
				gone++
			} else if err != nil {
				t.Error(err)
			}
		}
		if gone != 2 || documents.queries.Load() != ofReading || s.Turns() != 0 {
			t.Errorf("%d left, %d queries, %d turns are left", gone, documents.queries.Load(), s.Turns())
		}
	})
}

func TestCalendar_ManyFeedsAtOnce_AreReadInTurn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, documents := newService(t)
		var secrets []string
		for i := range 3 * feed.MaxReading {
			secrets = append(secrets, renewed(t, s, fmt.Sprint("person", i)))
		}
		gate := &gated{Store: documents, gate: make(chan struct{})}
		s.Store = gate
		impatient, leave := context.WithCancel(t.Context())
		var all sync.WaitGroup
		for i, secret := range append(secrets, renewed(t, s, "impatient")) {
			ctx := t.Context()
			if i == len(secrets) {
				ctx = impatient
			}
			all.Go(func() {
				if _, err := s.Calendar(ctx, secret, none); (err != nil) != (ctx == impatient) {
					t.Error(err)
				}
			})
			synctest.Wait()
		}
		if got := gate.waiting.Load(); got != feed.MaxReading {
			t.Errorf("%d are read at once", got)
		}
		leave()
		synctest.Wait()
		close(gate.gate)
		all.Wait()
	})
}

func TestCalendar_EndedDuringItsReading_IsGone(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(ctx context.Context, s *feed.Service) error{
		"revoked": func(ctx context.Context, s *feed.Service) error { return s.Revoke(ctx, "ana") },
		"renewed": func(ctx context.Context, s *feed.Service) error {
			_, err := s.Renew(ctx, "ana", time.Time{})
			return err
		},
		"revoked without an answer": func(ctx context.Context, s *feed.Service) error {
			answering := s.Store
			defer func() { s.Store = answering }()
			s.Store = mute{answering}
			if err := s.Revoke(ctx, "ana"); !errors.Is(err, errMute) {
				return fmt.Errorf("got %w", err)
			}
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s, documents := newService(t)
				secret := renewed(t, s, "ana")
				gate := &gated{Store: documents, gate: make(chan struct{})}
				s.Store = gate
				read := make(chan error)
				for range 2 {
					go func() { _, err := s.Calendar(t.Context(), secret, none); read <- err }()
					synctest.Wait()
				}
				if err := end(t.Context(), s); err != nil {
					t.Fatal(err)
				}
				if _, err := s.Calendar(t.Context(), secret, each); !fault.Is(err, fault.NotFound) {
					t.Errorf("during the reading: %v", err) // and without waiting for it
				}
				close(gate.gate)
				first, second := <-read, <-read // who began before may get it still
				for _, err := range []error{first, second} {
					if err != nil && !fault.Is(err, fault.NotFound) {
						t.Error(err)
					}
				}
				if _, err := s.Calendar(t.Context(), secret, each); !fault.Is(err, fault.NotFound) {
					t.Errorf("afterwards: %v", err)
				}
			})
		})
	}
}

// mute commits transactions and says that it failed.
type mute struct{ store.Store }

var errMute = errors.New("the answer was lost")

func (m mute) Run(ctx context.Context, fn func(context.Context, store.Tx) error) error {
	return errors.Join(m.Store.Run(ctx, fn), errMute)
}

func TestCalendar_EndedByAnotherProcess_EndsInAMinute(t *testing.T) {
	t.Parallel()
	s, documents := newService(t)
	another := &feed.Service{Store: documents, Now: s.Now, URL: s.URL}
	secret := renewed(t, s, "ana")
	calendarOf(t, s, secret)
	if err := another.Revoke(t.Context(), "ana"); err != nil {
		t.Fatal(err)
	}
	calendarOf(t, s, secret) // as documented
	pass(s, feed.RenderEvery)
	if _, err := s.Calendar(t.Context(), secret, each); !fault.Is(err, fault.NotFound) {
		t.Errorf("a minute later: %v", err)
	}
	if feeds, _, _ := s.Kept(); feeds != 0 {
		t.Errorf("%d are remembered", feeds)
	}
}

func TestCalendar_FailedReading_IsTriedAgain(t *testing.T) {
	t.Parallel()
	s, documents := newService(t)
	secret := renewed(t, s, "ana")
	documents.failing = errors.New("the store is away")
	for range 2 {
		if _, err := s.Calendar(t.Context(), secret, each); !errors.Is(err, documents.failing) {
			t.Error(err)
		}
	}
	documents.failing = nil
	calendarOf(t, s, secret)
	if s.Turns() != 0 {
		t.Errorf("%d turns are left", s.Turns())
	}
}

func TestKept_LargeFeeds_StayBelowTheBound(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("large numbers")
	}
	s, documents := newService(t)
	people := make([]any, feed.MaxKeptBytes/feed.MaxBytes+3)
	for i := range people {
		people[i] = fmt.Sprint("person", i)
	}
	for i := range 190 {
		put(t, documents, fmt.Sprintf("p%03d", i), i, map[string]any{
			"participantIds": people, "joinedIds": people, "description": strings.Repeat("🎲;", 1000),
		})
	}
	secrets := make([]string, len(people))
	for i, person := range people {
		secrets[i] = renewed(t, s, fmt.Sprint(person))
		if got := len(calendarOf(t, s, secrets[i])); got > feed.MaxBytes || got < feed.MaxBytes*9/10 {
			t.Fatalf("a feed of %d bytes", got)
		}
	}
	if feeds, counted, bytes := s.Kept(); feeds != len(people) || counted != bytes || bytes > feed.MaxKeptBytes ||
		bytes < feed.MaxKeptBytes*9/10 {
		t.Errorf("%d feeds with %d bytes, and %d are counted", feeds, bytes, counted)
	}
	if _, err := s.Calendar(t.Context(), secrets[0], none); fault.CodeOf(err) != feed.CodeRate {
		t.Errorf("the first one, whose text is forgotten: %v", err)
	}
	if answer, err := s.Calendar(t.Context(), secrets[0], each); err != nil || answer.Text != nil {
		t.Errorf("for who has its text: %v, %d bytes", err, len(answer.Text))
	}
	if last := secrets[len(secrets)-1]; len(calendarOf(t, s, last)) == 0 {
		t.Error("the last one has no text")
	}
	pass(s, feed.RenderEvery)
	calendarOf(t, s, secrets[0])
	if err := s.Revoke(t.Context(), "person0"); err != nil {
		t.Fatal(err)
	}
	if feeds, counted, bytes := s.Kept(); feeds != len(people)-1 || counted != bytes {
		t.Errorf("%d feeds with %d bytes, and %d are counted", feeds, bytes, counted)
	}
}

func TestKept_ManyFeeds_ForgetTheFirst(t *testing.T) {
	t.Parallel()
	for count, first := range map[int]bool{feed.MaxKept: true, feed.MaxKept + 1: false} {
		if feeds, there, last := feed.KeptOf(count); feeds != feed.MaxKept || there != first || !last {
			t.Errorf("of %d, %d are remembered; the first: %t, the last: %t", count, feeds, there, last)
		}
	}
}
