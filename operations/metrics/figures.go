package metrics

// figure is a counter, or with buckets a histogram of seconds.
type figure struct {
	name    string
	labels  []label
	buckets []float64
	help    string
}

// Buckets, in seconds.
var (
	// forCalls fits what waits for an answer.
	forCalls = []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 15, 30, 60}
	// forConvergence fits what pushes bring within seconds, and the sweep within
	// its six hours.
	forConvergence = []float64{.25, .5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 900, 1800, 3600, 7200, 21600, 43200, 86400}
)

// figures are all that are counted. Operators' alerts and boards use their names.
var figures = []figure{
	{"watches_asked_total", []label{occasions, outcomes}, nil, "Watch channels that Google was asked for."},
	{"watches_stopped_total", nil, nil, "Watch channels that were stopped at Google."},
	{"pushes_refused_total", nil, nil, "Pushes that were not Google's, or named no channel of ours."},
	{"syncs_total", []label{triggers, synced}, nil, "Sync runs of calendars that ended."},
	{"sync_seconds", nil, forCalls, "How long sync runs take."},
	{"transitions_total", []label{actions}, nil, "Changes of polls by what their calendar says."},
	{"commands_total", []label{commands}, nil, "Changes of polls by what people asked for."},
	{"sync_errors_total", []label{codes}, nil, "Errors of the sync that polls began to show."},
	{"direct_edits_total", []label{repairs}, nil, "Polls that were edited directly and repaired."},
	{
		"calendar_to_poll_seconds", []label{moves}, forConvergence,
		"Convergence, first half: from the event's change in the calendar (its updated) to the poll's. A deletion is in it where " +
			"Google says when it was.",
	},
	{"announcements_total", []label{notices}, nil, "Transitions that were announced in every channel."},
	{
		"poll_to_people_seconds", []label{notices}, forConvergence,
		"Convergence, second half: from the poll's change to the announcement in every channel; the rest of QS_NOTIFY_SETTLE is in it.",
	},
	{"channel_refusals_total", []label{channels, discordReasons}, nil, "Messages that a channel refused for good, Discord cards among them."},
	{
		"mirror_writes_total", []label{mirrorWrites}, nil,
		"Events of mirrors that were written or deleted, and overlay calendars that were created.",
	},
	{"mirror_failures_total", []label{errorKinds}, nil, "Writes of mirrors that failed, by the kind of the error."},
	{
		"mirror_observations_total", []label{mirrorVerdicts}, nil,
		"Observations of mirrors' events: echo is as we wrote it, drift a person's change that is reverted.",
	},
	{
		"attendee_patches_total", []label{patchResults}, nil,
		"Changes of guests at events by their result: stale is a change that is decided again, since the event had changed.",
	},
	{"attendee_addresses_total", []label{addressChanges}, nil, "Second addresses that were invited, and taken back."},
	{"attendee_notes_total", []label{addressNotes}, nil, "Second addresses that people invited or removed themselves, or that declined."},
	{"attendee_loads_total", []label{loadResults}, nil, "Loads of the mappings of second addresses by their result."},
	{"google_calls_total", []label{methods, outcomes}, nil, "Calls of Google that ended."},
	{"google_call_seconds", []label{methods}, forCalls, "How long calls of Google take."},
	{"http_requests_total", []label{httpMethods, classes}, nil, "Requests that were answered."},
	{"http_request_seconds", []label{httpMethods}, forCalls, "How long requests take. Streams are not counted."},
	{"errors_total", []label{errorKinds}, nil, "Errors by their kind: of calls of Google, sync runs and runs of work outside the store."},
	{"log_records_total", []label{levels}, nil, "Log lines at WARN and ERROR."},
}

// figuresOfWork are the same of the kinds of work outside the store.
func figuresOfWork(kinds []string) []figure {
	work := labelOf("kind", kinds...)
	return []figure{
		{"work_runs_total", []label{work, workOutcomes}, nil, "Runs of work outside the store, by their outcome."},
		{"work_run_seconds", []label{work}, forCalls, "How long runs of work outside the store take."},
	}
}
