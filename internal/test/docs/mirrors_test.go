package docs_test

import (
	"regexp"
	"slices"
	"testing"

	"questscheduler/internal/mirror"
)

// arrow is a transition of a state diagram.
var arrow = regexp.MustCompile(`(?m)^    (\S+) --> (\S+): `)

// TestEveryMirrorState_IsDrawn holds the table and the diagram to the states that there
// are. Which of them follow each other is tested in mirrors/plan.
func TestEveryMirrorState_IsDrawn(t *testing.T) {
	t.Parallel()
	text := section(t, "docs/mirrors.md", "States")
	var tabled, entered, left []string
	for _, row := range rows(text) {
		tabled = append(tabled, row[0])
	}
	for _, match := range arrow.FindAllStringSubmatch(text, -1) {
		left, entered = append(left, match[1]), append(entered, match[2])
	}
	for _, state := range mirror.States {
		if !slices.Contains(tabled, "`"+string(state)+"`") {
			t.Errorf("the table has no row of %s", state)
		}
		if !slices.Contains(entered, string(state)) || !slices.Contains(left, string(state)) {
			t.Errorf("the diagram has no arrow to %s, or none from it", state)
		}
	}
	for _, state := range slices.Concat(entered, left) {
		if state != "[*]" && !slices.Contains(mirror.States, mirror.State(state)) {
			t.Errorf("the diagram shows %s, which is no state of a mirror", state)
		}
	}
}
