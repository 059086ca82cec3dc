package mirrors_test

import (
	"errors"
	"testing"

	"questscheduler/fault"
	"questscheduler/internal/gcal"
	"questscheduler/mirrors"
	"questscheduler/rules"
)

func TestDemand_ThatFails_LeavesTheEvent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	series, _ := w.weekly()
	refusal := errors.New("another version")
	for _, id := range []string{series.ID, series.ID + "_20260312T090000Z"} {
		refuse := func(shown mirrors.Shown) error {
			if shown.Title != "Dentist" || shown.ID != series.ID {
				t.Errorf("it is given %+v", shown)
			}
			return refusal
		}
		_, err := w.events().Change(w.ctx, gm, id, mirrors.Change{Title: new("New"), Demand: refuse}, cause)
		for what, err := range map[string]error{"change": err, "delete": w.events().Delete(w.ctx, gm, id, refuse, cause)} {
			if !errors.Is(err, refusal) {
				t.Errorf("%s: %v", what, err)
			}
		}
	}
	w.wantTitles(work, "Dentist")
}

// What the calendar shows by now, the person was not shown.
func TestDemand_OfAnEventThatChangedInItsCalendar_IsAConflict(t *testing.T) {
	t.Parallel()
	agree := func(mirrors.Shown) error { return nil }
	for name, edit := range map[string]func(c *gcal.Content){
		"title":      func(c *gcal.Content) { c.Summary = "Surgeon" },
		"location":   func(c *gcal.Content) { c.Location = "Bern" },
		"end":        func(c *gcal.Content) { c.End.Time = at("2026-03-05T11:00:00Z").Time },
		"free":       func(c *gcal.Content) { c.Transparency = "transparent" },
		"recurrence": func(c *gcal.Content) { c.Recurrence = []string{"RRULE:FREQ=WEEKLY;COUNT=4"} },
	} {
		w := newWorld(t)
		series, _ := w.weekly()
		content := contentOf(w.atGoogle(series))
		edit(&content)
		_, err := w.full.PatchContent(w.ctx, refTo(work), series.EventID, "", content)
		w.must(err)
		events := w.events()
		_, err = events.Change(w.ctx, gm, series.ID, mirrors.Change{Description: new("New"), Demand: agree}, cause)
		wantFault(t, name, err, fault.Conflict, gcal.CodeStale)
		wantFault(t, name+", deleted", events.Delete(w.ctx, gm, series.ID, agree, cause), fault.Conflict, gcal.CodeStale)
		w.sync(work)
		for _, id := range []string{series.ID, series.ID + "_20260312T090000Z"} {
			_, err = events.Change(w.ctx, gm, id, mirrors.Change{Description: new("New"), Demand: agree}, cause)
			w.must(err)
			w.settle()
		}
		w.must(events.Delete(w.ctx, gm, series.ID+"_20260312T090000Z", agree, cause)) // an exception by now
		w.must(events.Delete(w.ctx, gm, series.ID, agree, cause))
		if w.atGoogle(series).EventState != rules.Gone {
			t.Errorf("%s: it is there", name)
		}
	}
}
