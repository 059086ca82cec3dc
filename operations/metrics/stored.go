package metrics

import (
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"questscheduler/fault"
	"questscheduler/internal/outbox"
	"questscheduler/operations/health"
	"questscheduler/web-hooks/timers"
)

// Stored is where the figures are that are read and not counted. All fields are
// needed.
type Stored struct {
	// Work is the outbox.
	Work Work
	// Records returns the latest runs of the timers' jobs (timers.Timers).
	Records func(ctx context.Context) ([]timers.Record, error)
	// Figures counts the troubles of all users (health.Reader).
	Figures func(ctx context.Context) (health.Figures, error)
	Log     *slog.Logger
}

// Work is the outbox, as far as figures show it. Its depths name the kinds that were given to New.
type Work interface {
	Depths(ctx context.Context) ([]outbox.Depth, error)
	LastDrain() time.Time
}

const (
	// storedFor is the age up to which these figures are served from memory.
	storedFor = 15 * time.Second
	// figuresFor is the same for the health figures, whose reads cost most.
	figuresFor = time.Minute
	// readPatience is how long all reads of one answer may take.
	readPatience = 8 * time.Second
)

// Read adds the figures that are stored. It is called once.
func (m *Metrics) Read(from Stored) { m.registry.MustRegister(&stored{Stored: from, now: m.now}) }

func gauge(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(namespace+"_"+name, help, labels, nil)
}

var (
	due         = gauge("work_due", "Entries of work outside the store that are due or under way, by kind (up to 250).", "kind")
	oldest      = gauge("work_oldest_seconds", "For how long the entry waits that was due first, by kind; 0: none is due.", "kind")
	failingWork = gauge("work_failing", "Entries that keep failing and need a person, by kind (of the first 250).", "kind")
	drained     = gauge("last_drain_timestamp_seconds", "When this process last drained what is due; 0: it did not.")
	succeeded   = gauge("timer_last_success_timestamp_seconds", "When a job of the timers last ended; 0: never.", "job")
	jobFails    = gauge("timer_failing", "1 while the last step of a job failed.", "job")
	ending      = gauge(
		"watches_ending",
		"Followed calendars whose watch channel should have been renewed, ends within a day at most and has no later one (up to 250).",
	)
	watchFails = gauge("watches_failed", "Followed calendars that no watch channel could be made for (up to 250).")
	syncFails  = gauge("calendars_failing", "Followed calendars whose sync fails, by the kind of the error (up to 250).", "reason")
	failingFor = gauge(
		"calendars_failing_seconds",
		"For how long the sync of a calendar fails that its owner cannot repair: the longest; 0: none.",
	)
	paused     = gauge("calendars_parked", "Followed calendars that Google asked to leave alone for a while (up to 250).")
	revoked    = gauge("accounts_revoked", "Linked accounts whose owners have to link them again (up to 250).")
	pollsErr   = gauge("polls_in_error", "Polls that show an error of their sync, by its code (up to 250).", "code")
	inState    = gauge("mirrors", "Mirrors that are not as wanted, by their state (up to 250).", "state")
	mirrorsDue = gauge("mirrors_oldest_due_seconds", "For how long the mirror that is due longest waits to be written; 0: none is due.")
	looping    = gauge(
		"mirrors_looping",
		"Mirrors that are not made because another program copies copies between the same calendars (up to 250).",
	)
	mapped = gauge(
		"attendee_mappings",
		"Second addresses of attendees: mappings in use, skipped rows, mappings whose calendar no account reaches, and second "+
			"addresses whose loss or addition awaits confirmation.",
		"state",
	)
	mappedAge = gauge("attendee_mappings_age_seconds", "For how long the mappings in use were not loaded again; 0: never loaded.")
	loadFails = gauge("attendee_mappings_load_failures", "Failed loads of mappings in a row.")
	guestsDue = gauge("attendee_events_pending", "Events whose guests must be written (up to 250).")
	guestsOld = gauge(
		"attendee_events_oldest_due_seconds",
		"For how long the event that is due longest waits for its guests to be written; 0: none is due.",
	)
	guestsFail  = gauge("attendee_events_in_error", "Events whose guests cannot be written (up to 250).")
	readFailing = gauge("stored_figures_missing", "1 where these figures cannot be read now.", "of")
)

// stored reads the stored figures on each scrape.
type stored struct {
	Stored
	depths health.Cached[[]outbox.Depth]
	timers health.Cached[[]timers.Record]
	health health.Cached[health.Figures]
	now    func() time.Time
}

// Describe implements prometheus.Collector. It describes nothing, which makes the
// collector unchecked, so that registering it collects nothing.
func (*stored) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (s *stored) Collect(figures chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), readPatience)
	defer cancel()
	give := func(d *prometheus.Desc, value float64, labels ...string) {
		figures <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
	}
	for _, part := range []struct {
		of      string
		collect func(ctx context.Context, give giving) error
	}{{"work", s.collectWork}, {"timers", s.collectTimers}, {"health", s.collectHealth}} {
		missing := 0.
		if err := part.collect(ctx, give); err != nil {
			missing = 1
			s.Log.WarnContext(ctx, "figures cannot be read", "of", part.of, "error", err)
		}
		give(readFailing, missing, part.of)
	}
}

// giving hands a figure over.
type giving func(d *prometheus.Desc, value float64, labels ...string)

func (s *stored) collectWork(ctx context.Context, give giving) error {
	at := 0.
	if last := s.Work.LastDrain(); !last.IsZero() {
		at = float64(last.UnixMilli()) / 1000
	}
	give(drained, at)
	depths, err := s.depths.Get(ctx, s.now(), storedFor, s.Work.Depths)
	if err != nil {
		return err
	}
	for _, depth := range depths {
		give(due, float64(depth.Due), depth.Kind)
		give(failingWork, float64(len(depth.Failing)), depth.Kind)
		give(oldest, s.age(depth.Oldest), depth.Kind)
	}
	return nil
}

// age is for how long something is so, in seconds; 0 for the zero time.
func (s *stored) age(since time.Time) float64 {
	if since.IsZero() {
		return 0
	}
	return max(s.now().Sub(since), 0).Seconds()
}

func (s *stored) collectTimers(ctx context.Context, give giving) error {
	records, err := s.timers.Get(ctx, s.now(), storedFor, s.Records)
	if err != nil {
		return err
	}
	for _, record := range records {
		if jobs.of(record.Job) == other {
			continue
		}
		at, failing := 0., 0.
		if !record.SucceededAt.IsZero() {
			at = float64(record.SucceededAt.UnixMilli()) / 1000
		}
		if record.Failure != "" {
			failing = 1
		}
		give(succeeded, at, record.Job)
		give(jobFails, failing, record.Job)
	}
	return nil
}

func (s *stored) collectHealth(ctx context.Context, give giving) error {
	figures, err := s.health.Get(ctx, s.now(), figuresFor, s.Figures)
	if err != nil {
		return err
	}
	give(ending, float64(figures.WatchesEnding))
	give(watchFails, float64(figures.WatchesFailed))
	give(failingFor, s.age(figures.FailingSince))
	give(paused, float64(figures.Paused))
	give(revoked, float64(figures.Revoked))
	give(mirrorsDue, s.age(figures.MirrorsDue))
	give(looping, float64(figures.MirrorsLooping))
	if figures.Attendees.On {
		s.collectAttendees(figures.Attendees, give)
	}
	for _, state := range health.MirrorStates {
		give(inState, float64(figures.Mirrors[state]), string(state))
	}
	for _, kind := range fault.Kinds() {
		give(syncFails, float64(figures.Failing[kind]), kindName(kind))
	}
	for _, code := range health.ErrorCodes {
		give(pollsErr, float64(figures.Errors[code]), string(code))
	}
	return nil
}

func (s *stored) collectAttendees(figures health.AttendeeFigures, give giving) {
	give(mapped, float64(figures.Mappings), "used")
	give(mapped, float64(figures.Skipped), "skipped")
	give(mapped, float64(figures.WithoutAccess), "without_access")
	give(mapped, float64(figures.Held), "held")
	give(mappedAge, s.age(figures.LoadedAt))
	give(loadFails, float64(figures.Failures))
	give(guestsDue, float64(figures.Pending))
	give(guestsOld, s.age(figures.OldestDue))
	give(guestsFail, float64(figures.Failed))
}
