package plan_test

import (
	"testing"

	"questscheduler/internal/gcal"
	"questscheduler/internal/mirror"
	"questscheduler/mirrors/plan"
	"questscheduler/rules"
)

var ownID = mirror.EventID("here", "evt_1", "home", "home@x", 1)

func TestIsOrigin(t *testing.T) {
	t.Parallel()
	marks := plan.Marks(mirror.Mirror{ID: "mir_1"}, "here")
	for name, row := range map[string]struct {
		shown gcal.Event
		want  bool
	}{
		"an ordinary event":                      {gcal.Event{ID: "abc"}, true},
		"a poll's event":                         {gcal.Event{ID: "questsched123"}, true},
		"a copy of a mirror by hand, with marks": {gcal.Event{ID: "copy", Private: marks}, true},
		"a mirror":                               {gcal.Event{ID: ownID, Private: marks}, false},
		"a mirror without its marks":             {gcal.Event{ID: ownID}, false},
		"an instance of a mirror":                {gcal.Event{ID: ownID + "_20260301", InstanceOf: ownID}, false},
		"an instance with an id of its own":      {gcal.Event{ID: "other", InstanceOf: ownID}, false},
	} {
		if got := plan.IsOrigin(row.shown); got != row.want {
			t.Errorf("%s: IsOrigin is %t", name, got)
		}
	}
}

func TestDeletesStray_OnlyOursUnmapped(t *testing.T) {
	t.Parallel()
	ours := plan.Marks(mirror.Mirror{ID: "mir_1"}, "here")
	for name, row := range map[string]struct {
		shown  gcal.Event
		mapped bool
		want   bool
	}{
		"ours, unmapped":             {gcal.Event{ID: ownID, Private: ours}, false, true},
		"ours, mapped":               {gcal.Event{ID: ownID, Private: ours}, true, false},
		"of another installation":    {gcal.Event{ID: ownID, Private: plan.Marks(mirror.Mirror{}, "there")}, false, false},
		"without marks":              {gcal.Event{ID: ownID}, false, false},
		"deleted already":            {gcal.Event{ID: ownID, Private: ours, EventState: rules.Gone}, false, false},
		"an instance":                {gcal.Event{ID: ownID + "_1", InstanceOf: ownID, Private: ours}, false, false},
		"a copy by hand, with marks": {gcal.Event{ID: "copy", Private: ours}, false, false},
	} {
		if got := plan.DeletesStray(row.shown, "here", row.mapped); got != row.want {
			t.Errorf("%s: DeletesStray is %t", name, got)
		}
	}
	if plan.DeletesStray(gcal.Event{ID: ownID}, "", false) {
		t.Error("an installation without a name deletes events without a mark")
	}
}
