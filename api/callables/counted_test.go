package callables

import (
	"context"
	"testing"

	"questscheduler/fault"
	"questscheduler/scheduler"
)

// finalising are polls of which each finalisation ends as its field says.
type finalising struct {
	Polls
	begins   bool // it begins something new
	err      error
	underWay bool
	unread   error
}

// Finalise implements Polls.
func (p *finalising) Finalise(
	_ context.Context, _ scheduler.Person, _ string, ask scheduler.Finalise, _ scheduler.Cause,
) (scheduler.View, error) {
	if p.begins && ask.Begin != nil {
		if err := ask.Begin(); err != nil {
			return scheduler.View{}, err
		}
	}
	return scheduler.View{}, p.err
}

// InProgress implements Polls.
func (p *finalising) InProgress(context.Context, scheduler.Person, string, scheduler.Finalise) (bool, error) {
	return p.underWay, p.unread
}

// Repeats implements Polls.
func (p *finalising) Repeats(_ context.Context, _ scheduler.Person, _ string, _ scheduler.Finalise, outcome error) bool {
	return outcome == nil || fault.Is(outcome, fault.Unavailable) && p.underWay
}

// DeleteEvent implements Polls.
func (p *finalising) DeleteEvent(context.Context, scheduler.Person, string, scheduler.Cause) (bool, error) {
	return true, nil
}

func TestFinalise_Counts_WhatBeginsSomething(t *testing.T) {
	t.Parallel()
	away := fault.New(fault.Unavailable, "no answer")
	for name, row := range map[string]struct {
		polls finalising
		spent bool
		left  int // that are counted
		kind  fault.Kind
		fails bool
	}{
		"the first": {polls: finalising{begins: true}, left: 1},
		"one that the drain finishes": {
			polls: finalising{begins: true, err: away, underWay: true}, left: 1, kind: fault.Unavailable, fails: true,
		},
		"one that met edits":               {polls: finalising{err: away}, left: 1, kind: fault.Unavailable, fails: true},
		"a repeat of one that still runs":  {polls: finalising{err: away, underWay: true}, kind: fault.Unavailable, fails: true},
		"a repeat of one that is answered": {},
		"one that is refused":              {polls: finalising{err: fault.New(fault.Conflict, "no")}, left: 1, kind: fault.Conflict, fails: true},
		"beyond the bound":                 {polls: finalising{begins: true}, spent: true, kind: fault.RateLimited, fails: true},
		"beyond it, of no poll": {
			polls: finalising{unread: fault.New(fault.NotFound, "none")}, spent: true, kind: fault.RateLimited, fails: true,
		},
		"beyond it, unreadable":          {polls: finalising{unread: away}, spent: true, kind: fault.Unavailable, fails: true},
		"beyond it, a repeat":            {polls: finalising{underWay: true}, spent: true},
		"beyond it, one that began anew": {polls: finalising{begins: true, underWay: true}, spent: true, kind: fault.RateLimited, fails: true},
	} {
		counted := 0
		s := &server{Options: Options{Polls: &row.polls, Count: func(string, string) (func(), error) {
			if row.spent {
				return nil, fault.New(fault.RateLimited, "too many")
			}
			counted++
			return func() { counted-- }, nil
		}}}
		_, err := s.finalise(t.Context(), call{data: fields{"schedulerId": "p", "slotId": "s"}})
		if counted != row.left || (err != nil) != row.fails || err != nil && fault.KindOf(err) != row.kind {
			t.Errorf("%s: %d counted, want %d; %v", name, counted, row.left, err)
		}
	}
}

// The app asks for it before it deletes a poll, which is never refused.
func TestDeleteEvent_BeyondTheBound_IsNotRefused(t *testing.T) {
	t.Parallel()
	s := &server{Options: Options{Polls: &finalising{}, Count: func(string, string) (func(), error) {
		return nil, fault.New(fault.RateLimited, "too many")
	}}}
	if _, err := s.deleteEvent(t.Context(), call{data: fields{"schedulerId": "p"}}); err != nil {
		t.Error(err)
	}
}
