package main

import (
	"errors"
	"fmt"
	"net/http"
	"time"
)

// standing is how poll, event and index stand when they agree, and the page shows
// it.
type agreedState struct {
	event    string // its id
	lives    bool   // it is in the calendar
	followed bool   // it is in the index
	poll     map[string]any
	showing  string // an expression that holds in the page
}

// figure is how long it took from the beginning of a deed until poll, event and
// index agreed, and until the page showed it.
type latency struct {
	step          string
	agreed, shown time.Duration
}

// settles does a deed and waits until everything stands as wanted. How long that
// took is told at the test's end.
func (a *webApp) settles(deed string, do func(), want agreedState) {
	a.t.Helper()
	began := time.Now()
	do()
	took := latency{step: deed}
	eventually(a.t, deed+": poll, event and index agree, and the page shows it", func() error {
		return errors.Join(
			since(began, &took.agreed, a.agree(want)),
			since(began, &took.shown, a.shown(want)))
	})
	a.figures = append(a.figures, took)
}

// since notes how long it took until an error came for the last time.
func since(began time.Time, took *time.Duration, err error) error {
	switch {
	case err != nil:
		*took = 0
	case *took == 0:
		*took = time.Since(began)
	}
	return err
}

// agree tells in what poll, event and index do not stand as wanted.
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

// logFigures writes a line for each deed: nothing is asserted of time.
func (a *webApp) logFigures() {
	a.t.Helper()
	for _, took := range a.figures {
		a.t.Logf("%-50s agreed after %5d ms, shown after %5d ms", took.step, took.agreed.Milliseconds(), took.shown.Milliseconds())
	}
}
