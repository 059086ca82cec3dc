package api_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"questscheduler/api"
	"questscheduler/fault"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/scheduler"
)

// keyed is a call with an idempotency key.
func keyed(key string, c call) call {
	c.header = map[string]string{"Idempotency-Key": key}
	return c
}

// createCall makes a poll of gm's.
func createCall(body any) call { return call{as: "gm", method: "POST", path: "/v1/polls", body: body} }

// finaliseCall finalises a poll of gm's, with an event.
func finaliseCall(p pollJSON) call {
	return call{as: "gm", method: "POST", path: "/v1/polls/" + p.ID + "/finalize", body: map[string]any{"slot_id": p.Slots[0].ID}}
}

// mine lists the polls that somebody made.
func (w *world) mine(as string) []pollJSON {
	w.t.Helper()
	var list struct{ Polls []pollJSON }
	w.want(200, call{as: as, method: "GET", path: "/v1/polls?limit=100&include=slots,votes"}, &list)
	return list.Polls
}

const session = `{"title": "Session 12", "slots": [{"start": "2026-03-01T18:00:00Z", "end": "2026-03-01T20:00:00Z"}]}`

func TestKey_SentAgain_IsAnsweredAsTheFirst(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := w.want(201, keyed("k1", createCall(session)), nil)
	rewritten := `{  "slots":[{"end":"2026-03-01T20:00:00.000+00:00", "start":"2026-03-01T18:00:00Z"}], "title":"Session\u002012"}`
	again := w.want(201, keyed("k1", createCall(rewritten)), nil)
	if string(first.Data) != string(again.Data) || len(w.mine("gm")) != 1 {
		t.Errorf("first %s, again %s; %d polls", first.Data, again.Data, len(w.mine("gm")))
	}
	if first.Meta.RequestID == again.Meta.RequestID {
		t.Error("two requests have one id")
	}

	// Later changes of the poll do not change the stored answer.
	made := w.mine("gm")[0]
	finalised := w.want(200, keyed("k1", finaliseCall(made)), nil) // on another route it is another key
	w.want(200, call{as: "gm", method: "DELETE", path: "/v1/polls/" + made.ID}, nil)
	for _, c := range []struct {
		call
		first answer
	}{{createCall(session), first}, {finaliseCall(made), finalised}} {
		got := w.do(keyed("k1", c.call))
		if got.status != c.first.status || string(got.Data) != string(c.first.Data) {
			t.Errorf("%s is answered %d %s", c.path, got.status, got.text)
		}
	}
	if len(w.mine("gm")) != 0 || w.calendar.made() != 1 {
		t.Errorf("%d polls, %d events", len(w.mine("gm")), w.calendar.made())
	}
}

func TestKey_WithAnotherBody_IsAConflict(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.want(201, keyed("k1", createCall(session)), nil)
	got := w.want(409, keyed("k1", createCall(strings.Replace(session, "12", "13", 1))), nil)
	if got.Error.Code != "CONFLICT" || len(w.mine("gm")) != 1 {
		t.Errorf("answered %s; %d polls", got.text, len(w.mine("gm")))
	}
}

func TestKey_OfAnotherPerson_IsIndependent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, as := range []string{"gm", "ana"} {
		c := createCall(session)
		c.as = as
		var made pollJSON
		w.want(201, keyed("k1", c), &made)
		if made.CreatorID != as {
			t.Errorf("%s was given the poll of %s", as, made.CreatorID)
		}
	}
}

func TestKey_AfterADay_IsForgotten(t *testing.T) {
	t.Parallel()
	clock := newStillClock()
	w := newWorld(t, clock.on)
	w.want(201, keyed("k1", createCall(session)), nil)
	clock.advance(24*time.Hour - time.Second)
	w.want(201, keyed("k1", createCall(session)), nil)
	if count := len(w.mine("gm")); count != 1 {
		t.Fatalf("%d polls within a day", count)
	}
	w.removeExpired(clock.now(), 0)
	clock.advance(time.Second)
	w.want(201, keyed("k1", createCall(strings.Replace(session, "12", "13", 1))), nil)
	if count := len(w.mine("gm")); count != 2 {
		t.Errorf("%d polls after a day", count)
	}
	clock.advance(25 * time.Hour)
	w.removeExpired(clock.now(), 1)
	w.removeExpired(clock.now(), 0)
}

// removeExpired demands how many keys are removed.
func (w *world) removeExpired(now time.Time, want int) {
	w.t.Helper()
	removed, err := api.RemoveExpiredKeys(w.t.Context(), w.store, now, 100)
	must(w.t, err)
	if removed != want {
		w.t.Errorf("%d keys are removed, want %d", removed, want)
	}
}

// TestCreate_TakenID_IsRefusedOrShownToItsCreator: what a key's request that died has made is its
// own; nobody else's poll is given away or changed.
func TestCreate_TakenID_IsRefusedOrShownToItsCreator(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.newPoll(nil)
	ask := scheduler.Create{ID: made.ID, Title: "Another", Slots: []scheduler.Times{{Start: begin, End: begin.Add(time.Hour)}}}
	_, err := w.options.Scheduler.Create(t.Context(), scheduler.Person{ID: "ana"}, ask, scheduler.Cause{})
	if !fault.Is(err, fault.Conflict) {
		t.Errorf("ana is given %v", err)
	}
	view, err := w.options.Scheduler.Create(t.Context(), scheduler.Person{ID: "gm"}, ask, scheduler.Cause{})
	if err != nil || view.Poll.Title != made.Title || len(view.Slots) != len(made.Slots) {
		t.Errorf("gm is given %+v, %v", view, err)
	}
}

func TestKey_ThatIsRefused_MakesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.newPoll(nil)
	before := w.store.writes.Load()
	for name, key := range badKeys {
		for _, c := range []call{createCall(session), finaliseCall(made)} {
			got := w.want(400, keyed(key, c), nil)
			wantField(t, got, "Idempotency-Key")
			if t.Failed() {
				t.Fatal(name)
			}
		}
	}
	two := createCall(session)
	two.more = http.Header{"Idempotency-Key": {"k1", "k2"}}
	w.want(400, two, nil)
	if w.store.writes.Load() != before {
		t.Error("something was written")
	}
	w.want(201, keyed(strings.Repeat("~", 255), createCall(session)), nil)
}

func TestKey_ByStatus_StoresSuccessesAndRefusals(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		failure error
		first   int
		second  int // when nothing stands in the way any more
	}{
		{fault.New(fault.Revoked, "Link your calendar again."), 422, 422},
		{fault.New(fault.NotFound, "There is no such account."), 404, 404},
		{fault.New(fault.Forbidden, "Not yours."), 403, 403},
		{fault.Field("account_id", "must be one of yours"), 400, 200},
		{fault.New(fault.RateLimited, "Slow down."), 429, 200},
		{fault.New(fault.Exhausted, "Try tomorrow."), 429, 200},
		{fault.New(fault.Unavailable, "No answer."), 503, 200},
		{fault.New(fault.Provider, "Refused."), 502, 200},
		{errors.New("unforeseen"), 500, 200},
	} {
		t.Run(fmt.Sprint(row.failure), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			made := w.newPoll(nil)
			w.accounts.refuse = func(context.Context) error { return row.failure }
			first := w.want(row.first, keyed("k1", finaliseCall(made)), nil)
			w.accounts.refuse = nil
			second := w.want(row.second, keyed("k1", finaliseCall(made)), nil)
			if row.first == row.second && (first.Error.Code != second.Error.Code || first.Error.Message != second.Error.Message) {
				t.Errorf("answered %s, then %s", first.text, second.text)
			}
			other := keyed("k1", finaliseCall(made))
			other.body = map[string]any{"slot_id": made.Slots[1].ID}
			w.want(409, other, nil)
		})
	}
}

func TestKey_WhoseCommandPanicked_RunsAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.newPoll(nil)
	w.calendar.onInsert = func(_ context.Context, before int) error {
		if before == 0 {
			panic("out of order")
		}
		return nil
	}
	w.want(500, keyed("k1", finaliseCall(made)), nil)
	w.want(200, keyed("k1", finaliseCall(made)), nil)
}

// TestKey_AnswerTooLargeToStore_IsReadAgain: 60 people said
// something to each of 200 slots.
func TestKey_AnswerTooLargeToStore_IsReadAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.newPoll(map[string]any{"slots": slots(slices.Repeat([]string{"2026-03-01T18:00:00Z"}, 200)...)})
	choices := map[string]string{}
	for _, slot := range made.Slots {
		choices[slot.ID] = poll.Preferred
	}
	must(t, w.store.Run(t.Context(), func(_ context.Context, tx store.Tx) error {
		for i := range 60 {
			voter := fmt.Sprintf("voter%d", i)
			if err := tx.Merge(poll.VotePath(made.ID, voter), poll.VoteUpdates(poll.Vote{UserID: voter, Choices: choices})...); err != nil {
				return err
			}
		}
		return nil
	}))
	first := w.want(200, keyed("k1", finaliseCall(made)), nil)
	again := w.want(200, keyed("k1", finaliseCall(made)), nil)
	if len(first.Data) < 512<<10 || string(first.Data) != string(again.Data) || w.calendar.made() != 1 {
		t.Errorf("%d bytes, then %d; %d events", len(first.Data), len(again.Data), w.calendar.made())
	}
}
