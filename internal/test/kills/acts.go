package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
)

// actor is somebody who does one act after the other with things that nobody else touches.
// Actors act at the same time as others.
type actor interface {
	// act does one act, or nothing where none is possible now.
	act(ctx context.Context)
	// again sends a command again that was not answered, and reports whether there was one.
	again(ctx context.Context) bool
	// unanswered says which command has no answer.
	unanswered() []finding
	// judge says what is wrong with the actor's things. Unless all settled, it tells only what
	// can never be right again.
	judge(ctx context.Context, observed *observation, settled bool) ([]finding, error)
}

// hand is what actors have in common: they send a command again until it is answered, as
// people do.
type hand struct {
	w       *world
	who     string
	random  *rand.Rand
	waiting *command // was sent and not answered yet
}

func (w *world) hand(who string, n uint64) hand {
	return hand{w: w, who: who, random: rand.New(rand.NewPCG(w.seed, n))}
}

// command is a command of a person over HTTP.
type command struct {
	who, method, path string
	body              any
	key               string // "": the route takes none
	// done: it was answered with success. refused: otherwise; again says whether it was sent
	// before without an answer, so that it may have been carried out then. Either may be nil.
	done    func(data object)
	refused func(ctx context.Context, got answer, again bool)
	sent    int
	last    answer // of no use: a failure, or a request to try again
}

// command sends a command of the hand's person.
func (h *hand) command(ctx context.Context, c command) {
	if c.who == "" {
		c.who = h.who
	}
	h.waiting = &c
	h.send(ctx)
}

// again sends what was not answered, and reports whether there was something.
func (h *hand) again(ctx context.Context) bool {
	if h.waiting == nil {
		return false
	}
	h.send(ctx)
	return true
}

// unanswered is what is wrong where a command gets no answer, however often it is sent.
func (h *hand) unanswered() []finding {
	if h.waiting == nil {
		return nil
	}
	c := h.waiting
	return []finding{{wrong, fmt.Sprintf("%s %s of %s has no answer but %v", c.method, c.path, c.who, c.last)}}
}

func (h *hand) send(ctx context.Context) {
	c := h.waiting
	c.sent++
	got := h.w.v1(ctx, c.who, c.method, c.path, c.body, c.key)
	switch {
	case !got.answered():
		c.last = got
		return
	case got.good():
		h.w.acknowledged()
		if c.done != nil {
			c.done(got.data)
		}
	case c.refused != nil:
		c.refused(ctx, got, c.sent > 1)
	case c.sent == 1:
		h.w.note(finding{wrong, fmt.Sprintf("%s %s of %s, with %v, is answered %v", c.method, c.path, c.who, c.body, got)})
	}
	if h.waiting == c {
		h.waiting = nil
	}
}

// get reads something; nil where there is no answer now.
func (h *hand) get(ctx context.Context, path string) object {
	got := h.w.v1(ctx, h.who, http.MethodGet, path, nil, "")
	switch {
	case got.good():
		return got.data
	case got.answered():
		h.w.note(finding{lost, fmt.Sprintf("GET %s of %s is answered %v", path, h.who, got)})
	}
	return nil
}

// note keeps a finding, each once.
func (w *world) note(f finding) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !slices.Contains(w.found, f) {
		w.found = append(w.found, f)
	}
}

// pick chooses one of several.
func pick[T any](random *rand.Rand, from []T) T { return from[random.IntN(len(from))] }

// choice is one of several acts, chosen as often as its weight says.
type choice struct {
	weight int
	act    func(context.Context)
}

// choose does one of several acts.
func (h *hand) choose(ctx context.Context, choices ...choice) {
	sum := 0
	for _, c := range choices {
		sum += c.weight
	}
	at := h.random.IntN(sum)
	for _, c := range choices {
		at -= c.weight
		if at < 0 {
			c.act(ctx)
			return
		}
	}
}
