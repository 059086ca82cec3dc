package worldtest_test

import (
	"strings"
	"testing"
	"time"

	"questscheduler/internal/mirror"
	"questscheduler/internal/store"
	"questscheduler/internal/test/worldtest"
	"questscheduler/scheduler"
)

func TestPollOfAGroup_Finalised_IsPlannedForItsPeople(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	party := w.Party()
	if _, err := w.Groups.Connect(t.Context(), worldtest.Person("ana"), party, w.Account("ana"), worldtest.Cause); err != nil {
		t.Fatal(err)
	}
	w.SetSharing(party, true)
	pollID, slots := w.PollOf("gm", scheduler.Create{GroupID: party})
	if _, err := w.Finalise(pollID, slots[0]); err != nil {
		t.Fatal(err)
	}
	w.Run(time.Minute)
	mirrors, err := store.Collect(mirror.IntoAccount(t.Context(), w.Documents, w.Account("ana")))
	if err != nil || len(mirrors) != 1 || mirrors[0].State != mirror.Pending || mirrors[0].GroupID != party {
		t.Errorf("mirrors %+v, %v", mirrors, err)
	}
	if strings.Contains(w.Log(), "level=WARN") {
		t.Errorf("the work of the group failed:\n%s", w.Log())
	}
}
