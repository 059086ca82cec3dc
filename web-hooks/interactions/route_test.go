package interactions_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/labstack/echo/v4"

	"questscheduler/fault"
	"questscheduler/web-hooks/interactions"
)

func TestRoute_AnswersDiscordAlone(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	ping := []byte(`{"id":"1","application_id":"` + application + `","type":1}`)
	for name, row := range map[string]struct {
		change func(r *http.Request)
		want   int
	}{
		"signed":                    {func(*http.Request) {}, 200},
		"without a signature":       {func(r *http.Request) { r.Header.Del("X-Signature-Ed25519") }, 401},
		"without a time":            {func(r *http.Request) { r.Header.Del("X-Signature-Timestamp") }, 401},
		"for another time":          {func(r *http.Request) { r.Header.Set("X-Signature-Timestamp", "1") }, 401},
		"by two signatures":         {func(r *http.Request) { r.Header.Add("X-Signature-Ed25519", r.Header.Get("X-Signature-Ed25519")) }, 401},
		"by no hexadecimal":         {func(r *http.Request) { r.Header.Set("X-Signature-Ed25519", strings.Repeat("zz", 64)) }, 401},
		"by a short signature":      {func(r *http.Request) { r.Header.Set("X-Signature-Ed25519", "abcd") }, 401},
		"for another body":          {func(r *http.Request) { r.Body = io.NopCloser(strings.NewReader(string(ping) + " ")) }, 401},
		"with more than is read":    {func(r *http.Request) { r.Body = io.NopCloser(bytes.NewReader(make([]byte, 256<<10+1))) }, 413},
		"with as much as is signed": {func(r *http.Request) { r.Body = io.NopCloser(bytes.NewReader(make([]byte, 256<<10))) }, 401},
	} {
		request := d.signed(ping)
		row.change(request)
		got := d.serve(request)
		if got.Code != row.want || row.want == 200 && strings.TrimSpace(got.Body.String()) != `{"type":1}` {
			t.Errorf("a ping %s: answered %d %s, want %d", name, got.Code, got.Body, row.want)
		}
	}
}

func TestRoute_OfAnInteractionThatIsNotForHere_Refuses(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	for name, row := range map[string]struct {
		in   map[string]any
		want int
	}{
		"of another application":  {d.button("qs:who:"+d.poll, func(in map[string]any) { in["application_id"] = "1" }), 401},
		"a ping of another":       {map[string]any{"id": "1", "type": 1, "application_id": "2"}, 401},
		"older than its token":    {d.button("qs:who:"+d.poll, func(in map[string]any) { in["id"] = "1000" }), 400},
		"without a usable number": {d.button("qs:who:"+d.poll, func(in map[string]any) { in["id"] = "x" }), 400},
	} {
		if status, _ := d.send(row.in); status != row.want {
			t.Errorf("%s: answered %d, want %d", name, status, row.want)
		}
	}
	if got := d.serve(d.signed([]byte(`[]`))); got.Code != 400 {
		t.Errorf("a list: answered %d, want 400", got.Code)
	}
}

// A flood of forged requests is refused by address, and never a true one.
func TestRoute_ForgedRequests_AreCharged(t *testing.T) {
	t.Parallel()
	d := newDesk(t, func(o *interactions.Options) {
		o.Refuse = func(echo.Context) error { return fault.New(fault.RateLimited, "Wait.") }
	})
	forged := d.signed([]byte(`{}`))
	forged.Header.Set("X-Signature-Timestamp", "1")
	if got := d.serve(forged); got.Code != 429 {
		t.Errorf("a forged request of a flood: answered %d, want 429", got.Code)
	}
	if status, _ := d.send(map[string]any{"id": "1", "type": 1, "application_id": application}); status != 200 {
		t.Errorf("Discord's ping beside the flood: answered %d", status)
	}
}

func TestRoute_OfAUserWhoPressesTooOften_SaysSo(t *testing.T) {
	t.Parallel()
	d := newDesk(t, func(o *interactions.Options) {
		o.LimitUser = func(_ echo.Context, user string) error {
			if user == anaUser {
				return fault.New(fault.RateLimited, "Wait.")
			}
			return nil
		}
	})
	if said := d.says(d.button("qs:who:" + d.poll)); !strings.Contains(said, "too much at once") {
		t.Errorf("said %q", said)
	}
}

// What is not ours goes on as it came, and its answer comes back as it was.
func TestUpstream_GetsWhatIsNotOurs(t *testing.T) {
	t.Parallel()
	var got *http.Request
	var sent []byte
	app := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r
		sent, _ = io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "application/json; of=the-app")
		w.WriteHeader(http.StatusAccepted)
		_, _ = io.WriteString(w, `{"type":5}`)
	}))
	t.Cleanup(app.Close)
	d := newDesk(t, func(o *interactions.Options) { o.Upstream = app.URL })
	body, err := json.Marshal(d.press(2, map[string]any{"name": "poll-create"}))
	if err != nil {
		t.Fatal(err)
	}
	request := d.signed(body)
	answer := d.serve(request)
	if answer.Code != http.StatusAccepted || answer.Body.String() != `{"type":5}` || answer.Header().Get("Content-Type") != "application/json; of=the-app" {
		t.Errorf("answered %d %s %s", answer.Code, answer.Header(), answer.Body)
	}
	if !bytes.Equal(sent, body) {
		t.Errorf("sent on %s, want what came", sent)
	}
	for _, name := range []string{"X-Signature-Ed25519", "X-Signature-Timestamp", "Content-Type"} {
		if got.Header.Get(name) != request.Header.Get(name) {
			t.Errorf("%s was %q, want %q", name, got.Header.Get(name), request.Header.Get(name))
		}
	}
}

// What leads elsewhere, or is longer than an answer, is none: the interaction holds a token.
func TestUpstream_ThatAnswersOtherwise_IsNotFollowed(t *testing.T) {
	t.Parallel()
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the interaction went elsewhere") }))
	t.Cleanup(other.Close)
	for name, answers := range map[string]http.HandlerFunc{
		"leads elsewhere": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
		},
		"is too long": func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 1<<20+1)) },
	} {
		app := httptest.NewServer(answers)
		t.Cleanup(app.Close)
		d := newDesk(t, func(o *interactions.Options) {
			o.Upstream = app.URL
			o.HTTP = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
		})
		if said := d.says(d.press(2, map[string]any{"name": "poll-create"})); !strings.Contains(said, "Try again") {
			t.Errorf("%s: said %q", name, said)
		}
	}
}

func TestUpstream_ThatDoesNotAnswer_IsNotWaitedFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, func(o *interactions.Options) {
			o.Upstream = "http://app.example"
			o.HTTP = &http.Client{Transport: hanging{}}
		})
		began := time.Now()
		if said := d.says(d.press(2, map[string]any{"name": "poll-create"})); !strings.Contains(said, "Try again") {
			t.Errorf("said %q", said)
		}
		if took := time.Since(began); took != 2500*time.Millisecond {
			t.Errorf("answered after %s", took)
		}
	})
}

// hanging is a server that accepts and never answers.
type hanging struct{}

func (hanging) RoundTrip(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// Each row is what the web app's functions answer, and what becomes of it here.
func TestTheAppsInteractions(t *testing.T) {
	t.Parallel()
	const passedOn = "not answered here"
	d := newDesk(t, nil)
	for name, row := range map[string]struct {
		in   map[string]any
		kind int
		says string
	}{
		"better: vote_btn opens one form":      {d.button("vote_btn:" + d.poll), 9, ""},
		"better: vote_pref leads to that form": {d.button("vote_pref:" + d.poll), 7, "Press Vote again"},
		"better: vote_feasible":                {d.button("vote_feasible:" + d.poll), 7, "Press Vote again"},
		"better: page_prev":                    {d.button("page_prev:" + d.poll), 7, "Press Vote again"},
		"better: page_next":                    {d.button("page_next:" + d.poll), 7, "Press Vote again"},
		"better: submit_vote":                  {d.button("submit_vote:" + d.poll), 7, "Press Vote again"},
		"better: clear_votes":                  {d.button("clear_votes:" + d.poll), 7, "Press Vote again"},
		"better: none_work":                    {d.button("none_work:" + d.poll), 7, "Press Vote again"},
		"forwarded: /poll-create":              {d.press(2, map[string]any{"name": "poll-create"}), 4, passedOn},
		"ours: /link-group":                    {d.press(2, map[string]any{"name": "link-group"}), 4, "may manage"},
		"ours: /unlink-group":                  {d.press(2, map[string]any{"name": "unlink-group"}), 4, "may manage"},
		"forwarded: bp_ buttons":               {d.button("bp_open:1"), 4, passedOn},
		"forwarded: autocomplete":              {d.press(4, map[string]any{"name": "poll-create"}), 8, ""},
	} {
		status, answer := d.send(row.in)
		if status != 200 || answer.Kind != row.kind || !strings.Contains(answer.Data.Content, row.says) {
			t.Errorf("%s: answered %d, kind %d, %q", name, status, answer.Kind, answer.Data.Content)
		}
	}
}
