package api_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"questscheduler/fault"
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
	w.want(
		200,
		call{as: "ana", method: "PUT", path: path + "/votes/me", body: map[string]any{"votes": map[string]string{made.Slots[0].ID: "PREFERRED"}}},
		nil,
	)
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
	made := w.newPoll(nil)
	l := w.listen("gm")
	w.rename(made.ID, "New")
	l.wantsPoll("gm", made.ID)
	must(t, w.changes.Run(t.Context(), func(_ context.Context, tx store.Tx) error {
		return tx.Update(poll.Path(made.ID), poll.Set("title", "New"), poll.Set("zzTheme", "dark")) // which is the web app's
	}))
	w.rename(made.ID, "Newer")
	l.wantsPoll("gm", made.ID)
	w.ticks.tick(30 * time.Second)
	w.quiet(l)
}

func TestStream_ChangesOfOtherProcesses_AreSent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	group := struct{ ID string }{w.newGroupOf("cho")}
	kept, gone := w.newPoll(map[string]any{"group_id": group.ID}), w.newPoll(nil)
	gm, cho := w.listen("gm"), w.listen("cho")
	recheck := func() { w.ticks.tick(30 * time.Second) }

	w.elsewhere(func(tx store.Tx) error { return tx.Update(poll.Path(kept.ID), poll.Set("title", "New")) })
	recheck()
	gm.wantsPoll("gm", kept.ID)
	cho.wantsPoll("cho", kept.ID)

	w.want(
		200,
		call{
			as: "ana", method: "PUT", path: "/v1/polls/" + kept.ID + "/votes/me",
			body: map[string]any{"votes": map[string]string{}, "no_times_work": true},
		},
		nil,
	)
	gm.wantsPoll("gm", kept.ID)
	cho.wantsPoll("cho", kept.ID)
	w.elsewhere(func(tx store.Tx) error {
		return tx.Update(poll.Path(kept.ID), poll.Set("voteVisibility", "hidden"), poll.Set("hideVoterIdentities", true))
	})
	recheck()
	cho.wantsPoll("cho", kept.ID)
	w.quiet(gm, cho) // its creator sees all votes as before

	w.elsewhere(func(tx store.Tx) error { return tx.Delete(poll.Path(gone.ID)) })
	w.writeGroup(group.ID, "gm", "gm")
	recheck()
	gm.wantsRemoved(gone.ID)
	cho.wantsRemoved(kept.ID)

	recheck() // what is gone is gone once
	w.quiet(gm, cho)
}

func TestStream_ChangeWhileItOpens_IsSent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.newPoll(nil)
	var once sync.Once
	w.store.queried = func() { once.Do(func() { w.rename(made.ID, "New") }) } // the stream has read the poll
	w.listen("gm").wantsPoll("gm", made.ID)
}

func TestStream_ListedPollConcernsThePersonNoLonger_SendsRemoved(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.newPoll(nil)
	ana := w.listen("ana")
	must(t, w.changes.Run(t.Context(), func(_ context.Context, tx store.Tx) error {
		return tx.Update(poll.Path(made.ID), poll.Set("participantIds", []string{"gm"}))
	}))
	ana.wantsRemoved(made.ID)
}

func TestStream_AccessEndsWhileAChangeIsRead_SendsRemoved(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.newPoll(nil)
	ana := w.listen("ana")
	reads := 0
	w.store.reading = func(_ context.Context, path store.Path) error {
		if path != poll.Path(made.ID) {
			return nil
		}
		reads++
		if reads == 2 { // after the stream has found that it concerns ana
			w.elsewhere(func(tx store.Tx) error { return tx.Update(path, poll.Set("participantIds", []string{"gm"})) })
		}
		return nil
	}
	w.rename(made.ID, "New")
	ana.wantsRemoved(made.ID)
}

// TestStream_PollLeavesTheListing_IsKnown: newer polls of a stranger displace one from the
// polls that a recheck lists.
func TestStream_PollLeavesTheListing_IsKnown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	old := w.newPolls("old", 1, 0, poll.Poll{CreatorID: "eve", ParticipantIDs: []string{"gm"}})[0]
	l := w.listen("gm")
	for _, id := range w.newPolls("own", 90, 0, poll.Poll{CreatorID: "eve", ParticipantIDs: []string{"gm"}}) {
		w.rename(id, "New")
		l.wantsNamed(id)
	}
	w.elsewhere(func(tx store.Tx) error { return tx.Update(poll.Path(old), poll.Set("title", "New")) })
	w.ticks.tick(30 * time.Second)
	l.wantsNamed(old)
	w.elsewhere(func(tx store.Tx) error {
		return tx.Update(poll.Path(old), poll.Set("participantIds", []string{"eve"}))
	})
	w.ticks.tick(30 * time.Second)
	l.wantsRemoved(old)
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
		"after 4 minutes": {func(*setup) {}, func(w *world) { w.ticks.tick(4 * time.Minute) }},
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

// TestStream_ChangesLost_Ends: more polls were written at once than wait for a stream.
func TestStream_ChangesLost_Ends(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	l := w.listen("gm")
	begun, release := make(chan struct{}), make(chan struct{})
	w.store.reading = func(_ context.Context, path store.Path) error {
		if path == poll.Path("first") {
			close(begun)
			<-release
		}
		return nil
	}
	w.writeHere("first")
	<-begun // from here on nobody takes changes
	ids := make([]string, changes.Held+1)
	for i := range ids {
		ids[i] = fmt.Sprintf("many%04d", i)
	}
	w.writeHere(ids...)
	close(release)
	l.wants("")
	w.listen("gm")
	if listening := w.changes.Listening(); listening != 1 {
		t.Errorf("%d listen", listening)
	}
}

// TestStream_TooManyPolls_Ends: a stranger names a person in more polls than a stream
// remembers.
func TestStream_TooManyPolls_Ends(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	l := w.listen("gm")
	for _, id := range w.newPolls("many", 201, 0, poll.Poll{CreatorID: "eve", ParticipantIDs: []string{"gm"}}) {
		w.rename(id, "New")
		l.wantsNamed(id)
	}
	l.wants("")
	w.listen("gm") // which lists no more than a listing has
	w.ticks.tick(30 * time.Second)
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
