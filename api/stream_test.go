package api_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/calendars"
	"questscheduler/internal/poll"
	"questscheduler/internal/signin"
	"questscheduler/internal/store"
	"questscheduler/internal/store/changes"
)

func TestStream_OwnPollsChange_AreSent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	group := struct{ ID string }{w.newGroupOf("cho")}
	listeners := map[string]*listener{"gm": w.listen("gm"), "ana": w.listen("ana"), "cho": w.listen("cho")}
	invitee, stranger, admin := w.listen("ben"), w.listen("eve"), w.listen("admin")

	made := w.newPoll(map[string]any{"group_id": group.ID, "allow_link_sharing": true})
	all := func() {
		t.Helper()
		for as, l := range listeners {
			l.wantsPoll(as, made.ID)
		}
	}
	all()
	path := "/v1/polls/" + made.ID
	w.want(200, call{as: "ana", method: "PUT", path: path + "/votes/me", body: map[string]any{"votes": map[string]string{made.Slots[0].ID: "PREFERRED"}}}, nil)
	all()
	w.finalise(made)
	all()

	// Who may read it and is not concerned hears nothing until they are.
	w.want(200, call{as: "ben", method: "POST", path: path + "/accept-invite"}, nil)
	invitee.wantsPoll("ben", made.ID)
	all()
	w.want(200, call{as: "ben", method: "POST", path: path + "/leave"}, nil)
	invitee.wantsRemoved(made.ID)
	all()
	w.want(200, call{as: "gm", method: "DELETE", path: path}, nil)
	for _, l := range listeners {
		l.wantsRemoved(made.ID)
	}
	for as, l := range map[string]*listener{"eve": stranger, "admin": admin} {
		var own pollJSON
		c := createCall(session)
		c.as = as
		w.want(201, c, &own)
		l.wantsPoll(as, own.ID) // and nothing before it
	}
}

func TestStream_InvisibleChange_SendsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.finalise(w.newPoll(nil))
	l := w.listen("gm")
	// A sync found nothing; only GET shows its time.
	synced := poll.Set("lastSuccessAt", begin.AddDate(0, 0, 1))
	must(t, w.store.Run(t.Context(), func(_ context.Context, tx store.Tx) error {
		return tx.Update(calendars.Path(poll.CalendarKey("acc_gm", "gm@example.com")), synced)
	}))
	w.ticks.tick(30 * time.Second)
	// The web app writes fields that we do not know, and others anew as they
	// are.
	must(t, w.changes.Run(t.Context(), func(_ context.Context, tx store.Tx) error {
		return tx.Update(poll.Path(made.ID), poll.Set("title", made.Title), poll.Set("zzTheme", "dark"))
	}))
	w.want(200, call{as: "gm", method: "PATCH", path: "/v1/polls/" + made.ID, body: map[string]any{"title": "New"}}, nil)
	if got := l.wants("poll"); !strings.Contains(got.data, `"title":"New"`) {
		t.Errorf("the stream sent %s first", got.data)
	}
}

func TestStream_ChangesOfOtherProcesses_AreSent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	group := struct{ ID string }{w.newGroupOf("cho")}
	kept, gone := w.newPoll(map[string]any{"group_id": group.ID}), w.newPoll(nil)
	gm, cho := w.listen("gm"), w.listen("cho")
	elsewhere := func(write func(tx store.Tx) error) { // another process, over the same store
		t.Helper()
		must(t, w.store.Run(t.Context(), func(_ context.Context, tx store.Tx) error { return write(tx) }))
	}
	recheck := func() { w.ticks.tick(30 * time.Second) }

	elsewhere(func(tx store.Tx) error {
		return tx.Merge(poll.VotePath(kept.ID, "ana"), poll.VoteUpdates(poll.Vote{UserID: "ana", NoTimesWork: true, UpdatedAt: w.options.Now()})...)
	})
	recheck()
	gm.wantsPoll("gm", kept.ID)
	cho.wantsPoll("cho", kept.ID)

	elsewhere(func(tx store.Tx) error { return tx.Delete(poll.Path(gone.ID)) })
	elsewhere(func(tx store.Tx) error {
		return tx.Update(poll.GroupPath(group.ID), poll.Set("memberIds", []string{"gm"}))
	})
	recheck()
	gm.wantsRemoved(gone.ID)
	cho.wantsRemoved(kept.ID)

	recheck() // what is gone is gone once
	w.ticks.tick(15 * time.Second)
	gm.wants("comment")
	cho.wants("comment")
}

// TestStream_ChangesLost_RechecksEveryPoll: more polls were written at once
// than are kept for a stream.
func TestStream_ChangesLost_RechecksEveryPoll(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.newPoll(nil)
	l := w.listen("gm")
	must(t, w.changes.Run(t.Context(), func(_ context.Context, tx store.Tx) error {
		for i := range changes.Held {
			if err := tx.Create(poll.Path(fmt.Sprintf("00000000-0000-4000-8000-%012d", i)), poll.New(poll.Poll{CreatorID: "eve"})); err != nil {
				return err
			}
		}
		return tx.Update(poll.Path(made.ID), poll.Set("title", "New"))
	}))
	l.wantsPoll("gm", made.ID)
}

func TestStream_IsKeptAlive(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	l := w.listen("gm")
	for range 3 {
		w.ticks.tick(15 * time.Second)
		l.wants("comment")
	}
}

func TestStream_Ends(t *testing.T) {
	t.Parallel()
	ending := make(chan struct{})
	for name, row := range map[string]struct {
		change func(s *setup)
		end    func(w *world)
	}{
		"with the server": {func(s *setup) { s.Stopping = ending }, func(*world) { close(ending) }},
		"with the token":  {func(*setup) {}, func(w *world) { w.verifier.refuse.Store(true); w.ticks.tick(30 * time.Second) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, row.change)
			l := w.listen("gm")
			row.end(w)
			l.wants("") // and no error: it ends as a whole answer does
			if listening := w.changes.Listening(); listening != 0 {
				t.Errorf("%d still listen", listening)
			}
			if logged(w, "a stream ended") {
				t.Error("the log takes it for a failure")
			}
		})
	}
}

// TestStream_ServerStops_ReleasesItsListener: a server that shuts down waits for
// its handlers, so after that they are over.
func TestStream_ServerStops_ReleasesItsListener(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	server := w.serve(w.echo)
	w.open("gm", server.URL).wants("ready")
	must(t, shutDown(t, server))
	if listening := w.changes.Listening(); listening != 0 {
		t.Errorf("%d still listen", listening)
	}
}

func TestStreams_OfOnePerson_AreLimited(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	server := w.serve(w.echo)
	for range 20 {
		w.open("gm", server.URL).wants("ready")
	}
	got := w.want(429, call{as: "gm", method: "GET", path: "/v1/stream"}, nil)
	if got.Error.Code != "RATE_LIMITED" || got.header.Get("Retry-After") == "" {
		t.Errorf("answered %s with %v", got.text, got.header)
	}
	w.listen("ana")

	must(t, shutDown(t, server))
	w.listen("gm")
}

// shutDown has all who listen at a server leave, and waits until its handlers
// are over.
func shutDown(t *testing.T, server *httptest.Server) error {
	t.Helper()
	server.CloseClientConnections()
	return server.Config.Shutdown(t.Context())
}

// TestStream_OutlivesTheServersWriteTimeout: the stream's server lets no
// answer take longer than no time at all.
func TestStream_OutlivesTheServersWriteTimeout(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	server := httptest.NewUnstartedServer(w.echo)
	server.Config.WriteTimeout = time.Nanosecond
	server.Start()
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	l := w.open("gm", server.URL)
	l.wants("ready")
	made := w.newPoll(nil) // by the other server
	l.wantsPoll("gm", made.ID)
}

func TestStream_CannotBegin_AnswersTheEnvelope(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.closeStore()
	got := w.send(call{as: "gm", method: "GET", path: "/v1/stream"})
	if got.status != 503 || !strings.Contains(got.text, `"code":"UNAVAILABLE"`) || w.changes.Listening() != 0 {
		t.Errorf("answered %s; %d listen", got.text, w.changes.Listening())
	}
}

// verifier knows the tokens of a world, until it knows none.
type verifier struct {
	signin.Verifier
	refuse atomic.Bool
}

// Verify implements signin.Verifier.
func (v *verifier) Verify(ctx context.Context, bearer string) (signin.Person, error) {
	if v.refuse.Load() {
		return signin.Person{}, fault.New(fault.Unauthenticated, "The token has expired.")
	}
	return v.Verifier.Verify(ctx, bearer)
}
