package plan_test

import (
	"testing"

	"questscheduler/fault"
	"questscheduler/internal/mirror"
	"questscheduler/mirrors/plan"
)

func TestCheckEdges(t *testing.T) {
	t.Parallel()
	there, back := edge("work", "home", mirror.Busy), edge("home", "work", mirror.Busy)
	changed := func(change func(e *mirror.Edge)) mirror.Edge { e := there; change(&e); return e }
	full := changed(func(e *mirror.Edge) { e.Detail = mirror.Full })
	primary := changed(func(e *mirror.Edge) { e.Target = mirror.PrimaryTarget })
	calendar := changed(func(e *mirror.Edge) { e.FromCalendarID, e.Detail = "team@x", mirror.Full })
	for name, row := range map[string]struct {
		edges, others []mirror.Edge
		kind          fault.Kind
		code          string
	}{
		"both directions":                  {[]mirror.Edge{there, back}, nil, 0, ""},
		"a calendar beats its account":     {[]mirror.Edge{there, calendar}, nil, 0, ""},
		"the same edge in another policy":  {[]mirror.Edge{there}, []mirror.Edge{there}, 0, ""},
		"none":                             {nil, []mirror.Edge{there}, 0, ""},
		"from an unknown account":          {[]mirror.Edge{edge("other", "home", mirror.Busy)}, nil, fault.NotFound, plan.CodeUnknownAccount},
		"to an unknown account":            {[]mirror.Edge{edge("work", "other", mirror.Busy)}, nil, fault.NotFound, plan.CodeUnknownAccount},
		"to itself":                        {[]mirror.Edge{edge("work", "work", mirror.Busy)}, nil, fault.Invalid, plan.CodeEdgeToItself},
		"twice":                            {[]mirror.Edge{there, back, there}, nil, fault.Invalid, plan.CodeDuplicateEdge},
		"two details":                      {[]mirror.Edge{there, full}, nil, fault.Conflict, plan.CodeContradiction},
		"two targets":                      {[]mirror.Edge{there, primary}, nil, fault.Conflict, plan.CodeContradiction},
		"another detail in another policy": {[]mirror.Edge{there}, []mirror.Edge{back, full}, fault.Conflict, plan.CodeContradiction},
		"another target in another policy": {[]mirror.Edge{there}, []mirror.Edge{primary}, fault.Conflict, plan.CodeContradiction},
		"a detail that does not exist":     {[]mirror.Edge{edge("work", "home", "SOME")}, nil, fault.Invalid, plan.CodeBadEdge},
		"a target that does not exist": {
			[]mirror.Edge{changed(func(e *mirror.Edge) { e.Target = "" })}, nil, fault.Invalid, plan.CodeBadEdge,
		},
		"the other policies are not checked": {[]mirror.Edge{there}, []mirror.Edge{edge("gone", "gone", "")}, 0, ""},
	} {
		err := plan.CheckEdges(row.edges, row.others, []string{"work", "home"})
		switch {
		case row.code == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case row.code != "" && (!fault.Is(err, row.kind) || fault.CodeOf(err) != row.code || err.Error() == ""):
			t.Errorf("%s: %v (%s, %s)", name, err, fault.KindOf(err), fault.CodeOf(err))
		}
	}
}
