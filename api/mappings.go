package api

import (
	"context"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"questscheduler/attendees/mappings"
	"questscheduler/fault"
	"questscheduler/scheduler"
)

// Mappings is implemented by mappings.Service.
type Mappings interface {
	// Reload loads second addresses and begins to carry them out. confirm names a version
	// that awaits confirmation; "" names none. With an error it gives what stays in use.
	Reload(ctx context.Context, cause scheduler.Cause, confirm string) (mappings.Loaded, error)
}

type reloadMappings struct {
	Body *reloadMappingsBody `doc:"Optional."`
}

type reloadMappingsBody struct {
	Confirm string `json:"confirm,omitempty" maxLength:"64" doc:"The version in held of an earlier answer, whose losses and additions are meant."`
}

type reloadedAnswer struct {
	Version       string          `json:"version" doc:"The version in use."`
	Mappings      int             `json:"mappings" doc:"Primary addresses with second ones."`
	WithoutAccess int             `json:"without_access" doc:"Those of them whose calendar no account reaches."`
	Skipped       []skippedAnswer `json:"skipped" doc:"The first rows that were not taken."`
	SkippedCount  int             `json:"skipped_count" doc:"All rows that were not taken."`
	LoadedAt      *time.Time      `json:"loaded_at" doc:"When the mappings in use were last found in the sheet or file; null if they never were."`
	Held          *heldAnswer     `json:"held" doc:"A version that awaits confirmation, since it lacks more than half of the second addresses in use, or adds more than half as many; null if none does."`
}

// TransformSchema lets held be null.
func (reloadedAnswer) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return nullable(s, "held")
}

type skippedAnswer struct {
	Row    int    `json:"row" doc:"Its number in the sheet or file, whose header is row 1."`
	Reason string `json:"reason"`
}

type heldAnswer struct {
	Version string     `json:"version"`
	Lost    int64      `json:"lost" doc:"Second addresses that it lacks."`
	Added   int64      `json:"added" doc:"Second addresses that it has beside those in use."`
	Of      int64      `json:"of" doc:"Second addresses in use."`
	Since   *time.Time `json:"since"`
}

// reloadMappings loads second addresses, for an admin or a machine.
func (s *server) reloadMappings(ctx context.Context, by caller, in *reloadMappings) (reloadedAnswer, error) {
	if s.Mappings == nil {
		return reloadedAnswer{}, fault.New(
			fault.Unavailable, "Second addresses are off. Set QS_ATTENDEES_SHEET or QS_ATTENDEES_CSV, and restart the server.",
		)
	}
	confirm := ""
	if in.Body != nil {
		confirm = in.Body.Confirm
	}
	loaded, err := s.Mappings.Reload(ctx, by.cause, confirm)
	if err != nil {
		return reloadedAnswer{}, withMappings(err, loaded)
	}
	s.Log.InfoContext(ctx, "second addresses were loaded by hand", "version", loaded.Version, "mappings", loaded.Mappings,
		"skipped", loaded.SkippedCount,
		"held", loaded.Held.Version, "confirmed", confirm != "", "user_id", by.person.ID, "trace", by.cause.Trace)
	return answerReloaded(loaded), nil
}

func answerReloaded(loaded mappings.Loaded) reloadedAnswer {
	answer := reloadedAnswer{
		Version: loaded.Version, Mappings: loaded.Mappings, LoadedAt: instant(loaded.LoadedAt),
		WithoutAccess: loaded.WithoutAccess, SkippedCount: loaded.SkippedCount,
		Skipped: each(loaded.Skipped, func(row mappings.Skipped) skippedAnswer { return skippedAnswer{Row: row.Row, Reason: row.Reason} }),
	}
	if held := loaded.Held; held.Version != "" {
		answer.Held = &heldAnswer{Version: held.Version, Lost: held.Lost, Added: held.Added, Of: held.Of, Since: instant(held.At)}
	}
	return answer
}

// mappingsInUse is what a failed load leaves in use.
type mappingsInUse struct {
	Version      string     `json:"version" doc:"The version in use; empty if none was ever loaded."`
	Mappings     int        `json:"mappings" doc:"Primary addresses with second ones."`
	LoadedAt     *time.Time `json:"loaded_at" doc:"When they were last found in the sheet or file; null if they never were."`
	TriedAt      *time.Time `json:"tried_at" doc:"When the sheet or file was last read."`
	Failures     int        `json:"failures" doc:"Failed loads in a row."`
	SkippedCount int        `json:"skipped_count" doc:"Rows that the last load that succeeded did not take."`
}

// withMappings has the answer to a failed load say which mappings stay in use.
func withMappings(err error, loaded mappings.Loaded) error {
	f := asFailure(err)
	if loaded.TriedAt.IsZero() {
		return f
	}
	if f.Problem.Detail == nil {
		f.Problem.Detail = &detail{}
	}
	f.Problem.Detail.Mappings = &mappingsInUse{
		Version: loaded.Version, Mappings: loaded.Mappings, LoadedAt: instant(loaded.LoadedAt), TriedAt: instant(loaded.TriedAt),
		Failures: loaded.Failures, SkippedCount: loaded.SkippedCount,
	}
	return f
}
