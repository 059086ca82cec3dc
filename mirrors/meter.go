package mirrors

import (
	"questscheduler/fault"
	"questscheduler/mirrors/plan"
)

// Events for the meter, counted after the commit.
type (
	// Written is an event of a mirror that was created or changed.
	Written struct{}
	// Deleted is an event of a mirror that was deleted.
	Deleted struct{}
	// Failed is a call for a mirror that failed.
	Failed struct{ Kind fault.Kind }
	// Observed is an observation of a mirror's event by a sync run, the writer or the reconciliation.
	Observed struct{ Verdict plan.Verdict }
	// OverlayCreated is a new overlay calendar.
	OverlayCreated struct{}
	// StrayDeleted is an event of ours that no mirror names, which was deleted.
	StrayDeleted struct{}
)
