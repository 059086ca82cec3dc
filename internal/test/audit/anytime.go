package audit

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"questscheduler/internal/store"
)

// State says what is wrong with the state of a poll's document, which holds at any time; "" for
// nothing: an error that stops the sync is its state, else whether it was rescheduled.
func State(id string, fields map[string]any) string {
	p := record{id: id, fields: fields}
	state, code := p.text("calendarSync", "state"), p.text("calendarSync", "error", "code")
	if p.text("status") != finalized || p.text("googleEventId") == "" || edited(p) || state == "" {
		return ""
	}
	want := isOK
	if p.has("calendarSync", "rescheduled") {
		want = isRescheduled
	}
	if warning := code == "recurring_unsupported" || code == "unreadable_event"; code != "" && !warning {
		want = isError
	}
	if state == want {
		return ""
	}
	return fmt.Sprintf("audit: poll %s has the state %q and the error %q; its state must be %s", id, state, code, want)
}

// consumer is the name by which calendars keep what mirroring has yet to read.
const consumer = "mirrors"

// PendingFindings says which calendars have changes to be read for mirroring, and are answered
// as if all were known. It holds at any time, also during faults.
func PendingFindings(ctx context.Context, world World) ([]string, error) {
	a := &audit{World: world, ctx: ctx}
	stored, err := a.all(calendars)
	if err != nil {
		return nil, fmt.Errorf("audit: %w", err)
	}
	for _, calendar := range stored {
		deferred := mapOf(calendar.value("deferred", consumer))
		if !calendar.has("relist", consumer) && len(deferred) == 0 {
			continue
		}
		account, err := a.account(calendar.text("accountId"))
		if err != nil {
			return nil, err
		}
		if account.text("status") != "active" || primary(account) != calendar.text("calendarId") {
			continue
		}
		within := a.compared()
		_, unknown, err := a.Answer(account.id, within.Start, within.End)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(unknown, within) {
			a.found("calendar %s has changes to be read (%v, a full listing: %t), and its owner's times are answered as known, but for %s",
				calendar.text("calendarId"), slices.Sorted(maps.Keys(deferred)), calendar.has("relist", consumer), spelled(unknown))
		}
	}
	return a.findings, nil
}

// account reads one account.
func (a *audit) account(id string) (record, error) {
	document, err := a.Store.Get(a.ctx, store.Doc("accounts", id))
	return record{id: id, fields: document.Data}, err
}

// checkHeld: once all held cancellations were confirmed, none is held that no poll awaits.
func (a *audit) checkHeld() error {
	if !a.Confirmed {
		return nil
	}
	stored, err := a.all(calendars)
	for _, calendar := range stored {
		for _, event := range slices.Sorted(maps.Keys(mapOf(calendar.value("deferred", "poll")))) {
			if calendar.text("deferred", "poll", event, "why") == "held" && !a.indexed(event) {
				a.found(
					"calendar %s holds the cancellation of event %s, which no poll follows, after all were confirmed",
					calendar.text("calendarId"), event,
				)
			}
		}
	}
	return err
}

func (a *audit) indexed(event string) bool {
	for key := range a.index {
		if len(key) > len(event) && key[:len(event)+1] == event+" " {
			return true
		}
	}
	return false
}
