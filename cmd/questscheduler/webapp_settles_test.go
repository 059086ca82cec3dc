package main

import (
	"errors"
	"fmt"
	"net/http"
	"time"
)

// agreedState is the state of poll, event and index when they agree, and what the page
// shows then.
type agreedState struct {
	event    string // its id
	lives    bool   // it is in the calendar
	followed bool   // it is in the index
	poll     map[string]any
	showing  string // an expression that holds in the page
}

// latency is how long it took from the beginning of a step until poll, event and index
// agreed, and until the page showed it.
type latency struct {
	step          string
	agreed, shown time.Duration
}

// settles runs a step and waits until everything is in the wanted state. The test logs
// at its end how long that took.
func (a *webApp) settles(step string, do func(), want agreedState) {
	a.t.Helper()
	began := time.Now()
	do()
	took := latency{step: step}
	eventually(a.t, step+": poll, event and index agree, and the page shows it", func() error {
		return errors.Join(
			since(began, &took.agreed, a.agree(want)),
			since(began, &took.shown, a.shown(want)))
	})
	a.latencies = append(a.latencies, took)
}

// since records how long it took until err stayed nil.
func since(began time.Time, took *time.Duration, err error) error {
	switch {
	case err != nil:
		*took = 0
	case *took == 0:
		*took = time.Since(began)
	}
	return err
}

// agree reports how poll, event or index differ from the wanted state.
func (a *webApp) agree(want agreedState) error {
	if status := a.inCalendar(http.MethodGet, want.event, nil).body["status"]; (status == "confirmed") != want.lives {
		return fmt.Errorf("the event is %v", status)
	}
	if indexed := a.documents.get("calendarEventIndex/"+want.event) != nil; indexed != want.followed {
		return fmt.Errorf("the event is in the index: %t", indexed)
	}
	return mustHave(a.documents.poll(a.id), want.poll)
}

func (a *webApp) shown(want agreedState) error {
	if a.Text(want.showing) != "true" {
		return fmt.Errorf("the page does not show that %s", want.showing)
	}
	return nil
}

// logLatencies logs a line for each step. No latency is asserted.
func (a *webApp) logLatencies() {
	a.t.Helper()
	for _, took := range a.latencies {
		a.t.Logf("%-50s agreed after %5d ms, shown after %5d ms", took.step, took.agreed.Milliseconds(), took.shown.Milliseconds())
	}
}
