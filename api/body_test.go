package api_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"questscheduler/fault"
)

// TestBody_ThatDoesNotArrive_IsGivenUp: the time for a body is the body's
// alone; a handler that takes longer than that is not cut off.
func TestBody_ThatDoesNotArrive_IsGivenUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(s *setup) { s.patience = 200 * time.Millisecond })
	made := w.newPoll(nil)
	for _, path := range []string{"/v1/polls", "/v1/polls/" + made.ID + "/sync"} {
		if got := w.stall(path); !strings.HasPrefix(got, "HTTP/1.1 400 ") || !strings.Contains(got, "VALIDATION_ERROR") {
			t.Errorf("%s: a body that stalls is answered with %s", path, got)
		}
	}
	var cut error
	w.accounts.refuse = func(ctx context.Context) error {
		w.stall("/v1/polls") // that one began after ours and was given up
		cut = ctx.Err()
		return fault.New(fault.Revoked, "Link a calendar.")
	}
	w.want(
		422,
		call{as: "gm", method: "POST", path: "/v1/polls/" + made.ID + "/finalize", body: map[string]any{"slot_id": made.Slots[0].ID}},
		nil,
	)
	if cut != nil {
		t.Errorf("the handler was cut off: %v", cut)
	}
}

// However many transactions of a request meet others, it ends while its connection
// still takes an answer (AnswerTime).
func TestRequest_TakesLong_EndsInTimeForItsAnswer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.newPoll(nil)
	asked := 0
	w.accounts.refuse = func(ctx context.Context) error {
		asked++
		if deadline, has := ctx.Deadline(); !has || time.Until(deadline) > 70*time.Second {
			t.Errorf("it may go on until %v (%v)", deadline, has)
		}
		return fault.New(fault.Revoked, "Link a calendar.")
	}
	for _, key := range []map[string]string{nil, {"Idempotency-Key": "one"}} {
		w.want(422, call{
			as: "gm", method: "POST", path: "/v1/polls/" + made.ID + "/finalize", body: map[string]any{"slot_id": made.Slots[0].ID}, header: key,
		}, nil)
	}
	if asked != 2 {
		t.Errorf("it was asked %d times", asked)
	}
}

// stall sends the beginning of a body, waits to be given up, and gives what was
// answered.
func (w *world) stall(path string) string {
	host := strings.TrimPrefix(w.url, "http://")
	connection, err := (&net.Dialer{}).DialContext(w.t.Context(), "tcp", host)
	if err != nil {
		return err.Error()
	}
	defer connection.Close()
	_, err = fmt.Fprintf(connection,
		"POST %s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{",
		path, host, w.tokens["gm"])
	if err != nil {
		return err.Error()
	}
	answered, err := io.ReadAll(connection)
	if err != nil {
		return err.Error()
	}
	return string(answered)
}
