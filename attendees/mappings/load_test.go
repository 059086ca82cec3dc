package mappings_test

import (
	"testing"

	"questscheduler/attendees/mappings"
	"questscheduler/fault"
	"questscheduler/internal/test/storetest"
)

func TestMappings_BeforeTheFirstLoad_AreEmpty(t *testing.T) {
	t.Parallel()
	w := newMappingWorld(t, true)
	table, version, err := w.mappings.Current(w.ctx, w.memory)
	must(t, err)
	equal(t, "mappings", table.Len(), 0)
	equal(t, "version", version, "")
}

func TestMappings_FirstLoad_FollowsTheCalendars(t *testing.T) {
	t.Parallel()
	w := newMappingWorld(t, true)
	w.sheet.set("ana", "ben")
	did := w.refresh()
	w.settled("ana", "ben")
	equal(t, "delegated", w.delegated("ana", "ben", "cho"), []string{"ana", "ben"})
	equal(t, "followed", did.Followed, 2)
	equal(t, "watched", len(w.calls), 2)
	for _, calendar := range w.calendars() {
		equal(t, "a listing is requested", calendar.SyncPending && !calendar.Backlogs[mappings.Consumer].Relist.IsZero(), true)
	}
	equal(t, "loads", w.loads, []mappings.Outcome{mappings.LoadChanged})
}

func TestMappings_UnchangedLoad_WritesTheStateAlone(t *testing.T) {
	t.Parallel()
	w := newMappingWorld(t, true)
	w.sheet.set("ana", "ben")
	w.refresh()
	w.counter.Reset()
	w.refresh()
	equal(t, "cost", w.counter.Total(), storetest.Cost{Reads: 3, Writes: 1})
	equal(t, "loaded", w.state().LoadedAt, w.now)
	w.settled("ana", "ben")
}

func TestMappings_FailedLoad_KeepsTheLastOnes(t *testing.T) {
	t.Parallel()
	w := newMappingWorld(t, true)
	w.sheet.set("ana", "ben")
	w.refresh()
	loaded := w.now
	w.sheet.err = fault.New(fault.Unavailable, "The sheet does not answer.")
	for range 2 {
		equal(t, "failed", w.refresh().Failed, 1)
	}
	state := w.state()
	equal(t, "failures", state.Failures, 2)
	equal(t, "error", state.Error, "The sheet does not answer.")
	equal(t, "loaded at", state.LoadedAt, loaded)
	equal(t, "tried at", state.TriedAt, w.now)
	w.settled("ana", "ben")

	w.sheet.set()
	if _, _, err := w.mappings.Refresh(w.ctx, mapped, "", true); !fault.Is(err, fault.Invalid) {
		t.Errorf("an empty sheet by hand: %v", err)
	}
	w.settled("ana", "ben")

	w.restart(true)
	w.settled("ana", "ben")
	w.sheet.set("ana", "ben")
	w.refresh()
	equal(t, "failures after a load", w.state().Failures, 0)
	equal(t, "error after a load", w.state().Error, "")
}

func TestReload_AFailure_SaysWhyAsItsKindAllows(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		failure error
		kind    fault.Kind
		message string
	}{
		"not there": {
			fault.New(fault.NotFound, "There is no sheet of this id."), fault.Conflict,
			"The mappings were not loaded, and stay as they were. There is no sheet of this id.",
		},
		"does not answer": {fault.New(fault.Unavailable, "The sheet does not answer."), fault.Unavailable, "The sheet does not answer."},
	} {
		w := newMappingWorld(t, true)
		w.sheet.err = row.failure
		_, err := w.mappings.Reload(w.ctx, mapped, "")
		equal(t, name, fault.KindOf(err), row.kind)
		equal(t, name, mappings.Sentence(err), row.message)
	}
}

func TestReload_SkippedRows_AreReported(t *testing.T) {
	t.Parallel()
	w := newMappingWorld(t, true)
	w.sheet.set("ana", "ben")
	w.sheet.rows = append(w.sheet.rows, []string{"no address", "x@south.example", ""})
	loaded, err := w.mappings.Reload(w.ctx, mapped, "")
	must(t, err)
	equal(t, "mappings", loaded.Mappings, 2)
	equal(t, "skipped", loaded.SkippedCount, 1)
	equal(t, "row", loaded.Skipped[0].Row, 4)
	equal(t, "version", loaded.Version, tableOf("ana", "ben").Version())
	w.settled("ana", "ben")
}

func TestMappings_LosingOverHalf_WaitForConfirmation(t *testing.T) {
	t.Parallel()
	w := newMappingWorld(t, true)
	w.sheet.set("ana", "ben", "cho")
	w.refresh()
	w.sheet.set("ana")
	w.refresh()
	since := w.now
	w.refresh()
	held := mappings.Held{Version: tableOf("ana").Version(), Lost: 2, Of: 3, At: since}
	equal(t, "held", w.state().Held, held)
	w.settled("ana", "ben", "cho")

	loaded, err := w.mappings.Reload(w.ctx, mapped, "another")
	equal(t, "another version confirmed", fault.KindOf(err), fault.Conflict)
	equal(t, "still held", loaded.Held, held)
	w.settled("ana", "ben", "cho")

	loaded, err = w.mappings.Reload(w.ctx, mapped, held.Version)
	must(t, err)
	equal(t, "held after the confirmation", loaded.Held.Version, "")
	equal(t, "mappings", loaded.Mappings, 1)
	w.settled("ana")
	_, err = w.mappings.Reload(w.ctx, mapped, held.Version)
	must(t, err) // a repeated confirmation
}

func TestMappings_GainingOverHalf_WaitForConfirmation(t *testing.T) {
	t.Parallel()
	few, many := []string{"ana", "ben"}, []string{"ana", "ben", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"}
	for name, row := range map[string]struct {
		before, after []string
		added         int64 // 0: it takes effect
	}{
		"six more":                  {few, append([]string{"m", "n", "o", "p", "q", "r"}, few...), 6},
		"five more":                 {few, append([]string{"m", "n", "o", "p", "q"}, few...), 0},
		"half as many more":         {many, append([]string{"m", "n", "o", "p", "q", "r"}, many...), 0},
		"over half as many more":    {many, append([]string{"m", "n", "o", "p", "q", "r", "s"}, many...), 7},
		"one more address each":     {many, []string{"ana+1", "ben+2", "c+3", "d+4", "e+5", "f+6", "g+7", "h", "i", "j", "k", "l"}, 7},
		"other addresses for a few": {many, []string{"ana+1", "ben+2", "c+3", "d+4", "e+5", "f", "g", "h", "i", "j", "k", "l"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newMappingWorld(t, true)
			w.sheet.set(row.before...)
			w.refresh() // the first load adds all, and is never held
			w.settled(row.before...)
			w.sheet.set(row.after...)
			w.refresh()
			if row.added == 0 {
				w.settled(row.after...)
				return
			}
			held := mappings.Held{Version: tableOf(row.after...).Version(), Added: row.added, Of: int64(len(row.before)), At: w.now}
			equal(t, "held", w.state().Held, held)
			w.settled(row.before...)
			_, err := w.mappings.Reload(w.ctx, mapped, held.Version)
			must(t, err)
			w.refresh()
			w.settled(row.after...)
		})
	}
}

func TestMappings_Held_AreWithdrawnByTheNextGoodLoad(t *testing.T) {
	t.Parallel()
	w := newMappingWorld(t, true)
	w.sheet.set("ana", "ben", "cho")
	w.refresh()
	w.sheet.set("ana")
	w.refresh()
	w.sheet.set("ana", "ben")
	w.refresh()
	equal(t, "held", w.state().Held.Version, "")
	w.settled("ana", "ben")
	if _, err := w.mappings.Reload(w.ctx, mapped, tableOf("ana").Version()); !fault.Is(err, fault.Conflict) {
		t.Errorf("confirming what nothing holds any more: %v", err)
	}
	w.settled("ana", "ben")
}

func TestMappings_LosingHalfOrOne_TakeEffect(t *testing.T) {
	t.Parallel()
	w := newMappingWorld(t, true)
	w.sheet.set("ana", "ben")
	w.refresh()
	w.sheet.set("ana")
	w.refresh()
	w.settled("ana")
	w.sheet.rows = [][]string{{"ana@north.example", "ana@south.example", "inactive"}}
	w.refresh()
	w.settled()
	equal(t, "version", w.state().Version, mappings.Empty)
	w.sheet.set("ana")
	w.refresh()
	w.settled("ana")
}

func TestMappings_AnotherProcess_ReadsTheSame(t *testing.T) {
	t.Parallel()
	w := newMappingWorld(t, true)
	w.sheet.set("ana", "ben")
	w.refresh()
	other := w.process(true)
	w.sheet.set("ana", "cho")
	for range 2 {
		now, version, err := other.Current(w.ctx, w.counter)
		must(t, err)
		equal(t, "version", version, w.state().Version)
		equal(t, "mappings", now.Version(), version)
		w.refresh()
	}
	w.counter.Reset()
	_, _, err := other.Current(w.ctx, w.counter)
	must(t, err)
	_, _, err = other.Current(w.ctx, w.counter)
	must(t, err)
	equal(t, "reads of a version that it knows", w.counter.Total().Reads, 2)
}
