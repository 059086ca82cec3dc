package main

import (
	"testing"
	"time"

	"questscheduler/api"
	"questscheduler/api/callables"
)

// clientPatience is how long Firebase's clients wait for the answer of a function.
const clientPatience = 70 * time.Second

func TestAnswerTime_OfEveryRequest_FitsItsTimeout(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name        string
		takes, fits time.Duration
	}{
		{"a route", api.AnswerTime, answerTimeout},
		{"a callable, for the server", callables.AnswerTime, answerTimeout},
		{"a callable, for the client", callables.AnswerTime, clientPatience},
	} {
		if row.takes >= row.fits {
			t.Errorf("%s takes up to %s, and has to take less than %s", row.name, row.takes, row.fits)
		}
	}
}
