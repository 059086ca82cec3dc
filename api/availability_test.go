package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	linked "questscheduler/internal/accounts"
	"questscheduler/internal/gcal"
	"questscheduler/internal/signin"
)

// freeBusy has everybody busy from 18:00 to 19:00 on the first of March, or fails. waits, if
// set, is called first.
type freeBusy struct {
	fails bool
	waits func()
}

func (f *freeBusy) FreeBusy(_ context.Context, _ string, ids []string, _, _ time.Time) (map[string]gcal.FreeBusy, error) {
	if f.waits != nil {
		f.waits()
	}
	if f.fails {
		return nil, errors.New("Google is down")
	}
	start := time.Date(2026, 3, 1, 18, 0, 0, 0, time.UTC)
	return map[string]gcal.FreeBusy{ids[0]: {Busy: []gcal.Interval{{Start: start, End: start.Add(time.Hour)}}}}, nil
}

const march = "/v1/availability?start=2026-03-01T01:00:00%2B01:00&end=2026-03-08T00:00:00Z"

type availabilityJSON struct {
	Busy, Unknown []struct{ Start, End time.Time }
	Accounts      []struct {
		ID      string     `json:"account_id"`
		AsOf    *time.Time `json:"as_of"`
		Source  string
		Unknown *struct{ Reason, Message string }
	}
}

// newReadAccount links an account whose owner granted that we read when they are busy.
func (w *world) newReadAccount(uid string) string {
	w.t.Helper()
	account, err := w.linked.Link(w.t.Context(), uid, linked.Identity{
		Provider: linked.Google, Sub: "sub-" + uid, Email: uid + "@example.com",
	}, "refresh-"+uid, []string{"openid", linked.ScopeEvents, linked.ScopeFreeBusy})
	must(w.t, err)
	return account.ID
}

func TestAvailability_SaysHowFreshItIs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	account := w.newReadAccount("gm")
	var got availabilityJSON
	w.want(200, call{as: "gm", method: "GET", path: march}, &got)
	if len(got.Busy) != 1 || got.Busy[0].Start.Hour() != 18 || got.Unknown == nil || len(got.Unknown) != 0 {
		t.Errorf("busy and unknown are %v", got)
	}
	if a := got.Accounts; len(a) != 1 || a[0].ID != account || a[0].AsOf == nil || a[0].Source != "freebusy" || a[0].Unknown != nil {
		t.Errorf("accounts are %v", a)
	}
	w.freeBusy.fails = true
	w.want(200, call{as: "gm", method: "GET", path: march + "&account_id=" + account}, &got)
	if len(got.Busy) != 0 || len(got.Unknown) != 1 || got.Accounts[0].AsOf != nil || got.Accounts[0].Source != "none" ||
		got.Accounts[0].Unknown.Reason != "failing" {
		t.Errorf("without an answer of Google's it is %+v", got)
	}
}

// TestAvailability_AskedAtOnce_IsRefusedBeyondAFew has the same for each route that asks.
func TestAvailability_AskedAtOnce_IsRefusedBeyondAFew(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.newPoll(nil)
	begun, answer, done := make(chan struct{}), make(chan struct{}), make(chan int)
	w.freeBusy.waits = func() { begun <- struct{}{}; <-answer }
	answers := 0
	for _, person := range []string{"gm", "ana", "ben", "cho", "dan", "fay"} {
		w.tokens[person] = w.token(signin.Person{UID: person, Email: person + "@example.com", EmailVerified: true})
		w.newReadAccount(person)
		most := 2
		if answers >= 4 { // each gets one from then on
			most = 1
		}
		for range most {
			go func() { done <- w.do(call{as: person, method: "GET", path: march}).status }()
			<-begun
			answers++
		}
		for _, path := range []string{march, "/v1/polls/" + made.ID + "/availability"} {
			got := w.want(http.StatusTooManyRequests, call{as: person, method: "GET", path: path}, nil)
			if got.Error.Code != "RATE_LIMITED" || got.header.Get("Retry-After") != "1" {
				t.Errorf("%s of %s: %s, Retry-After %q", path, person, got.text, got.header.Get("Retry-After"))
			}
		}
	}
	got := w.want(http.StatusServiceUnavailable, call{as: "eve", method: "GET", path: march}, nil)
	if got.Error.Code != "UNAVAILABLE" || got.header.Get("Retry-After") != "2" {
		t.Errorf("the ninth is %s, Retry-After %q", got.text, got.header.Get("Retry-After"))
	}
	close(answer)
	for range answers {
		if status := <-done; status != http.StatusOK {
			t.Errorf("one that was begun is %d", status)
		}
	}
}

func TestAvailability_OfAnotherPersonsAccount_IsNotFound(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	account := w.newReadAccount("gm")
	got := w.want(404, call{as: "ana", method: "GET", path: march + "&account_id=" + account}, nil)
	if got.Error.Code != "NOT_FOUND" || strings.Contains(got.text, account) {
		t.Errorf("the answer is %s", got.text)
	}
}

func TestPollAvailability_FollowsTheSetting(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.newPoll(map[string]any{
		"participant_ids": []string{"ana"},
		"slots": []map[string]string{
			{"start": "2026-03-01T18:30:00Z", "end": "2026-03-01T20:00:00Z"}, {"start": "2026-03-02T18:30:00Z", "end": "2026-03-02T20:00:00Z"},
		},
	})
	w.want(200, call{as: "ana", method: "POST", path: "/v1/polls/" + made.ID + "/join"}, nil)
	w.newReadAccount("gm")
	w.newReadAccount("ana")
	shown := func(want string) {
		t.Helper()
		var got struct {
			Slots []struct {
				ID     string `json:"slot_id"`
				People []struct {
					ID    string `json:"user_id"`
					State string
				}
			}
		}
		w.want(200, call{as: "gm", method: "GET", path: "/v1/polls/" + made.ID + "/availability"}, &got)
		text := ""
		for i, slot := range got.Slots {
			if slot.ID != made.Slots[i].ID {
				t.Errorf("slot %d is another", i)
			}
			for _, person := range slot.People {
				text += fmt.Sprintf("%s %s, ", person.ID, person.State)
			}
		}
		if text != want {
			t.Errorf("it shows %s", text)
		}
	}
	sharing := func(method string, body any, want bool) {
		t.Helper()
		var got struct{ Share bool }
		w.want(200, call{as: "ana", method: method, path: "/v1/availability/sharing", body: body}, &got)
		if got.Share != want {
			t.Errorf("%s: sharing is %v", method, got.Share)
		}
	}
	sharing("GET", nil, false)
	shown("gm busy, ana unknown, gm free, ana unknown, ")
	sharing("PUT", map[string]any{"share": true}, true)
	sharing("GET", nil, true)
	shown("gm busy, ana busy, gm free, ana free, ")
	sharing("PUT", map[string]any{"share": false}, false)
	shown("gm busy, ana unknown, gm free, ana unknown, ")
}

func TestPollAvailability_TheThirtyFirstOfADay_Is429(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.newPoll(nil)
	ask := call{as: "gm", method: "GET", path: "/v1/polls/" + made.ID + "/availability"}
	for range 30 {
		w.want(200, ask, nil)
	}
	got := w.want(http.StatusTooManyRequests, ask, nil)
	seconds, err := strconv.Atoi(got.header.Get("Retry-After"))
	if got.Error.Code != "RATE_LIMITED" || err != nil || seconds < 11*60*60 || seconds > 12*60*60 {
		t.Errorf("%s, to be retried after %d s", got.text, seconds)
	}
	if !json.Valid([]byte(got.text)) {
		t.Error("the answer is no JSON")
	}
}

// A stranger names ana, who shares; they read nothing of her, and she reads why she may not ask.
func TestPollAvailability_OnlyNamed_IsUnknown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.newReadAccount("ana")
	w.want(200, call{as: "ana", method: "PUT", path: "/v1/availability/sharing", body: map[string]any{"share": true}}, nil)
	var made pollJSON
	w.want(201, call{as: "eve", method: "POST", path: "/v1/polls", body: map[string]any{
		"title": "Probe", "participant_ids": []string{"ana"}, "slots": slots("2026-03-01T18:30:00Z", "2026-03-02T18:30:00Z"),
	}}, &made)
	path := "/v1/polls/" + made.ID
	states := func(as string) (states string) {
		t.Helper()
		var got struct {
			Slots []struct {
				People []struct {
					ID    string `json:"user_id"`
					State string
				}
			}
		}
		w.want(200, call{as: as, method: "GET", path: path + "/availability"}, &got)
		for _, slot := range got.Slots {
			for _, person := range slot.People {
				if person.ID == "ana" {
					states += person.State + " "
				}
			}
		}
		return states
	}
	if got := states("eve"); got != "unknown unknown " {
		t.Errorf("eve reads %s of ana", got)
	}
	w.want(200, call{as: "ana", method: "GET", path: path}, nil)
	refused := w.want(403, call{as: "ana", method: "GET", path: path + "/availability"}, nil)
	if refused.Error.Code != "FORBIDDEN" || refused.Error.Detail.Reason != "availability_only_named" ||
		!strings.Contains(refused.Error.Message, "Join it or vote") {
		t.Errorf("ana reads %s", refused.text)
	}
	w.want(404, call{as: "ben", method: "GET", path: path + "/availability"}, nil)
	w.want(200, call{as: "ana", method: "POST", path: path + "/join"}, nil)
	if got := states("eve"); got != "busy free " {
		t.Errorf("once ana joined, eve reads %s of her", got)
	}
}
