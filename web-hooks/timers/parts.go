package timers

import (
	"context"
	"slices"
)

// part is one of several things that a job does, one after the other.
type part struct {
	name string
	step Step
}

// inTurn is a step that takes each part to its end. A run whose part is not in the
// table, because another version began it, starts over: repeating a step is
// harmless.
func inTurn(parts []part) Step {
	return func(ctx context.Context, run Run) (Stretch, error) {
		i := slices.IndexFunc(parts, func(p part) bool { return p.name == run.Part })
		if i < 0 {
			i, run.At = 0, ""
		}
		did, err := parts[i].step(ctx, run)
		switch {
		case did.Next != "":
			did.Part = parts[i].name
		case i+1 < len(parts):
			did.Part = parts[i+1].name
		}
		return did, err
	}
}

// again is where a step ends that is repeated while more is left.
func again(more bool) string {
	if more {
		return "again"
	}
	return ""
}
