package firestorerules_test

import (
	"encoding/json"
	"net/http"
	"testing"
)

// place is where an expression stands in firestore.rules.
type place struct {
	CurrentOffset, EndOffset, Line int
}

// expression is one node of the emulator's report: what came out of it, and of
// its parts.
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

// seen is what came out of the expression at one place, wherever it was called
// from.
type seen struct{ yes, no, other bool }

// checkCoverage reads what the emulator has seen of each condition, in whichever of
// the projects: every one has let something through and refused something. An error
// refuses, as false does: a field that is not there, a listing whose query does not
// say what is asked.
func checkCoverage(t *testing.T, projects []client) {
	t.Helper()
	all, text := map[place]seen{}, ""
	for _, c := range projects {
		text = c.collectReport(t, all)
	}
	conditions := 0
	for at, was := range all {
		condition := text[at.CurrentOffset : at.EndOffset+1]
		switch {
		case was == seen{}:
			t.Errorf("firestore.rules:%d: no row comes to %s", at.Line, condition)
		case was.other || !was.yes && !was.no:
			// It is a value, which one of the conditions around it is about.
		case !was.yes:
			t.Errorf("firestore.rules:%d: no row meets %s", at.Line, condition)
		case !was.no:
			t.Errorf("firestore.rules:%d: no row fails %s", at.Line, condition)
		default:
			conditions++
		}
	}
	if conditions < 150 {
		t.Errorf("the report tells of %d conditions alone", conditions)
	}
}

// collectReport adds what came out of each expression in one project, and gives the
// rules that it was held to.
func (c client) collectReport(t *testing.T, all map[place]seen) (rules string) {
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

func (e expression) collect(all map[place]seen) {
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
