package poll

import (
	"context"

	"questscheduler/internal/store"
)

var (
	snapshotsOf      = store.Select("snapshots of a poll", "calendarSyncSnapshots", "")
	allAnnouncements = store.Select("announcements", "announcements", "")
)

// Left reports whether the announcement of a deleted poll, or a document below it, is left.
// With purging, the documents below are being removed and do not count.
func Left(ctx context.Context, reader store.Reader, pollID string, purging bool) (bool, error) {
	announcement, err := reader.Get(ctx, AnnouncementPath(pollID))
	if err != nil || announcement.Exists() || purging {
		return err == nil && announcement.Exists(), err
	}
	for _, below := range []*store.Query{journalByTime, snapshotsOf, votesOf, slotsOf} {
		docs, err := reader.Query(ctx, below.With().Below(Path(pollID)).First(1))
		if err != nil || len(docs) > 0 {
			return err == nil, err
		}
	}
	return false, nil
}

// Gone lists the deleted polls that have an announcement still, at most limit behind after:
// that finds what a direct deletion left, also where the id has another poll by now. It costs
// two reads for each announcement.
func Gone(ctx context.Context, reader store.Reader, limit int, after *store.Cursor) (pollIDs []string, next *store.Cursor, err error) {
	asked := allAnnouncements.With().First(limit).From(after)
	docs, err := reader.Query(ctx, asked)
	if err != nil || len(docs) == 0 {
		return nil, nil, err
	}
	paths := make([]store.Path, len(docs))
	for i, doc := range docs {
		paths[i] = Path(doc.Path.ID())
	}
	polls, err := reader.GetAll(ctx, paths)
	if err != nil {
		return nil, nil, err
	}
	for i, doc := range polls {
		if !doc.Exists() || Decode(doc).ReplacesAnnounced(DecodeAnnouncement(docs[i])) {
			pollIDs = append(pollIDs, docs[i].Path.ID())
		}
	}
	return pollIDs, behind(asked, docs), nil
}
