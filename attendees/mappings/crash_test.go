package mappings_test

import (
	"crypto/sha256"
	"fmt"
	"testing"
	"time"

	"questscheduler/internal/test/points"
	"questscheduler/internal/test/worldtest"
)

// changing is a world in which ben's mapping is about to change, cho's to go and dan's to
// come; records of theirs must become due.
func changing(t *testing.T) *mappingWorld {
	t.Helper()
	w := newMappingWorld(t, true)
	w.sheet.set("ana", "ben", "cho")
	w.refresh()
	w.clearBacklogs()
	w.record("att_ana", "ana", time.Time{})
	w.record("att_ben", "ben", time.Time{})
	w.record("att_cho", "cho", noon.Add(-time.Hour))
	w.sheet.set("ana", "ben+bo", "dan")
	return w
}

// changed demands what the change leads to.
func (w *mappingWorld) changed() {
	w.Helper()
	w.settled("ana", "ben+bo", "dan")
	equal(w.T, "delegated", w.delegated("ana", "ben", "cho", "dan"), []string{"ana", "ben", "dan"})
	equal(w.T, "listed again", w.relisted(), []string{"ben@north.example", "dan@north.example"})
	for id, due := range map[string]bool{"att_ana": false, "att_ben": true, "att_cho": false} {
		equal(w.T, id+" is due", !w.load(id).Due.IsZero(), due)
	}
}

func TestMappings_KilledAtAnyCall_AreCarriedOutByTheNextRun(t *testing.T) {
	t.Parallel()
	for _, after := range []bool{false, true} {
		call := 0
		for died := true; died && call <= worldtest.MostPoints; call++ {
			t.Run(fmt.Sprintf("call %d after %t", call, after), func(t *testing.T) {
				w := changing(t)
				w.broken.armed, w.broken.after, w.broken.left = true, after, call
				_, err := w.tryRefresh(w.mappings)
				died = w.broken.left < 0
				if died != (err != nil) {
					t.Fatalf("%d calls are left: %v", w.broken.left, err)
				}
				w.restart(true)
				w.refresh()
				w.changed()
			})
		}
		points.Struck(t, call-1, 25)
	}
}

// Killed in one version and started again with another one.
func TestMappings_KilledAndReplaced_LeaveNothing(t *testing.T) {
	t.Parallel()
	call := 0
	for died := true; died && call <= worldtest.MostPoints; call++ {
		t.Run(fmt.Sprintf("call %d", call), func(t *testing.T) {
			w := changing(t)
			w.broken.armed, w.broken.after, w.broken.left = true, true, call
			_, err := w.tryRefresh(w.mappings)
			died = w.broken.left < 0
			if died != (err != nil) {
				t.Fatalf("%d calls are left: %v", w.broken.left, err)
			}
			w.restart(true)
			w.sheet.set("ana", "ben", "cho")
			w.refresh()
			w.settled("ana", "ben", "cho")
			equal(t, "delegated", w.delegated("ana", "ben", "cho", "dan"), []string{"ana", "ben", "cho"})
		})
	}
	points.Struck(t, call-1, 25)
}

// Another process runs the same job wholly between any two calls of this one, and before
// each commit. Nothing of the other's version is left by the load that comes last.
func TestMappings_TwoProcesses_Agree(t *testing.T) {
	t.Parallel()
	newer, older := []string{"ana", "ben+bo", "dan"}, []string{"ana", "ben", "cho"}
	for name, row := range map[string]struct{ other, last []string }{
		"the same sheet": {newer, newer}, "an older sheet first": {older, newer}, "an older sheet last": {older, older},
	} {
		for _, before := range []bool{false, true} {
			call := 0
			for met := true; met && call <= worldtest.MostPoints; call++ {
				t.Run(fmt.Sprintf("%s at call %d, commit %t", name, call, before), func(t *testing.T) {
					met = meet(t, row.other, row.last, before, call)
				})
			}
			points.Struck(t, call-1, 25)
		}
	}
}

// meet has a second process, with a sheet of its own, run at a call of the first, and met
// reports whether there was that call. Then the first one loads the last sheet.
func meet(t *testing.T, other, last []string, before bool, call int) (met bool) {
	t.Helper()
	w := changing(t)
	second, theirs := w.process(true), &sheet{}
	theirs.set(other...)
	second.Source = theirs
	w.broken.armed, w.broken.after, w.broken.left = true, before, call
	w.broken.instead = func() {
		met = true
		if _, err := w.tryRefresh(second); err != nil {
			t.Errorf("the second process: %v", err)
		}
	}
	w.refresh()
	w.broken.armed = false
	w.sheet.set(last...)
	w.refresh()
	w.followLinks() // an account that was made after its mapping went
	w.settled(last...)
	everybody := []string{"ana", "ben", "cho", "dan"}
	equal(t, "delegated", w.delegated(everybody...), names(last, everybody))
	equal(t, "due", w.load("att_ben").Due.IsZero(), false)
	now, _, err := second.Current(w.ctx, w.memory)
	must(t, err)
	equal(t, "the second process reads", now.Version(), w.state().Version)
	return met
}

func TestMappings_ALargeTable_IsStoredInParts(t *testing.T) {
	t.Parallel()
	w := newMappingWorld(t, false)
	for i := range 20_000 {
		name := fmt.Sprintf("%x", sha256.Sum256([]byte{byte(i), byte(i >> 8)}))
		w.sheet.rows = append(w.sheet.rows, []string{name[:30] + "@north.example", name[30:60] + "@south.example", ""})
	}
	loaded, _, err := w.mappings.Refresh(w.ctx, mapped, "", false)
	must(t, err)
	equal(t, "loaded", loaded.Loaded, 1)
	now, _, err := w.process(false).Current(w.ctx, w.memory)
	must(t, err)
	equal(t, "mappings", now.Len(), 20_000)
	equal(t, "parts", w.state().Chunks > 1, true)
}
