package mappings_test

import (
	"testing"
	"time"

	"questscheduler/attendees/mappings"
)

// release runs the cleanup of a process in which second addresses are off.
func (w *mappingWorld) release() (released int) {
	w.Helper()
	for more := true; more; {
		var some int
		var err error
		some, more, err = mappings.Release(w.accounts)(w.ctx, w.counter, w.now, 2)
		must(w.T, err)
		released += some
	}
	return released
}

func TestRelease_AfterSwitchingOff_EndsAllThatFollows(t *testing.T) {
	t.Parallel()
	for name, delegated := range map[string]bool{"a service account": true, "linked accounts": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newMappingWorld(t, delegated)
			people := []string{"ana", "bo", "cho", "dora", "emil"}
			for _, person := range people {
				if !delegated {
					w.link(person, person)
				}
			}
			w.sheet.set(people...)
			w.refresh()
			w.settled(people...)
			w.restart(false)
			w.release()
			for _, calendar := range w.calendars() {
				if calendar.Wanted() {
					t.Errorf("%s is followed: %v", calendar.CalendarID, calendar.Interests)
				}
			}
			equal(t, "delegated accounts", len(w.delegated(people...)), 0)
			equal(t, "released again", w.release(), 0)

			w.restart(delegated)
			w.refresh()
			w.settled(people...)
		})
	}
}

// A mapping that ended while a version was not carried out is not forgotten.
func TestRelease_BeforeALossIsCarriedOut_KeepsThatItIsPending(t *testing.T) {
	t.Parallel()
	w := newMappingWorld(t, true)
	w.sheet.set("ana", "bo", "cho")
	w.refresh()
	w.record("att_1", "bo", noon.Add(24*time.Hour))
	w.sheet.set("ana", "cho")
	w.mappings.Accounts = noAccounts{}
	if _, err := w.tryRefresh(w.mappings); err == nil {
		t.Fatal("the loss was carried out")
	}
	w.restart(true)
	w.release()
	equal(t, "due while it is off", w.load("att_1").Due, time.Time{})
	w.restart(true)
	w.refresh()
	if w.load("att_1").Due.IsZero() {
		t.Error("what was added for Bo is not taken back")
	}
}

func TestRelease_WhereTheyWereNeverOn_WritesNothing(t *testing.T) {
	t.Parallel()
	w := newMappingWorld(t, false)
	w.link("ana", "ana")
	equal(t, "released", w.release(), 0)
	equal(t, "state", w.state(), mappings.Record{})
	docs, err := w.memory.Query(w.ctx, allOf.With())
	must(t, err)
	equal(t, "documents", len(docs), 0)
}
