package api_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"questscheduler/internal/calendars"
	"questscheduler/internal/mirror"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
)

type syncStatusJSON struct {
	Overall  string
	Accounts []accountStatusJSON
}

type accountStatusJSON struct {
	AccountID     string `json:"account_id"`
	Email         string
	Status        string
	LastSuccess   *time.Time `json:"last_success_ts"`
	ChannelStatus *string    `json:"channel_status"`
	ChannelExpiry *time.Time `json:"channel_expiry_ts"`
	LastError     *struct {
		Code, Message string
		Since         *time.Time
	} `json:"last_error"`
	Calendars []struct {
		Key    string
		Status string
	}
}

func TestSyncStatus_OfNothingLinked_IsHealthy(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var got syncStatusJSON
	w.want(200, call{as: "eve", method: "GET", path: "/v1/sync/status"}, &got)
	if got.Overall != "healthy" || got.Accounts == nil || len(got.Accounts) != 0 {
		t.Errorf("eve has %+v", got)
	}
}

func TestSyncStatus_OfACaller_HasTheirAccountsOnly(t *testing.T) {
	t.Parallel()
	clock := newStillClock()
	w := newWorld(t, clock.on)
	id := w.newFollowed("gm")
	w.newFollowed("ana")
	var got syncStatusJSON
	w.want(200, call{as: "gm", method: "GET", path: "/v1/sync/status"}, &got)
	if got.Overall != "healthy" || len(got.Accounts) != 1 {
		t.Fatalf("gm has %+v", got)
	}
	one := got.Accounts[0]
	if one.AccountID != id || one.Email != "gm@example.com" || one.Status != "healthy" || one.LastError != nil || len(one.Calendars) != 1 ||
		*one.ChannelStatus != "active" || !one.ChannelExpiry.Equal(begin.AddDate(0, 0, 7)) || !one.LastSuccess.Equal(begin) {
		t.Errorf("the account is %+v", one)
	}

	must(t, w.store.Run(t.Context(), func(_ context.Context, tx store.Tx) error {
		return tx.Update(calendars.Path(one.Calendars[0].Key), poll.Set("failedSince", begin), poll.Set("lastError", "unavailable"))
	}))
	clock.advance(7 * time.Hour)
	w.want(200, call{as: "gm", method: "GET", path: "/v1/sync/status/" + id}, &one)
	if one.Status != "stale" || one.LastError == nil || one.LastError.Code != "look_failed" || !one.LastError.Since.Equal(begin) {
		t.Errorf("while Google is down the account is %+v", one)
	}
	w.want(200, call{as: "gm", method: "GET", path: "/v1/sync/status"}, &got)
	if got.Overall != "stale" {
		t.Errorf("overall %s", got.Overall)
	}
	w.want(404, call{as: "ana", method: "GET", path: "/v1/sync/status/" + id}, nil)
	w.want(404, call{as: "gm", method: "GET", path: "/v1/sync/status/a%20b"}, nil)
}

func TestSyncJournal_GrowsDuringPaging_KeepsItsOrder(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first, second := w.newPoll(nil), w.newPoll(nil)
	var made pollJSON
	w.want(201, call{as: "ana", method: "POST", path: "/v1/polls", body: session}, &made)
	anas := made.ID
	for _, id := range []string{first.ID, second.ID} {
		w.want(200, call{as: "gm", method: "POST", path: "/v1/polls/" + id + "/archive"}, nil)
		w.want(200, call{as: "gm", method: "POST", path: "/v1/polls/" + id + "/unarchive"}, nil)
	}
	w.want(200, call{as: "ana", method: "POST", path: "/v1/polls/" + anas + "/archive"}, nil)
	type journal struct {
		Entries []struct {
			ID     string
			PollID string `json:"poll_id"`
			At     time.Time
		}
	}
	var listed []string
	var last time.Time
	for cursor, page := "", 0; ; page++ {
		var got journal
		cursor = w.want(200, call{as: "gm", method: "GET", path: "/v1/sync/journal?limit=1&cursor=" + cursor}, &got).Meta.NextCursor
		for _, entry := range got.Entries {
			if !last.IsZero() && entry.At.After(last) || entry.PollID == anas {
				t.Errorf("entry %+v after %v", entry, last)
			}
			listed, last = append(listed, entry.ID), entry.At
		}
		if cursor == "" {
			break
		}
		if page == 1 { // new entries come before the first page
			w.want(200, call{as: "gm", method: "POST", path: "/v1/polls/" + first.ID + "/archive"}, nil)
		}
	}
	slices.Sort(listed)
	if len(slices.Compact(listed)) != 4 {
		t.Errorf("four entries were there at the first page, and the pages show %s", strings.Join(listed, ", "))
	}
	w.want(
		400,
		call{
			as: "ana", method: "GET",
			path: "/v1/sync/journal?cursor=" + w.want(200, call{as: "gm", method: "GET", path: "/v1/sync/journal?limit=1"}, nil).Meta.NextCursor,
		},
		nil,
	)
}

// mirrorsOf writes a mirror into an account of gm's, and the journals of two people's events.
func (w *world) mirrorsOf(accountID string, state mirror.State) {
	w.t.Helper()
	must(w.t, w.store.Run(w.t.Context(), func(_ context.Context, tx store.Tx) error {
		m := mirror.Mirror{
			ID: mirror.IDOf("evt_1", accountID) + string(state), CanonicalID: "evt_1", OwnerID: "gm", TargetAccountID: accountID, State: state,
			LastError: "The calendar is full.", FailedSince: begin,
		}
		if err := tx.Set(mirror.Path(m.ID), mirror.Encode(m)); err != nil {
			return err
		}
		entry := mirror.StepEntry(mirror.StepFailed, mirror.Mirror{State: mirror.Pending}, m, "unavailable")
		entry.ID, entry.At = "jrn_m"+string(state), begin.Add(time.Hour)
		if err := tx.Set(mirror.EntryPath(entry.EventID, entry.ID), mirror.EncodeEntry(entry)); err != nil {
			return err
		}
		entry.OwnerID, entry.EventID = "ana", "evt_2"
		return tx.Set(mirror.EntryPath(entry.EventID, entry.ID), mirror.EncodeEntry(entry))
	}))
}

func TestSyncStatus_WithAMirrorInError_IsDegraded(t *testing.T) {
	t.Parallel()
	clock := newStillClock()
	w := newWorld(t, clock.on)
	id := w.newFollowed("gm")
	w.mirrorsOf(id, mirror.Pending)
	var one struct {
		accountStatusJSON
		PendingWrites int `json:"pending_writes"`
		ErrorMirrors  int `json:"error_mirrors"`
	}
	w.want(200, call{as: "gm", method: "GET", path: "/v1/sync/status/" + id}, &one)
	if one.Status != "healthy" || one.PendingWrites != 1 || one.ErrorMirrors != 0 || one.LastError != nil {
		t.Errorf("with a pending mirror the account is %+v", one)
	}
	w.mirrorsOf(id, mirror.Failed)
	w.want(200, call{as: "gm", method: "GET", path: "/v1/sync/status/" + id}, &one)
	if one.Status != "degraded" || one.PendingWrites != 1 || one.ErrorMirrors != 1 || one.LastError == nil ||
		one.LastError.Code != "mirror_failed" ||
		!one.LastError.Since.Equal(begin) || !strings.Contains(one.LastError.Message, "The calendar is full.") {
		t.Errorf("with a mirror in ERROR the account is %+v", one)
	}
}

func TestSyncJournal_OfPollsAndMirrors_IsOneList(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.newPoll(nil)
	w.mirrorsOf("acc_x", mirror.Failed)
	w.mirrorsOf("acc_x", mirror.Pending)
	w.want(200, call{as: "gm", method: "POST", path: "/v1/polls/" + p.ID + "/archive"}, nil)
	w.want(200, call{as: "gm", method: "POST", path: "/v1/polls/" + p.ID + "/unarchive"}, nil)
	var kinds []string
	for cursor, page := "", 0; ; page++ {
		var got struct {
			Entries []struct {
				PollID   string `json:"poll_id"`
				Event    string `json:"canonical_event_id"`
				Mirror   string `json:"mirror_id"`
				Target   string `json:"target_account_id"`
				Decision string
				Before   string
				After    string
			}
		}
		cursor = w.want(200, call{as: "gm", method: "GET", path: "/v1/sync/journal?limit=1&cursor=" + cursor}, &got).Meta.NextCursor
		for _, e := range got.Entries {
			switch {
			case e.Event != "":
				if e.Event != "evt_1" || e.PollID != "" || e.Mirror == "" || e.Target != "acc_x" || e.Decision != "failed" ||
					e.Before != "PENDING" || e.After == "" {
					t.Errorf("the entry of a mirror is %+v", e)
				}
				kinds = append(kinds, "mirror")
			case e.PollID != p.ID || e.Mirror != "":
				t.Errorf("the entry of a poll is %+v", e)
			default:
				kinds = append(kinds, "poll")
			}
		}
		if cursor == "" || page > 9 {
			break
		}
	}
	slices.Sort(kinds)
	if want := []string{"mirror", "mirror", "poll", "poll"}; !slices.Equal(kinds, want) {
		t.Errorf("the list has %v", kinds)
	}
}
