package main

// grouped are faults of the events of groups.
var grouped = []mutant{
	{
		name:   "kept-copies-outlive-membership",
		breaks: "The copies that somebody kept when they disconnected stay when they leave the group, since no connection names them.",
		changes: []change{{
			file: "mirrors/connections.go",
			old:  `		more, err := s.RestoreKept(ctx, c)`,
			new:  `		more, err := false, error(nil)`,
		}},
	},
	{
		name:   "ended-connections-delete-nothing",
		breaks: "The copies in an account that was disconnected, or whose owner left the group, stay there.",
		changes: []change{{
			file: "mirrors/planperson.go",
			old:  "(*Service).endingPart, (*Service).forgetPart,",
			new:  "(*Service).forgetPart,",
		}},
	},
	{
		name:   "change-of-group-event-not-planned",
		breaks: "An event that settles is planned only for those who make or delete events, so its copies keep the old title and time.",
		changes: []change{{
			file: "groupevents/events.go",
			old:  "\tif was.PlanAt.After(now) && was.PlanAt.Before(latest) {\n\t\treturn was.PlanAt\n\t}\n\treturn latest\n",
			new:  "\treturn latest.AddDate(1, 0, 0)\n",
		}},
	},
}
