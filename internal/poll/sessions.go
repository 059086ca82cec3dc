package poll

import (
	"context"
	"slices"
	"time"

	"questscheduler/internal/store"
	"questscheduler/rules"
)

// sessionsOfParticipant needs the index of pollsOfParticipantByStatus.
var sessionsOfParticipant = newestFirst("createdAt",
	store.Select("sessions of a participant, newest first", "schedulers", "",
		store.Where("participantIds", store.ArrayContains), store.Where("status", store.In)))

// sessionStatuses are those of polls that have a session, or may have had one.
var sessionStatuses = []any{string(rules.Finalized), string(rules.Cancelled)}

// HasSession reports whether Sessions lists the poll for those who take part in it.
func (p Poll) HasSession() bool { return slices.Contains(sessionStatuses, any(string(p.Status))) }

// Sessions lists the finalised and the cancelled polls that a person takes part in, newest first,
// at most limit. A poll's creator takes part: scheduler and the web app make them a
// participant. A cancelled poll may never have been finalised. They are brief.
func Sessions(ctx context.Context, reader store.Reader, userID string, limit int) ([]Poll, error) {
	return briefs(ctx, reader, userID, sessionsOfParticipant.With(userID, sessionStatuses).First(limit))
}

// startingPolls are in the order of their sessions' starts, as the text of a fingerprint has them.
var startingPolls = &store.Query{
	Name: "finalised polls by the start of their session", Collection: "schedulers",
	Filters: []store.Filter{
		{Path: store.Field("status"), Op: store.Equal}, {Path: appliedTime, Op: store.GreaterOrEqual}, {Path: appliedTime, Op: store.Less},
	},
	Order: []store.Order{{Path: appliedTime}},
}

var appliedTime = SyncField("lastEventFingerprint")

// Starting lists the polls whose event starts from one time until before another, and those whose
// event has whole days of which the first, in UTC, is not over. It reads up to a day more: the text
// of whole days comes after that of every time of the first. They are brief.
func Starting(ctx context.Context, reader store.Reader, from, until time.Time, part store.Paging) ([]Poll, *store.Cursor, error) {
	behind := until.UTC().AddDate(0, 0, 1).Format(time.DateOnly)
	asked := startingPolls.With(string(rules.Finalized), rules.Instant(from), behind).Paged(part)
	polls, next, err := store.Page(ctx, reader, asked, brief())
	return slices.DeleteFunc(polls, func(p Poll) bool { return !p.Sync.Applied.StartTime().Before(until) }), next, err
}

// WinningSlots reads the winning slots of polls, by the polls' ids. A poll without one is
// not among them.
func WinningSlots(ctx context.Context, reader store.Reader, polls []Poll) (map[string]Slot, error) {
	var paths []store.Path
	for _, p := range polls {
		if path, ok := slotPath(p.ID, p.WinningSlotID); ok {
			paths = append(paths, path)
		}
	}
	slots := make(map[string]Slot, len(paths))
	if len(paths) == 0 {
		return slots, nil
	}
	err := inParts(ctx, reader, paths, func(doc store.Document) {
		if doc.Exists() {
			slots[doc.Path.Parent().ID()] = DecodeSlot(doc)
		}
	})
	return slots, err
}
