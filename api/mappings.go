package api

import (
	"context"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"questscheduler/attendees"
	"questscheduler/internal/fault"
	"questscheduler/internal/mapping"
	"questscheduler/scheduler"
)

// Mappings is implemented by attendees.Mappings.
type Mappings interface {
	// Reload loads second addresses and begins to carry them out. confirm names a version
	// that awaits confirmation; "" names none.
	Reload(ctx context.Context, cause scheduler.Cause, confirm string) (attendees.Loaded, error)
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
		return reloadedAnswer{}, fault.New(fault.Unavailable, "Second addresses are off. Set QS_ATTENDEES_SHEET or QS_ATTENDEES_CSV, and restart the server.")
	}
	confirm := ""
	if in.Body != nil {
		confirm = in.Body.Confirm
	}
	loaded, err := s.Mappings.Reload(ctx, by.cause, confirm)
	if err != nil {
		return reloadedAnswer{}, err
	}
	s.Log.InfoContext(ctx, "second addresses were loaded by hand", "version", loaded.Version, "mappings", loaded.Mappings, "skipped", loaded.SkippedCount,
		"held", loaded.Held.Version, "confirmed", confirm != "", "userId", by.person.ID, "trace", by.cause.Trace)
	return answerReloaded(loaded), nil
}

func answerReloaded(loaded attendees.Loaded) reloadedAnswer {
	answer := reloadedAnswer{
		Version: loaded.Version, Mappings: loaded.Mappings, WithoutAccess: loaded.WithoutAccess, SkippedCount: loaded.SkippedCount,
		Skipped: each(loaded.Skipped, func(row mapping.Skipped) skippedAnswer { return skippedAnswer{Row: row.Row, Reason: row.Reason} }),
	}
	if held := loaded.Held; held.Version != "" {
		answer.Held = &heldAnswer{Version: held.Version, Lost: held.Lost, Added: held.Added, Of: held.Of, Since: instant(held.At)}
	}
	return answer
}
