package feed_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	ical "github.com/emersion/go-ical"

	"questscheduler/fault"
	"questscheduler/feed"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/internal/test/memorystore"
	"questscheduler/rules"
)

var now = time.Date(2026, 2, 1, 12, 0, 0, 0, time.UTC)

// counting counts what is read of a store.
type counting struct {
	store.Store
	gets, batches, queries atomic.Int64
	documents, most        atomic.Int64 // of batches and queries; the largest of one
	failing                error        // of the queries
}

func (c *counting) counted(documents int) {
	c.documents.Add(int64(documents))
	c.most.Store(max(c.most.Load(), int64(documents)))
}

func (c *counting) Get(ctx context.Context, path store.Path) (store.Document, error) {
	c.gets.Add(1)
	return c.Store.Get(ctx, path)
}

func (c *counting) GetAll(ctx context.Context, paths []store.Path) ([]store.Document, error) {
	c.batches.Add(1)
	c.counted(len(paths))
	return c.Store.GetAll(ctx, paths)
}

func (c *counting) Query(ctx context.Context, query store.Bound) ([]store.Document, error) {
	c.queries.Add(1)
	if c.failing != nil {
		return nil, c.failing
	}
	docs, err := c.Store.Query(ctx, query)
	c.counted(len(docs))
	return docs, err
}

func newService(t *testing.T) (*feed.Service, *counting) {
	t.Helper()
	documents, err := memorystore.Open(poll.Queries)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := documents.Close(); err != nil {
			t.Error(err)
		}
	})
	counted := &counting{Store: documents}
	return &feed.Service{
		Store: counted, Now: func() time.Time { return now }, URL: "https://api.party.example/", AppURL: "https://party.example/",
	}, counted
}

// renewed gives the secret of a new feed.
func renewed(t *testing.T, s *feed.Service, userID string) (secret string) {
	t.Helper()
	address, err := s.Renew(t.Context(), userID, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	secret, ok := strings.CutPrefix(address, "https://api.party.example/feeds/")
	secret, isFile := strings.CutSuffix(secret, ".ics")
	if !ok || !isFile || len(secret) != 43 {
		t.Fatalf("the address is %s", address)
	}
	return secret
}

// none is a caller who has no text yet.
func none(string) bool { return false }

func calendarOf(t *testing.T, s *feed.Service, secret string) []byte {
	t.Helper()
	answer, err := s.Calendar(t.Context(), secret, none)
	if err != nil {
		t.Fatal(err)
	}
	return answer.Text
}

// pass lets time pass for a service.
func pass(s *feed.Service, d time.Duration) {
	at := s.Now().Add(d)
	s.Now = func() time.Time { return at }
}

func readFeed(t *testing.T, s *feed.Service, secret string) []ical.Event {
	t.Helper()
	text := calendarOf(t, s, secret)
	checkFormat(t, text)
	return read(t, text)
}

// put stores a poll of the web app, whose winning slot is a day's evening.
func put(t *testing.T, documents store.Store, id string, day int, fields map[string]any) {
	t.Helper()
	data := map[string]any{
		"title": "Session " + id, "creatorId": "gm", "participantIds": []any{"gm", "ana"}, "status": string(rules.Finalized),
		"winningSlotId": "s1", "createdAt": now.Add(time.Duration(day) * time.Second),
	}
	maps.Copy(data, fields)
	begins := now.AddDate(0, 0, day)
	err := documents.Run(t.Context(), func(_ context.Context, tx store.Tx) error {
		if err := tx.Set(poll.Path(id), data); err != nil {
			return err
		}
		return tx.Set(poll.SlotPath(id, "s1"), poll.EncodeSlot(poll.Slot{Start: begins, End: begins.Add(time.Hour)}))
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestCalendar_OfAPerson_HasTheirSessions(t *testing.T) {
	t.Parallel()
	s, documents := newService(t)
	cancelled := func(days int) map[string]any {
		at := now.AddDate(0, 0, -days)
		return map[string]any{"status": string(rules.Cancelled), "cancelled": map[string]any{"at": at, "reason": "manual"}}
	}
	put(t, documents, "finalised", 1, nil)
	put(t, documents, "cancelled lately", 2, cancelled(29))
	put(t, documents, "cancelled long ago", 3, cancelled(31))
	put(t, documents, "cancelled by the app", 4, map[string]any{
		"status": string(rules.Cancelled), "updatedAt": now.AddDate(0, 0, -40), "createdAt": now.AddDate(0, 0, -50),
	})
	put(t, documents, "never finalised", 5, map[string]any{"status": string(rules.Cancelled), "winningSlotId": nil})
	put(t, documents, "slot gone", 6, map[string]any{"winningSlotId": "other"})
	put(t, documents, "no slot id", 7, map[string]any{"winningSlotId": "a/b"})
	put(t, documents, "open", 8, map[string]any{"status": string(rules.Open)})
	put(t, documents, "archived", 9, map[string]any{"status": string(rules.Archived)})
	put(t, documents, "confirmed long ago", -45, map[string]any{"createdAt": now.AddDate(0, 0, -50), "updatedAt": now.AddDate(0, 0, -45)})
	put(t, documents, "others'", 10, map[string]any{"creatorId": "eve", "participantIds": []any{"eve"}})
	put(t, documents, "link shared", 11, map[string]any{"creatorId": "eve", "participantIds": []any{"eve"}, "allowLinkSharing": true})
	join(t, documents, "ana", "finalised", "cancelled lately", "confirmed long ago")
	for _, person := range []string{"gm", "ana"} {
		var got []string
		for _, event := range readFeed(t, s, renewed(t, s, person)) {
			got = append(got, value(t, event, "SUMMARY")+" "+value(t, event, "STATUS"))
		}
		if want := "Session confirmed long ago CONFIRMED, Session finalised CONFIRMED, Session cancelled lately " +
			"CANCELLED"; strings.Join(got, ", ") != want {
			t.Errorf("%s reads %q, want %s", person, got, want)
		}
	}
	if events := readFeed(t, s, renewed(t, s, "nobody")); len(events) != 0 {
		t.Errorf("a person without polls has %d sessions", len(events))
	}
}

func TestCalendar_PersonLeavesPoll_LosesTheSession(t *testing.T) {
	t.Parallel()
	s, documents := newService(t)
	put(t, documents, "p1", 1, nil)
	ana, gm := renewed(t, s, "ana"), renewed(t, s, "gm")
	if got := len(readFeed(t, s, ana)); got != 1 {
		t.Fatalf("%d sessions", got)
	}
	put(t, documents, "p1", 1, map[string]any{"participantIds": []any{"gm"}})
	pass(s, feed.RenderEvery)
	if of, others := len(readFeed(t, s, ana)), len(readFeed(t, s, gm)); of != 0 || others != 1 {
		t.Errorf("ana has %d sessions, gm %d", of, others)
	}
}

func TestCalendar_ManySessions_TakeFewQueries(t *testing.T) {
	t.Parallel()
	s, documents := newService(t)
	for i := range feed.MaxSessions + 5 {
		put(t, documents, fmt.Sprintf("p%04d", i), i%300, map[string]any{
			"createdAt": now.Add(time.Duration(i) * time.Second), "joinedIds": []any{"ana"},
		})
	}
	secret := renewed(t, s, "ana")
	documents.gets.Store(0)
	events := readFeed(t, s, secret)
	if len(events) != feed.MaxSessions {
		t.Errorf("%d sessions, want %d", len(events), feed.MaxSessions)
	}
	if gets, batches, queries := documents.gets.Load(), documents.batches.Load(),
		documents.queries.Load(); queries != 10 || batches != 10 || gets != 1 {
		t.Errorf("%d queries, %d batches, %d reads; want 10, 10 and 1", queries, batches, gets)
	}
	for _, event := range events {
		if uid := value(t, event, "UID"); uid < "p0005" {
			t.Errorf("%s is there and newer ones are not", uid)
		}
	}
}

func TestCalendar_SameState_GivesTheSameBytes(t *testing.T) {
	t.Parallel()
	s, documents := newService(t)
	put(t, documents, "p1", 1, nil)
	secret := renewed(t, s, "ana")
	first := calendarOf(t, s, secret)
	pass(s, 31*24*time.Hour)
	again := calendarOf(t, s, secret)
	another := &feed.Service{Store: s.Store, Now: s.Now, URL: s.URL, AppURL: s.AppURL} // another process
	if elsewhere := calendarOf(t, another, secret); string(first) != string(again) || string(first) != string(elsewhere) {
		t.Errorf("first\n%s\na month later\n%s\nelsewhere\n%s", first, again, elsewhere)
	}
}

func TestCalendar_EndedSecret_IsNotFoundWithoutDifference(t *testing.T) {
	t.Parallel()
	s, documents := newService(t)
	old := renewed(t, s, "ana")
	ended := renewed(t, s, "ana")
	other := renewed(t, s, "ben")
	readFeed(t, s, ended)
	if _, err := s.Calendar(t.Context(), other[:9]+"\r\n"+other[9:], none); !fault.Is(err, fault.NotFound) {
		t.Errorf("a secret with a line end within it: %v", err)
	}
	notFound := func(secret string) {
		t.Helper()
		_, err := s.Calendar(t.Context(), secret, none)
		if !fault.Is(err, fault.NotFound) || err.Error() != "There is no such calendar feed. Make a new one in Quest Scheduler." {
			t.Errorf("%q: %v", secret, err)
		}
	}
	notFound(old)
	for range 2 { // the second has nothing to end
		if err := s.Revoke(t.Context(), "ana"); err != nil {
			t.Fatal(err)
		}
	}
	documents.gets.Store(0)
	notFound(ended)
	if documents.gets.Load() != 1 {
		t.Errorf("a well-formed secret takes %d reads", documents.gets.Load())
	}
	for _, malformed := range []string{
		"", "x", old + "x", old[1:], "../" + old[3:], strings.Repeat("=", 43), old[:42] + "\n", old[:42] + "_",
	} {
		notFound(malformed)
	}
	if documents.gets.Load() != 1 {
		t.Error("a malformed secret takes a read")
	}
	readFeed(t, s, other)
	readFeed(t, s, renewed(t, s, "ana"))
}

func TestRenew_Secret_IsStoredAsHashOnly(t *testing.T) {
	t.Parallel()
	s, documents := newService(t)
	written := &recording{Store: documents.Store}
	s.Store = written
	old := renewed(t, s, "ana")
	secret := renewed(t, s, "ana")
	if err := s.Revoke(t.Context(), "ana"); err != nil {
		t.Fatal(err)
	}
	text := written.text.String()
	if strings.Contains(text, secret) || strings.Contains(text, old) || !strings.Contains(text, "feedSecrets/") {
		t.Errorf("written:\n%s", text)
	}
	for path, there := range written.there {
		if there {
			t.Errorf("%s is left", path)
		}
	}
	if len(written.there) != 3 || written.runs != 3 {
		t.Errorf("%d documents in %d transactions", len(written.there), written.runs)
	}
}

func TestCalendar_StoreFails_SaysSoWithoutTheSecret(t *testing.T) {
	t.Parallel()
	s, documents := newService(t)
	secret := renewed(t, s, "ana")
	documents.failing = errors.New("the store is away")
	_, err := s.Calendar(t.Context(), secret, none)
	if !errors.Is(err, documents.failing) || strings.Contains(err.Error(), secret) {
		t.Error(err)
	}
}
