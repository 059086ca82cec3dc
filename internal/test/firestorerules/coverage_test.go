package firestorerules_test

import (
	"encoding/json"
	"net/http"
	"testing"
)

// place is the position of an expression in firestore.rules.
type place struct {
	CurrentOffset, EndOffset, Line int
}

// expression is one node of the emulator's report: its values, and its parts.
type expression struct {
	SourcePosition place
	Values         []struct {
		Value struct {
			BoolValue *bool
			Undefined json.RawMessage
		}
	}
	Children []expression
}

// outcomes are the kinds of values of the expression at one place, over all calls
// of it.
type outcomes struct{ yes, no, other bool }

// checkCoverage reads the emulator's coverage reports of all projects: every
// condition must have allowed a request and refused one. An error refuses as false
// does, such as a field that is absent, or a listing whose query lacks a filter that
// the rule needs.
func checkCoverage(t *testing.T, projects []client) {
	t.Helper()
	all, text := map[place]outcomes{}, ""
	for _, c := range projects {
		text = c.collectReport(t, all)
	}
	conditions := 0
	for at, was := range all {
		condition := text[at.CurrentOffset : at.EndOffset+1]
		switch {
		case was == outcomes{}:
			t.Errorf("firestore.rules:%d: no row comes to %s", at.Line, condition)
		case was.other || !was.yes && !was.no:
			// It is a value that is part of a condition.
		case !was.yes:
			t.Errorf("firestore.rules:%d: no row meets %s", at.Line, condition)
		case !was.no:
			t.Errorf("firestore.rules:%d: no row fails %s", at.Line, condition)
		default:
			conditions++
		}
	}
	if conditions < 150 {
		t.Errorf("the report has only %d conditions", conditions)
	}
}

// collectReport adds the outcomes of each expression in one project, and returns
// the rules of that project.
func (c client) collectReport(t *testing.T, all map[place]outcomes) (rules string) {
	t.Helper()
	status, answer := c.do(t, http.MethodGet, "/emulator/v1/projects/"+c.project+":ruleCoverage", owner, nil)
	var report struct {
		Rules struct {
			Files []struct{ Content string }
		}
		Report []expression
	}
	if err := json.Unmarshal(answer, &report); err != nil || status != http.StatusOK {
		t.Fatalf("the emulator reports with %d: %v", status, err)
	}
	for _, e := range report.Report {
		e.collect(all)
	}
	return report.Rules.Files[0].Content
}

func (e expression) collect(all map[place]outcomes) {
	was := all[e.SourcePosition]
	for _, value := range e.Values {
		switch is := value.Value.BoolValue; {
		case is != nil && *is:
			was.yes = true
		case is != nil || value.Value.Undefined != nil:
			was.no = true
		default:
			was.other = true
		}
	}
	all[e.SourcePosition] = was
	for _, child := range e.Children {
		child.collect(all)
	}
}
