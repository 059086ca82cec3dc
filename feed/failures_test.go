package feed_test

import (
	"context"
	"errors"
	"maps"
	"strings"
	"testing"
	"time"

	"questscheduler/fault"
	"questscheduler/feed"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/rules"
)

var errAway = errors.New("the store is away")

// breaking fails the call of a number, counted from 0, also those of transactions.
type breaking struct {
	store.Store
	calls, at int
}

func (b *breaking) fails() error {
	b.calls++
	if b.calls == b.at+1 {
		return errAway
	}
	return nil
}

func (b *breaking) Get(ctx context.Context, path store.Path) (store.Document, error) {
	if err := b.fails(); err != nil {
		return store.Document{}, err
	}
	return b.Store.Get(ctx, path)
}

func (b *breaking) GetAll(ctx context.Context, paths []store.Path) ([]store.Document, error) {
	if err := b.fails(); err != nil {
		return nil, err
	}
	return b.Store.GetAll(ctx, paths)
}

func (b *breaking) Query(ctx context.Context, query store.Bound) ([]store.Document, error) {
	if err := b.fails(); err != nil {
		return nil, err
	}
	return b.Store.Query(ctx, query)
}

func (b *breaking) Run(ctx context.Context, fn func(context.Context, store.Tx) error) error {
	return b.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error { return fn(ctx, breakingTx{tx, b}) })
}

type breakingTx struct {
	store.Tx
	by *breaking
}

func (tx breakingTx) Get(ctx context.Context, path store.Path) (store.Document, error) {
	if err := tx.by.fails(); err != nil {
		return store.Document{}, err
	}
	return tx.Tx.Get(ctx, path)
}

func (tx breakingTx) Create(path store.Path, data map[string]any) error {
	return errors.Join(tx.by.fails(), tx.Tx.Create(path, data))
}

func (tx breakingTx) Set(path store.Path, data map[string]any) error {
	return errors.Join(tx.by.fails(), tx.Tx.Set(path, data))
}

func (tx breakingTx) Delete(path store.Path) error {
	return errors.Join(tx.by.fails(), tx.Tx.Delete(path))
}

func TestService_AnyCallOfTheStoreFails_SaysSo(t *testing.T) {
	t.Parallel()
	s, documents := newService(t)
	put(t, documents, "open", 1, map[string]any{"status": string(rules.Open)})
	vote(t, documents, "open", "ana")
	flood(t, documents, feed.MaxSessions)
	secret := renewed(t, s, "ana")
	for name, row := range map[string]struct {
		least int
		do    func(s *feed.Service) error
	}{
		"read": {10, func(s *feed.Service) error { _, err := s.Calendar(t.Context(), secret, none); return err }},
		"renew": {4, func(s *feed.Service) error {
			address, err := s.Renew(t.Context(), "ben", time.Time{})
			if err != nil && address != "" {
				t.Errorf("%v, and the address %s", err, address)
			}
			return err
		}},
		"revoke": {3, func(s *feed.Service) error { return s.Revoke(t.Context(), "cleo") }},
	} {
		renewed(t, s, "ben")
		renewed(t, s, "cleo")
		for at := 0; ; at++ {
			broken := &breaking{Store: documents.Store, at: at}
			err := row.do(&feed.Service{Store: broken, Now: s.Now, URL: s.URL})
			if broken.calls <= at { // there are no more
				if err != nil || at < row.least {
					t.Errorf("%s: %v after %d calls", name, err, at)
				}
				break
			}
			if !errors.Is(err, errAway) {
				t.Errorf("%s, call %d: %v", name, at, err)
			}
		}
	}
}

// What one poll's document makes of its session.
func TestCalendar_OfAPoll_SaysWhatItHolds(t *testing.T) {
	t.Parallel()
	at := func(days int) time.Time { return now.AddDate(0, 0, days) }
	cancelled := map[string]any{"status": string(rules.Cancelled), "createdAt": at(-90)}
	for name, row := range map[string]struct {
		id     string
		fields map[string]any
		slot   poll.Slot
		appURL string
		want   map[string]string // nil: it is not there
	}{
		"an evening": {
			"p1", map[string]any{"description": "Bring dice", "createdAt": at(-9)},
			poll.Slot{Start: at(3), End: at(3).Add(3 * time.Hour)}, "https://party.example/",
			map[string]string{
				"UID": "p1@questscheduler.app", "DTSTART": "20260204T120000Z", "DTEND": "20260204T150000Z", "URL": "https://party.example/scheduler/p1",
				"DESCRIPTION": "Bring dice\n\nhttps://party.example/scheduler/p1", "LAST-MODIFIED": "20260123T120000Z",
			},
		},
		"two days": {
			"p1", nil, poll.Slot{Start: day(5), End: day(7), AllDay: true}, "",
			map[string]string{"DTSTART": "20260305", "DTEND": "20260307"},
		},
		"without the app": {
			"p1", map[string]any{"description": "Bring dice"}, poll.Slot{Start: at(3)}, "",
			map[string]string{"URL": "", "DESCRIPTION": "Bring dice"},
		},
		"an id with a space": {
			"a b", nil, poll.Slot{Start: at(3)}, "https://party.example",
			map[string]string{"URL": "https://party.example/scheduler/a%20b"},
		},
		"edited": {
			"p1", map[string]any{"createdAt": at(-9), "updatedAt": at(-2)}, poll.Slot{Start: at(3)}, "",
			map[string]string{"LAST-MODIFIED": "20260130T120000Z"},
		},
		"journaled": {
			"p1", map[string]any{"createdAt": at(-9), "updatedAt": at(-2), "calendarSync": map[string]any{"recorded": map[string]any{"at": at(-1)}}},
			poll.Slot{Start: at(3)}, "", map[string]string{"LAST-MODIFIED": "20260131T120000Z"},
		},
		"without a start": {"p1", nil, poll.Slot{End: at(3)}, "", nil},
		"year 10000":      {"p1", nil, poll.Slot{Start: time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)}, "", nil},
		"year 9999": {
			"p1", nil, poll.Slot{Start: time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)}, "",
			map[string]string{"DTSTART": "99991231T000000Z"},
		},
		"beyond 9999": {
			"p1", nil, poll.Slot{Start: at(1), End: time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)}, "",
			map[string]string{"DTEND": ""},
		},
		"year 1": {
			"p1", nil, poll.Slot{Start: time.Date(1, 2, 1, 0, 0, 0, 0, time.UTC)}, "",
			map[string]string{"DTSTART": "00010201T000000Z"},
		},
		"cancelled, by the mark of the app": {
			"p1", map[string]any{"cancelled": map[string]any{"at": at(-31)}, "updatedAt": at(-1)}, poll.Slot{Start: at(3)}, "", nil,
		},
		"cancelled, by ours": {
			"p1", map[string]any{"calendarSync": map[string]any{"cancelled": map[string]any{"at": at(-31)}}, "updatedAt": at(-1)},
			poll.Slot{Start: at(3)}, "", nil,
		},
		"cancelled lately, by ours": {
			"p1", map[string]any{"calendarSync": map[string]any{"cancelled": map[string]any{"at": at(-29)}}, "updatedAt": at(-50)},
			poll.Slot{Start: at(3)}, "",
			map[string]string{"STATUS": "CANCELLED"},
		},
		"cancelled, by ours, when is not known": {
			"p1", map[string]any{"calendarSync": map[string]any{"cancelled": map[string]any{"reason": "x"}}, "updatedAt": at(-1)},
			poll.Slot{Start: at(3)}, "",
			map[string]string{"STATUS": "CANCELLED"},
		},
		"cancelled, when is not known": {
			"p1", map[string]any{"cancelled": map[string]any{"reason": "x"}, "updatedAt": at(-1)}, poll.Slot{Start: at(3)}, "",
			map[string]string{"STATUS": "CANCELLED"},
		},
		"so long ago": {
			"p1", map[string]any{"cancelled": map[string]any{"reason": "x"}, "updatedAt": at(-31)}, poll.Slot{Start: at(3)}, "",
			nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, documents := newService(t)
			s.AppURL = row.appURL
			fields := map[string]any{"joinedIds": []any{"ana"}}
			if row.fields["cancelled"] != nil || strings.HasPrefix(name, "cancelled") {
				maps.Copy(fields, cancelled)
			}
			maps.Copy(fields, row.fields)
			put(t, documents, row.id, 1, fields)
			write(t, documents, poll.SlotPath(row.id, "s1"), poll.EncodeSlot(row.slot))
			events := readFeed(t, s, renewed(t, s, "ana"))
			if len(events) == 0 || row.want == nil {
				if len(events) > 0 || row.want != nil {
					t.Fatalf("%d sessions", len(events))
				}
				return
			}
			for property, want := range row.want {
				if got := value(t, events[0], property); got != want {
					t.Errorf("%s is %q, want %q", property, got, want)
				}
			}
		})
	}
}

func day(of int) time.Time { return time.Date(2026, 3, of, 0, 0, 0, 0, time.UTC) }

// A feed whose text nobody needed has its rate too.
func TestCalendar_OverItsRateWithoutText_Waits(t *testing.T) {
	t.Parallel()
	s, documents := newService(t)
	put(t, documents, "p1", 1, nil)
	secret := renewed(t, s, "ana")
	for range feed.MaxAnswers {
		if _, err := s.Calendar(t.Context(), secret, each); err != nil {
			t.Fatal(err)
		}
	}
	pass(s, 20*time.Second)
	_, err := s.Calendar(t.Context(), secret, none)
	if fault.CodeOf(err) != feed.CodeRate || fault.RetryAfter(err) != 40*time.Second || err.Error() == "" {
		t.Errorf("%v, wait %v", err, fault.RetryAfter(err))
	}
}

func TestCalendar_SecretOfAByteLess_ReadsNothing(t *testing.T) {
	t.Parallel()
	s, documents := newService(t)
	_, err := s.Calendar(t.Context(), strings.Repeat("A", 42)+"\n", none)
	if gets := documents.gets.Load(); !fault.Is(err, fault.NotFound) || gets != 0 {
		t.Errorf("%v after %d reads", err, gets)
	}
}
