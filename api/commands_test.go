package api_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"testing"
	"time"

	"questscheduler/api"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/notify"
)

// commanding has a world in which each person may send six commands on a poll in
// an hour, three of them at once.
func commanding(clock *stillClock) func(*setup) {
	return func(s *setup) { s.Now, s.Commands = clock.now, api.NewCommands(6, clock.now) }
}

// commandsOn are all commands on a poll that count.
func commandsOn(p pollJSON) map[string]call {
	commands := map[string]call{"finalize": finaliseCall(p), "keyed": keyed("k9", finaliseCall(p))}
	for _, name := range []string{"cancel", "reopen", "archive", "unarchive", "restore-original-time"} {
		commands[name] = call{as: "gm", method: "POST", path: "/v1/polls/" + p.ID + "/" + name}
	}
	commands["accept-new-time"] = call{
		as: "gm", method: "POST", path: "/v1/polls/" + p.ID + "/accept-new-time",
		body: map[string]any{"fingerprint": "1|2|false"},
	}
	commands["edit"] = call{as: "gm", method: "PATCH", path: "/v1/polls/" + p.ID, body: map[string]any{"title": "Anew"}}
	return commands
}

// spend sends all the commands on a poll that may be sent at once.
func (w *world) spend(p pollJSON) {
	w.t.Helper()
	for range 3 {
		w.want(http.StatusOK, call{as: "gm", method: "PATCH", path: "/v1/polls/" + p.ID, body: map[string]any{"allow_link_sharing": true}}, nil)
	}
}

func TestCommands_BeyondTheBound_RunNoTransaction(t *testing.T) {
	t.Parallel()
	clock := newStillClock()
	w := newWorld(t, commanding(clock))
	made, other := w.newPoll(map[string]any{"allow_link_sharing": true}), w.newPoll(nil)
	for range 10 { // refused requests of somebody else do not count as gm's
		w.send(call{as: "eve", method: "POST", path: "/v1/polls/" + made.ID + "/cancel"})
	}
	w.spend(made)
	before := w.store.runs.Load()
	for name, c := range commandsOn(made) {
		got := w.want(http.StatusTooManyRequests, c, nil)
		after, err := strconv.Atoi(got.header.Get("Retry-After"))
		if got.Error.Code != "RATE_LIMITED" || err != nil || after < 1 || after > 3600 {
			t.Errorf("%s: answered %s with %v", name, got.text, got.header)
		}
	}
	if runs := w.store.runs.Load() - before; runs != 0 {
		t.Errorf("%d transactions were run for what was refused", runs)
	}
	for range 10 { // syncs, reads and votes do not count
		w.want(http.StatusOK, call{as: "gm", method: "POST", path: "/v1/polls/" + made.ID + "/sync"}, nil)
		w.want(http.StatusOK, call{as: "gm", method: "GET", path: "/v1/polls/" + made.ID}, nil)
		w.want(
			http.StatusOK,
			call{
				as: "ana", method: "PUT", path: "/v1/polls/" + made.ID + "/votes/me",
				body: map[string]any{"votes": map[string]any{made.Slots[0].ID: "FEASIBLE"}},
			},
			nil,
		)
	}
	w.spend(other)
	clock.advance(15 * time.Minute)
	w.want(http.StatusOK, call{as: "gm", method: "POST", path: "/v1/polls/" + made.ID + "/cancel"}, nil)
	w.want(http.StatusTooManyRequests, call{as: "gm", method: "POST", path: "/v1/polls/" + made.ID + "/reopen"}, nil)
	w.want(http.StatusOK, call{as: "gm", method: "DELETE", path: "/v1/polls/" + made.ID}, nil)
}

func TestCommands_RunningFinalise_IsNeverRefused(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"", "k1"} {
		t.Run("key "+key, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, commanding(newStillClock()))
			made := w.newPoll(nil)
			finalise := finaliseCall(made)
			if key != "" {
				finalise = keyed(key, finalise)
			}
			w.loseInsert(finalise)
			w.loseInsert(finalise)
			w.want(http.StatusOK, editCall(made), nil) // two more: the retry was taken back
			w.want(http.StatusOK, editCall(made), nil)
			w.loseInsert(finalise)
			another := finaliseCall(made)
			another.body = map[string]any{"slot_id": made.Slots[1].ID}
			w.want(http.StatusTooManyRequests, another, nil)
			w.want(http.StatusOK, finalise, nil)
			if key != "" { // its answer is given again
				w.want(http.StatusOK, finalise, nil)
			}
			if w.calendar.made() != 1 {
				t.Errorf("%d events were made", w.calendar.made())
			}
		})
	}
}

func TestCommands_MorePollsThanTracked_StayBounded(t *testing.T) {
	t.Parallel()
	clock := newStillClock()
	commands := api.NewCommands(6, clock.now)
	for i := range 60_000 {
		if _, err := commands.Count("eve", fmt.Sprint("poll ", i)); err != nil && i < 50_000 {
			t.Fatalf("poll %d: %v", i, err)
		}
	}
	if _, err := commands.Count("eve", "one more"); err == nil {
		t.Error("eve is bounded no more")
	}
	for range 3 {
		if _, err := commands.Count("gm", "a poll of gm's"); err != nil {
			t.Errorf("gm pays for eve: %v", err)
		}
	}
}

// announce sends what is due, and returns how many notices each of these people has.
func (w *world) announce(people []string) (notices int) {
	w.t.Helper()
	for _, wake := range w.wakes.Due(w.options.Now()) {
		if wake.Kind != poll.AnnounceKind {
			continue
		}
		if run, taken := w.wakes.Take(wake.ID); taken {
			run.Settle(w.outbox.Run(w.t.Context(), run.Kind, run.Entry))
		}
	}
	for _, uid := range people {
		list, _, err := notify.List(context.Background(), w.store, uid, store.Paging{Limit: 0})
		must(w.t, err)
		notices += len(list)
	}
	return notices
}

// 45 requests in six seconds on a poll that names 499 people, each announced at
// once: people who did nothing get no notice.
func TestCommands_OnAPollOfStrangers_NotifyNobody(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name string
		vote int // how many of the people
		most int
	}{{"nobody voted", 0, 0}, {"one voted", 1, 10}} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			clock := newStillClock()
			w := newWorld(t, func(s *setup) { s.Now = clock.now })
			inApp := &notify.InApp{Store: w.store, Now: clock.now}
			announcer := &notify.Announcer{
				Store: w.store, Now: clock.now, Channels: []notify.Channel{inApp}, PerHour: 20, Log: slog.New(slog.DiscardHandler),
			}
			w.outbox.Add(announcer.Work())
			var strangers []string
			for i := range 499 {
				strangers = append(strangers, fmt.Sprint("stranger-", i))
			}
			if row.vote > 0 {
				strangers[0] = "ana"
			}
			made := w.newPoll(map[string]any{"participant_ids": strangers, "pending_invites": []string{}})
			if row.vote > 0 {
				w.want(
					http.StatusOK,
					call{
						as: "ana", method: "PUT", path: "/v1/polls/" + made.ID + "/votes/me",
						body: map[string]any{"votes": map[string]any{made.Slots[0].ID: "FEASIBLE"}},
					},
					nil,
				)
			}
			refused, notices := 0, 0
			for i := range 45 {
				c := []call{finaliseCall(made), commandsOn(made)["cancel"], commandsOn(made)["reopen"]}[i%3]
				if got := w.send(c); got.status == http.StatusTooManyRequests {
					refused++
				}
				notices = w.announce(strangers)
				clock.advance(6 * time.Second / 45)
			}
			if notices > row.most || notices < row.vote || refused < 15 {
				t.Errorf("%d notices, at most %d were to be; %d of 45 requests were refused", notices, row.most, refused)
			}
		})
	}
}
