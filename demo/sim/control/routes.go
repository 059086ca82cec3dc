package control

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"time"
)

// maxBody is far above any control's body.
const maxBody = 64 << 10

// Register hangs the controls on a simulator's mux: POST, GET and DELETE
// /_sim/faults, GET and DELETE /_sim/calls, GET and POST /_sim/clock. What is
// wrong in a body is answered 400 {"error": sentence} and changes nothing.
func (c *Control) Register(mux *http.ServeMux) {
	mux.HandleFunc("POST /_sim/faults", c.postFault)
	mux.HandleFunc("GET /_sim/faults", func(w http.ResponseWriter, _ *http.Request) { c.answerFaults(w) })
	mux.HandleFunc("DELETE /_sim/faults", func(w http.ResponseWriter, _ *http.Request) {
		c.Clear()
		c.answerFaults(w)
	})
	mux.HandleFunc("GET /_sim/calls", func(w http.ResponseWriter, _ *http.Request) { Answer(w, http.StatusOK, c.Calls()) })
	mux.HandleFunc("DELETE /_sim/calls", func(w http.ResponseWriter, _ *http.Request) {
		c.ResetCalls()
		Answer(w, http.StatusOK, c.Calls())
	})
	mux.HandleFunc("GET /_sim/clock", func(w http.ResponseWriter, _ *http.Request) { c.answerClock(w) })
	mux.HandleFunc("POST /_sim/clock", c.postClock)
}

func (c *Control) postFault(w http.ResponseWriter, r *http.Request) {
	var rule Rule
	if !Decode(w, r, &rule) {
		return
	}
	if err := c.Plant(rule); err != nil {
		Refuse(w, http.StatusBadRequest, err)
		return
	}
	c.answerFaults(w)
}

func (c *Control) answerFaults(w http.ResponseWriter) {
	rules := c.Rules()
	if rules == nil {
		rules = []Rule{}
	}
	Answer(w, http.StatusOK, map[string]any{"faults": rules})
}

func (c *Control) postClock(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Advance string `json:"advance"`
	}
	if !Decode(w, r, &body) {
		return
	}
	d, err := time.ParseDuration(body.Advance)
	if err != nil {
		Refuse(w, http.StatusBadRequest, errors.New("advance: write a duration such as 72h or 90s"))
		return
	}
	switch err := c.clock.Advance(d); {
	case errors.Is(err, ErrBackwards):
		Refuse(w, http.StatusBadRequest, err)
	case err != nil:
		Refuse(w, http.StatusInternalServerError, err)
	default:
		c.answerClock(w)
	}
}

func (c *Control) answerClock(w http.ResponseWriter) {
	Answer(w, http.StatusOK, map[string]string{
		"now":    c.clock.Now().UTC().Format(time.RFC3339Nano),
		"offset": c.clock.Offset().String(),
	})
}

// Decode reads a control's JSON body into v, strictly: an unknown field, more
// than one value or a body above 64 KiB is answered 400, and Decode gives
// false.
func Decode(w http.ResponseWriter, r *http.Request, v any) bool {
	dec := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody))
	dec.DisallowUnknownFields()
	err := dec.Decode(v)
	if err == nil {
		if _, more := dec.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("one JSON object, and nothing after it")
		}
	}
	if err != nil {
		Refuse(w, http.StatusBadRequest, err)
		return false
	}
	return true
}

// Answer writes v as the JSON body of a control's answer.
func Answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	// The status is out; a caller that has gone away loses only the body.
	_ = json.NewEncoder(w).Encode(v)
}

// Refuse answers a control call with {"error": sentence}.
func Refuse(w http.ResponseWriter, status int, err error) {
	Answer(w, status, map[string]string{"error": err.Error()})
}
