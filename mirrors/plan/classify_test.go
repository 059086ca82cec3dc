package plan_test

import (
	"testing"

	"questscheduler/internal/gcal"
	"questscheduler/internal/mirror"
	"questscheduler/mirrors/plan"
	"questscheduler/rules"
)

var ownID = mirror.EventID("here", "evt_1", "home", "home@x", 1)

func TestClassify(t *testing.T) {
	t.Parallel()
	marks, theirs := plan.Marks(mirror.Mirror{ID: "mir_1"}, "here"), plan.Marks(mirror.Mirror{ID: "mir_1"}, "there")
	named := func(calendar string) mirror.Naming {
		return mirror.Naming{Mirrors: []mirror.Mirror{{ID: "mir_1", EventID: ownID, TargetAccountID: "other", TargetCalendarID: calendar}}}
	}
	kept := mirror.Naming{Kept: named("home@x").Mirrors}
	for name, row := range map[string]struct {
		shown  gcal.Event
		naming mirror.Naming
		want   plan.Class
	}{
		"an ordinary event":                      {gcal.Event{ID: "abc"}, mirror.Naming{}, plan.Ordinary},
		"a poll's event":                         {gcal.Event{ID: "questsched123"}, mirror.Naming{}, plan.Ordinary},
		"a copy of a mirror by hand, with marks": {gcal.Event{ID: "copy", Private: marks}, mirror.Naming{}, plan.Ordinary},
		"an id like ours":                        {gcal.Event{ID: ownID}, mirror.Naming{}, plan.Ordinary},
		"an instance of one":                     {gcal.Event{ID: ownID + "_1", InstanceOf: ownID}, mirror.Naming{}, plan.Ordinary},
		"a mirror":                               {gcal.Event{ID: ownID, Private: marks}, named("home@x"), plan.Ours},
		"a mirror, in capitals":                  {gcal.Event{ID: ownID}, named("Home@X"), plan.Ours},
		"a mirror in an unknown calendar":        {gcal.Event{ID: ownID}, named("primary"), plan.Ours},
		"a mirror without its marks":             {gcal.Event{ID: ownID}, named("home@x"), plan.Ours},
		"a mirror of an earlier installation":    {gcal.Event{ID: ownID, Private: theirs}, named("home@x"), plan.Ours},
		"a kept copy":                            {gcal.Event{ID: ownID, Private: marks}, kept, plan.Ours},
		"an instance of a mirror":                {gcal.Event{ID: ownID + "_1", InstanceOf: ownID}, named("home@x"), plan.Ours},
		"an instance with an id of its own":      {gcal.Event{ID: "other", InstanceOf: ownID}, named("home@x"), plan.Ours},
		"a deleted mirror":                       {gcal.Event{ID: ownID, EventState: rules.Gone}, named("home@x"), plan.Ours},
		"a mirror that a person moved here":      {gcal.Event{ID: ownID, Private: marks}, named("work@x"), plan.Ours},
		"a leftover":                             {gcal.Event{ID: ownID, Private: marks}, mirror.Naming{}, plan.Orphan},
		"an instance of a leftover":              {gcal.Event{ID: ownID + "_1", InstanceOf: ownID, Private: marks}, mirror.Naming{}, plan.Orphan},
		"an invitation to a mirror":              {gcal.Event{ID: ownID}, named("work@x"), plan.Copied},
		"another installation's":                 {gcal.Event{ID: ownID, Private: theirs}, mirror.Naming{}, plan.Copied},
	} {
		if got := plan.Classify(row.shown, "home@x", "here", row.naming); got != row.want {
			t.Errorf("%s is %s, want %s", name, got, row.want)
		}
	}
}

func TestDeletesStray_OrphansAlone(t *testing.T) {
	t.Parallel()
	ours := plan.Marks(mirror.Mirror{ID: "mir_1"}, "here")
	leftover := gcal.Event{ID: ownID, Private: ours}
	for name, row := range map[string]struct {
		shown gcal.Event
		class plan.Class
		want  bool
	}{
		"a leftover":      {leftover, plan.Orphan, true},
		"a mirror":        {leftover, plan.Ours, false},
		"a copy":          {leftover, plan.Copied, false},
		"an ordinary one": {leftover, plan.Ordinary, false},
		"deleted already": {gcal.Event{ID: ownID, Private: ours, EventState: rules.Gone}, plan.Orphan, false},
		"an instance":     {gcal.Event{ID: ownID + "_1", InstanceOf: ownID, Private: ours}, plan.Orphan, false},
	} {
		if got := plan.DeletesStray(row.shown, "here", row.class); got != row.want {
			t.Errorf("%s: DeletesStray is %t", name, got)
		}
	}
	if plan.DeletesStray(leftover, "", plan.Orphan) {
		t.Error("an installation without a name deletes events")
	}
}
