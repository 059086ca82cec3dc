package api_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"questscheduler/changes"
	"questscheduler/fault"
	"questscheduler/poll"
	"questscheduler/signin"
	"questscheduler/store"
)

// listener is a program that listens to a stream.
type listener struct {
	w        *world
	response *http.Response
	lines    *bufio.Scanner
}

// event is one that a stream sent; its name is "comment" for what programs pass
// over, and "" at the end.
type event struct{ name, id, data string }

// open begins a stream at an address; whatever is answered is given.
func (w *world) open(as, url string) *listener {
	w.t.Helper()
	request, err := http.NewRequestWithContext(w.t.Context(), http.MethodGet, url+"/v1/stream", nil)
	must(w.t, err)
	request.Header.Set("Authorization", "Bearer "+w.tokens[as])
	response, err := http.DefaultClient.Do(request)
	must(w.t, err)
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, 1<<20)
	return &listener{w: w, response: response, lines: lines}
}

// listen begins a stream and waits until it is ready.
func (w *world) listen(as string) *listener {
	w.t.Helper()
	l := w.open(as, w.url)
	if kind := l.response.Header.Get("Content-Type"); l.response.StatusCode != 200 || kind != "text/event-stream" {
		w.t.Fatalf("the stream of %s is answered %d, %s", as, l.response.StatusCode, kind)
	}
	l.wants("ready")
	return l
}

// next waits for the next event.
func (l *listener) next() event {
	l.w.t.Helper()
	var got event
	for l.lines.Scan() {
		line := l.lines.Text()
		name, value, _ := strings.Cut(line, ": ")
		switch {
		case line == "" && got.name != "":
			return got
		case name == "event":
			got.name = value
		case name == "id":
			got.id = value
		case name == "data":
			got.data = value
		case name == "":
			got.name = "comment"
		default:
			l.w.t.Fatalf("the stream holds %q", line)
		}
	}
	must(l.w.t, l.lines.Err())
	return event{}
}

// wants waits for the next event, which must be of that name.
func (l *listener) wants(name string) event {
	l.w.t.Helper()
	got := l.next()
	if got.name != name || name != "" && name != "comment" && (!strings.HasPrefix(got.id, "evt_") || !json.Valid([]byte(got.data))) {
		l.w.t.Fatalf("the stream sent %+v, want %s", got, name)
	}
	return got
}

// wantsPoll waits for a poll, which must be as GET gives it.
func (l *listener) wantsPoll(as, id string) {
	l.w.t.Helper()
	got := l.wants("poll")
	seen := l.w.want(200, call{as: as, method: "GET", path: "/v1/polls/" + id}, nil)
	if got.data != string(seen.Data) {
		l.w.t.Errorf("the stream of %s sent %s, GET gives %s", as, got.data, seen.Data)
	}
}

func (l *listener) wantsRemoved(id string) {
	l.w.t.Helper()
	if got := l.wants("removed"); got.data != `{"id":"`+id+`"}` {
		l.w.t.Errorf("removed was %s, want %s", got.data, id)
	}
}

// close leaves, and has the server notice.
func (l *listener) close() { l.response.Body.Close() }

func TestStream_SendsOnesOwnPollsAsTheyChange(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var group struct{ ID string }
	w.want(201, call{as: "gm", method: "POST", path: "/v1/groups", body: map[string]any{"name": "The party", "member_ids": []string{"cho"}}}, &group)
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

func TestStream_SaysNothingOfWhatShowsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.newPoll(nil)
	l := w.listen("gm")
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

func TestStream_FindsWhatOthersChanged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var group struct{ ID string }
	w.want(201, call{as: "gm", method: "POST", path: "/v1/groups", body: map[string]any{"name": "The party", "member_ids": []string{"cho"}}}, &group)
	kept, gone := w.newPoll(map[string]any{"group_id": group.ID}), w.newPoll(nil)
	gm, cho := w.listen("gm"), w.listen("cho")
	elsewhere := func(write func(tx store.Tx) error) { // another process, over the same store
		t.Helper()
		must(t, w.store.Run(t.Context(), func(_ context.Context, tx store.Tx) error { return write(tx) }))
	}
	recheck := func() { w.ticks.tick(30 * time.Second) }

	elsewhere(func(tx store.Tx) error {
		return tx.Merge(poll.VotePath(kept.ID, "ana"), poll.VoteUpdates(poll.Vote{UserID: "ana", NoTimesWork: true})...)
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
}

// TestStream_ThatLostChanges_LooksAtEveryPoll: more polls were written at once
// than are kept for a stream.
func TestStream_ThatLostChanges_LooksAtEveryPoll(t *testing.T) {
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
		"with the server": {func(s *setup) { s.Ending = ending }, func(*world) { close(ending) }},
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
		})
	}
}

// TestStream_WhoseListenerLeft_IsForgotten: a server that shuts down waits for
// its handlers, so after that they are over.
func TestStream_WhoseListenerLeft_IsForgotten(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	server := w.serve(w.echo)
	l := w.open("gm", server.URL)
	l.wants("ready")
	l.close()
	must(t, server.Config.Shutdown(t.Context()))
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
}

// TestStream_OutlivesTheServersTimeForAnswers: the stream's server lets no
// answer take longer than no time at all.
func TestStream_OutlivesTheServersTimeForAnswers(t *testing.T) {
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

func TestStream_BeginsWithAnAnswerLikeAnyOther(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	must(t, w.store.Close())
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
