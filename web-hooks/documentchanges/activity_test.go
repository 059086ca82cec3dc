package documentchanges_test

import (
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"questscheduler/internal/test/memorystore"
	"questscheduler/web-hooks/documentchanges"
)

func TestRecordedIntake_RecordsOnceInAWhile(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		documents, err := memorystore.Open(nil)
		must(t, err)
		if heard, err := documentchanges.LastActivity(t.Context(), documents); err != nil || heard != (documentchanges.Activity{}) {
			t.Errorf("before any came: %+v, %v", heard, err)
		}
		n := &documentchanges.RecordedIntake{Intake: opened(t, &reconciler{}), Store: documents, Log: slog.New(slog.DiscardHandler)}
		began := time.Now()
		for _, step := range []struct{ after, at time.Duration }{{0, 0}, {9 * time.Minute, 0}, {10 * time.Minute, 10 * time.Minute}} {
			time.Sleep(time.Until(began.Add(step.after)))
			must(t, n.Changed(t.Context(), "poll", "trace"))
			heard, err := documentchanges.LastActivity(t.Context(), documents)
			must(t, err)
			if want := began.Add(step.at); !heard.ChangedAt.Equal(want) {
				t.Errorf("after %s it says %s, want %s", step.after, heard.ChangedAt, want)
			}
		}
	})
}

func TestNoted_WhatCannotBeWrittenDown_IsHandedOver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		documents, err := memorystore.Open(nil)
		must(t, err)
		down := &refusing{Store: documents}
		down.down.Store(true)
		polls := &reconciler{}
		n := &documentchanges.RecordedIntake{Intake: opened(t, polls), Store: down, Log: slog.New(slog.DiscardHandler)}
		must(t, n.Changed(t.Context(), "poll", "trace"))
		time.Sleep(3 * time.Second)
		if reconciled := polls.list(); len(reconciled) != 1 {
			t.Errorf("it reconciled %v", reconciled)
		}
	})
}
